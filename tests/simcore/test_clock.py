"""Durations are exact, and say what is wrong with those that are not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.clock import NEVER, format_duration, parse_duration, seconds
from simcore.tool import ToolProfile


@given(st.integers(0, 10**13))
def test_what_is_written_reads_back(microseconds: int) -> None:
    assert parse_duration(format_duration(microseconds)) == microseconds


@given(st.integers(0, 10**9))
def test_units_agree(milliseconds: int) -> None:
    wanted = milliseconds * 1000
    assert parse_duration(f"{milliseconds} ms") == wanted
    assert parse_duration(f"{milliseconds}ms") == wanted
    assert parse_duration(f"{milliseconds / 1000:.3f} s") == wanted
    assert parse_duration(milliseconds / 1000) == wanted
    assert parse_duration(f"{wanted} us") == wanted


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        ("3 parsecs", "unknown unit 'parsecs'; known are us, ms, s, min"),
        ("soon", "is no duration"),
        ("-1 s", "is no duration"),
        (-1, "not negative"),
        (float("nan"), "finite"),
        (float("inf"), "finite"),
        (True, "a duration is"),
        ("0.5 us", "whole number of microseconds"),
        (1e-7, "whole number of microseconds"),
    ],
)
def test_a_bad_duration_says_why(value: str | float, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        parse_duration(value)


def test_thirty_periods_are_exact() -> None:
    assert 30 * parse_duration(0.32) == parse_duration("9.6 s")
    assert seconds(1_500_000) == 1.5
    assert parse_duration("9000000000 min") < NEVER


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_the_deadline_lies_between_commitment_and_completion(
    runtime: int, window: int, committed: int, earlier: int
) -> None:
    tool = ToolProfile("t", runtime, window)
    start = max(0, committed - earlier)
    deadline = tool.deadline(committed, start)
    assert committed <= deadline <= tool.completion(committed, start)
    assert deadline <= committed + window
