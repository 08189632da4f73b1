"""Deepgram's rule: a call waits until the turn that led to it is confirmed to be over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.at_once import AtOnce
from simcore.commands import Cancel, Command, Respond

if TYPE_CHECKING:
    from simcore.policy import View
    from simcore.trace import AgentEvent


@dataclass
class Deepgram(AtOnce):
    """Deepgram's `defer_until_eot`: hold a call until the end of turn, drop it if the turn goes on.

    A turn is confirmed by its transcript. `heed_cancelled`: a call that was sent out is announced
    as cancelled when the user barges in, and the app takes it back.
    """

    defer_until_eot: bool = True
    heed_cancelled: bool = True

    def reset(self, view: View) -> None:
        AtOnce.reset(self, view)
        self._speaking = False
        self._deferred: list[AgentEvent] = []

    def called(self, event: AgentEvent, view: View) -> list[Command]:
        if self.defer_until_eot and self._speaking:
            self._deferred.append(event)
            return []
        return self.started(event, view)

    def heard(self, text: str, view: View) -> list[Command]:
        self._speaking = False
        commands: list[Command] = []
        for event in self._deferred:
            commands += self.started(event, view)
        self._deferred = []
        return commands

    def onset(self, view: View) -> list[Command]:
        self._speaking = True
        dropped, self._deferred = self._deferred, []
        commands: list[Command] = []
        for event in dropped:
            assert event.id is not None
            commands.append(Respond(event.id, "cancelled"))
        for job in self._jobs:
            if self.heed_cancelled and job.pending:
                commands += [Cancel(job.number), *self.told(job, "cancelled")]
        return commands
