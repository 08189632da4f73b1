"""Scenario files: what a person writes, and what is said about what is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from simcore.clock import format_duration
from simcore.errors import InputErrors
from simcore.files.scenarios import load_scenario, validate_files
from simcore.files.schema import json_schema
from simcore.files.shipped import shipped_scenarios
from simcore.files.yaml import load_yaml
from simcore.scenario import Control, Gate, PolicySpec
from simcore.tool import ToolProfile

GOOD = """\
schema: scenario/v1
name: small
traces:
  - recording_id: r1
    audio_end_us: 2000000
    subset: early
    target: &call {tool: book, arguments: {time: 16:00, day: 2026-03-01}}
    arrivals:
      - {prefix_end_us: 960000, arrived_at_us: 1960000, service_us: 1000000, text: at four}
      - {prefix_end_us: 1920000, arrived_at_us: 2460000, service_us: 500000, argument: *call}
      - {prefix_end_us: 2000000, arrived_at_us: 2960000, service_us: 500000, argument: *call,
         is_final: true}
    forecasts:
      - {checkpoint: gru-0, at_us: [0], p_bad: [0.5]}
  - recording_id: r2
    audio_end_us: 1000000
    subset: late
    arrivals: [{prefix_end_us: 1000000, arrived_at_us: 1500000, service_us: 500000, is_final: true}]
    forecasts:
      - {checkpoint: gru-0, at_us: [0], p_bad: [0.5]}
control: {period: 320 ms, queueing: fifo}
actions:
  - {name: book, runtime: 2 s, cancel_window: 1.6, reusable_fields: [time]}
policies:
  - eou
  - {name: rassg, label: patient, consensus: 4}
checkpoints: [gru-0]
seed: 7
gates:
  stale_rate: {max: 0.05, policy: patient}
