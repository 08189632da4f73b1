"""RASSG: launch on agreement, cancel on a calibrated forecast at the last chance to do so."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal

from annotated_types import Ge

from policies.argument import ArgumentPolicy
from policies.lookahead import worth_launching
from policies.veto import last_chance, worth_cancelling
from simcore.commands import UNTIL_CHANGE, Cancel, Update, Wake, until_arrivals
from simcore.drivers.ticks import next_tick

if TYPE_CHECKING:
    from simcore.commands import Answer
    from simcore.policy import View
    from simcore.recorder import VersionRecord


@dataclass(kw_only=True)
class Rassg(ArgumentPolicy):
    """Repair-aware semantic survival gating, with its ablations as options.

    - `consensus`: how many arrivals must agree before a launch;
    - `active_cancellation`: the last-chance veto; without it nothing is cancelled;
    - `progress_reuse`: timely updates keep the pipeline's start;
    - `launch`: by `agreement`, or by `lookahead` over the forecast's time shape;
    - `recommit`: after a cancel the launch rule applies again from the next `tick`, or only from
      the next `arrival` on;
    - `veto_after_final`: also veto when nothing is left to wait for (the same value is cancelled
      and launched again for as long as the forecast says so).
    """

    consensus: Annotated[int, Ge(1)] = 3
    active_cancellation: bool = True
    progress_reuse: bool = True
    launch: Literal["agreement", "lookahead"] = "agreement"
    recommit: Literal["tick", "arrival"] = "tick"
    veto_after_final: bool = False
    _seen_at_cancel: int = field(default=0, init=False, repr=False)

    @property
    def reads_forecast(self) -> bool:
        return self.active_cancellation or self.needs_masses

    @property
    def needs_masses(self) -> bool:
        return self.launch == "lookahead"

    def launches(self, view: View) -> bool:
        if self.recommit == "arrival" and len(view.arrivals) == self._seen_at_cancel:
            return False
        if self.launch == "lookahead":
            return worth_launching(view)
        return view.agreement >= self.consensus

    def while_idle(self, view: View) -> Answer:
        # Agreement changes with arrivals alone; a lookahead may change at any tick.
        if self.launch == "lookahead":
            return None
        return until_arrivals(max(1, self.consensus - view.agreement))

    def after_launch(self, view: View) -> Wake:
        if not self.active_cancellation:
            return UNTIL_CHANGE
        launched = view.decision_us
        opens, _ = last_chance(view, view.profile.deadline(launched, launched))
        return Wake(opens, True)

    def updated(self, argument: str) -> Answer:
        return Update(argument, reuse=self.progress_reuse)

    def while_active(self, view: View, active: VersionRecord) -> Answer:
        if (
            not self.active_cancellation
            or (view.final and not self.veto_after_final)
            or active.outcome is not None
            or active.argument != view.candidate
        ):
            return UNTIL_CHANGE
        opens, closes = last_chance(view, active.deadline_us)
        if view.decision_us > closes:
            return UNTIL_CHANGE
        if view.decision_us < opens:
            return Wake(opens, True)
        if worth_cancelling(view, active):
            self._seen_at_cancel = len(view.arrivals)
            return Cancel()
        control = view.control
        following = next_tick(view.tick_us, view.decision_us, control) + control.processing_us
        return UNTIL_CHANGE if following > closes and not view.final else None
