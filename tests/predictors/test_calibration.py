"""The calibrator moves the mass of events, and nothing within either branch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictors.calibration import Calibrator, fit_calibrator


@given(st.lists(st.floats(0.001, 1), min_size=12, max_size=12), st.floats(-2, 3), st.floats(-3, 3))
def test_proportions_stay_within_both_branches(values: list[float], a: float, b: float) -> None:
    before = np.array(values) / sum(values)
    after = Calibrator(a=a, b=b)(before)
    q, moved = before[:10].sum(), after[:10].sum()
    assert after.sum() == pytest.approx(1)
    assert moved == pytest.approx(1 / (1 + np.exp(-(a * np.log(q / (1 - q)) + b))))
    assert after[:10] / moved == pytest.approx(before[:10] / q)
    # p_bad = q' + (1 - q') p_T / (p_T + p_none)
    wrong = before[10] / (before[10] + before[11])
    assert 1 - after[11] == pytest.approx(moved + (1 - moved) * wrong)


def with_events(q: np.ndarray) -> np.ndarray:
    masses = np.zeros((len(q), 12))
    masses[:, 3], masses[:, 11] = q, 1 - q
    return masses


def test_finds_what_made_the_labels() -> None:
    random = np.random.default_rng(1)
    q = random.uniform(0.02, 0.98, 20_000)
    truth = Calibrator(a=0.5, b=1.0)(with_events(q))[:, 3]
    came = random.uniform(size=len(q)) < truth
    compatible = np.zeros((len(q), 12), bool)
    compatible[came, 7] = True
    compatible[~came] = [k >= 10 for k in range(12)]
    found = fit_calibrator(with_events(q), compatible, np.ones(len(q)))
    assert found.a == pytest.approx(0.5, abs=0.05)
    assert found.b == pytest.approx(1.0, abs=0.05)


def test_the_pull_is_to_the_identity() -> None:
    nothing = fit_calibrator(with_events(np.array([0.5])), np.ones((1, 12), bool), np.ones(1))
    assert (nothing.a, nothing.b) == (1, 0)
    compatible = np.zeros((2, 12), bool)
    compatible[:, 3] = True
    sure = fit_calibrator(with_events(np.array([0.9, 0.9])), compatible, np.ones(2))
    assert 1 < sure.a < 2
    assert 0 < sure.b < 1


def test_weights_count_versions() -> None:
    q, compatible = np.array([0.3, 0.3, 0.3]), np.zeros((3, 12), bool)
    compatible[0, 3] = compatible[1:, 11] = True
    thrice = fit_calibrator(with_events(q), compatible, np.array([1.0, 0.5, 0.5]))
    twice = fit_calibrator(with_events(q[:2]), compatible[:2], np.ones(2))
    assert (thrice.a, thrice.b) == pytest.approx((twice.a, twice.b))
