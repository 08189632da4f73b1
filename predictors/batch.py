"""Recordings as one padded batch: what is known at every tick, and what came of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from predictors.features import NAMES, features
from predictors.labels import OUTCOMES, observe
from predictors.versions import ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simcore.clock import Microseconds
    from simcore.trace import Recording


def inputs(
    recordings: Sequence[Recording], period_us: Microseconds
) -> tuple[tuple[range, ...], NDArray[np.float32]]:
    """The ticks of each recording, and their features [recordings, ticks, features], padded with 0.

    Padding stands behind, where nothing causal can see it. Not to be written to: the latest are
    kept, since several checkpoints read one pack.
    """
    return _inputs(tuple(recordings), period_us)


@lru_cache(maxsize=1)
def _inputs(
    recordings: tuple[Recording, ...], period_us: Microseconds
) -> tuple[tuple[range, ...], NDArray[np.float32]]:
    times = tuple(ticks(recording.arrivals, period_us) for recording in recordings)
    x = np.zeros((len(times), max(map(len, times), default=0), len(NAMES)), np.float32)
    for row, (recording, at) in enumerate(zip(recordings, times, strict=True)):
        x[row, : len(at)] = features(recording.arrivals, at)
    return times, x


@dataclass(frozen=True, slots=True)
class Batch:
    """Labelled ticks: arrays over [recordings, ticks], with a last axis where the name says.

    `x`: features; `compatible`: which of the 12 outcomes agree with what is known (all of them
    where padded); `weight`: 1 / ticks of the tick's version, so that every version weighs the same,
    and 0 where padded.
    """

    x: NDArray[np.float32]
    compatible: NDArray[np.bool_]
    weight: NDArray[np.float32]

    @property
    def real(self) -> NDArray[np.bool_]:
        """Which ticks are no padding."""
        return self.weight > 0


def labelled(recordings: Sequence[Recording], period_us: Microseconds) -> Batch:
    """The batch of recordings, in their order."""
    _, x = inputs(recordings, period_us)
    compatible = np.ones((*x.shape[:2], len(OUTCOMES)), bool)
    weight = np.zeros(x.shape[:2], np.float32)
    for row, recording in enumerate(recordings):
        observed = observe(recording, period_us)
        lengths = Counter(observation.version for observation in observed)
        for step, observation in enumerate(observed):
            compatible[row, step] = [k in observation.outcomes for k in range(len(OUTCOMES))]
            weight[row, step] = 1 / lengths[observation.version]
    return Batch(x, compatible, weight)
