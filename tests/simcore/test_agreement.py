"""The engine and the plain interpreter, which share no code, agree on every outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings

from tests.cases import engine_row
from tests.reference.interpreter import interpret
from tests.reference.strategies import cases, random_case

if TYPE_CHECKING:
    from tests.reference.strategies import Case


def agree(case: Case) -> None:
    expected, row = interpret(*case), engine_row(case)
    if expected.get("cost") is not None:
        assert row.pop("cost") == pytest.approx(expected.pop("cost"))
    assert row == expected


@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_outcomes_agree(case: Case) -> None:
    agree(case)


def test_outcomes_agree_on_many_seeds() -> None:
    for seed in range(6_000):
        agree(random_case(seed))
