"""What an app does without a guard, and what guards have in common: calls, jobs and answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from simcore.commands import Command, Commit, Launch, Respond, Status
from simcore.keys import business_key
from simcore.recorder import COMPLETED, FAILED, PREPARED, TIMED_OUT, TIMER

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.commands import Answer
    from simcore.policy import View
    from simcore.recorder import LogRecord
    from simcore.trace import AgentEvent, Argument

ANSWERS: dict[str, Status] = {COMPLETED: "booked", FAILED: "failed", TIMED_OUT: "unknown"}


@dataclass(slots=True)
class Job:
    """A call that was started, what is known of it, and which of the agent's ids wait for it.

    `version` counts the updates that were asked for; `status` is "running" until it is decided what
    the agent will be told.
    """

    number: int
    argument: Argument
    created_us: Microseconds
    waiting: list[str]
    version: int = 0
    prepared_us: Microseconds | None = None
    committed_us: Microseconds | None = None
    status: Status = "running"

    @property
    def pending(self) -> bool:
        """Whether it is neither committed nor given up."""
        return self.committed_us is None and self.status == "running"


@dataclass
class AtOnce:
    """No guard: every call is prepared, committed and answered, whatever the user says."""

    reads_forecast: ClassVar[bool] = False
    needs_two_phases: ClassVar[bool] = True
    subscribes: ClassVar[tuple[str, ...]] = (
        "tool_call",
        "interrupted",
        "activity_start",
        "input_transcript",
        PREPARED,
        COMPLETED,
        FAILED,
        TIMED_OUT,
        TIMER,
    )

    def reset(self, view: View) -> None:
        self._jobs: list[Job] = []
        self._dead: set[str] = set()

    def on(self, event: Any, view: View) -> Answer:
        return tuple(self.handle(event, view)) or None

    def handle(self, event: Any, view: View) -> list[Command]:
        """The commands that a fact asks for."""
        kind = getattr(event, "type", None) or event.kind
        if kind == "tool_call":
            return self.called(event, view)
        if kind == "input_transcript":
            return self.heard(event.text or "", view)
        if kind == "activity_start":
            return self.onset(view)
        if kind == "interrupted":
            return self.interrupted(view)
        if kind == TIMER:
            return self.timer(view)
        job = self._jobs[event.call]
        if kind == PREPARED:
            if event.version != job.version:
                return []
            job.prepared_us = view.tick_us
            return self.prepared(job, view)
        return self.answered(job, event)

    def called(self, event: AgentEvent, view: View) -> list[Command]:
        """The agent calls."""
        return self.started(event, view)

    def started(self, event: AgentEvent, view: View) -> list[Command]:
        """Start a job for a call."""
        assert event.id is not None
        argument = business_key(event.name or "", event.args, view.profile.fields)
        # Calls are numbered in the order of their launches, and nobody else launches.
        self._jobs.append(Job(len(self._jobs), argument, view.tick_us, [event.id]))
        return [Launch(argument, event.id)]

    def prepared(self, job: Job, view: View) -> list[Command]:
        """A job could be committed."""
        return self.committed(job, view) if job.pending else []

    def committed(self, job: Job, view: View) -> list[Command]:
        """Commit a job."""
        job.committed_us = view.tick_us
        return [Commit(job.number)]

    def answered(self, job: Job, event: LogRecord) -> list[Command]:
        """The tool says how a job ended, and with it all that wait for it are answered."""
        if job.status != "running":
            return []
        return self.told(job, ANSWERS[event.kind])

    def told(self, job: Job, status: Status) -> list[Command]:
        """Answer every id that waits for a job."""
        job.status = status
        waiting, job.waiting = job.waiting, []
        return [Respond(ident, status, job.number) for ident in waiting if ident not in self._dead]

    def heard(self, text: str, view: View) -> list[Command]:
        """What the user has said is known."""
        return []

    def onset(self, view: View) -> list[Command]:
        """A voice is heard."""
        return []

    def interrupted(self, view: View) -> list[Command]:
        """The agent was interrupted."""
        return []

    def timer(self, view: View) -> list[Command]:
        """A time that was asked for has come."""
        return []