"""


def written(folder: Path, text: str = GOOD, name: str = "s.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def check_lines(errors: InputErrors) -> list[str]:
    """The messages, one line each."""
    messages = [str(fault) for fault in errors.faults]
    assert messages
    assert all("\n" not in message for message in messages)
    return messages


def faults_of(path: Path, **options: object) -> list[str]:
    with pytest.raises(InputErrors) as raised:
        load_scenario(path, **options)  # type: ignore[arg-type]
    messages = check_lines(raised.value)
    return [message.removeprefix(f"{path}: ") for message in messages]


def test_a_scenario_is_what_its_file_says(tmp_path: Path) -> None:
    scenario = load_scenario(written(tmp_path))
    assert scenario.name == "small"
    assert scenario.control == Control()
    assert scenario.actions == (
        ToolProfile("book", 2_000_000, 1_600_000, reusable_fields=frozenset({"time"})),
    )
    assert scenario.policies == (
        PolicySpec("eou", "eou"),
        PolicySpec("rassg", "patient", {"consensus": 4}),
    )
    assert scenario.checkpoints == ("gru-0",)
    assert (scenario.seed, scenario.replications) == (7, 1)
    assert scenario.gates == (Gate("stale_rate", "patient", maximum=0.05),)
    first, second = scenario.recordings
    assert first.target == '{"arguments":{"day":"2026-03-01","time":"16:00"},"tool":"book"}'
    assert not second.labelled


def test_the_resolved_scenario_is_json_and_names_its_traces(tmp_path: Path) -> None:
    path = written(tmp_path)
    resolved = load_scenario(path).resolved
    assert json.loads(json.dumps(resolved)) == resolved
    assert resolved["control"]["acknowledgement_us"] == 20_000
    assert resolved == load_scenario(written(tmp_path, GOOD + "# the same\n")).resolved
    changed = load_scenario(written(tmp_path, GOOD.replace("p_bad: [0.5]", "p_bad: [0.4]")))
    assert changed.resolved["traces_sha256"] != resolved["traces_sha256"]


BAD = {
    "broken YAML": ("seed: 7", "seed: [7", "line 29: broken YAML: "),
    "twice": ("seed: 7", "seed: 7\nseed: 8", "line 29: the key 'seed' stands here twice"),
    "unknown key": ("seed: 7", "sede: 7", "line 28, sede: unknown key 'sede'; did you mean 'seed'"),
    "missing key": ("name: small\n", "", "line 1, name: the key 'name' is missing"),
    "no schema": ("schema: scenario/v1\n", "", "line 1: the key 'schema' is missing"),
    "version": ("scenario/v1", "scenario/v9", "this is scenario/v9, rassg-sim reads scenario/v1"),
    "policy": (
        "- eou",
        "- eouu",
        "line 25, policies[0]: unknown policy 'eouu'; did you mean 'eou'?",
    ),
    "option": (
        "consensus: 4",
        "concensus: 4",
        "line 26, policies[1].concensus: policy 'rassg' has no option 'concensus'; did you mean "
        "'consensus'?",
    ),
    "consensus 0": ("consensus: 4", "consensus: 0", "line 26, policies[1].consensus: "),
    "label": (
        "label: patient",
        "label: eou",
        "policies[1].label: a second policy is labelled 'eou'",
    ),
    "zero period": ("period: 320 ms", "period: 0", "line 21, control.period: must be longer than"),
    "unit": (
        "period: 320 ms",
        "period: 320 sm",
        "line 21, control.period: '320 sm' has the unknown unit 'sm'; known are us, ms, s, min",
    ),
    "control": (
        "period: 320 ms",
        "perid: 320 ms",
        "line 21, control.perid: unknown key 'perid'; did you mean 'period'?",
    ),
    "negative": (
        "runtime: 2 s",
        "runtime: -2",
        "line 23, actions[0].runtime: a duration is finite",
    ),
    "queueing": ("fifo", "fifi", "line 21, control.queueing: unknown value 'fifi'; did you mean"),
    "checkpoint": (
        "checkpoints: [gru-0]",
        "checkpoints: [gru-1]",
        "line 27, checkpoints[0]: unknown checkpoint 'gru-1'; did you mean 'gru-0'?",
    ),
    "no policies": (
        "- eou\n  - {name: rassg, label: patient, consensus: 4}",
        "[]",
        "policies: is em",
    ),
    "pack": (
        "traces:",
        "traces: recast/tset\nignored:",
        "line 3, traces: unknown trace pack 'recast",
    ),
    "trace file": (
        "traces:",
        "traces: t.jsonl\nignored:",
        "traces: there is no trace file 't.jsonl'",
    ),
    "recording": (
        "prefix_end_us: 1920000",
        "prefix_end_us: 19",
        "line 10, traces[0].arrivals[1].prefix_end_us: 19 comes before 960000",
    ),
    "same recording": (
        "recording_id: r2",
        "recording_id: r1",
        "line 15, traces[1].recording_id: 'r1' is the id of recording 0 too",
    ),
    "where": (
        "control:",
        "where: {subest: late}\ncontrol:",
        "line 21, where.subest: unknown trace column 'subest'; did you mean 'subset'?",
    ),
    "nothing left": (
        "control:",
        "where: {subset: [latest, x]}\ncontrol:",
        "line 21, where.subset: no recording has subset ['latest', 'x']; did you mean 'late'?",
    ),
    "metric": ("stale_rate", "stale_rat", "line 30, gates.stale_rat: unknown key 'stale_rat'; did"),
    "gate": ("{max: 0.05, policy: patient}", "{}", "line 30, gates.stale_rate[0]: a gate needs"),
    "gate's policy": (
        "policy: patient",
        "policy: patent",
        "line 30, gates.stale_rate.policy: no policy is labelled 'patent'; did you mean 'patient'?",
    ),
    "include": ("seed: 7", "seed: !include seed.yaml", "line 28: there is no file 'seed.yaml'"),
    "tag": ("seed: 7", "seed: !inclde x", "line 28: unknown tag !inclde; only !include is known"),
}


@pytest.mark.parametrize(("old", "new", "expected"), BAD.values(), ids=BAD.keys())
def test_a_fault_is_named_with_line_and_path(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert old in GOOD
    faults = faults_of(written(tmp_path, GOOD.replace(old, new, 1)))
    assert any(expected in fault for fault in faults), faults


JUNK = [
    "",
    "[",
    "{",
    "&a",
    "*call",
    ": ",
    "- ",
    "\t",
    "~",
    ".nan",
    "-1",
    "1e9",
    '"',
    "? ",
    "<<: *call",
]


@settings(max_examples=60)
@given(st.integers(0, len(GOOD)), st.integers(0, 8), st.sampled_from(JUNK))
def test_any_slip_of_the_pen_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, at: int, length: int, junk: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "slip.yaml"
    path.write_text(GOOD[:at] + junk + GOOD[at + length :], encoding="utf-8")
    try:
        load_scenario(path)
    except InputErrors as refused:
        check_lines(refused)


def test_no_actions(tmp_path: Path) -> None:
    before, _, after = GOOD.partition("actions:")
    rest = "policies:" + after.partition("policies:")[2]
    (fault,) = faults_of(written(tmp_path, before + rest))
    assert fault == "line 1, actions: the key 'actions' is missing"
    (fault,) = faults_of(written(tmp_path, before + "actions: []\n" + rest))
    assert fault == "line 22, actions: is empty; at least one entry is needed"
    (fault,) = faults_of(written(tmp_path, before + "actions: recast-ate\n" + rest))
    assert "unknown set of actions 'recast-ate'; did you mean 'recast-eight'?" in fault
    action = "{name: a, runtime: 1, cancel_window: 1}"
    (fault,) = faults_of(written(tmp_path, f"{before}actions: [{action}, {action}]\n{rest}"))
    assert fault == "line 22, actions[1].name: a second one is named 'a'"


@pytest.mark.parametrize("text", ["", "- a\n", "just text\n"])
def test_what_is_no_scenario(tmp_path: Path, text: str) -> None:
    (fault,) = faults_of(written(tmp_path, text))
    assert "it starts with 'schema: scenario/v1'" in fault


def test_no_such_scenario(tmp_path: Path) -> None:
    (fault,) = faults_of(Path("money_transfre"))
    assert fault == "there is no such scenario; did you mean 'money_transfer'?"


def test_every_fault_is_reported(tmp_path: Path) -> None:
    text = GOOD
    for old, new in (
        ("period: 320 ms", "period: 0"),
        ("- eou", "- eouu"),
        ("cancel_window: 1.6", "cancel_windw: 1.6"),
        ("prefix_end_us: 1920000", "prefix_end_us: 1"),
    ):
        text = text.replace(old, new)
    places = [fault.partition(":")[0] for fault in faults_of(written(tmp_path, text))]
    for place in (
        "line 21, control.period",
        "line 25, policies[0]",
        "line 23, actions[0].cancel_windw",
        "line 10, traces[0].arrivals[1].prefix_end_us",
    ):
        assert place in places


def test_a_checkpoint_that_one_recording_lacks(tmp_path: Path) -> None:
    text = GOOD.replace("checkpoint: gru-0", "checkpoint: gru-1", 1)
    (fault,) = faults_of(written(tmp_path, text))
    assert "the checkpoint 'gru-0' is missing in 1 of 2 recordings, first in 'r1'" in fault


def test_faults_of_a_trace_file_name_that_file(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"recording_id": "r"}\n')
    text = GOOD.replace("traces:", "traces: t.jsonl\nignored:", 1)
    faults = faults_of(written(tmp_path, text))
    assert any(f"{tmp_path / 't.jsonl'}: line 1, audio_end_us: the key" in f for f in faults)


def test_where_keeps_one_value_or_several(tmp_path: Path) -> None:
    path = written(tmp_path)
    for wanted, ids in (("late", ["r2"]), ("[late, early]", ["r1", "r2"])):
        scenario = load_scenario(path, overrides=[f"where.subset={wanted}"])
        assert [r.recording_id for r in scenario.recordings] == ids


def test_latest_skips_superseded_prefixes(tmp_path: Path) -> None:
    path = written(tmp_path)
    scenario = load_scenario(path, overrides=["control.queueing=latest"])
    arrivals = scenario.recordings[0].arrivals
    assert [a.arrived_at_us for a in arrivals] == [1_960_000, 2_460_000, 2_960_000]
    slow = GOOD.replace("arrived_at_us: 1960000, service_us: 1000000", "arrived_at_us: 1960000")
    (fault,) = faults_of(written(tmp_path, slow), overrides=["control.queueing=latest"])
    assert "control.queueing=latest: control.queueing: recording 'r1', arrivals[0]: " in fault


def test_overrides_win(tmp_path: Path) -> None:
    scenario = load_scenario(
        written(tmp_path),
        overrides=[
            "control.period=160 ms",
            "control.processing=0.02",
            "policies.0.reactive_update=false",
            "policies.1.consensus=2",
            "actions.0.stale_cost=9",
            "seed=1",
        ],
        seed=3,
    )
    assert scenario.control == Control(period_us=160_000, processing_us=20_000)
    assert scenario.policies[0].options == {"reactive_update": False}
    assert scenario.policies[1].options == {"consensus": 2}
    assert scenario.actions[0].stale_cost == 9
    assert scenario.seed == 3


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("control.perid=1", "control.perid: unknown key 'perid'; did you mean 'period'?"),
        ("control.period=0", "control.period: must be longer than zero"),
        ("policies.5.consensus=2", "policies has 2 entries, the last is policies[1]"),
        ("policies.rassg.consensus=2", "policies is a list: 'rassg' must be an index"),
        ("policies.1.consensus=0", "policies[1].consensus: policy 'rassg'"),
        ("seed.x=1", "seed has no 'x'"),
        ("seed", "is not KEY=VALUE"),
        ("seed=[", "broken YAML"),
        ("seed=-1", "seed: -1 is negative"),
    ],
)
def test_a_bad_override_names_itself(tmp_path: Path, setting: str, expected: str) -> None:
    (fault,) = faults_of(written(tmp_path), overrides=[setting])
    assert fault.startswith(f"--set {setting}: ")
    assert expected in fault


def test_a_set_of_actions_can_be_overridden(tmp_path: Path) -> None:
    before, _, after = GOOD.partition("actions:")
    text = before + "actions: recast-eight\npolicies:" + after.partition("policies:")[2]
    scenario = load_scenario(written(tmp_path, text), overrides=["actions.0.runtime=9 s"])
    assert len(scenario.actions) == 8
    assert scenario.actions[0].runtime_us == 9_000_000


def test_the_eight_actions_have_eight_deadlines(tmp_path: Path) -> None:
    actions = load_scenario(written(tmp_path), overrides=["actions=recast-eight"]).actions
    assert len({action.deadline(0, 0) for action in actions}) == 8
    assert [action.cancel_cost for action in actions] == [0.5, 0.5, 2.5, 0.5, 0.5, 0.5, 2.5, 0.5]


def test_includes(tmp_path: Path) -> None:
    written(tmp_path, "- {name: a, runtime: 1 s, cancel_window: 1 s}\n", "parts/actions.yaml")
    written(tmp_path, "period: 1 s\nqueueing: fifo\n", "parts/control.yaml")
    before, _, after = GOOD.partition("control:")
    text = (
        f"{before}control: !include parts/control.yaml\nactions: !include parts/actions.yaml\n"
        f"policies:{after.partition('policies:')[2]}"
    )
    scenario = load_scenario(written(tmp_path, text))
    assert scenario.control.period_us == 1_000_000
    assert [action.name for action in scenario.actions] == ["a"]

    part = written(tmp_path, "queueing: fifo\nperid: 1 s\n", "parts/control.yaml")
    (fault,) = faults_of(tmp_path / "s.yaml")
    assert fault.startswith(f"{part}: line 2, control.perid: unknown key 'perid'")


def test_an_include_may_not_include_itself(tmp_path: Path) -> None:
    written(tmp_path, "x: !include b.yaml\n", "a.yaml")
    part = written(tmp_path, "- !include a.yaml\n", "b.yaml")
    with pytest.raises(InputErrors, match=r"b\.yaml: line 1: 'a\.yaml' includes itself"):
        load_yaml(tmp_path / "a.yaml")
    assert part.exists()


def test_an_alias_may_not_contain_itself(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match="line 1: an alias stands for what contains it"):
        load_yaml(written(tmp_path, "a: &a [*a]\n"))


def test_the_command_line_chooses_policies(tmp_path: Path) -> None:
    path = written(tmp_path)
    scenario = load_scenario(path, policies=["patient", "speculative"])
    assert scenario.policies == (
        PolicySpec("rassg", "patient", {"consensus": 4}),
        PolicySpec("speculative", "speculative"),
    )
    assert scenario.gates
    assert load_scenario(path, policies=["eou"]).gates == ()
    (fault,) = faults_of(path, policies=["eou", "pateint"])
    assert fault == "--policy pateint: unknown policy 'pateint'; did you mean 'patient'?"


POLICY = """\
from simcore.policy import TickPolicy

