"""Tools that fail, or have two phases: what is true, what is known, and that both settle."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.faults import NO_FAULTS, Distribution, Faults
from simcore.registry import policy_factory
from simcore.testing import controls, profiles, recordings
from simcore.testing.strategies import CHECKPOINT
from simcore.trajectory import Trajectory, simulate
from tests.cases import tick_policies

if TYPE_CHECKING:
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Recording

POLICIES = st.sampled_from([name for name in tick_policies() if name != "clairvoyant"])
SHARES = st.sampled_from([0.0, 0.3, 1.0])

fault_sets = st.builds(
    Faults,
    acknowledgement=st.none()
    | st.just(Distribution("uniform", 0, 900_000))
    | st.just(Distribution("lognormal", 50_000, 1_100_000)),
    ack_lost=SHARES,
    ack_timeout_us=st.sampled_from([200_000, 1_000_000]),
    cancel_refused=SHARES,
    runtime=st.none() | st.just(Distribution("exponential", 1.0)),
    tool_failure=st.sampled_from([0.0, 0.3]),
    timeout=st.sampled_from([0.0, 0.3]),
    timeout_after_us=st.just(5_000_000),
    retries=st.sampled_from([0, 2]),
    capacity=st.sampled_from([None, 1, 2]),
    reorder=SHARES,
)


@given(recordings(), profiles(), controls(), POLICIES)
@settings(deadline=None, max_examples=60)
def test_without_faults_it_is_the_plain_ledger(
    trace: Recording, tool: ToolProfile, control: Control, name: str
) -> None:
    plain = simulate(trace, tool, policy_factory(name), control, CHECKPOINT)
    backend = simulate(trace, tool, policy_factory(name), control, CHECKPOINT, faults=NO_FAULTS)
    # Where a call may change by itself the controller keeps looking, and skips other ticks.
    assert backend._replace(trouble=None, skipped_ticks=plain.skipped_ticks) == plain


def check_settled(result: Trajectory) -> None:
    """Every version has one outcome, and is counted where it belongs."""
    versions = [(version.call, version.version) for version in result.versions]
    assert len(versions) == len(set(versions))
    counted = Counter(version.outcome for version in result.versions)
    assert set(counted) <= {"executed", "updated", "cancelled", "failed"}
    assert (counted["updated"], counted["cancelled"]) == (result.updates, result.cancels)
    assert len({call for call, _ in versions}) == result.commits
    for call in {call for call, _ in versions}:
        last = max((v for v in result.versions if v.call == call), key=lambda v: v.version)
        assert last.outcome != "updated", "a call ends in an outcome of its own"


@given(recordings(), profiles(), controls(), POLICIES, fault_sets, st.integers(0, 9))
@settings(deadline=None, max_examples=80)
def test_every_call_is_settled_once_whatever_goes_wrong(
    trace: Recording, tool: ToolProfile, control: Control, name: str, faults: Faults, seed: int
) -> None:
    def play() -> Trajectory:
        factory, patient = policy_factory(name), replace(control, horizon_us=600_000_000)
        return simulate(trace, tool, factory, patient, CHECKPOINT, seed=seed, faults=faults)

    result = play()
    check_settled(result)
    assert play() == result
