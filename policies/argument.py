"""What the single-call argument policies share: when idle, when to update."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simcore.commands import UNTIL_ARRIVAL, UNTIL_CHANGE, Launch, Update, Wake
from simcore.policy import TickPolicy

if TYPE_CHECKING:
    from simcore.commands import Answer
    from simcore.policy import View
    from simcore.recorder import VersionRecord


@dataclass(kw_only=True)
class ArgumentPolicy(TickPolicy):
    """Launches by a rule of its own, and follows the candidate by updates.

    After the final flush an idle controller launches any candidate. `reactive_update`: a candidate
    that differs from the active version updates it at once, before anything else.
    """

    reactive_update: bool = True

    @property
    def reads_forecast(self) -> bool:
        return False

    def launches(self, view: View) -> bool:
        """Whether the idle controller launches the (non-empty) candidate before the final flush."""
        raise NotImplementedError

    def while_idle(self, view: View) -> Answer:
        """The answer of an idle controller that does not launch its candidate."""
        return UNTIL_ARRIVAL

    def while_active(self, view: View, active: VersionRecord) -> Answer:
        """The answer while a call has the candidate's argument, or the candidate is empty."""
        return UNTIL_CHANGE

    def after_launch(self, view: View) -> Wake:
        """How long a call that is launched now needs no attention, unless news arrives."""
        return UNTIL_CHANGE

    def updated(self, argument: str) -> Answer:
        """How the call follows a new argument."""
        return Update(argument)

    def decide(self, view: View) -> Answer:
        active, candidate = view.active, view.candidate
        if active is None:
            if candidate is None:
                return UNTIL_CHANGE
            if view.final:
                return Launch(candidate)
            if self.launches(view):
                return Launch(candidate), self.after_launch(view)
            return self.while_idle(view)
        if candidate is not None and candidate != active.argument:
            return self.updated(candidate) if self.reactive_update else UNTIL_CHANGE
        return self.while_active(view, active)