class Mine(TickPolicy):
    def decide(self, view):
        return None
"""


def test_a_policy_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, POLICY, "parts/mine.py")
    path = written(tmp_path, GOOD.replace("- eou", "- parts/mine.py:Mine"))
    scenario = load_scenario(path)
    assert scenario.policies[0] == PolicySpec(f"{file.resolve()}:Mine", "parts/mine.py:Mine")
    assert scenario.resolved["policies"][0]["name"] == "mine.py:Mine"
    monkeypatch.chdir(tmp_path / "parts")
    (spec,) = load_scenario(path, policies=["mine.py:Mine"]).policies
    assert spec == PolicySpec(f"{file.resolve()}:Mine", "mine.py:Mine")
    (fault,) = faults_of(path, policies=["mine.py:Mime"])
    assert "has no class 'Mime'; did you mean 'Mine'?" in fault


def test_other_traces_come_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "scenarios")
    row = load_scenario(path).recordings[1]
    from simcore.files.traces import write_traces

    write_traces(tmp_path / "own.jsonl", [row])
    monkeypatch.chdir(tmp_path)
    assert load_scenario(path, traces="own.jsonl").recordings == (row,)
    (fault,) = faults_of(path, traces="onw.jsonl")
    assert fault == "--traces onw.jsonl: traces: there is no trace file 'onw.jsonl'"


def test_validate_lists_the_faults_of_all_files(tmp_path: Path) -> None:
    scenario = written(tmp_path, GOOD.replace("seed: 7", "sede: 7"))
    traces = written(tmp_path, "{}\n", "t.jsonl")
    actions = written(tmp_path, "schema: actions/v1\nactions: []\n", "actions/a.yaml")
    faults = [str(f) for f in validate_files([scenario, traces, actions, tmp_path / "no.yaml"])]
    assert f"{scenario}: line 28, sede: unknown key 'sede'; did you mean 'seed'?" in faults
    assert f"{traces}: line 1, recording_id: the key 'recording_id' is missing" in faults
    assert f"{actions}: line 2, actions: is empty; at least one entry is needed" in faults
    assert f"{tmp_path / 'no.yaml'}: there is no such file" in faults
    assert validate_files([written(tmp_path)]) == []


SHIPPED = sorted(shipped_scenarios().glob("*.yaml"))


@pytest.mark.parametrize("path", SHIPPED, ids=[path.stem for path in SHIPPED])
def test_shipped_scenarios_are_faultless_and_fit_the_schema(path: Path) -> None:
    assert validate_files([path]) == []
    schema = Draft202012Validator(json_schema("scenario"))
    assert [error.message for error in schema.iter_errors(load_yaml(path).data)] == []
    first = path.read_text(encoding="utf-8").splitlines()[0]
    assert first == "# yaml-language-server: $schema=schema/scenario-v1.json"


@pytest.mark.parametrize("fields", ["null", "[]", "[time]"])
def test_reusable_fields_resolve_to_json(tmp_path: Path, fields: str) -> None:
    scenario = load_scenario(written(tmp_path), overrides=[f"actions.0.reusable_fields={fields}"])
    assert json.loads(json.dumps(scenario.resolved)) == scenario.resolved


def test_a_shipped_scenario_is_found_by_name() -> None:
    assert load_scenario("money_transfer").name == "money-transfer"


def test_the_shipped_schema_is_up_to_date() -> None:
    file = shipped_scenarios() / "schema" / "scenario-v1.json"
    assert json.loads(file.read_text(encoding="utf-8")) == json_schema("scenario")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("320 ms", "320 sm"),
        ("320 ms", "0"),
        ("seed: 7", "sede: 7"),
        ("fifo", "fifi"),
        ("name: small", "name: 4"),
        ("prefix_end_us: 960000", "prefix_end_us: -1"),
        ("stale_rate", "stale_rat"),
        ("scenario/v1", "scenario/v2"),
    ],
)
def test_the_schema_finds_what_an_editor_can_find(tmp_path: Path, old: str, new: str) -> None:
    schema = Draft202012Validator(json_schema("scenario"))
    assert schema.is_valid(load_yaml(written(tmp_path)).data)
    assert not schema.is_valid(load_yaml(written(tmp_path, GOOD.replace(old, new, 1))).data)


def test_the_trace_schema_fits_a_recording() -> None:
    from simcore.files.traces import recording_to_dict

    schema = Draft202012Validator(json_schema("trace"))
    for recording in load_scenario("restaurant_booking").recordings:
        assert schema.is_valid(recording_to_dict(recording))
    assert not schema.is_valid({"recording_id": "r", "audio_end_us": 1.5})


def test_the_schema_shows_defaults_as_people_write_them() -> None:
    control = json_schema("scenario")["$defs"]["ControlPart"]["properties"]
    assert control["period"]["default"] == format_duration(Control().period_us)
