"""The last-chance veto: whether to let a call pass its deadline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcore.clock import seconds

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.policy import View
    from simcore.recorder import VersionRecord


def last_chance(view: View, deadline: Microseconds) -> tuple[Microseconds, Microseconds]:
    """The first and last decision times d with d + kappa <= b < d + period + kappa.

    Within them a cancellation is still acknowledged in time, but that of the next regular decision
    is not. Earlier a replacement may still arrive while the progress can be reused.
    """
    closes = deadline - view.acknowledgement_us
    return closes - view.control.period_us + 1, closes


def worth_cancelling(view: View, active: VersionRecord) -> bool:
    """Eq. 3 of RASSG: C_stale p_bad > C_cancel + beta g (1 - p_bad), without a margin.

    g is the progress that cancelling throws away, in seconds: at most the runtime. Without a
    forecast there is no veto.
    """
    p_bad = view.p_bad
    if p_bad is None:
        return False
    profile = view.profile
    progress = seconds(min(profile.runtime_us, max(0, view.decision_us - active.start_us)))
    losing = profile.cancel_cost + profile.delay_price * progress * (1 - p_bad)
    return profile.stale_cost * p_bad > losing
