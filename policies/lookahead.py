"""Lookahead launch: start now if the risk that waiting one period removes is worth less than it.

The paper evaluates such a variant without a formula; this is this project's reading of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcore.clock import seconds
from simcore.trace import INTERVAL_ENDS_US

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.policy import View


def worth_launching(view: View) -> bool:
    """Launch at d iff C_stale (R(d) - R_wait) < beta D p_none.

    R(c) is the mass of what a launch at c could not be taken back from in time: an open repair, a
    wrong version that persists, events beyond the horizon, and those whose interval ends after
    b(c) - kappa. R_wait is R one period later, given that the first interval brings no event,
    times the mass of that. Without a forecast there is no launch.
    """
    if view.masses is None:
        return False
    made_us, masses = view.masses
    profile, period = view.profile, view.control.period_us
    ends = [made_us + after for after in INTERVAL_ENDS_US]
    risk = _risk(view, masses, view.decision_us, ends, 1)
    # Renormalizing by the surviving mass and multiplying by it again cancel out.
    risk_of_waiting = _risk(view, masses, view.decision_us + period, ends, 2)
    price = profile.delay_price * seconds(period) * masses[11]
    return profile.stale_cost * (risk - risk_of_waiting) < price


def _risk(
    view: View,
    masses: tuple[float, ...],
    launch: Microseconds,
    ends: list[Microseconds],
    first_interval: int,
) -> float:
    too_late = view.profile.deadline(launch, launch) - view.acknowledgement_us
    return (
        masses[0]
        + masses[10]
        + masses[9]
        + sum(masses[k] for k in range(first_interval, 9) if ends[k - 1] > too_late)
    )
