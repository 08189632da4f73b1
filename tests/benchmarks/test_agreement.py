"""The yardsticks simulate the same rules: they give the plain interpreter's outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings

from tests.benchmarks import heapq_loop, simpy_script
from tests.benchmarks.common import synthetic_case
from tests.reference.interpreter import interpret
from tests.reference.strategies import Case, cases, random_case

if TYPE_CHECKING:
    from types import ModuleType

YARDSTICKS = pytest.mark.parametrize("yardstick", [simpy_script, heapq_loop])


def agree(yardstick: ModuleType, case: Case) -> None:
    trace, tool, control, policy, _, checkpoint = case
    expected: dict[str, Any] = interpret(trace, tool, control, policy, None, checkpoint)
    del expected["versions"], expected["onset_phase"]
    row = yardstick.simulate(yardstick.prepare(trace, tool, control, checkpoint))
    assert row.keys() == expected.keys()
    cost = expected.pop("cost")
    assert row.pop("cost") == (cost if cost is None else pytest.approx(cost))
    assert row == expected


@YARDSTICKS
@given(case=cases(policies=("rassg",)))
@settings(max_examples=100, deadline=None)
def test_outcomes_agree(yardstick: ModuleType, case: Case) -> None:
    agree(yardstick, case)


@YARDSTICKS
def test_outcomes_agree_on_many_seeds(yardstick: ModuleType) -> None:
    for seed in range(1000):
        agree(yardstick, random_case(seed, policies=("rassg",)))


@YARDSTICKS
def test_the_synthetic_case_exercises_the_rules(yardstick: ModuleType) -> None:
    row = yardstick.simulate(yardstick.prepare(*synthetic_case()))
    assert row["cancels"] >= 1
    assert row["result"] == "right"
    trace, tool, control, checkpoint = synthetic_case()
    agree(yardstick, Case(trace, tool, control, "rassg", {}, checkpoint))
