from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl
import pytest

from simcore.errors import UsageError
from simcore.metrics import summarize
from simcore.report.gates import METRICS, check_gates
from simcore.scenario import Gate

if TYPE_CHECKING:
    from simcore.report.summary import Summary


def test_a_gate_holds_at_its_bounds_and_fails_beyond(summary: Summary) -> None:
    for metric, read in METRICS.items():
        value = read(summary.policies[0].scores)
        assert value is not None
        for gate, passed in [
            (Gate(metric, "eou", maximum=value), True),
            (Gate(metric, "eou", minimum=value), True),
            (Gate(metric, "eou", maximum=value - 1e-6), False),
            (Gate(metric, "eou", minimum=value + 1e-6), False),
            (Gate(metric, "eou", minimum=value, maximum=value), True),
        ]:
            (result,) = check_gates(summary.policies, [gate])
            assert result.passed is passed
            assert result.value == value


def test_a_gate_without_a_policy_binds_every_policy(summary: Summary) -> None:
    results = check_gates(summary.policies, [Gate("failures", maximum=0)])
    assert [(r.policy, r.passed) for r in results] == [
        ("eou", True),
        ("eager|bold", True),
        ("odd", False),
    ]
    assert str(results[2]) == "gate failed: odd: failures <= 0, is 4"


def test_a_gate_on_nothing_fails(frame: pl.DataFrame) -> None:
    broken = frame.filter(pl.col("failure").is_not_null())
    (result,) = check_gates(summarize(broken), [Gate("delay_s", maximum=99)])
    assert not result.passed
    assert "nothing to measure" in str(result)


def test_unknown_names_are_answered_with_the_nearest(summary: Summary) -> None:
    with pytest.raises(UsageError, match="did you mean 'stale_rate'"):
        check_gates(summary.policies, [Gate("stale_rates", maximum=1)])
    with pytest.raises(UsageError, match="did you mean 'eou'"):
        check_gates(summary.policies, [Gate("cost", "eo", maximum=1)])
