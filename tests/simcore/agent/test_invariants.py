"""What holds for every script, whatever is said, changed, taken back and repeated."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from policies.speculative_interaction import SpeculativeInteraction
from simcore.agent.program import lower_bound_us, resolved, standing, steps_taken
from simcore.agent.script import from_row, result_of
from simcore.agent.simulation import play
from simcore.faults import Faults
from tests.simcore.agent.strategies import rows

if TYPE_CHECKING:
    from simcore.agent.simulation import Played

SYSTEMS = st.sampled_from(["speculative", "asynchronous", "sequential"])
CAPACITY = st.sampled_from([None, 1, 2])


def _look(ident: str, heard: int, **arguments: Any) -> dict[str, Any]:
    return {"heard": heard, "think": 0, "call": ident, "tool": "look", "arguments": arguments}


# The removal takes c1 along, and c1 is made again after it; both can be done at once.
REMOVED_THEN_MADE_AGAIN = {
    "schema": "script/v1",
    "id": "removed",
    "tokens_per_second": 100,
    "tools": {"look": {"runtime": "0 ms"}},
    "speech": [{"at": "0 ms", "text": "so um"}],
    "steps": [
        _look("c0", 0, n=0),
        _look("c1", 0, n=1, c0="$c0"),
        {"heard": 1, "think": 0, "remove": "c0"},
        _look("c1", 1, n=6),
        {"think": 0, "answer": 3},
    ],
}


@example(row=REMOVED_THEN_MADE_AGAIN, ignore_repeats=False, capacity=None)
@given(rows(), st.booleans(), CAPACITY)
@settings(max_examples=250, deadline=None)
def test_a_task_manager_does_what_stands_and_nothing_else(
    row: dict[str, Any], ignore_repeats: bool, capacity: int | None
) -> None:
    """The plain model: hold every edit against what was there, then run what is left, once.

    With that, nothing removed or superseded has an effect, each effect happens once, and each
    result that is used comes from final inputs. No deadlock: it answers.
    """
    script = from_row(row)
    manager = SpeculativeInteraction(ignore_repeats=ignore_repeats)
    played = play(script, manager, faults=Faults(capacity=capacity), log=True)
    left = resolved(standing(steps_taken(script)))
    assert {ident: task.argument for ident, task in manager.standing.items()} == left
    writes = Counter(text for text in left.values() if json.loads(text)["tool"] == "book")
    assert Counter(effect.argument for effect in played.effects) == writes
    assert all(effect.at_us >= played.commit_us for effect in played.effects)
    _check_order(played)


@given(rows(), SYSTEMS, CAPACITY)
@settings(max_examples=150, deadline=None)
def test_no_system_beats_the_bound_and_all_are_right_without_slips(
    row: dict[str, Any], system: Any, capacity: int | None
) -> None:
    row["steps"] = [step for step in row["steps"] if step.get("slip") != "missed"]
    script = from_row(row)
    played = play(script, SpeculativeInteraction(system), faults=Faults(capacity=capacity))
    assert played.right
    assert (played.wrong_effects, played.missing_effects) == (0, 0)
    assert played.answer_us - played.final_us >= lower_bound_us(script)
    assert played.commit_us > played.final_us


@given(rows(slips=False), SYSTEMS)
@settings(max_examples=80, deadline=None)
def test_tools_that_fail_leave_no_agent_waiting(row: dict[str, Any], system: Any) -> None:
    script = from_row(row)
    faults = Faults(tool_failure=0.4, timeout=0.1, capacity=2)
    played = play(script, SpeculativeInteraction(system), faults=faults)
    assert played.wrong_effects == 0
    assert all(effect.at_us >= played.commit_us for effect in played.effects)


def _check_order(played: Played) -> None:
    """No call runs before what it refers to has answered."""
    known = set[str]()
    for record in played.log:
        if record.kind == "completed":
            assert record.argument is not None
            known.add(result_of(record.argument))
        if record.kind == "launched":
            assert record.argument is not None
            inputs = json.loads(record.argument)["arguments"]
            assert {value for key, value in inputs.items() if key != "n"} <= known
