"""Hypothesis strategies whose instants often coincide: with ticks, decisions and deadlines.

Equality at a deadline decides outcomes, so times are drawn from a coarse grid of the default
control, moved by its latencies, and now and then by a microsecond.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from simcore.scenario import Control, PolicySpec, Scenario
from simcore.tool import ToolProfile
from simcore.trace import Arrival, Forecast, Recording, canonical

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

    from simcore.trace import Argument

CHECKPOINT = "drawn"
_PERIOD = 320_000
_SHIFTS = (0, 0, 0, 10_000, 20_000, 30_000, -1, 1)
_TIMES = ("15:00", "16:00", "17:00")


def arguments() -> SearchStrategy[Argument]:
    """Canonical calls with one or two fields, of two tools; a plan now and then."""
    call = st.builds(
        lambda tool, time, day: {"tool": tool, "arguments": {"time": time} | day},
        st.sampled_from(("book", "book", "pay")),
        st.sampled_from(_TIMES),
        st.sampled_from(({}, {}, {"day": "mon"})),
    )
    plan = st.lists(call, min_size=1, max_size=2)
    return st.one_of(call, call, call, plan).map(_canonical)


def _canonical(argument: Any) -> Argument:
    text = canonical(argument)
    assert text is not None
    return text


def durations(periods: int = 10) -> SearchStrategy[int]:
    """Microseconds around whole default periods, from 0."""
    return st.builds(
        lambda count, shift: max(0, count * _PERIOD + shift),
        st.integers(0, periods),
        st.sampled_from(_SHIFTS),
    )


def controls() -> SearchStrategy[Control]:
    """Controllers: mostly the default, else with latencies of zero or beyond the period."""
    return st.builds(
        Control,
        period_us=st.sampled_from((_PERIOD, _PERIOD, 100_000)),
        processing_us=st.sampled_from((10_000, 10_000, 0, 400_000)),
        acknowledgement_us=st.sampled_from((20_000, 20_000, 0, 350_000)),
        horizon_us=st.just(30_000_000),
    )


def profiles() -> SearchStrategy[ToolProfile]:
    """Tool profiles, among them such that cannot be cancelled or take no time."""
    return st.builds(
        ToolProfile,
        name=st.just("action"),
        runtime_us=durations(),
        cancel_window_us=durations(),
        stale_cost=st.sampled_from((5.0, 1.0)),
        cancel_cost=st.sampled_from((0.5, 0.0, 2.5)),
        delay_price=st.sampled_from((0.3, 0.0, 2.0)),
        reusable_fields=st.sampled_from((None, None, frozenset({"time"}), frozenset())),
    )


@st.composite
def recordings(draw: DrawFn, recording_id: str = "r") -> Recording:
    """Labelled and unlabelled recordings of up to eight arrivals, with forecasts `CHECKPOINT`."""
    values = draw(st.lists(arguments(), min_size=1, max_size=3))
    arrivals = []
    at = 0
    count = draw(st.integers(1, 8))
    for index in range(count):
        at += draw(durations(5))
        arrivals.append(
            Arrival(
                prefix_end_us=at,
                arrived_at_us=at,
                text="",
                confidence=draw(st.sampled_from((0.5, 0.95, 0.99))),
                argument=draw(st.sampled_from((None, *values))),
                is_final=index == count - 1,
            )
        )
    return Recording(
        recording_id=recording_id,
        audio_end_us=at,
        arrivals=tuple(arrivals),
        forecasts=(draw(_forecasts(at)),),
        labelled=draw(st.sampled_from((True, True, True, False))),
        target=draw(st.sampled_from((arrivals[-1].argument, *values, None))),
        origin_us=draw(st.integers(0, at)),
    )


@st.composite
def _forecasts(draw: DrawFn, end: int) -> Forecast:
    risks = st.sampled_from((0.0, 0.0625, 0.125, 0.5, 1.0))
    at_us = tuple(range(0, end + 2 * _PERIOD, _PERIOD))
    p_bad = tuple(draw(st.lists(risks, min_size=len(at_us), max_size=len(at_us))))
    masses = tuple((*(risk / 8 for _ in range(8)), 0.0, 0.0, 0.0, 1 - risk) for risk in p_bad)
    return Forecast(CHECKPOINT, at_us, p_bad, masses)


@st.composite
def scenarios(draw: DrawFn, policy: str = "rassg") -> Scenario:
    """Small scenarios of one policy."""
    count = draw(st.integers(1, 3))
    return Scenario(
        name="drawn",
        recordings=tuple(draw(recordings(f"r{index}")) for index in range(count)),
        actions=(draw(profiles()),),
        policies=(PolicySpec(policy, policy),),
        control=draw(controls()),
        checkpoints=(CHECKPOINT,),
        seed=draw(st.integers(0, 9)),
    )
