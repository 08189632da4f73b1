"""LiveKit's rule: what happens to a call while one of the same tool is still running."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from policies.at_once import AtOnce, Job
from simcore.commands import Cancel, Command, Respond

if TYPE_CHECKING:
    from simcore.policy import View
    from simcore.trace import AgentEvent


@dataclass
class LiveKit(AtOnce):
    """LiveKit's `on_duplicate`: allow, reject, replace, or confirm a call of a running tool.

    `by` says what makes a duplicate: the tool's `name` (as shipped), or its `arguments` as written
    too. `confirm` rejects unless the call's own `confirm_duplicate` is true. Speech cancels
    nothing.
    """

    on_duplicate: Literal["allow", "reject", "replace", "confirm"] = "confirm"
    by: Literal["name", "arguments"] = "name"

    def reset(self, view: View) -> None:
        AtOnce.reset(self, view)
        self._started: list[AgentEvent] = []

    def called(self, event: AgentEvent, view: View) -> list[Command]:
        commands: list[Command] = []
        running = self._running(event)
        if running and self.on_duplicate == "replace":
            for job in running:
                if job.pending:
                    commands += [Cancel(job.number), *self.told(job, "cancelled")]
        elif running and (
            self.on_duplicate == "reject"
            or (self.on_duplicate == "confirm" and not _confirmed(event))
        ):
            assert event.id is not None
            return [Respond(event.id, "rejected", running[-1].number)]
        self._started.append(event)
        return commands + self.started(event, view)

    def _running(self, event: AgentEvent) -> list[Job]:
        return [
            job
            for job, first in zip(self._jobs, self._started, strict=True)
            if job.status == "running"
            and first.name == event.name
            and (self.by == "name" or first.args == event.args)
        ]


def _confirmed(event: AgentEvent) -> bool:
    args = json.loads(event.args) if event.args else None
    return isinstance(args, dict) and args.get("confirm_duplicate") is True
