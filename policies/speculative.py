"""Speculative Tool Calling: launch the first proposal, withdraw it when the argument changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.argument import ArgumentPolicy
from simcore.commands import Restart

if TYPE_CHECKING:
    from simcore.commands import Answer
    from simcore.policy import View


@dataclass(kw_only=True)
class Speculative(ArgumentPolicy):
    """A changed argument cancels the call and starts a fresh one at the acknowledgement."""

    def launches(self, view: View) -> bool:
        return view.candidate is not None

    def updated(self, argument: str) -> Answer:
        return Restart(argument)
