"""Forecasts to hold a model against: constants, cue words, another recording's, and the truth.

Cancelling and launching again removes stale executions whatever the forecast, at the price of
delay. A model has shown something where it beats these in stale executions, delay and cost alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from predictors.baselines import base_rate
from predictors.cues import state
from predictors.labels import PERSISTS_RIGHT, outcome_counts
from predictors.versions import seen, ticks, versions
from simcore.errors import UsageError
from simcore.streams import stream
from simcore.trace import Forecast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Recording

CONTROLS: Final = ("always", "base-rate", "cue-words", "oracle")
PERMUTED: Final = "-permuted"


def with_controls(
    recordings: Sequence[Recording],
    training: Iterable[Recording],
    period_us: Microseconds,
    seed: int,
) -> tuple[Recording, ...]:
    """The recordings with controls beside the forecasts that they carry, by checkpoint name.

    `always`: p_bad = 1. `base-rate`: how often versions did not stand in `training`. `cue-words`: 1
    while the text shows an editing phrase, else 0. `oracle`: 1 while the version differs from the
    target, which no predictor knows. And of each checkpoint `<name>-permuted`: its forecasts of a
    recording of another group. They have p_bad alone. Raises `UsageError` for unlabelled
    recordings, for a single group, and where no forecast is there to be permuted.
    """
    for recording in recordings:
        if not recording.labelled:
            raise UsageError(f"'{recording.recording_id}' has no target for the oracle to know")
    names = checkpoints(recordings)
    if not names:
        raise UsageError(
            "the traces carry no forecasts yet: add some with 'simcore train forecast'"
        )
    usual = 1 - base_rate(outcome_counts(training, period_us))[PERSISTS_RIGHT]
    donors = _donors(recordings, seed)
    result = []
    for recording in recordings:
        donor = donors[recording.recording_id]
        lent = ((name, donor.forecast(name)) for name in names)
        added = (
            _steps(recording, period_us, "always", lambda time: 1.0),
            _steps(recording, period_us, "base-rate", lambda time: usual),
            _steps(recording, period_us, "cue-words", _cue(recording)),
            _steps(recording, period_us, "oracle", _truth(recording)),
            *(
                replace(forecast, checkpoint=f"{name}{PERMUTED}", masses=None)
                for name, forecast in lent
                if forecast is not None
            ),
        )
        kept = (f for f in recording.forecasts if f.checkpoint in names)
        result.append(replace(recording, forecasts=(*kept, *added)))
    return tuple(result)


def checkpoints(recordings: Sequence[Recording]) -> tuple[str, ...]:
    """The checkpoints that every recording carries, controls left out."""
    return tuple(
        forecast.checkpoint
        for forecast in (recordings[0].forecasts if recordings else ())
        if forecast.checkpoint not in CONTROLS
        and not forecast.checkpoint.endswith(PERMUTED)
        and all(recording.forecast(forecast.checkpoint) is not None for recording in recordings)
    )


def _steps(
    recording: Recording,
    period_us: Microseconds,
    name: str,
    p_bad: Callable[[Microseconds], float],
) -> Forecast:
    at_us = tuple(ticks(recording.arrivals, period_us))
    return Forecast(name, at_us, tuple(p_bad(time) for time in at_us))


def _cue(recording: Recording) -> Callable[[Microseconds], float]:
    def heard(time: Microseconds) -> float:
        current = state(seen(recording.arrivals, time), time)
        return float(current is not None and current.cue)

    return heard


def _truth(recording: Recording) -> Callable[[Microseconds], float]:
    def wrong(time: Microseconds) -> float:
        return float(versions(seen(recording.arrivals, time))[-1].argument != recording.target)

    return wrong


def _donors(recordings: Sequence[Recording], seed: int) -> dict[str, Recording]:
    """For each recording one of the group that follows its own in a random order."""
    groups: dict[str, list[Recording]] = {}
    for recording in recordings:
        groups.setdefault(recording.cluster, []).append(recording)
    if len(groups) < 2:
        raise UsageError("forecasts can only be permuted between two groups or more")
    names = sorted(groups)
    order = [names[index] for index in stream(seed, "permuted").permutation(len(names))]
    return {
        recording.recording_id: groups[following][place % len(groups[following])]
        for name, following in zip(order, [*order[1:], order[0]], strict=True)
        for place, recording in enumerate(groups[name])
    }
