"""Generated sessions are valid traces, and the same seed gives the same ones."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from typer.testing import CliRunner

from frontends.commands import app
from frontends.importers.sessions import sessions
from simcore.files.traces import read_traces

if TYPE_CHECKING:
    from pathlib import Path


def test_the_same_seed_gives_the_same_sessions_whatever_their_number() -> None:
    some = list(sessions(40, 3))
    assert list(sessions(60, 3))[:40] == some
    assert list(sessions(40, 4)) != some


def test_sessions_are_valid_and_say_what_is_wanted(tmp_path: Path) -> None:
    out = tmp_path / "s.jsonl"
    arguments = ["sessions", "--out", str(out), "--count", "320", "--seed", "3"]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    traces = read_traces(out)
    assert len(traces) == 320
    for trace in traces:
        assert trace.subset is not None
        wanted = not trace.subset.startswith("stop")
        assert (trace.target is not None) is wanted
        labels = [e.label for e in trace.events if e.type == "user_audio_start"]
        assert ("stop" in labels) is (not wanted or trace.subset == "rebooking")
        calls = [e for e in trace.events if e.type == "tool_call"]
        assert calls
        assert len({call.id for call in calls}) == len(calls)
        transcripts = [e.at_us for e in trace.events if e.type == "input_transcript"]
        assert min(transcripts) <= calls[0].at_us
    subsets = Counter(trace.subset for trace in traces)
    assert {"plain", "noise", "correction", "stop after due", "stop never transcribed"} <= set(
        subsets
    )
    assert {trace.variant for trace in traces} == {"blocking", "non-blocking"}
