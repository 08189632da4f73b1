"""What came of the current argument version after each tick. Offline only: labels read the future.

The 12 outcomes, in the order of `simcore.trace.Forecast.masses`: a repair is open (0), the next
event falls in future interval k (1 to 8) or beyond them (9), or none comes and the version is wrong
(10) or right (11) at the end. An event is a repair's onset or the arrival of another non-empty
argument, whichever is earlier.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from predictors.versions import seen, ticks, versions
from simcore.clock import NEVER
from simcore.trace import INTERVAL_ENDS_US

if TYPE_CHECKING:
    from collections.abc import Iterable

    from simcore.clock import Microseconds
    from simcore.trace import Argument, Recording, Repair

STEP_US: Final = INTERVAL_ENDS_US[0]
"""Time between two ticks that predictors learn from: the usual control period."""

ONGOING: Final = 0
BEYOND: Final = 9
PERSISTS_WRONG: Final = 10
PERSISTS_RIGHT: Final = 11
OUTCOMES: Final = ("0", "1", "2", "3", "4", "5", "6", "7", "8", ">", "T", "none")


@dataclass(frozen=True, slots=True)
class Observation:
    """One tick's label.

    `outcomes` are all that agree with what is known: one, or "T" and "none" where no event came and
    the recording has no target. `version` counts the recording's versions from 0. `wrong` says
    whether the version differs from the target (None: unlabelled), whatever came after.
    """

    at_us: Microseconds
    version: int
    outcomes: tuple[int, ...]
    wrong: bool | None


def observe(recording: Recording, period_us: Microseconds) -> tuple[Observation, ...]:
    """The label of every tick at which a version is current (`predictors.versions.ticks`)."""
    arrivals = recording.arrivals
    spans = tuple((repair.onset_us, _closed(recording, repair)) for repair in recording.repairs)
    observations = []
    for time in ticks(arrivals, period_us):
        known = versions(seen(arrivals, time))
        argument = known[-1].argument
        wrong = argument != recording.target if recording.labelled else None
        if any(onset <= time < closed for onset, closed in spans):
            outcomes: tuple[int, ...] = (ONGOING,)
        elif (event := _next_event(recording, argument, time)) is not None:
            outcomes = (1 + bisect_left(INTERVAL_ENDS_US, event - time),)
        elif wrong is None:
            outcomes = (PERSISTS_WRONG, PERSISTS_RIGHT)
        else:
            outcomes = (PERSISTS_WRONG if wrong else PERSISTS_RIGHT,)
        observations.append(Observation(time, len(known) - 1, outcomes, wrong))
    return tuple(observations)


def outcome_counts(recordings: Iterable[Recording], period_us: Microseconds) -> tuple[int, ...]:
    """At how many ticks each of the 12 outcomes is the only one that agrees with what is known."""
    counts = Counter(
        observation.outcomes
        for recording in recordings
        for observation in observe(recording, period_us)
    )
    return tuple(counts[(outcome,)] for outcome in range(len(OUTCOMES)))


def _closed(recording: Recording, repair: Repair) -> Microseconds:
    """When the first non-empty argument arrives that had heard the whole repair."""
    if repair.resolved_us is None:
        return NEVER
    return next(
        (
            arrival.arrived_at_us
            for arrival in recording.arrivals
            if arrival.prefix_end_us >= repair.resolved_us and arrival.argument is not None
        ),
        NEVER,
    )


def _next_event(
    recording: Recording, argument: Argument, time: Microseconds
) -> Microseconds | None:
    onsets = [repair.onset_us for repair in recording.repairs if repair.onset_us > time]
    changes = (
        arrival.arrived_at_us
        for arrival in recording.arrivals
        if arrival.arrived_at_us > time and arrival.argument not in (None, argument)
    )
    return min([*onsets, *changes], default=None)
