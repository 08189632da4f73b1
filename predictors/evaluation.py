"""What `simcore train evaluate` scores: checkpoints, and baselines fitted on the spot."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from predictors.baselines import constant, fit_cue_words
from predictors.calibration import Calibrator
from predictors.forecast import digest
from predictors.gru import Gru, Settings
from predictors.hazard import fit
from predictors.machine import hardware
from predictors.quality_report import Subject
from predictors.training import train
from predictors.versions import ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from predictors.forecast import Predictor
    from predictors.training import Dataset, Progress
    from simcore.clock import Microseconds
    from simcore.trace import Recording


def subjects_of(models: Sequence[Predictor]) -> tuple[Subject, ...]:
    """The models, each GRU also before its calibration, and the base rate of their training."""
    subjects = [Subject(constant(models[0].outcomes))]
    for model in models:
        if isinstance(model, Gru):
            record = model.record.model_copy(update={"calibrator": Calibrator()})
            subjects.append(Subject(replace(model, record=record), calibrated=False))
        subjects.append(Subject(model))
    return tuple(subjects)


def fit_baselines(
    data: Dataset, selection: Dataset, calibration: Dataset, progress: Progress
) -> tuple[Subject, ...]:
    """Cue words, the empirical hazard and logistic regression, fitted on the training part.

    The logistic regression has the GRU's features, loss, selection and calibration; all that it
    lacks is memory.
    """
    settings = Settings(hidden=0)
    logistic = train("logistic", data, selection, calibration, 0, settings, progress)
    hazard = fit(data.recordings, data.name)
    return (Subject(fit_cue_words(data.recordings)), Subject(hazard), Subject(logistic))


def about(
    traces: str,
    recordings: Sequence[Recording],
    models: Sequence[Predictor],
    period_us: Microseconds,
) -> dict[str, Any]:
    """What the quality's JSON says besides scores; times are measured here and now.

    `tick_us`: microseconds a tick where a whole pack is one batch; `single_tick_us`: where each
    recording is a batch of its own. Both from recognized text to masses.
    """
    return {
        "traces": traces,
        "digest": digest(recordings),
        "recordings": len(recordings),
        "checkpoints": [model.checkpoint for model in models],
        "period_us": period_us,
        "tick_us": _tick_us(models[0], [list(recordings)], period_us),
        "single_tick_us": _tick_us(models[0], [[r] for r in recordings[:100]], period_us),
        "hardware": hardware(),
    }


def _tick_us(
    model: Predictor, batches: Sequence[Sequence[Recording]], period_us: Microseconds
) -> float:
    count = sum(len(ticks(r.arrivals, period_us)) for batch in batches for r in batch)
    began = time.perf_counter()
    for batch in batches:
        model.forecasts(batch, period_us)
    return 1e6 * (time.perf_counter() - began) / max(1, count)
