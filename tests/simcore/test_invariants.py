"""Properties of the engine that hold under any policy."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.registry import policy_factory
from simcore.scenario import Control
from simcore.testing import check_trajectory, controls, profiles, recordings
from simcore.testing.strategies import CHECKPOINT
from simcore.tool import ToolProfile
from simcore.trace import Arrival, Forecast, Recording, canonical
from simcore.trajectory import Trajectory, simulate
from tests.cases import tick_policies

POLICIES = st.sampled_from([name for name in tick_policies() if name != "clairvoyant"])
A = canonical({"tool": "book", "arguments": {"time": "15:00"}})
B = canonical({"tool": "book", "arguments": {"time": "16:00"}})
MS = 1_000


def arrivals(*rows: tuple[int, str | None]) -> tuple[Arrival, ...]:
    """(milliseconds, argument) rows, the last of them final."""
    return tuple(
        Arrival(at * MS, at * MS, "", 0.99, argument, index == len(rows) - 1)
        for index, (at, argument) in enumerate(rows)
    )


@given(recordings(), profiles(), controls(), POLICIES)
@settings(deadline=None)
def test_invariants(trace: Recording, tool: ToolProfile, control: Control, name: str) -> None:
    result = simulate(trace, tool, policy_factory(name), control, CHECKPOINT, log=True)
    check_trajectory(result, trace, tool)


@given(recordings(), profiles(), controls())
@settings(deadline=None)
def test_without_forecasts_rassg_is_its_no_cancel_ablation(
    trace: Recording, tool: ToolProfile, control: Control
) -> None:
    ablation = policy_factory("rassg", {"active_cancellation": False})
    assert simulate(trace, tool, policy_factory("rassg"), control) == simulate(
        trace, tool, ablation, control, CHECKPOINT
    )


@given(recordings(), profiles(), controls(), POLICIES, st.integers(2, 5))
@settings(deadline=None)
def test_scaling_time_scales_the_outcome(
    trace: Recording, tool: ToolProfile, control: Control, name: str, factor: int
) -> None:
    def scaled(times: Recording) -> Recording:
        forecast = times.forecasts[0]
        assert times.origin_us is not None
        return replace(
            times,
            audio_end_us=times.audio_end_us * factor,
            origin_us=times.origin_us * factor,
            arrivals=tuple(
                replace(
                    arrival,
                    prefix_end_us=arrival.prefix_end_us * factor,
                    arrived_at_us=arrival.arrived_at_us * factor,
                )
                for arrival in times.arrivals
            ),
            forecasts=(replace(forecast, at_us=tuple(at * factor for at in forecast.at_us)),),
        )

    slow_tool = replace(
        tool,
        runtime_us=tool.runtime_us * factor,
        cancel_window_us=tool.cancel_window_us * factor,
        delay_price=tool.delay_price / factor,
    )
    slow_control = Control(
        control.period_us * factor,
        control.processing_us * factor,
        control.acknowledgement_us * factor,
    )
    fast = simulate(trace, tool, policy_factory(name), control, CHECKPOINT)
    slow = simulate(scaled(trace), slow_tool, policy_factory(name), slow_control, CHECKPOINT)
    assert _shape(slow, 1) == _shape(fast, factor)
    assert slow.cost == pytest.approx(fast.cost)
    if fast.delay_s is not None:
        assert slow.delay_s == pytest.approx(fast.delay_s * factor)


def _shape(result: Trajectory, factor: int) -> object:
    return (
        result.stale_versions,
        result.success,
        result.updates,
        result.late_updates,
        result.cancels,
        result.late_cancels,
        result.skipped_ticks,
        [
            (v.argument, v.start_us * factor, v.committed_us * factor, v.outcome)
            for v in result.versions
        ],
    )


@pytest.mark.parametrize(("beyond_us", "in_time"), [(-1, True), (0, True), (1, False)])
def test_an_acknowledgement_at_exactly_the_deadline_is_in_time(
    beyond_us: int, in_time: bool
) -> None:
    # Launched at 10 ms, updated at 330 ms: acknowledged at 350 ms, 340 ms after the commitment.
    trace = Recording("r", 320 * MS, arrivals((0, A), (320, B)), labelled=True, target=B)
    tool = ToolProfile("t", runtime_us=9_000 * MS, cancel_window_us=340 * MS - beyond_us)
    result = simulate(trace, tool, policy_factory("confidence"))
    assert (result.updates, result.late_updates) == ((1, 0) if in_time else (0, 1))
    assert result.stale is not in_time


def test_ticks_on_the_same_recognition_never_change_agreement() -> None:
    # One arrival, then a long pause: however many ticks look at it, two others must agree.
    trace = Recording(
        "r", 9_000 * MS, arrivals((0, A), (6_000, A), (9_000, A)), labelled=True, target=A
    )
    tool = ToolProfile("t", 1_000 * MS, 500 * MS)
    first = [
        simulate(trace, tool, policy_factory("local_agreement", {"consensus": k})).first_commit_us
        for k in (1, 2, 3)
    ]
    # Ticks at 0, 6.08 and 9.28 s observe the arrivals.
    assert first == [10 * MS, 6_090 * MS, 9_290 * MS]


def test_a_wrong_version_is_stale_though_a_right_one_follows() -> None:
    trace = Recording("r", 3_000 * MS, arrivals((0, A), (3_000, B)), labelled=True, target=B)
    result = simulate(trace, ToolProfile("t", 500 * MS, 400 * MS), policy_factory("confidence"))
    assert (result.stale_versions, result.success, result.late_updates) == (1, True, 1)


def test_the_veto_cancels_before_the_replacement_is_recognized() -> None:
    risky = Forecast("c", (0, 1_000 * MS), (0.0, 1.0))
    heard = arrivals((0, A), (320, A), (640, A), (4_000, B))
    trace = Recording("r", 4_000 * MS, heard, forecasts=(risky,), labelled=True, target=B)
    tool = ToolProfile("t", 2_000 * MS, 1_600 * MS)
    saved = simulate(trace, tool, policy_factory("rassg"), checkpoint="c")
    lost = simulate(trace, tool, policy_factory("rassg"))
    assert (saved.stale, saved.cancels > 0) == (False, True)
    assert (lost.stale, lost.cancels) == (True, 0)
