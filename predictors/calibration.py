"""The logistic calibrator: how likely an event is, without changing when it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from pydantic import BaseModel, ConfigDict

from predictors.labels import BEYOND, PERSISTS_WRONG

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PULL: Final = 1.0
"""L2 weight on (a - 1, b), against a sum of log-losses in which every version weighs 1."""

_TINY: Final = 1e-9
_EVENT: Final = slice(0, BEYOND + 1)
_NO_EVENT: Final = slice(PERSISTS_WRONG, None)


class Calibrator(BaseModel):
    """q' = sigmoid(a logit q + b) for the mass q of all events (outcomes 0 to ">")."""

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)

    a: float = 1.0
    b: float = 0.0

    def __call__(self, masses: Floats) -> Floats:
        """Calibrated masses [..., 12]; proportions within either branch stay."""
        q = _event_mass(masses)
        rescaled = _sigmoid(self.a * _logit(q) + self.b)
        result = np.empty_like(masses)
        result[..., _EVENT] = masses[..., _EVENT] * (rescaled / q)[..., None]
        result[..., _NO_EVENT] = masses[..., _NO_EVENT] * ((1 - rescaled) / (1 - q))[..., None]
        result /= result.sum(axis=-1, keepdims=True)
        return result


def fit_calibrator(masses: Floats, compatible: NDArray[np.bool_], weight: Floats) -> Calibrator:
    """The calibrator of ticks with masses [n, 12], compatible outcomes [n, 12] and weights [n].

    Newton's method on the weighted log-loss of "an event comes", plus PULL / 2 times the squared
    distance of (a, b) from (1, 0). Convex: there is one minimum.
    """
    came: NDArray[np.bool_] = np.any(compatible[:, _EVENT], axis=1)
    sure: NDArray[np.bool_] = came ^ np.any(compatible[:, _NO_EVENT], axis=1)
    x = np.stack([_logit(_event_mass(masses[sure])), np.ones(sure.sum())], axis=1)
    y, w = came[sure].astype(float), weight[sure]
    identity = np.array([1.0, 0.0])

    def cost(theta: Floats) -> float:
        score = x @ theta
        losses = w * (np.logaddexp(0, score) - y * score)
        return float(losses.sum() + PULL / 2 * ((theta - identity) ** 2).sum())

    theta = identity
    for _ in range(100):
        p = _sigmoid(x @ theta)
        gradient = x.T @ (w * (p - y)) + PULL * (theta - identity)
        curvature = (x * (w * p * (1 - p))[:, None]).T @ x + PULL * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        while cost(theta - size * step) > cost(theta) and size > 1e-6:
            size /= 2
        theta = theta - size * step
        if np.abs(step).max() < 1e-10:
            break
    return Calibrator(a=float(theta[0]), b=float(theta[1]))


def _event_mass(masses: Floats) -> Floats:
    q: Floats = masses[..., _EVENT].sum(axis=-1)
    return np.clip(q, _TINY, 1 - _TINY)


def _logit(q: Floats) -> Floats:
    result: Floats = np.log(q) - np.log1p(-q)
    return result


def _sigmoid(score: Floats) -> Floats:
    result: Floats = np.exp(-np.logaddexp(0, -score))
    return result
