"""A commit guard for the calls of a live agent.

After the rules of the public repository `frontier-on-cloud/gemini-live-commit-guard`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from policies.at_once import AtOnce, Job
from policies.intent import Check, intent
from simcore.commands import Cancel, Command, Note, Respond, Update, Wake
from simcore.keys import business_key
from simcore.options import Duration  # noqa: TC001  (options are checked by their types)

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.commands import Status
    from simcore.policy import View
    from simcore.trace import AgentEvent

_OWN_INTERRUPTION_US = 1_000_000


@dataclass
class CommitGuard(AtOnce):
    """Holds, deduplicates and reports an agent's calls, so that a "stop" reaches the tool in time.

    - `hold`: a job is committed `grace` after it is prepared, and not while an utterance is open
      whose transcript may say stop, at most `transcript_timeout` beyond the later of its onset and
      the due time: then `on_timeout` decides. The utterance that led to the call counts too.
    - `dedupe`: a call with the key of a job of the last `dedupe_window` is answered with that job's
      result, also where that was cancelled; `rebook_after_cancel` starts anew where the user has
      said something else since.
    - `status_note`: after a cancellation, and at a stop that comes too late, the agent is told.
    - `abandon`: where the agent blocks, an interruption kills the id of an unanswered call: it is
      never answered, the commit is held, and a call of the same key gets the job's status.
    - `intent`: `keyword`, or `correction-aware`, which makes an update of a new value.
    """

    hold: bool = True
    dedupe: bool = True
    status_note: bool = True
    abandon: bool = True
    grace: Duration = 1_500_000
    transcript_timeout: Duration = 3_000_000
    on_timeout: Literal["cancel", "commit"] = "cancel"
    dedupe_window: Duration = 30_000_000
    rebook_after_cancel: bool = False
    note: Literal["at_once", "when_silent", "in_response"] = "at_once"
    intent: Check = "keyword"

    def reset(self, view: View) -> None:
        AtOnce.reset(self, view)
        self._onset_us: Microseconds | None = None
        self._said = ""
        self._said_us: Microseconds = -1
        self._noted_us: Microseconds | None = None
        self._held: set[int] = set()
        self._stopped: set[int] = set()
        self._noted: set[int] = set()
        self._cancelled_us: dict[int, Microseconds] = {}

    def called(self, event: AgentEvent, view: View) -> list[Command]:
        key = business_key(event.name or "", event.args, view.profile.fields)
        job = self._same(key, view)
        if job is not None:
            assert event.id is not None
            if job.status == "running":
                job.waiting.append(event.id)
                return []
            return [Respond(event.id, job.status, job.number)]
        commands = self.started(event, view)
        # Of what led to the call only a stop counts: its values are the agent's to choose.
        if self.hold and self._onset_us is None and self._stops(self._said, self._jobs[-1], view):
            commands += self._cancelled(self._jobs[-1], view)
        return commands

    def _same(self, key: str, view: View) -> Job | None:
        """The job that a call repeats."""
        for job in reversed(self._jobs):
            if job.argument != key or job.status == "failed":
                continue
            recent = view.tick_us - job.created_us <= self.dedupe_window
            if recent and not self._renewed(job) and (self.dedupe or job.number in self._held):
                return job
        return None

    def _stands(self, job: Job, view: View) -> bool:
        recent = view.tick_us - job.created_us <= self.dedupe_window
        return recent and job.status in ("running", "booked", "unknown")

    def _renewed(self, job: Job) -> bool:
        cancelled = self._cancelled_us.get(job.number)
        return self.rebook_after_cancel and cancelled is not None and self._said_us > cancelled

    def onset(self, view: View) -> list[Command]:
        self._onset_us = view.tick_us
        return []

    def heard(self, text: str, view: View) -> list[Command]:
        self._onset_us, self._said, self._said_us = None, text, view.tick_us
        commands: list[Command] = []
        for job in self._jobs:
            if job.pending and self._guarded(job):
                commands += self._judged(job, text, view)
                if job.pending:
                    commands += self._due(job, view)
            elif job.pending and self._stops(text, job, view):
                self._stopped.add(job.number)
        return commands + self._too_late(text, view)

    def _stops(self, text: str, job: Job, view: View) -> bool:
        return intent(text, job.argument, view.profile.fields, self.intent) == "stop"

    def committed(self, job: Job, view: View) -> list[Command]:
        commands = AtOnce.committed(self, job, view)
        if self.status_note and job.number in self._stopped:
            commands += self._note(job, "booked", view)
        return commands

    def _judged(self, job: Job, text: str, view: View) -> list[Command]:
        """Cancel or update a job if an utterance says so."""
        verdict = intent(text, job.argument, view.profile.fields, self.intent)
        if verdict == "stop":
            return self._cancelled(job, view)
        if verdict == "go on":
            return []
        if any(other.argument == verdict and self._stands(other, view) for other in self._jobs):
            return self._cancelled(job, view)  # the agent has called for that already
        job.argument, job.prepared_us, job.version = verdict, None, job.version + 1
        return [Update(verdict, call=job.number)]

    def _too_late(self, text: str, view: View) -> list[Command]:
        """A stop after the commit: nothing to hold, but the agent should know how things stand."""
        committed = [job for job in self._jobs if job.committed_us is not None]
        if not self.status_note or not committed or committed[-1].number in self._noted:
            return []
        job = committed[-1]
        if not self._stops(text, job, view):
            return []
        return self._note(job, "booked" if job.status == "running" else job.status, view)

    def interrupted(self, view: View) -> list[Command]:
        own = self._noted_us is not None and view.tick_us - self._noted_us <= _OWN_INTERRUPTION_US
        if own or not self.abandon or not view.blocking:
            return []
        for job in self._jobs:
            if job.status == "running":
                self._dead.update(job.waiting)
                if job.pending:
                    self._held.add(job.number)
                    if self._onset_us is None:
                        self._onset_us = view.tick_us
        return []

    def _guarded(self, job: Job) -> bool:
        return self.hold or job.number in self._held

    def prepared(self, job: Job, view: View) -> list[Command]:
        return self._due(job, view) if job.pending else []

    def timer(self, view: View) -> list[Command]:
        commands: list[Command] = []
        for job in self._jobs:
            if job.pending:
                commands += self._due(job, view)
        return commands

    def _due(self, job: Job, view: View) -> list[Command]:
        """Commit a prepared job, or say when to look again."""
        if job.prepared_us is None:
            return []
        if not self._guarded(job):
            return self.committed(job, view)
        due = job.prepared_us + self.grace
        if view.tick_us < due:
            return [Wake(due)]
        if self._onset_us is None:
            return self.committed(job, view)
        limit = max(due, self._onset_us) + self.transcript_timeout
        if view.tick_us < limit:
            return [Wake(limit)]
        if self.on_timeout == "commit":
            return self.committed(job, view)
        return self._cancelled(job, view)

    def _cancelled(self, job: Job, view: View) -> list[Command]:
        self._cancelled_us[job.number] = view.tick_us
        commands: list[Command] = [Cancel(job.number)]
        answers = self.told(job, "cancelled")
        commands += answers
        if self.status_note and (self.note != "in_response" or not answers):
            commands += self._note(job, "cancelled", view)
        return commands

    def _note(self, job: Job, status: Status, view: View) -> list[Command]:
        self._noted.add(job.number)
        self._noted_us = view.tick_us
        return [Note(status, job.number, "at_once" if self.note == "at_once" else "when_silent")]
