"""End-of-utterance execution: wait for the final recognition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.argument import ArgumentPolicy
from simcore.commands import UNTIL_CHANGE

if TYPE_CHECKING:
    from simcore.commands import Answer
    from simcore.policy import View


@dataclass(kw_only=True)
class EndOfUtterance(ArgumentPolicy):
    """Launch only after the final flush."""

    def launches(self, view: View) -> bool:
        return False

    def while_idle(self, view: View) -> Answer:
        return UNTIL_CHANGE
