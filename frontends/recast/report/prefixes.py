"""What is right for a prefix, from the annotations alone, and what its parse made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Argument, Recording

Outcome = Literal["right", "early", "missing", "behind", "wrong"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("right", "early", "missing", "behind", "wrong")


@dataclass(frozen=True, slots=True)
class Meant:
    """From `since_us` on the speaker means `argument` (None: no call)."""

    since_us: Microseconds
    argument: Argument | None


@dataclass(frozen=True, slots=True)
class Judgement:
    """One arrival: which of the `meant` steps holds at its prefix' end, and what its parse is.

    `wrong_change`: it differs from the arrival before it (the first: from nothing) and is neither
    right nor early.
    """

    step: int
    outcome: Outcome
    wrong_change: bool


def judgeable(recording: Recording) -> bool:
    """Whether the annotations say what is right for every prefix."""
    return recording.labelled and (bool(recording.values) or recording.target is None)


def meant(recording: Recording) -> tuple[Meant, ...]:
    """What is meant when, in order.

    Nothing before the first value; then the value that was last heard in full, a whole call with
    its tool, so that a corrected field and a changed tool are new values. Where no call is right in
    the end (an abandonment), nothing again from the end of the last repair on, from its onset where
    no end is annotated.
    """
    values = sorted(recording.values, key=lambda value: value.available_us)
    steps = [Meant(0, None), *(Meant(value.available_us, value.argument) for value in values)]
    if recording.labelled and recording.target is None and recording.repairs:
        last = max(recording.repairs, key=lambda repair: repair.onset_us)
        end = last.onset_us if last.resolved_us is None else last.resolved_us
        steps = [step for step in steps if step.since_us < end] + [Meant(end, None)]
    return tuple(steps)


def judge(recording: Recording) -> list[Judgement]:
    """One judgement an arrival."""
    steps, found, before = meant(recording), [], None
    for arrival in recording.arrivals:
        at = sum(step.since_us <= arrival.prefix_end_us for step in steps) - 1
        outcome = _outcome(steps, at, arrival.argument)
        changed = arrival.argument != before
        found.append(Judgement(at, outcome, changed and outcome not in ("right", "early")))
        before = arrival.argument
    return found


def _outcome(steps: Sequence[Meant], at: int, argument: Argument | None) -> Outcome:
    if argument == steps[at].argument:
        return "right"
    if argument is None:
        return "missing"
    if any(argument == step.argument for step in steps[:at]):
        return "behind"
    if at + 1 < len(steps) and argument == steps[at + 1].argument:
        return "early"
    return "wrong"
