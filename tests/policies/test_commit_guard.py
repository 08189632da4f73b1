"""The commit guard on small sessions made by hand, and on the recorded ones."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from frontends.importers.gemini_live import gemini_live
from simcore.files.scenarios import load_scenario
from simcore.recorder import LOST, NOTED, RESPONDED
from simcore.registry import policy_factory
from simcore.scenario import Control
from simcore.tool import ToolProfile
from simcore.trajectory import Trajectory, simulate
from tests.frontends.gemini_sessions import call, event, said, session, write

if TYPE_CHECKING:
    from simcore.trace import Recording

RECORDED = Path(__file__).parents[3] / "shared/data/gemini_live/sessions.jsonl"
TOOL = ToolProfile("book_slot", 4_000_000, 0, boundary="explicit", fields=(("slot", "datetime"),))
AT_ONCE = Control(acknowledgement_us=0)


@pytest.fixture
def play(tmp_path: Path) -> Any:
    def run(*events: dict[str, Any], policy: str = "commit_guard", **changes: Any) -> Trajectory:
        options = {
            name: changes.pop(name)
            for name in ("intent", "note", "rebook_after_cancel")
            if name in changes
        }
        (trace,) = gemini_live(write(tmp_path / "s.jsonl", session(*events, **changes)))
        return simulate(trace, TOOL, policy_factory(policy, options), AT_ONCE, log=True)

    return run


def told(result: Trajectory) -> list[tuple[str, str | None, int]]:
    """What the agent was told: (answer or note, status, milliseconds)."""
    return [
        (record.kind, record.argument, record.at_us // 1000)
        for record in result.log
        if record.kind in (RESPONDED, LOST, NOTED)
    ]


def decided(result: Trajectory) -> tuple[str | None, int]:
    assert result.agent is not None
    assert result.agent.decision_us is not None
    return result.agent.decision, result.agent.decision_us // 1000


STOP = (event(2000, "user_audio_start", label="stop"), event(2200, "activity_start"))


def test_an_undisturbed_job_is_committed_after_its_grace(play: Any) -> None:
    assert decided(play(call(1003))) == ("commit", 6503)
    assert decided(play(call(1003), hold=False)) == ("commit", 5003)
    assert told(play(call(1003))) == [(RESPONDED, "booked", 6503)]


def test_an_open_utterance_holds_the_commit_and_its_transcript_decides(play: Any) -> None:
    stopped = play(call(1003), *STOP, said(8000, "Never mind."))
    assert decided(stopped) == ("cancel", 8000)
    assert told(stopped) == [(RESPONDED, "cancelled", 8000), (NOTED, "cancelled", 8000)]
    released = play(call(1003), *STOP, said(8000, "Okay."))
    assert decided(released) == ("commit", 8000)
    early = play(call(1003), *STOP, said(3000, "Okay."))
    assert decided(early) == ("commit", 6503)


def test_without_a_transcript_it_cancels_three_seconds_after_the_later_of_onset_and_due(
    play: Any,
) -> None:
    assert decided(play(call(1003), *STOP)) == ("cancel", 9503)
    late = event(6400, "activity_start")
    assert decided(play(call(1003), late)) == ("cancel", 9503)
    assert decided(play(call(1003), *STOP, on_timeout="commit")) == ("commit", 9503)


def test_the_utterance_that_led_to_the_call_counts(play: Any) -> None:
    words = said(1500, "Book me the 3 p.m. slot. Actually, stop.")
    assert decided(play(words, call(1600))) == ("cancel", 1600)
    # ... also where it is still open when the call comes.
    still_open = play(event(1500, "activity_start"), call(1600), said(7900, "Wait, don't."))
    assert decided(still_open) == ("cancel", 7900)


@pytest.mark.parametrize(("created", "same"), [(31_003, True), (31_004, False)])
def test_a_repeated_call_gets_the_first_ones_result_for_thirty_seconds(
    play: Any, created: int, same: bool
) -> None:
    result = play(call(1003), call(created, "call-2", "tomorrow at 3 PM"))
    assert result.agent.duplicates_suppressed == int(same)
    assert result.agent.double_booking is not same
    off = play(call(1003), call(created, "call-2", "tomorrow at 3 PM"), dedupe=False)
    assert off.agent.double_booking is True


def test_a_repeated_call_waits_for_a_result_that_is_to_come(play: Any) -> None:
    result = play(call(1003), call(2003, "call-2", "tomorrow 15:00"))
    assert told(result) == [(RESPONDED, "booked", 6503), (RESPONDED, "booked", 6503)]


def test_a_genuine_rebooking_needs_its_switch(play: Any) -> None:
    events = (
        call(1003),
        *STOP,
        said(4000, "Stop."),
        said(9000, "Actually, book it after all."),
        call(9003, "call-2"),
    )
    assert told(play(*events))[-1] == (RESPONDED, "cancelled", 9003)
    assert told(play(*events, rebook_after_cancel=True))[-1] == (RESPONDED, "booked", 14_503)


def test_a_stop_after_the_commit_is_noted(play: Any) -> None:
    result = play(call(1003), said(9000, "Stop, don't book it."))
    assert told(result) == [(RESPONDED, "booked", 6503), (NOTED, "booked", 9000)]
    assert play(call(1003), said(9000, "Thanks.")).agent.notes == 0


def test_a_dead_id_is_never_answered_and_a_new_one_gets_the_status(play: Any) -> None:
    dropped = (event(2200, "interrupted"), said(5000, "Stop."), call(5100, "call-2"))
    result = play(call(1003), STOP[0], *dropped, behavior="BLOCKING")
    assert decided(result) == ("cancel", 5000)
    assert told(result) == [(NOTED, "cancelled", 5000), (RESPONDED, "cancelled", 5100)]
    # Without hold the abandoned call is held all the same.
    alone = play(call(1003), STOP[0], *dropped, behavior="BLOCKING", hold=False, dedupe=False)
    assert told(alone) == told(result)
    off = play(call(1003), STOP[0], *dropped, behavior="BLOCKING", hold=False, abandon=False)
    assert decided(off) == ("commit", 5003)


@pytest.mark.parametrize(("interrupted", "answered"), [(2500, True), (2501, False)])
def test_an_interruption_within_a_second_of_a_note_is_its_own_doing(
    play: Any, interrupted: int, answered: bool
) -> None:
    result = play(
        call(1003),
        said(1500, "Stop."),  # cancelled and noted
        said(1800, "Book Friday 10 a.m. then."),
        call(1900, "call-2", "Friday 10am"),
        event(interrupted, "interrupted"),
        said(3000, "Sorry, go on."),
        behavior="BLOCKING",
    )
    # The guard does not see that the server has dropped the call: its answer is lost.
    assert told(result)[2:] == ([(LOST, "booked", 7400)] if answered else [])


def test_a_correction_stops_by_keyword_and_updates_when_understood(play: Any) -> None:
    events = (call(1003), *STOP, said(4000, "Wait, make it 4 p.m."))
    assert decided(play(*events)) == ("cancel", 4000)
    understood = play(*events, intent="correction-aware")
    executed = [v.argument for v in understood.versions if v.outcome == "executed"]
    assert executed == ['{"arguments":{"slot":"2001-01-02 16:00"},"tool":"book_slot"}']
    assert (
        decided(play(*STOP, call(3003), said(4000, "Stop, not 3 p.m."), intent="correction-aware"))[
            0
        ]
        == "cancel"
    )


def test_a_correction_to_what_is_called_for_already_is_a_cancellation(play: Any) -> None:
    result = play(
        call(1003),
        call(2003, "call-2", "tomorrow 4pm"),
        said(3000, "Wait, make it 4 p.m."),
        intent="correction-aware",
    )
    assert told(result)[0] == (RESPONDED, "cancelled", 3000)
    assert [v.outcome for v in result.versions] == ["cancelled", "executed"]


def test_everything_off_is_no_guard(play: Any) -> None:
    events = (
        call(1003),
        *STOP,
        event(2200, "interrupted"),
        said(5000, "Stop."),
        call(5100, "call-2", "tomorrow at 3pm"),
    )
    off = dict.fromkeys(("hold", "dedupe", "status_note", "abandon"), False)
    for behavior in ("BLOCKING", "NON_BLOCKING"):
        guard = play(*events, behavior=behavior, **off)
        none = play(*events, behavior=behavior, policy="at_once")
        assert guard == none
        assert guard.agent.double_booking


def test_a_guard_needs_a_tool_of_two_phases() -> None:
    from simcore.errors import UsageError

    trace = load_scenario("restaurant_booking").recordings[0]
    with pytest.raises(UsageError, match="needs two phases"):
        simulate(trace, ToolProfile("book", 1, 1), policy_factory("commit_guard"))


def _close(one: float, other: float, within_ms: float) -> bool:
    return abs(one - other) <= within_ms


@pytest.mark.parametrize("source", ["file", "pack"])
def test_recorded_sessions_come_out_as_recorded(source: str) -> None:
    """Every decision and its time, every commit, duplicate, answer and note."""
    if source == "file" and not RECORDED.is_file():
        pytest.skip("the recorded sessions are not beside the project")
    scenario = load_scenario("commit_guard_recorded")
    traces = gemini_live(RECORDED) if source == "file" else scenario.recordings
    assert len(traces) == 18
    for trace in traces:
        _check_replay(trace, scenario.actions[0], scenario.control)


def _check_replay(trace: Recording, tool: ToolProfile, control: Control) -> None:
    assert trace.observed is not None
    observed = json.loads(trace.observed)
    result = simulate(trace, tool, policy_factory("commit_guard"), control, log=True)
    scores = result.agent
    assert scores is not None
    assert decided(result)[0] == observed["decision"]
    assert _close(decided(result)[1], observed["decision_ms"], 5)
    assert scores.stop_to_decision_s is not None
    assert _close(scores.stop_to_decision_s * 1000, observed["stop_to_decision_ms"], 5)
    for name in ("unwanted_commit", "double_booking", "duplicates_suppressed"):
        assert getattr(scores, name) == observed[name], name
    effects = [v.deadline_us // 1000 for v in result.versions if v.outcome == "executed"]
    commits = [s["t_ms"] for s in observed["service"] if s["what"] == "committed"]
    assert len(effects) == len(commits)
    assert all(_close(a, b, 5) for a, b in zip(effects, commits, strict=True))
    answers = [f"{status}@{at}" for kind, status, at in told(result) if kind != NOTED]
    notes = [at for kind, _, at in told(result) if kind == NOTED]
    assert len(notes) == len(observed["status_notes_ms"])
    # What the client did after its decision took it up to 8 ms more.
    assert all(_close(a, b, 10) for a, b in zip(notes, observed["status_notes_ms"], strict=True))
    assert len(answers) == len(observed["tool_responses"])
    for mine, theirs in zip(answers, observed["tool_responses"], strict=True):
        (status, at), (said_status, said_at) = mine.split("@"), theirs.split("@")
        assert status == said_status
        assert _close(int(at), int(said_at), 10)


def test_a_recordings_settings_override_the_scenario() -> None:
    trace = load_scenario("commit_guard_recorded").recordings[0]
    patient = policy_factory("commit_guard", {"grace": "9 s"})
    assert simulate(trace, TOOL, patient, AT_ONCE) == simulate(
        trace, TOOL, policy_factory("commit_guard"), AT_ONCE
    )
    bare = replace(trace, settings=None)
    assert simulate(bare, TOOL, patient, AT_ONCE) != simulate(
        bare, TOOL, policy_factory("commit_guard", {"hold": False}), AT_ONCE
    )
