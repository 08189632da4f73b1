"""Script files: what agents do, in YAML or JSON Lines, as recordings that can be simulated."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from simcore.agent.program import longest_path_us, right_steps, standing
from simcore.agent.script import from_row
from simcore.agent.simulation import plan_of
from simcore.errors import InputError, InputErrors
from simcore.files.atomic import write_atomic
from simcore.files.faults import path_text
from simcore.files.script_model import SCHEMA, row_faults
from simcore.files.yaml import load_yaml
from simcore.trace import Arrival, Recording, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from simcore.agent.script import Script

_SHARED = ("tools", "tokens_per_second")


def read_scripts(path: Path) -> tuple[Recording, ...]:
    """The scripts of a file, a recording each.

    YAML: `schema: script/v1`, what scripts share (`tools`, `tokens_per_second`), and `scripts`, a
    list. JSON Lines: a script a line, with its `schema`. Raises ``InputErrors`` with every fault.
    """
    rows, errors = _lines(path) if path.suffix == ".jsonl" else _document(path)
    names: dict[str, str] = {}
    for place, row in rows:
        first = names.setdefault(row["id"], place)
        if first != place:
            message = f"'{row['id']}' is the id of {first} too; ids are unique"
            errors.append(InputError(message, file=str(path), place=place))
    if errors:
        raise InputErrors(errors)
    if not rows:
        raise InputErrors([InputError("is empty: it holds no scripts", file=str(path))])
    return tuple(recording_of(row) for _, row in rows)


def _document(path: Path) -> tuple[list[tuple[str, dict[str, Any]]], list[InputError]]:
    document = load_yaml(path)
    data = document.data
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise InputErrors([document.fault(("schema",), f"a script file has 'schema: {SCHEMA}'")])
    known = {"schema", "scripts", *_SHARED}
    errors = [
        document.fault((key,), f"unknown key '{key}'; known are {', '.join(sorted(known))}")
        for key in data.keys() - known
    ]
    scripts = data.get("scripts")
    if not isinstance(scripts, list):
        raise InputErrors([*errors, document.fault(("scripts",), "is a list of scripts")])
    shared = {key: data[key] for key in _SHARED if key in data}
    rows = []
    for index, script in enumerate(scripts):
        row = {"schema": SCHEMA, **shared, **script} if isinstance(script, dict) else script
        found = row_faults(row)
        errors += [
            document.fault(
                place if place[:1] and place[0] in shared else ("scripts", index, *place), text
            )
            for place, text in found
        ]
        if not found:
            rows.append((f"scripts[{index}]", row))
    return rows, errors


def _lines(path: Path) -> tuple[list[tuple[str, dict[str, Any]]], list[InputError]]:
    rows, errors = [], []
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        where = f"line {number}"
        try:
            row = json.loads(line.decode("utf-8-sig"))
        except ValueError as error:
            errors.append(InputError(f"is no JSON: {error}", file=str(path), place=where))
            continue
        found = row_faults(row)
        for place, text in found:
            at = ", ".join(filter(None, (where, path_text(place))))
            errors.append(InputError(text, file=str(path), place=at))
        if not found:
            rows.append((where, row))
    return rows, errors


def write_scripts(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows of `script/v1` in JSON Lines; the file appears whole or not at all."""
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    write_atomic(path, "".join(f"{line}\n" for line in lines).encode())


def recording_of(row: Mapping[str, Any]) -> Recording:
    """A script as a recording, for any policy.

    To argument policies each update is an arrival whose argument is the plan of the calls that
    stand by then; the target is the plan of those that are right, and its runtime the longest path
    through it. Task managers play the script itself.
    """
    script = from_row(row)
    return Recording(
        script.id,
        script.final_us,
        _arrivals(script),
        labelled=True,
        target=_plan(script, len(script.speech)),
        origin_us=script.final_us,
        subset=row.get("workload"),
        settings=canonical({"agent": dict(row), "tool": {"runtime_us": longest_path_us(script)}}),
    )


def _arrivals(script: Script) -> tuple[Arrival, ...]:
    said: list[str] = []
    found = []
    for count, update in enumerate(script.speech, start=1):
        said.append(update.text)
        text, last = " ".join(filter(None, said)), count == len(script.speech)
        plan = _plan(script, count)
        found.append(Arrival(update.at_us, update.at_us, text, None, plan, last))
    return tuple(found)


def _plan(script: Script, heard: int) -> str | None:
    """The plan after some updates, as far as their words go."""
    stands = standing(step for step in right_steps(script) if step.heard <= heard)
    calls = [call.step.call for _, call in sorted(stands.items()) if call.step.call is not None]
    return plan_of(calls)
