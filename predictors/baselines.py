"""Predictors to hold a model against that need no model: a constant, and cue words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from predictors.cues import state
from predictors.labels import OUTCOMES, PERSISTS_RIGHT, STEP_US, observe
from predictors.versions import seen, ticks
from simcore.trace import Forecast

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Recording

Masses = tuple[float, ...]


def base_rate(counts: Sequence[int]) -> Masses:
    """Constant masses from the outcomes' counts, each seen once more than it was."""
    total = sum(counts) + len(OUTCOMES)
    return tuple((count + 1) / total for count in counts)


@dataclass(frozen=True, slots=True)
class CueWords:
    """One distribution while the text shows an editing phrase, another while it shows none.

    With twice the same distribution: the constant base rate.
    """

    checkpoint: str
    outcomes: tuple[int, ...]
    with_cue: Masses
    without: Masses

    def forecasts(
        self, recordings: Sequence[Recording], period_us: Microseconds
    ) -> tuple[Forecast, ...]:
        """The forecast of every recording."""
        result = []
        for recording in recordings:
            at = tuple(ticks(recording.arrivals, period_us))
            masses = tuple(self.with_cue if _cue(recording, time) else self.without for time in at)
            result.append(step_function(self.checkpoint, at, masses))
        return tuple(result)


def constant(counts: Sequence[int]) -> CueWords:
    """The base rate of outcomes seen so often in training."""
    masses = base_rate(counts)
    return CueWords("base-rate", tuple(counts), masses, masses)


def fit_cue_words(recordings: Iterable[Recording]) -> CueWords:
    """The shares of the outcomes with and without an editing phrase."""
    counts = np.zeros((2, len(OUTCOMES)), int)
    for recording in recordings:
        for observation in observe(recording, STEP_US):
            if len(observation.outcomes) == 1:
                cue = int(_cue(recording, observation.at_us))
                counts[cue, observation.outcomes[0]] += 1
    without, with_cue = (base_rate(row.tolist()) for row in counts)
    return CueWords("cue-words", tuple(counts.sum(axis=0).tolist()), with_cue, without)


def _cue(recording: Recording, time: Microseconds) -> bool:
    current = state(seen(recording.arrivals, time), time)
    return current is not None and current.cue


def step_function(
    checkpoint: str, at_us: Sequence[Microseconds], masses: Sequence[Sequence[float]]
) -> Forecast:
    """A forecast with p_bad as its masses say."""
    p_bad = tuple(1 - row[PERSISTS_RIGHT] for row in masses)
    return Forecast(checkpoint, tuple(at_us), p_bad, tuple(map(tuple, masses)))
