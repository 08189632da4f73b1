"""Event-driven policies run on the same kernel and ledger as tick policies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from simcore.commands import Answer, Cancel, Launch, Wake
from simcore.recorder import ARRIVAL, TIMER
from simcore.tool import ToolProfile
from simcore.trace import AgentEvent, Arrival, Recording
from simcore.trajectory import Trajectory, simulate

if TYPE_CHECKING:
    from simcore.policy import View

CALL = '{"arguments":{"slot":"3pm"},"tool":"book_slot"}'
TOOL = ToolProfile("book_slot", runtime_us=4_000_000, cancel_window_us=4_000_000)


class Guard:
    """Carries out what the agent calls, after a moment; takes it back when interrupted."""

    subscribes: ClassVar[tuple[str, ...]] = ("tool_call", "interrupted", TIMER)

    def reset(self, view: View) -> None:
        self.asked: list[tuple[int, str]] = []
        self.wanted: str | None = None

    def on(self, event: Any, view: View) -> Answer:
        kind = getattr(event, "type", None) or event.kind
        self.asked.append((view.tick_us, kind))
        if kind == "tool_call":
            self.wanted = event.args
            return Wake(view.tick_us + 500_000)
        if kind == "interrupted":
            self.wanted = None
            return Cancel() if view.active else None
        return Launch(self.wanted) if self.wanted else None


def play(*events: tuple[int, str]) -> tuple[Trajectory, Guard]:
    guard = Guard()
    facts = tuple(
        AgentEvent(at, kind, args=CALL if kind == "tool_call" else None) for at, kind in events
    )
    recording = Recording("s", 9_000_000, events=facts, labelled=True, target=CALL)
    return simulate(recording, TOOL, guard, log=True), guard


def test_commands_take_effect_at_the_event() -> None:
    result, guard = play((1_000_000, "tool_call"), (2_000_000, "activity_start"))
    assert guard.asked == [(1_000_000, "tool_call"), (1_500_000, TIMER)]
    assert (result.first_commit_us, result.success) == (1_500_000, True)


def test_an_interruption_takes_the_call_back_in_time() -> None:
    result, _ = play((1_000_000, "tool_call"), (5_480_000, "interrupted"))
    assert (result.cancels, result.final_argument) == (1, None)
    late, _ = play((1_000_000, "tool_call"), (5_480_001, "interrupted"))
    assert (late.late_cancels, late.versions[0].outcome) == (1, "executed")


def test_an_interruption_before_the_timer_keeps_the_call_from_starting() -> None:
    result, guard = play((1_000_000, "tool_call"), (1_500_000, "interrupted"))
    # Source events come before decisions at one instant.
    assert [kind for _, kind in guard.asked] == ["tool_call", "interrupted", TIMER]
    assert (result.commits, result.result) == (0, "none")


class Echo:
    """Launches the first argument that arrives, at its arrival."""

    subscribes: ClassVar[tuple[str, ...]] = (ARRIVAL,)

    def reset(self, view: View) -> None:
        pass

    def on(self, event: Any, view: View) -> Answer:
        return Launch(view.candidate) if view.candidate and not view.active else None


def test_arrivals_are_facts_too() -> None:
    heard = (Arrival(1, 7, "", 1.0, None, False), Arrival(9, 11, "", 1.0, CALL, True))
    trace = Recording("r", 9, heard, labelled=True, target=CALL)
    assert simulate(trace, TOOL, Echo).first_commit_us == 11
