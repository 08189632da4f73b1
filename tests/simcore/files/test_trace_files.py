"""Trace files: the good comes back unchanged, the bad is named with its place."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.errors import InputError, InputErrors
from simcore.files import traces
from simcore.files.traces import (
    read_traces,
    recording_from_dict,
    recording_to_dict,
    resolve_traces,
    write_traces,
)
from simcore.trace import (
    AgentEvent,
    Arrival,
    Forecast,
    Recording,
    Repair,
    Value,
    canonical,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

CALL = {"tool": "book", "arguments": {"time": "16:00"}}


def good_row() -> dict[str, Any]:
    """The example of the trace/v1 contract, made consistent."""
    return {
        "schema": "trace/v1",
        "recording_id": "r1",
        "corpus": "recast",
        "group_id": "g1",
        "audio_end_us": 2_400_000,
        "origin_us": 1_900_000,
        "target": copy.deepcopy(CALL),
        "values": [{"argument": copy.deepcopy(CALL), "available_us": 1_900_000}],
        "repairs": [{"onset_us": 800_000, "resolved_us": 1_900_000, "kind": "prospective"}],
        "arrivals": [
            {
                "prefix_end_us": 960_000,
                "arrived_at_us": 1_130_000,
                "text": "book a table",
                "confidence": 0.94,
                "argument": None,
                "is_final": False,
                "service_us": 170_000,
                "pause_us": 0,
            },
            {
                "prefix_end_us": 1_920_000,
                "arrived_at_us": 2_020_000,
                "text": "book a table at four",
                "confidence": 0.9,
                "argument": copy.deepcopy(CALL),
                "is_final": False,
            },
            {
                "prefix_end_us": 2_400_000,
                "arrived_at_us": 2_400_000,
                "text": "book a table at four",
                "confidence": 1,
                "argument": copy.deepcopy(CALL),
                "is_final": True,
            },
        ],
        "events": [{"at_us": 3_000_000, "type": "tool_call", "id": "c1", "name": "book"}],
        "forecasts": [
            {
                "checkpoint": "gru-0",
                "at_us": [0, 320_000],
                "p_bad": [0.1, 0.12],
                "masses": [[0.1] + [0.0] * 10 + [0.9], [0.12] + [0.0] * 10 + [0.88]],
            }
        ],
    }


def edited(path: str, value: Any) -> dict[str, Any]:
    """The good row with `value` at a dotted path; ... removes."""
    row = good_row()
    parent: Any = row
    *parts, last = [int(part) if part.isdecimal() else part for part in path.split(".")]
    for part in parts:
        parent = parent[part]
    if value is ...:
        del parent[last]
    else:
        parent[last] = value
    return row


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def check_lines(errors: InputErrors) -> list[str]:
    """The messages, one line each."""
    messages = [str(fault) for fault in errors.faults]
    assert messages
    assert all("\n" not in message for message in messages)
    return messages


def faults_of(path: Path) -> list[str]:
    with pytest.raises(InputErrors) as raised:
        read_traces(path)
    messages = check_lines(raised.value)
    assert all(message.startswith(str(path)) for message in messages)
    return [message.removeprefix(f"{path}: ") for message in messages]


BAD_ROWS = {
    "other version": ("schema", "trace/v0", "schema: this is trace/v0, rassg-sim reads trace/v1"),
    "no id": ("recording_id", ..., "recording_id: the key 'recording_id' is missing"),
    "unknown key": ("recordingid", "x", "unknown key 'recordingid'; did you mean 'recording_id'?"),
    "unknown inner key": (
        "arrivals.1.arived_at_us",
        5,
        "arrivals[1].arived_at_us: unknown key 'arived_at_us'; did you mean 'arrived_at_us'?",
    ),
    "negative time": ("arrivals.0.pause_us", -1, "arrivals[0].pause_us: -1 is negative"),
    "fractional time": (
        "repairs.0.onset_us",
        0.5,
        "repairs[0].onset_us: must be a whole number of microseconds, not 0.5",
    ),
    "whole float": ("audio_end_us", 2.4e6, "audio_end_us: must be a whole number of microseconds"),
    "text for a time": ("origin_us", "9 s", "origin_us: must be a whole number of microseconds"),
    "NaN": (
        "arrivals.1.confidence",
        float("nan"),
        "arrivals[1].confidence: nan is not a finite number",
    ),
    "confidence": ("arrivals.1.confidence", 1.5, "arrivals[1].confidence: 1.5 is above 1"),
    "low confidence": ("arrivals.1.confidence", -0.5, "arrivals[1].confidence: -0.5 is negative"),
    "unsorted": (
        "arrivals.1.prefix_end_us",
        900_000,
        "arrivals[1].prefix_end_us: 900000 comes before 960000; arrivals are sorted",
    ),
    "too early": (
        "arrivals.1.arrived_at_us",
        1_900_000,
        "arrivals[1].arrived_at_us: arrived at 1900000, before its prefix ends at 1920000",
    ),
    "not one decoder": (
        "arrivals.0.service_us",
        100_000,
        "arrivals[0].arrived_at_us: is 1130000, but one decoder in order gives max(prefix end, "
        "previous arrival) + service_us = max(960000, 0) + 100000 = 1060000",
    ),
    "no final": ("arrivals.2.is_final", False, "arrivals: no arrival is final"),
    "two finals": ("arrivals.1.is_final", True, "arrivals[1].is_final: a second final arrival"),
    "argument": (
        "arrivals.1.argument",
        "book",
        "arrivals[1].argument: a call is an object with 'tool' and 'arguments', not 'book'",
    ),
    "argument's key": (
        "target",
        {"tool": "book", "argument": {}},
        "target: unknown key 'argument' in a call; did you mean 'arguments'?",
    ),
    "empty plan": ("target", [], "target: a plan is a non-empty list of calls"),
    "call in a plan": ("target", [{"tool": "a"}], "target: a call needs the key 'arguments'"),
    "event type": (
        "events.0.type",
        "toolcall",
        "unknown value 'toolcall'; did you mean 'tool_call'",
    ),
    "forecast length": (
        "forecasts.0.p_bad",
        [0.1],
        "forecasts[0].p_bad: has 1 entries, but at_us has 2",
    ),
    "forecast range": ("forecasts.0.p_bad.1", 1.1, "forecasts[0].p_bad[1]: 1.1 is above 1"),
    "forecast order": (
        "forecasts.0.at_us.1",
        0,
        "forecasts[0].at_us[1]: 0 does not come after 0; times increase",
    ),
    "masses' number": (
        "forecasts.0.masses.1",
        [1.0],
        "forecasts[0].masses[1]: has 1 entries instead of 12",
    ),
    "masses' sum": (
        "forecasts.0.masses.1",
        [0.1] * 12,
        "forecasts[0].masses[1]: the masses sum to 1.2 instead of 1",
    ),
    "resolved early": (
        "repairs.0.resolved_us",
        1,
        "repairs[0].resolved_us: resolved at 1, before its onset at 800000",
    ),
    "settings": ("settings", [1], "settings: 'settings' is an object, not [1]"),
    "unknown setting": (
        "settings",
        {"behaviour": "BLOCKING"},
        "settings: unknown setting 'behaviour'; did you mean 'behavior'?",
    ),
    "a setting's value": (
        "settings",
        {"behavior": "BLOCKED"},
        "settings: 'behavior' cannot be 'BLOCKED'; did you mean 'BLOCKING'?",
    ),
    "a tool's setting": (
        "settings",
        {"tool": {"runtime": 4}},
        "settings: unknown setting 'tool.runtime'; did you mean 'runtime_us'?",
    ),
    "not a list": ("arrivals", {"a": 1}, "arrivals: must be a list, not {'a': 1}"),
    "not an arrival": ("arrivals.1", None, "arrivals[1]: must be a mapping, not null"),
}


@pytest.mark.parametrize(("path", "value", "expected"), BAD_ROWS.values(), ids=BAD_ROWS.keys())
def test_a_bad_value_is_named_with_line_and_path(
    tmp_path: Path, path: str, value: Any, expected: str
) -> None:
    file = lines(tmp_path / "t.jsonl", good_row(), edited(path, value) | {"recording_id": "r2"})
    if path == "recording_id":
        file = lines(tmp_path / "t.jsonl", good_row(), edited(path, value))
    faults = faults_of(file)
    assert all(fault.startswith("line 2, ") for fault in faults)
    assert any(expected in fault for fault in faults), faults


def test_a_recording_needs_arrivals_or_events(tmp_path: Path) -> None:
    row = {"recording_id": "r", "audio_end_us": 5, "arrivals": []}
    (fault,) = faults_of(lines(tmp_path / "t.jsonl", row))
    assert fault == "line 1: the recording has neither 'arrivals' nor 'events'"
    event = {"at_us": 1, "type": "interrupted"}
    (recording,) = read_traces(lines(tmp_path / "e.jsonl", row | {"events": [event]}))
    assert recording.arrivals == ()


def test_every_fault_of_a_file_is_reported(tmp_path: Path) -> None:
    bad = edited("arrivals.0.confidence", 2)
    bad["arrivals"][2]["prefix_end_us"] = 1
    bad["forecasts"][0]["at_us"] = [320_000, 0]
    file = tmp_path / "t.jsonl"
    file.write_text(
        "\n".join([json.dumps(bad), json.dumps(good_row()), "[1, 2]", '{"recording_id": "x"'])
    )
    faults = faults_of(file)
    for expected in (
        "line 1, arrivals[0].confidence: 2 is above 1",
        "line 1, arrivals[2].prefix_end_us: 1 comes before 1920000",
        "line 1, forecasts[0].at_us[1]: 0 does not come after 320000",
        "line 2, recording_id: 'r1' is the id of line 1 too; ids are unique",
        "line 3: a recording is an object, not list",
        "line 4: is no JSON, or is cut short: Expecting ',' delimiter at column 21",
    ):
        assert any(fault.startswith(expected) for fault in faults), faults
    assert len(faults) == 6


@pytest.mark.parametrize("content", [b"", b"\n\n"])
def test_an_empty_file(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(content)
    assert faults_of(file) == ["is empty: it holds no recordings"]


def test_no_such_file_and_other_suffixes(tmp_path: Path) -> None:
    assert faults_of(tmp_path / "t.jsonl") == ["there is no such trace file"]
    (tmp_path / "t.csv").touch()
    assert faults_of(tmp_path / "t.csv") == ["traces are .jsonl or .parquet, not '.csv'"]


@pytest.mark.parametrize("content", [b"\xff\xfe", b'{"a": ' + b"[" * 100_000, b"1" * 5000, b"\0"])
def test_what_is_no_json(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(content)
    (fault,) = faults_of(file)
    assert fault.startswith("line 1")


def test_a_truncated_file_never_reads_as_something_else(tmp_path: Path) -> None:
    whole = lines(tmp_path / "whole.jsonl", good_row(), good_row() | {"recording_id": "r2"})
    recordings, data = read_traces(whole), whole.read_bytes()
    file = tmp_path / "cut.jsonl"
    for length in range(0, len(data), 31):
        file.write_bytes(data[:length])
        if data[length - 1 : length] in (b"\n", b"") and length:
            assert read_traces(file) == recordings[: data[:length].count(b"\n")]
        else:
            assert len(faults_of(file)) == 1


def test_a_truncated_parquet_file(tmp_path: Path) -> None:
    file = tmp_path / "t.parquet"
    write_traces(file, [recording_from_dict(good_row())])
    file.write_bytes(file.read_bytes()[:-100])
    (fault,) = faults_of(file)
    assert fault.startswith("is no Parquet file")


def test_parquet_rows_pass_the_same_checks(tmp_path: Path) -> None:
    import polars as pl

    file = tmp_path / "t.parquet"
    write_traces(file, [recording_from_dict(good_row())])
    frame = pl.read_parquet(file)
    frame.with_columns(audio_end_us=-1, target=pl.lit("[]")).write_parquet(file)
    assert faults_of(file) == [
        "row 1, audio_end_us: -1 is negative",
        "row 1, target: a plan is a non-empty list of calls; write null for no call",
    ]
    frame.with_columns(target=pl.lit("{")).write_parquet(file)
    (fault,) = faults_of(file)
    assert fault.endswith("not text that is no JSON: '{'")
    frame.rename({"domain": "domian"}).write_parquet(file)
    assert faults_of(file) == ["domian: unknown key 'domian'; did you mean 'domain'?"]


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_no_target_is_not_a_null_target(tmp_path: Path, suffix: str) -> None:
    rows = [edited("target", ...), edited("target", None) | {"recording_id": "r2"}]
    file = tmp_path / f"t.{suffix}"
    write_traces(file, [recording_from_dict(row) for row in rows])
    unlabelled, abstain = read_traces(file)
    assert (unlabelled.labelled, unlabelled.target) == (False, None)
    assert (abstain.labelled, abstain.target) == (True, None)


def test_arguments_are_equal_however_they_are_written(tmp_path: Path) -> None:
    row = good_row()
    row["target"] = {"arguments": {"time": "16:00"}, "tool": "book"}
    recording = recording_from_dict(row)
    assert recording.target == recording.arrivals[2].argument == canonical(CALL)


def test_defaults_of_the_smallest_recording() -> None:
    row = {
        "recording_id": "r",
        "audio_end_us": 9,
        "arrivals": [{"prefix_end_us": 9, "arrived_at_us": 9, "text": "", "is_final": True}],
    }
    recording = recording_from_dict(row)
    assert recording.delay_origin_us == 9
    assert recording.cluster == "r"
    assert recording.arrivals[0].confidence is None


def test_nothing_is_written_where_something_is_wrong(tmp_path: Path) -> None:
    good = recording_from_dict(good_row())
    file = tmp_path / "t.jsonl"
    write_traces(file, [good])
    before = file.read_bytes()
    with pytest.raises(InputErrors, match="recording 2, recording_id: 'r1' is the id of"):
        write_traces(file, [good, good], provenance={"x": 1})
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert file.read_bytes() == before


def test_a_write_that_breaks_off_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = recording_from_dict(good_row())
    file = tmp_path / "t.jsonl"
    write_traces(file, [good])
    before = file.read_bytes()

    def fail(*_: Any) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_traces(file, [recording_from_dict(edited("corpus", "other"))])
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
    assert file.read_bytes() == before


def test_provenance_lies_beside_the_pack(tmp_path: Path) -> None:
    write_traces(tmp_path / "t.parquet", [recording_from_dict(good_row())], provenance={"a": 1})
    assert json.loads((tmp_path / "t.provenance.json").read_text()) == {"a": 1}


def test_packs_are_found_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "shipped_scenarios", lambda: tmp_path)
    pack = tmp_path / "packs" / "recast" / "test.parquet"
    write_traces(pack, [recording_from_dict(good_row())])
    own = lines(tmp_path / "own.jsonl", good_row())
    assert resolve_traces("recast/test", "/nowhere") == pack
    assert resolve_traces("own.jsonl", tmp_path) == own
    with pytest.raises(InputError, match="unknown trace pack 'recast/tset'; did you mean 'recast/"):
        resolve_traces("recast/tset", tmp_path)
    with pytest.raises(InputError, match=r"there is no trace file 'other\.jsonl'"):
        resolve_traces("other.jsonl", tmp_path)


# Whatever stands in a row.


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, inner in items:
        yield from places(inner, (*path, key))


JUNK = [None, -1, 1.5, float("nan"), 10**30, "x", "\ud800", True, [], {}, [None], {"a": 1}]


@given(st.sampled_from(list(places(good_row()))), st.sampled_from(JUNK))
def test_any_value_anywhere_is_read_or_refused(place: tuple[Any, ...], junk: Any) -> None:
    row = edited(".".join(map(str, place)), junk)
    try:
        recording = recording_from_dict(row)
    except InputErrors as refused:
        check_lines(refused)
    else:
        assert recording_from_dict(recording_to_dict(recording)) == recording


# Round trips.

times = st.integers(0, 10**12)
shares = st.floats(0, 1)
texts = st.sampled_from(["", "null", "null\n", '"', "{}", "täglich", "日本 🙂", "\x00\u2028"])
optional_text = st.none() | texts
scalars = st.none() | st.booleans() | st.integers(-(2**40), 2**40) | st.floats(-1e6, 1e6) | texts
json_values = scalars | st.lists(scalars, max_size=2) | st.dictionaries(texts, scalars, max_size=2)
calls = st.fixed_dictionaries(
    {
        "tool": st.sampled_from(["book", "täglich", "$RESULT"]),
        "arguments": st.dictionaries(texts, json_values, max_size=1),
    }
)
arguments = (calls | st.lists(calls, min_size=1, max_size=2)).map(canonical)
json_texts = st.none() | json_values.map(canonical)


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[Arrival, ...]:
    count = draw(st.integers(1, 3))
    ends = sorted(draw(st.lists(times, min_size=count, max_size=count)))
    result: list[Arrival] = []
    free = 0
    for index, end in enumerate(ends):
        service = draw(times)
        free = max(end, free) + service
        result.append(
            Arrival(
                prefix_end_us=end,
                arrived_at_us=free,
                text=draw(texts),
                confidence=draw(st.none() | shares),
                argument=draw(st.none() | arguments),
                is_final=index == count - 1,
                service_us=draw(st.sampled_from([None, service])),
                pause_us=draw(times),
            )
        )
    return tuple(result)


@st.composite
def forecasts(draw: st.DrawFn) -> tuple[Forecast, ...]:
    result = []
    for name in sorted(draw(st.sets(st.sampled_from(["gru-0", "gru-1"])))):
        at_us = tuple(sorted(draw(st.sets(times, max_size=2))))
        p_bad = tuple(draw(shares) for _ in at_us)
        masses = draw(st.sampled_from([None, tuple((p, *[0.0] * 10, 1 - p) for p in p_bad)]))
        result.append(Forecast(name, at_us, p_bad, masses))
    return tuple(result)


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    labelled = draw(st.booleans())
    onsets = draw(st.lists(st.tuples(times, st.none() | times), max_size=1))
    event = st.builds(
        AgentEvent,
        at_us=times,
        type=st.sampled_from(["tool_call", "interrupted"]),
        id=optional_text,
        name=optional_text,
        args=json_texts,
        text=optional_text,
        label=optional_text,
    )
    return Recording(
        recording_id=draw(st.sampled_from(["a", "b", "ü"])),
        audio_end_us=draw(times),
        arrivals=draw(arrivals()),
        events=tuple(sorted(draw(st.lists(event, max_size=1)), key=lambda e: e.at_us)),
        forecasts=draw(forecasts()),
        labelled=labelled,
        target=draw(st.none() | arguments) if labelled else None,
        origin_us=draw(st.none() | times),
        values=tuple(
            draw(st.lists(st.builds(Value, argument=arguments, available_us=times), max_size=1))
        ),
        repairs=tuple(
            Repair(o, None if gap is None else o + gap, draw(texts)) for o, gap in onsets
        ),
        branch_us=draw(st.none() | times),
        subset=draw(optional_text),
        group_id=draw(optional_text),
        settings=draw(
            st.none()
            | st.dictionaries(
                texts, st.dictionaries(texts, json_values, max_size=2), max_size=1
            ).map(lambda options: canonical({"policies": options}))
        ),
        observed=draw(json_texts),
    )


packs = st.lists(recordings(), min_size=1, max_size=2, unique_by=lambda r: r.recording_id)


@settings(max_examples=30)
@given(recordings())
def test_dictionaries_round_trip(recording: Recording) -> None:
    row = recording_to_dict(recording)
    assert recording_from_dict(row) == recording
    assert recording_from_dict(json.loads(json.dumps(row))) == recording


@settings(max_examples=15)
@given(packs)
def test_files_round_trip_in_both_formats(
    tmp_path_factory: pytest.TempPathFactory, pack: list[Recording]
) -> None:
    folder = tmp_path_factory.mktemp("round-trip")
    for name in ("a.jsonl", "a.parquet"):
        write_traces(folder / name, pack)
        assert read_traces(folder / name) == tuple(pack)
        first = (folder / name).read_bytes()
        write_traces(folder / name, read_traces(folder / name))
        assert (folder / name).read_bytes() == first
