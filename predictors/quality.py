"""How good forecasts are, beside a constant that knows how often each outcome comes."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from predictors.labels import OUTCOMES, PERSISTS_RIGHT, observe

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from predictors.forecast import Predictor
    from predictors.labels import Observation
    from simcore.clock import Microseconds
    from simcore.trace import Recording


@dataclass(frozen=True, slots=True)
class Scores:
    """Means over `n` ticks; lower is better, None where no tick has the label.

    `nll`: -log of the mass on the outcomes that agree with what is known, in nats. The Brier scores
    are of `p_bad` against two labels: `superseded`, its own (any outcome but "none"), and `wrong`
    (the version differs from the target, though it may come back).
    """

    n: int
    nll: float | None
    brier_superseded: float | None
    brier_wrong: float | None


def evaluate(
    recordings: Sequence[Recording],
    predictor: Predictor,
    period_us: Microseconds,
    base: Sequence[float],
) -> tuple[Scores, Scores]:
    """The predictor's scores and those of the constant masses `base`, over all ticks."""
    own, constant = [], []
    forecasts = predictor.forecasts(recordings, period_us)
    for recording, forecast in zip(recordings, forecasts, strict=True):
        for observation in observe(recording, period_us):
            step = forecast.index(observation.at_us)
            if forecast.masses is None or step < 0:
                raise ValueError(f"no masses at a tick of recording '{recording.recording_id}'")
            own.append(_losses(observation, forecast.masses[step]))
            constant.append(_losses(observation, base))
    return _mean(own), _mean(constant)


def base_rate(counts: Sequence[int]) -> tuple[float, ...]:
    """Constant masses from the outcomes' counts, each seen once more than it was."""
    total = sum(counts) + len(OUTCOMES)
    return tuple((count + 1) / total for count in counts)


_Losses = tuple[float, float | None, float | None]


def _losses(observation: Observation, masses: Sequence[float]) -> _Losses:
    p_bad = 1 - masses[PERSISTS_RIGHT]
    nll = -log(max(1e-300, sum(masses[outcome] for outcome in observation.outcomes)))
    superseded = None
    if len(observation.outcomes) == 1:
        superseded = (p_bad - (observation.outcomes[0] != PERSISTS_RIGHT)) ** 2
    wrong = None if observation.wrong is None else (p_bad - observation.wrong) ** 2
    return nll, superseded, wrong


def _mean(rows: Sequence[_Losses]) -> Scores:
    def mean(values: Iterable[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known else None

    columns = tuple(zip(*rows, strict=True)) or ((), (), ())
    nll, superseded, wrong = (mean(column) for column in columns)
    return Scores(len(rows), nll, superseded, wrong)
