"""Recorded sessions become traces; faulty ones give one clear line for each fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from frontends.importers.gemini_live import gemini_live
from simcore.cli.main import app
from simcore.errors import InputErrors
from simcore.files.traces import read_traces
from simcore.settings import settings_of
from simcore.tool import ToolProfile
from tests.frontends.gemini_sessions import call, event, said, session, write

if TYPE_CHECKING:
    from pathlib import Path

STOP = [event(2000, "user_audio_start", label="stop"), event(2200, "activity_start")]


def test_a_session_becomes_a_trace(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", session(call(1003), *STOP, said(5000, "Stop."), hold=False))
    out = tmp_path / "t.jsonl"
    done = CliRunner().invoke(app, ["import", "gemini-live", str(path), "--out", str(out)])
    assert (done.exit_code, done.output) == (0, f"{out}: 1 recording\n")
    (trace,) = read_traces(out)
    assert (trace.recording_id, trace.variant, trace.audio_end_us) == (
        "s/1",
        "without hold",
        5_000_000,
    )
    assert (trace.labelled, trace.target) == (True, None)
    assert [e.at_us for e in trace.events] == [
        1_000_000,
        1_003_000,
        2_000_000,
        2_200_000,
        5_000_000,
    ]
    settings = settings_of(trace)
    assert settings["tool"] == {"runtime_us": 4_000_000, "commit_us": 0}
    assert settings["policies"]["commit_guard"]["grace"] == "1500 ms"
    assert settings["policies"]["commit_guard"]["hold"] is False


FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "unknown response": (
        session(call(1003), event(1200, "tool_response", id="call-9")),
        "line 1, events[2].id: a response to 'call-9', which was never called",
    ),
    "after the end": (
        session(call(9003), end_ms=9000),
        "line 1, events[1].t_ms: a call after the end of the session at 9000 ms",
    ),
    "one id twice": (
        session(call(1003), call(1100)),
        "line 1, events[2].id: a second call of the id 'call-1'",
    ),
    "empty transcript": (
        session(call(1003), event(1200, "input_transcript")),
        "line 1, events[2].text: the transcript is missing",
    ),
    "no transcript": (
        session() | {"events": [call(1003)]},
        "line 1, events[0]: the transcript that led to 'call-1' is missing: none comes before it",
    ),
    "clock": (
        session(call(1003), event(900, "activity_start")),
        "line 1, events[2].t_ms: the clock goes back, from 1003 to 900 ms",
    ),
    "arguments": (
        session(call(1003) | {"args": "{slot: 3pm"}),
        "line 1, events[1].args: the arguments are no JSON: '{slot: 3pm'",
    ),
    "no object": (
        session(call(1003) | {"args": ["3pm"]}),
        "line 1, events[1].args: the arguments are no JSON object: ['3pm']",
    ),
    "unknown key": (
        session(call(1003), behaviour="BLOCKING"),
        "line 1, behaviour: unknown key 'behaviour'; did you mean 'behavior'?",
    ),
    "no call's id": (
        session(event(1003, "tool_call", name="book_slot")),
        "line 1, events[1].id: a tool_call needs an 'id'",
    ),
    "unknown tool": (
        session(call(1003) | {"name": "book_slt"}),
        "line 1, events[1].name: the catalogue has no tool 'book_slt'; did you mean 'book_slot'?",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_bad_sessions_are_named(tmp_path: Path, name: str) -> None:
    row, message = FAULTS[name]
    path = write(tmp_path / "s.jsonl", row)
    with pytest.raises(InputErrors) as caught:
        gemini_live(path, [ToolProfile("book_slot", 1, 1)])
    assert [str(fault) for fault in caught.value.faults] == [f"{path}: {message}"]


def test_every_fault_of_a_file_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "s.jsonl", session(call(1003)), session(call(1003)))
    path.write_text(path.read_text("utf-8") + "{broken\n", "utf-8")
    with pytest.raises(InputErrors) as caught:
        gemini_live(path)
    first, second = map(str, caught.value.faults)
    assert first.endswith("line 2, session: 's/1' is the session of line 1 too")
    assert "line 3: is no JSON, or is cut short" in second


def test_the_catalogue_comes_from_a_file(tmp_path: Path) -> None:
    tools = tmp_path / "tools.yaml"
    tools.write_text("schema: actions/v1\nactions:\n  - {name: pay, prepare: 1 s}\n", "utf-8")
    path = write(tmp_path / "s.jsonl", session(call(1003)))
    arguments = ["import", "gemini-live", str(path), "--tools", str(tools)]
    done = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path / "t.jsonl")])
    assert isinstance(done.exception, InputErrors)
    assert "the catalogue has no tool 'book_slot'; known are pay" in str(done.exception)
