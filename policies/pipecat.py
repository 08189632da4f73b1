"""Pipecat's rule: an interruption cancels the handlers that are registered so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.at_once import AtOnce, Job
from simcore.commands import Cancel, Command, Wake
from simcore.options import Duration  # noqa: TC001  (options are checked by their types)

if TYPE_CHECKING:
    from simcore.policy import View
    from simcore.trace import AgentEvent


@dataclass
class Pipecat(AtOnce):
    """Pipecat's `cancel_on_interruption`: the user's voice cancels calls in flight.

    A call that takes longer than `timeout` is cancelled as well. Duplicates are not looked for.
    """

    cancel_on_interruption: bool = True
    timeout: Duration = 10_000_000

    def called(self, event: AgentEvent, view: View) -> list[Command]:
        return [*self.started(event, view), Wake(view.tick_us + self.timeout)]

    def onset(self, view: View) -> list[Command]:
        if not self.cancel_on_interruption:
            return []
        return [command for job in self._jobs for command in self._cancelled(job)]

    def timer(self, view: View) -> list[Command]:
        old = [job for job in self._jobs if view.tick_us - job.created_us >= self.timeout]
        return [command for job in old for command in self._cancelled(job)]

    def _cancelled(self, job: Job) -> list[Command]:
        if not job.pending:
            return []
        return [Cancel(job.number), *self.told(job, "cancelled")]
