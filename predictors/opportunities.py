"""At which ticks a forecast decides something: the last chances to take a call back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from predictors.versions import seen
from simcore.registry import policy_factory
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcore.clock import Microseconds
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Recording


def veto_ticks(
    recording: Recording, action: ToolProfile, control: Control
) -> Iterator[Microseconds]:
    """The ticks at which RASSG would ask a forecast, had it cancelled nothing so far.

    The launches are those of the control without cancellation, so that they are the same for every
    predictor. Of each version that became irreversible it is the last tick whose decision d still
    cancels in time, d + kappa <= b, if the version is the candidate then and the final flush has
    not been seen.
    """
    policy = policy_factory("rassg", {"active_cancellation": False})
    for version in simulate(recording, action, policy, control).versions:
        latest = version.deadline_us - control.acknowledgement_us - control.processing_us
        tick = latest // control.period_us * control.period_us
        known = seen(recording.arrivals, tick)
        if (
            version.outcome == "executed"
            and tick + control.processing_us > version.committed_us
            and known
            and not known[-1].is_final
            and known[-1].argument == version.argument
        ):
            yield tick
