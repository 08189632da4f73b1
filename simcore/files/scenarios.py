"""Scenario files: `scenario/v1` in YAML, checked as a whole, as a `Scenario` ready to run."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simcore.errors import InputError, InputErrors, SimcoreError, nearest
from simcore.files import yaml
from simcore.files.faults import explain
from simcore.files.scenario_model import ACTIONS_SCHEMA, SCHEMA, ActionsFile, ScenarioFile
from simcore.files.scenario_policies import chosen_policies, scenario_policies
from simcore.files.scenario_recordings import check_checkpoints, read_recordings, selected
from simcore.files.shipped import shipped_scenarios
from simcore.files.traces import read_traces
from simcore.scenario import Control, Gate, Scenario
from simcore.tool import ToolProfile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simcore.files.scenario_model import ActionPart, ControlPart
    from simcore.files.yaml import Document
    from simcore.scenario import PolicySpec
    from simcore.trace import Recording

_STAND_IN: dict[str, Any] = {
    "schema": SCHEMA,
    "name": "?",
    "traces": "?",
    "actions": [{"name": "?", "runtime": 0, "cancel_window": 0}],
    "policies": ["?"],
}


def load_scenario(
    path: str | Path,
    *,
    overrides: Sequence[str] = (),
    traces: str | None = None,
    policies: Sequence[str] | None = None,
    seed: int | None = None,
) -> Scenario:
    """The scenario of a file, or the shipped one of that name where there is no such file.

    ``overrides`` are `KEY=VALUE` settings with dotted keys. ``traces`` (a pack, or a file relative
    to the current folder), ``policies`` (labels of the scenario, else registered names or
    `file.py:Class`; these run, in this order) and ``seed`` replace what the file says.
    `Scenario.resolved` gives durations in microseconds under keys that end in `_us`.

    Raises ``InputErrors`` with every fault of the file, its includes and its traces.
    """
    file = _find(path)
    document = yaml.load_yaml(file)
    _check_schema(document, SCHEMA)
    for setting in overrides:
        if setting.strip().startswith("actions."):
            _expand_actions(document, file.parent)
        yaml.override(document, setting)
    for key, value in (("traces", traces), ("seed", seed)):
        if value is not None:
            document.data[key] = value
            document.places[(key,)] = yaml.Place(f"--{key} {value}")
    _expand_actions(document, file.parent)

    faults: list[InputError] = []
    model, broken = _validated(document, faults)
    recordings: tuple[Recording, ...] = ()
    specs: dict[str, PolicySpec] = {}
    digest = None
    if "traces" not in broken:
        base = file.parent if traces is None else Path()
        recordings, digest = read_recordings(document, model.traces, base, faults)
        recordings = selected(document, model, recordings, faults)
        if recordings:
            check_checkpoints(document, model, recordings, faults)
    if "actions" not in broken:
        _check_unique(document, "actions", [action.name for action in model.actions], faults)
    if "policies" not in broken:
        specs = scenario_policies(document, model.policies, file.parent, faults)
        _check_gates(document, model, specs, faults)
    if policies is not None:
        specs = chosen_policies(policies, specs, faults)
    if faults:
        raise InputErrors(faults)

    gates = tuple(gate for gate in _gates(model) if gate.policy is None or gate.policy in specs)
    scenario = Scenario(
        name=model.name,
        recordings=recordings,
        actions=tuple(map(_action, model.actions)),
        policies=tuple(specs.values()),
        control=_control(model.control),
        checkpoints=tuple(model.checkpoints),
        replications=model.replications,
        seed=model.seed,
        gates=gates,
        faults=None if model.faults is None else model.faults.faults(),
        channel=model.channel.spec(),
    )
    return replace(scenario, resolved=_resolved(model, scenario, digest))


def _resolved(model: ScenarioFile, scenario: Scenario, digest: str | None) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "name": model.name,
        "description": model.description,
        "traces": model.traces if isinstance(model.traces, str) else "inline",
        "traces_sha256": digest,
        "where": model.where,
        "control": asdict(scenario.control),
        "actions": [
            asdict(action) | {"reusable_fields": part.reusable_fields, "fields": part.fields}
            for action, part in zip(scenario.actions, model.actions, strict=True)
        ],
        # A policy of a file by the file's name: where it lies is this machine's business.
        "policies": [
            asdict(policy)
            | {
                "name": Path(policy.name).name,
                "checkpoints": policy.checkpoints and list(policy.checkpoints),
            }
            for policy in scenario.policies
        ],
        "checkpoints": model.checkpoints,
        "replications": model.replications,
        "seed": model.seed,
        "faults": None if scenario.faults is None else asdict(scenario.faults),
        "channel": None if scenario.channel is None else asdict(scenario.channel),
        "gates": [asdict(gate) for gate in scenario.gates],
    }


def validate_files(paths: Iterable[str | Path]) -> list[InputError]:
    """Every fault of scenario files, action files and trace files, told apart by suffix."""
    faults: list[InputError] = []
    for path in map(Path, paths):
        try:
            if path.suffix in (".yaml", ".yml"):
                _validate_yaml(path)
            else:
                read_traces(path)
        except InputErrors as error:
            faults += error.faults
        except SimcoreError as error:
            faults.append(InputError(str(error), file=str(path)))
    return faults


def _validate_yaml(path: Path) -> None:
    data = yaml.load_yaml(path).data
    if isinstance(data, dict) and str(data.get("schema")).startswith("actions/"):
        read_actions(path)
    elif isinstance(data, dict) and str(data.get("schema")).startswith("script/"):
        read_traces(path)
    else:
        load_scenario(path)


def _find(path: str | Path) -> Path:
    file = Path(path)
    if file.is_file():
        return file
    shipped = {f.stem: f for f in sorted(shipped_scenarios().glob("*.yaml"))}
    if str(path) in shipped:
        return shipped[str(path)]
    hint = nearest(file.stem, shipped)
    raise InputErrors([InputError(f"there is no such scenario{hint}", file=str(path))])


def read_actions(path: Path) -> Document:
    """An `actions/v1` file, checked. Raises ``InputErrors``."""
    document = yaml.load_yaml(path)
    _check_schema(document, ACTIONS_SCHEMA)
    try:
        ActionsFile.model_validate(document.data)
    except ValidationError as error:
        found = explain(error, ActionsFile)
        raise InputErrors(document.fault(at, message) for at, message in found) from None
    return document


def load_actions(path: Path) -> tuple[ToolProfile, ...]:
    """The tools of an `actions/v1` file. Raises ``InputErrors``."""
    return tuple(map(_action, ActionsFile.model_validate(read_actions(path).data).actions))


def _expand_actions(document: Document, base: Path) -> None:
    """Put the actions that a name or file stands for in its place."""
    name = document.data.get("actions")
    if not isinstance(name, str):
        return
    folder = shipped_scenarios() / "actions"
    file = base / name if name.endswith((".yaml", ".yml")) else folder / f"{name}.yaml"
    if not file.is_file():
        hint = nearest(name, (f.stem for f in folder.glob("*.yaml")))
        raise InputErrors([document.fault(("actions",), f"unknown set of actions '{name}'{hint}")])
    actions = read_actions(file)
    document.data["actions"] = actions.data["actions"]
    document.places |= {at: place for at, place in actions.places.items() if at[:1] == ("actions",)}


def _check_schema(document: Document, wanted: str) -> None:
    if not isinstance(document.data, dict):
        what = "the file is empty" if document.data is None else "this is no mapping"
        raise InputErrors([document.fault((), f"{what}; it starts with 'schema: {wanted}'")])
    version = document.data.get("schema")
    if version is None:
        raise InputErrors([document.fault((), f"the key 'schema' is missing ('schema: {wanted}')")])
    if version != wanted:
        message = f"this is {version}, rassg-sim reads {wanted}"
        raise InputErrors([document.fault(("schema",), message)])


def _validated(document: Document, faults: list[InputError]) -> tuple[ScenarioFile, set[Any]]:
    """The model, and the keys whose values are wrong and stand in it by something harmless.

    So the rest of a faulty scenario is still checked.
    """
    try:
        return ScenarioFile.model_validate(document.data), set()
    except ValidationError as error:
        found = explain(error, ScenarioFile)
    faults += [document.fault(at, message) for at, message in found]
    broken = {at[0] for at, _ in found}
    sound = {key: value for key, value in document.data.items() if key not in broken}
    return ScenarioFile.model_validate({**_STAND_IN, **sound}), broken


def _check_unique(
    document: Document, key: str, names: Sequence[str], faults: list[InputError]
) -> None:
    for index, name in enumerate(names):
        if name in names[:index]:
            place = (key, index, "name")
            faults.append(document.fault(place, f"a second one is named '{name}'"))


def _check_gates(
    document: Document, model: ScenarioFile, labels: Iterable[str], faults: list[InputError]
) -> None:
    for metric, parts in model.gates:
        for index, part in enumerate(parts):
            if part.policy is not None and part.policy not in labels:
                hint = nearest(part.policy, labels)
                one = ("gates", metric, "policy")
                place = one if one in document.places else ("gates", metric, index, "policy")
                faults.append(document.fault(place, f"no policy is labelled '{part.policy}'{hint}"))


def _gates(model: ScenarioFile) -> list[Gate]:
    return [
        Gate(metric, part.policy, part.min, part.max)
        for metric, parts in model.gates
        for part in parts
    ]


def _control(part: ControlPart) -> Control:
    return Control(
        period_us=part.period,
        processing_us=part.processing,
        acknowledgement_us=part.acknowledgement,
        queueing=part.queueing,
        horizon_us=part.horizon,
    )


def _action(part: ActionPart) -> ToolProfile:
    explicit = part.prepare is not None
    runtime = part.prepare if explicit else part.runtime
    assert runtime is not None
    return ToolProfile(
        name=part.name,
        runtime_us=runtime,
        cancel_window_us=part.cancel_window or 0,
        boundary="explicit" if explicit else "deadline",
        commit_us=part.commit,
        fields=tuple(part.fields.items()),
        stale_cost=part.stale_cost,
        cancel_cost=part.cancel_cost,
        delay_price=part.delay_price,
        miss_cost=part.miss_cost,
        reusable_fields=None if part.reusable_fields is None else frozenset(part.reusable_fields),
        effect=part.effect,
    )
