"""What holds for an agent's calls under every policy, and for the guard, whatever goes wrong."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore import recorder as topic
from simcore.registry import policy_factory
from simcore.scenario import Control
from simcore.tool import ToolProfile
from simcore.trace import AgentEvent, Recording, canonical
from simcore.trajectory import Trajectory, simulate
from tests.simcore.test_backend import check_settled, fault_sets

if TYPE_CHECKING:
    from simcore.faults import Faults

TEXTS = ("Book it.", "Stop.", "Wait, make it 4 p.m.", "Okay.", "No, 3 p.m. on Friday.")
KINDS = (
    *("tool_call", "input_transcript", "interrupted") * 2,
    "activity_start",
    "agent_audio_start",
    "agent_audio_end",
)
SLOTS = ("tomorrow 3pm", "tomorrow at 3 PM", "tomorrow 15:00", "tomorrow 4pm", "Friday 3pm")
BLOCKING = canonical({"behavior": "BLOCKING"})


@st.composite
def agent_sessions(draw: st.DrawFn) -> Recording:
    """Calls, voices, transcripts, interruptions and speech in any order."""
    at, events, calls = 0, [], 0
    for place in range(draw(st.integers(1, 9))):
        at += draw(st.sampled_from([0, 1_000, 400_000, 1_500_000, 3_000_000, 9_000_000]))
        kind = draw(st.sampled_from(KINDS)) if place else "tool_call"
        if kind == "tool_call":
            calls += 1
            args = canonical({"slot": draw(st.sampled_from(SLOTS))})
            events.append(AgentEvent(at, kind, f"call-{calls}", "book_slot", args))
        elif kind == "input_transcript":
            events.append(AgentEvent(at, kind, text=draw(st.sampled_from(TEXTS))))
        else:
            events.append(AgentEvent(at, kind))
    blocking = draw(st.booleans())
    return Recording("s", at, events=tuple(events), settings=BLOCKING if blocking else None)


tools = st.builds(
    ToolProfile,
    name=st.just("book_slot"),
    runtime_us=st.sampled_from([0, 50_000, 4_000_000, 12_000_000]),
    cancel_window_us=st.just(0),
    commit_us=st.sampled_from([0, 200_000]),
    reusable_fields=st.sampled_from([None, frozenset[str]()]),
    boundary=st.just("explicit"),
    fields=st.just((("slot", "datetime"),)),
)
controls = st.builds(Control, acknowledgement_us=st.sampled_from([0, 50_000, 2_000_000]))
guards = st.fixed_dictionaries(
    {},
    optional={
        "hold": st.booleans(),
        "status_note": st.booleans(),
        "intent": st.sampled_from(["keyword", "correction-aware"]),
        "note": st.sampled_from(["at_once", "when_silent", "in_response"]),
        "on_timeout": st.sampled_from(["cancel", "commit"]),
    },
)
maybe_faults = st.none() | fault_sets


def check_no_commit_after_cancel(result: Trajectory) -> None:
    asked: set[int | None] = set()
    committed: set[int | None] = set()
    for record in result.log:
        if record.kind == topic.CANCEL_REQUESTED:
            asked.add(record.call)
        if record.kind == topic.IRREVERSIBLE:
            assert record.call not in asked, f"{record} after its cancellation was asked for"
            assert record.call not in committed, f"{record} a second time"
            committed.add(record.call)


@pytest.mark.parametrize(
    "name", ["at_once", "commit_guard", "pipecat", "livekit", "deepgram", "bolna"]
)
@given(agent_sessions(), tools, controls, maybe_faults, st.integers(0, 9))
@settings(deadline=None, max_examples=25)
def test_every_call_is_settled_once_and_never_committed_after_a_cancel(
    name: str,
    trace: Recording,
    tool: ToolProfile,
    control: Control,
    faults: Faults | None,
    seed: int,
) -> None:
    def play() -> Trajectory:
        factory = policy_factory(name)
        return simulate(trace, tool, factory, control, seed=seed, faults=faults, log=True)

    result = play()
    check_settled(result)
    check_no_commit_after_cancel(result)
    assert play() == result


@given(agent_sessions(), tools, controls, guards, maybe_faults, st.integers(0, 9))
@settings(deadline=None, max_examples=100)
def test_the_guard_commits_a_key_once_and_answers_no_dead_id(
    trace: Recording,
    tool: ToolProfile,
    control: Control,
    options: dict[str, object],
    faults: Faults | None,
    seed: int,
) -> None:
    factory = policy_factory("commit_guard", options)
    result = simulate(trace, tool, factory, control, seed=seed, faults=faults, log=True)
    check_no_commit_after_cancel(result)
    created = {r.call: r.at_us for r in result.log if r.kind == topic.LAUNCHED}
    by_key: dict[str | None, list[int]] = defaultdict(list)
    for record in result.log:
        if record.kind == topic.IRREVERSIBLE:
            by_key[record.argument].append(created[record.call])
    for key, times in by_key.items():
        times.sort()
        gaps = [late - early for early, late in pairwise(times)]
        assert all(gap > 30_000_000 for gap in gaps), f"{key} twice within the window"
    assert result.agent is not None
    if not result.agent.notes:  # an interruption by its own note is none, to the guard
        assert not [record for record in result.log if record.kind == topic.LOST]
