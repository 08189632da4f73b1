"""Forecasts to hold a model against: constants, cue words, another recording's, and the truth.

Cancelling and launching again removes stale executions whatever the forecast, at the price of
delay. A model has shown something where it beats these in stale executions, delay and cost alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from predictors.cues import state
from predictors.labels import PERSISTS_RIGHT
from predictors.quality import base_rate
from predictors.versions import seen, ticks, versions
from simcore.errors import UsageError
from simcore.streams import stream
from simcore.trace import Forecast

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from predictors.forecast import Predictor
    from simcore.clock import Microseconds
    from simcore.trace import Recording

CONTROLS: Final = ("always", "base-rate", "cue-words", "permuted", "oracle")


def with_controls(
    recordings: Sequence[Recording], predictor: Predictor, period_us: Microseconds, seed: int
) -> tuple[Recording, ...]:
    """The recordings with the model's forecasts and those of every control, by checkpoint name.

    `always`: p_bad = 1. `base-rate`: how often versions did not stand in training. `cue-words`: 1
    while the text shows an editing phrase, else 0. `permuted`: the model's forecasts of a recording
    of another group. `oracle`: 1 while the version differs from the target, which no predictor
    knows. They have p_bad alone. Raises `UsageError` for unlabelled recordings and a single group.
    """
    for recording in recordings:
        if not recording.labelled:
            raise UsageError(f"'{recording.recording_id}' has no target for the oracle to know")
    usual = 1 - base_rate(predictor.outcomes)[PERSISTS_RIGHT]
    forecasts = predictor.forecasts(recordings, period_us)
    own = {r.recording_id: f for r, f in zip(recordings, forecasts, strict=True)}
    donors = _donors(recordings, seed)
    result = []
    for recording in recordings:
        lent = own[donors[recording.recording_id].recording_id]
        added = (
            own[recording.recording_id],
            _steps(recording, period_us, "always", lambda time: 1.0),
            _steps(recording, period_us, "base-rate", lambda time: usual),
            _steps(recording, period_us, "cue-words", _cue(recording)),
            replace(lent, checkpoint="permuted", masses=None),
            _steps(recording, period_us, "oracle", _truth(recording)),
        )
        names = {forecast.checkpoint for forecast in added}
        kept = (f for f in recording.forecasts if f.checkpoint not in names)
        result.append(replace(recording, forecasts=(*kept, *added)))
    return tuple(result)


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
