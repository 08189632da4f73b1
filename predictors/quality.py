"""How good forecasts are: likelihood, Brier, AUROC, calibration, by kind of tick and recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from predictors.labels import OUTCOMES, PERSISTS_RIGHT, observe
from simcore.trace import INTERVAL_ENDS_US

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from predictors.forecast import Predictor
    from simcore.clock import Microseconds
    from simcore.trace import Recording

    Floats = NDArray[np.float64]

HORIZONS_US: Final = (0, *INTERVAL_ENDS_US)
LEAST: Final = 5e-5
"""Masses are kept to four decimals: below this, a mass may be any."""

BINS: Final = 10
"""Of equal width, for reliability and the expected calibration error."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Labelled ticks of recordings, arrays of one length.

    `recording`: its index; `compatible` [n, 12]: the outcomes that agree with what is known;
    `superseded`: 1 where the outcome is any but "none", `wrong`: 1 where the version differs from
    the target, whatever comes after; both NaN where unknown.
    """

    recordings: tuple[Recording, ...]
    recording: NDArray[np.intp]
    at_us: NDArray[np.int64]
    compatible: NDArray[np.bool_]
    superseded: Floats
    wrong: Floats

    def masses(self, predictor: Predictor, period_us: Microseconds) -> Floats:
        """A predictor's masses at these ticks [n, 12]."""
        forecasts = predictor.forecasts(self.recordings, period_us)
        result = np.empty((len(self.recording), len(OUTCOMES)))
        for row, (index, time) in enumerate(zip(self.recording, self.at_us, strict=True)):
            forecast = forecasts[index]
            step = forecast.index(int(time))
            if forecast.masses is None or step < 0:
                name = self.recordings[index].recording_id
                raise ValueError(f"no masses at a tick of recording '{name}'")
            result[row] = forecast.masses[step]
        return result

    def at(self, places: Sequence[tuple[int, Microseconds]]) -> NDArray[np.intp]:
        """Where the ticks (recording's index, time) stand among the rows; unknown ones are left."""
        known = {
            (int(index), int(time)): row
            for row, (index, time) in enumerate(zip(self.recording, self.at_us, strict=True))
        }
        return np.array([known[place] for place in places if place in known], np.intp)


def label(recordings: Sequence[Recording], period_us: Microseconds) -> Rows:
    """The labelled ticks of recordings (`predictors.labels.observe`)."""
    found = [
        (index, observation)
        for index, recording in enumerate(recordings)
        for observation in observe(recording, period_us)
    ]
    compatible = np.zeros((len(found), len(OUTCOMES)), bool)
    superseded, wrong = np.full((2, len(found)), np.nan)
    for row, (_, observation) in enumerate(found):
        compatible[row, list(observation.outcomes)] = True
        if len(observation.outcomes) == 1:
            superseded[row] = observation.outcomes[0] != PERSISTS_RIGHT
        if observation.wrong is not None:
            wrong[row] = observation.wrong
    return Rows(
        tuple(recordings),
        np.array([index for index, _ in found], np.intp),
        np.array([observation.at_us for _, observation in found], np.int64),
        compatible,
        superseded,
        wrong,
    )


@dataclass(frozen=True, slots=True)
class Bin:
    """Forecasts in [low, high): how many, their mean, and how often the event came."""

    low: float
    high: float
    n: int
    mean: float
    share: float


@dataclass(frozen=True, slots=True)
class Against:
    """Scores of probabilities against one label, over the `n` ticks at which it is known.

    `share` is how often the label is 1. `auroc` is None where the label is constant; `ece`:
    expected calibration error over BINS bins.
    """

    n: int
    share: float
    brier: float
    auroc: float | None
    ece: float
    reliability: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Horizon:
    """The mass of events within `until_us` (0: a repair is open) against what came."""

    until_us: Microseconds
    n: int
    share: float
    brier: float
    auroc: float | None


@dataclass(frozen=True, slots=True)
class Scores:
    """Over `n` ticks: the mean negative log of the mass on compatible outcomes, in nats; p_bad
    against either label; and the cumulative event mass by horizon."""

    n: int
    nll: float
    superseded: Against | None
    wrong: Against | None
    horizons: tuple[Horizon, ...]


def scores(rows: Rows, masses: Floats, chosen: NDArray[Any]) -> Scores | None:
    """The scores at chosen rows (a mask, or places that may repeat); None without any."""
    compatible, masses = rows.compatible[chosen], masses[chosen]
    if not len(masses):
        return None
    likelihood = (masses * compatible).sum(axis=1)
    p_bad = 1 - masses[:, PERSISTS_RIGHT]
    return Scores(
        n=len(masses),
        nll=float(-np.log(np.maximum(likelihood, LEAST)).mean()),
        superseded=_against(p_bad, rows.superseded[chosen]),
        wrong=_against(p_bad, rows.wrong[chosen]),
        horizons=_horizons(masses, compatible),
    )


def _against(p: Floats, label: Floats) -> Against | None:
    known = ~np.isnan(label)
    if not known.any():
        return None
    p, label = p[known], label[known]
    places = np.clip((p * BINS).astype(int), 0, BINS - 1)
    bins = []
    for place in range(BINS):
        inside = places == place
        if count := int(inside.sum()):
            low, high = place / BINS, (place + 1) / BINS
            bins.append(Bin(low, high, count, float(p[inside].mean()), float(label[inside].mean())))
    return Against(
        n=len(p),
        share=float(label.mean()),
        brier=float(((p - label) ** 2).mean()),
        auroc=auroc(p, label),
        ece=sum(one.n * abs(one.mean - one.share) for one in bins) / len(p),
        reliability=tuple(bins),
    )


def _horizons(masses: Floats, compatible: NDArray[np.bool_]) -> tuple[Horizon, ...]:
    by_then = masses.cumsum(axis=1)
    result = []
    for k, until_us in enumerate(HORIZONS_US):
        before: NDArray[np.bool_] = np.any(compatible[:, : k + 1], axis=1)
        sure: NDArray[np.bool_] = before ^ np.any(compatible[:, k + 1 :], axis=1)
        if not sure.any():
            continue
        p, came = by_then[sure, k], before[sure].astype(float)
        brier = float(((p - came) ** 2).mean())
        result.append(Horizon(until_us, int(sure.sum()), float(came.mean()), brier, auroc(p, came)))
    return tuple(result)


def auroc(p: Floats, label: Floats) -> float | None:
    """The chance that a 1 has a higher p than a 0, ties counted half; None for a constant label.

    >>> auroc(np.array([0.1, 0.4, 0.4]), np.array([0.0, 0.0, 1.0]))
    0.75
    """
    ones = int(label.sum())
    zeros = len(label) - ones
    if not ones or not zeros:
        return None
    _, group, counts = np.unique(p, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - (counts - 1) / 2)[group]
    return float((ranks[label == 1].sum() - ones * (ones + 1) / 2) / (ones * zeros))
