"""The ledger where a tool has two phases, or may fail: it keeps what is true beside what is known.

`current` is what the controller knows: expected deadlines, and the outcomes that it has heard of.
The truth is in `_Job`. Without faults, and for tools with a deadline, both are the same and every
outcome is that of the plain `Ledger`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import simpy

from simcore import recorder as topic
from simcore.clock import NEVER, Priority
from simcore.faults import NO_FAULTS, Attempts, attempts
from simcore.ledger import IllegalCommandError, Ledger, _Request
from simcore.recorder import LogRecord, VersionRecord
from simcore.streams import stream

if TYPE_CHECKING:
    import numpy as np

    from simcore.clock import Microseconds
    from simcore.faults import Faults
    from simcore.kernel import Kernel
    from simcore.recorder import Outcome
    from simcore.tool import ToolProfile
    from simcore.trace import Argument

_ACKNOWLEDGEMENT: Final = int(Priority.ACKNOWLEDGEMENT)
_COMPLETION: Final = int(Priority.COMPLETION)
_DEADLINE: Final = int(Priority.DEADLINE)


class Effect(NamedTuple):
    """Something irreversible happened in the world, `at_us`, because of a call."""

    at_us: Microseconds
    call: int
    argument: Argument


class _Job:
    """The truth about one call.

    `version` has no outcome while it can still be taken back. `sealed`: past its deadline, and
    about to fail. `work` is replaced when the work starts over; what was begun is then ignored.
    """

    __slots__ = (
        "cancel_asked_us",
        "cancel_refused",
        "grant",
        "over",
        "sealed",
        "version",
        "work",
    )

    def __init__(self, version: VersionRecord) -> None:
        self.version = version
        self.sealed = self.over = self.cancel_refused = False
        self.work: Attempts | None = None
        self.grant: Any = None
        self.cancel_asked_us: Microseconds | None = None


class _Doubtful(_Request):
    """A request whose acknowledgement may be late, lost or a refusal."""

    __slots__ = ("given_up", "heard", "lost", "refused")

    def __init__(self, request: _Request, lost: bool, refused: bool) -> None:
        super().__init__(request.call, request.argument, request.cancels, request.reuse)
        self.lost, self.refused = lost, refused
        self.given_up = self.heard = False


class Backend(Ledger):
    """Calls of tools that have two phases or can fail.

    `effects` is what really happened, `repeats` how often a retry made it happen again;
    `surprises` says that a call's state may change without a request: a controller must look.
    """

    __slots__ = (
        "_faults",
        "_jobs",
        "_may_fail",
        "_random",
        "_resource",
        "_stream_key",
        "effects",
        "repeats",
    )
    surprises = True

    def __init__(
        self,
        kernel: Kernel,
        profile: ToolProfile,
        acknowledgement_us: Microseconds,
        stream_key: tuple[int, str, str, int],
        faults: Faults = NO_FAULTS,
    ) -> None:
        super().__init__(kernel, profile, acknowledgement_us)
        self._faults = faults
        self._stream_key = stream_key
        self._random: dict[str, np.random.Generator] = {}
        self._jobs: list[_Job] = []
        self._resource = (
            None if faults.capacity is None else simpy.Resource(kernel, faults.capacity)
        )
        self._may_fail = bool(faults.tool_failure or faults.timeout)
        self.effects: list[Effect] = []
        self.repeats = 0

    @property
    def undecided(self) -> bool:
        """Whether some call may still change, or its outcome still become known."""
        return any(
            job.version.outcome is None
            or self.current[call].outcome is None
            or (self._may_fail and job.work is not None and not job.over)
            for call, job in enumerate(self._jobs)
        )

    @property
    def achieved(self) -> VersionRecord | None:
        """The version that counts in the end: of the held call, or the last one committed."""
        if self._profile.boundary == "explicit":
            done = [job.version for job in self._jobs if job.version.outcome == "executed"]
            return max(done, key=lambda version: version.deadline_us, default=None)
        if self.held is None:
            return None
        version = self._jobs[self.held].version
        return None if version.outcome in ("failed", "cancelled") else version

    def decision(self, call: int) -> tuple[str, Microseconds] | None:
        """What was decided about a call: ("commit" or "cancel", when), None where nothing was."""
        job = self._jobs[call]
        asked, version = job.cancel_asked_us, job.version
        if version.outcome == "executed" and (asked is None or version.deadline_us <= asked):
            return "commit", version.deadline_us
        return None if asked is None else ("cancel", asked)

    def zombies(self) -> int:
        """Calls that had their effect although their cancellation was asked for in time."""
        return sum(job.cancel_refused and job.version.outcome == "executed" for job in self._jobs)

    def lapse(self) -> None:
        """At the end: what is prepared and neither committed nor released lapses by itself."""
        for job in self._jobs:
            if job.version.outcome is None:
                self._settle(job, "failed", self._kernel.now, self._kernel.now)
                self._know(job.version.call)

    def commit(self, call: int) -> None:
        """Make a prepared call's effect happen now."""
        if not 0 <= call < len(self._jobs):
            raise IllegalCommandError(f"there is no call {call}")
        job = self._jobs[call]
        if self._profile.boundary != "explicit":
            raise IllegalCommandError("a tool with a deadline has no commit")
        if job.version.outcome is not None or job.cancel_asked_us is not None:
            raise IllegalCommandError(f"call {call} is settled or being cancelled: no commit")
        if not job.over:
            raise IllegalCommandError(f"call {call} is not prepared yet")
        now = self._kernel.now
        work = self._attempted("commit", call, self._profile.commit_us)
        job.work, job.over = work, False
        done = now + work.duration_us
        if work.effects:
            self._happen(job, now, done)
        else:
            self._settle(job, "failed", now, done)
        # Until it is answered, and where it never is, a failed commit looks like any other.
        self.current[call] = job.version._replace(outcome="executed")
        self._kernel.at(done, _COMPLETION, self._answered, (job, work))

    # A call may have ended by itself between a decision and its effect.

    def update(self, argument: Argument, *, reuse: bool = True, call: int | None = None) -> None:
        """As the ledger's; what has ended meanwhile is launched afresh."""
        if self._gone(call):
            self.launch(argument)
        elif argument != self.current[self._named(call)].argument:
            super().update(argument, reuse=reuse, call=call)

    def cancel(self, call: int | None = None) -> None:
        """As the ledger's; what has ended meanwhile needs none."""
        if not self._gone(call):
            super().cancel(call)

    def restart(self, argument: Argument, call: int | None = None) -> None:
        """As the ledger's; what has ended meanwhile is launched afresh."""
        if self._gone(call):
            self.launch(argument)
        else:
            super().restart(argument, call)

    def _gone(self, call: int | None) -> bool:
        call = self.held if call is None else call
        ended = ("cancelled", "failed")
        return call is None or (call < len(self.current) and self.current[call].outcome in ended)

    # What the base class does at once is here what the tool does, and what becomes known of it.

    def _open(
        self,
        call: int,
        number: int,
        argument: Argument,
        start: Microseconds,
        committed: Microseconds,
        kind: str,
        known: bool = True,
    ) -> None:
        profile = self._profile
        explicit = profile.boundary == "explicit"
        completion = profile.completion(committed, start)
        deadline = NEVER if explicit else profile.deadline(committed, start)
        version = VersionRecord(
            call, number, argument, start, committed, deadline, completion, None
        )
        if number == 0:
            job = _Job(version)
            self._jobs.append(job)
        else:
            job = self._jobs[call]
            job.version = version
        if known:
            self.current[call] = version
        if number == 0 or start == committed:
            self._stop(job)
            self._start(job)
        elif explicit and job.over:
            self._kernel.at(self._kernel.now, _COMPLETION, self._prepared, (job, version))
        if not explicit:
            limit = committed + profile.cancel_window_us
            self._kernel.at(min(limit, NEVER), _DEADLINE, self._pass, (job, version))
        if kind in self._topics:
            self._tell(kind, version, deadline)

    def _start(self, job: _Job) -> None:
        call = job.version.call
        source = f"work-{job.version.version}"
        job.work = work = self._attempted(source, call, self._profile.runtime_us)
        job.over = False
        if self._resource is None:
            self._kernel.at(
                self._kernel.now + work.duration_us, _COMPLETION, self._end, (job, work)
            )
            return
        job.grant = self._resource.request()
        job.grant.callbacks.append(lambda _: self._serve(job, work))

    def _serve(self, job: _Job, work: Attempts) -> None:
        self._kernel.at(self._kernel.now + work.duration_us, _COMPLETION, self._end, (job, work))

    def _stop(self, job: _Job) -> None:
        """Take work back: its end is ignored, its place in the backend is free."""
        job.work = None
        if job.grant is not None:
            assert self._resource is not None
            if job.grant.triggered:
                self._resource.release(job.grant)
            else:
                job.grant.cancel()
            job.grant = None

    def _end(self, event: Any) -> None:
        """The work is over, one way or another."""
        job, work = event._value
        if job.work is not work:
            return
        job.over = True
        if job.grant is not None:
            assert self._resource is not None
            self._resource.release(job.grant)
            job.grant = None
        version = job.version
        if self._profile.boundary == "explicit":
            if work.answer == "ok":
                self._prepared_now(job)
            else:  # nothing irreversible was tried, so nothing is in doubt
                self._fail(job)
            return
        if version.outcome == "executed":
            self._finish(job)
        elif not work.effects:
            self._fail(job, heard=work.answer == "failed")
        else:
            self._kernel.at(self._kernel.now, _DEADLINE, self._pass, (job, version))
        if work.answer == "ok":
            self._tell(topic.COMPLETED, version)
        elif work.answer == "unknown":
            self._tell(topic.TIMED_OUT, version)

    def _prepared(self, event: Any) -> None:
        job, version = event._value
        if job.version is version and job.over:
            self._prepared_now(job)

    def _prepared_now(self, job: _Job) -> None:
        if job.version.outcome is None:
            self._tell(topic.PREPARED, job.version)

    def _answered(self, event: Any) -> None:
        """A commit's answer is there."""
        job, work = event._value
        job.over = True
        kind = {"ok": topic.COMPLETED, "failed": topic.FAILED, "unknown": topic.TIMED_OUT}
        if work.answer == "failed":
            self._know(job.version.call)
        self._tell(kind[work.answer], job.version)

    def _pass(self, event: Any) -> None:
        """A deadline with nothing acknowledged in time: irreversible, or bound to fail."""
        job, version = event._value
        if job.version is not version or version.outcome is not None or job.sealed:
            return
        now = self._kernel.now
        assert job.work is not None
        if job.work.effects:
            self._happen(job, now, version.completion_us)
            if job.over:
                self._finish(job)
        else:
            job.sealed = True
        call = version.call
        if self.current[call].outcome is None and self.current[call].version == version.version:
            self.current[call] = job.version._replace(deadline_us=now, outcome="executed")

    def _happen(self, job: _Job, at: Microseconds, completion: Microseconds) -> None:
        version = job.version
        assert job.work is not None
        for _ in range(job.work.effects):
            self.effects.append(Effect(at, version.call, version.argument))
        self.repeats += job.work.effects - 1
        self._settle(job, "executed", at, completion, topic.IRREVERSIBLE)

    def _finish(self, job: _Job) -> None:
        """The completion of what is executed is known."""
        done = job.version._replace(completion_us=max(job.version.committed_us, self._kernel.now))
        self.closed[self.closed.index(job.version)] = done
        if self.current[done.call].outcome == "executed":
            self.current[done.call] = done
        job.version = done

    def _fail(self, job: _Job, heard: bool = True) -> None:
        if job.version.outcome is not None:
            return
        now = self._kernel.now
        self._settle(job, "failed", now, now)
        call = job.version.call
        if heard:
            self._know(call)
            self._tell(topic.FAILED, job.version)
        else:
            self.current[call] = job.version._replace(outcome="executed")

    def _settle(
        self,
        job: _Job,
        outcome: Outcome,
        deadline: Microseconds,
        completion: Microseconds,
        kind: str | None = None,
    ) -> None:
        if job.version.outcome is not None:
            raise AssertionError(f"{job.version} has its outcome already")
        job.version = job.version._replace(
            deadline_us=deadline, completion_us=completion, outcome=outcome
        )
        self.closed.append(job.version)
        if kind is not None:
            self._tell(kind, job.version)

    def _know(self, call: int) -> None:
        """What is true of a call becomes known."""
        version = self._jobs[call].version
        self.current[call] = version
        if version.outcome in ("cancelled", "failed") and self.held == call:
            self.held = None

    def _request(self, request: _Request, kind: str) -> None:
        call, faults, now = request.call, self._faults, self._kernel.now
        # Who prepares a call may take back a change that is on its way; a deadline needs order.
        if call in self._awaiting and self._profile.boundary == "deadline":
            raise IllegalCommandError(f"call {call} awaits an acknowledgement already")
        job = self._jobs[call]
        delay = self._acknowledgement_us
        if faults.acknowledgement is not None:
            delay = round(faults.acknowledgement.draw(self._drawn("acknowledgement")))
        lost = faults.ack_lost > 0 and self._drawn("loss").random() < faults.ack_lost
        refused = (
            faults.cancel_refused > 0 and self._drawn("refusal").random() < faults.cancel_refused
        )
        doubtful = _Doubtful(request, lost, refused and request.cancels)
        if request.cancels and job.cancel_asked_us is None:
            job.cancel_asked_us = now
        self._awaiting.add(call)
        if kind in self._topics:
            self._tell(kind, self.current[call])
        arrives = now + delay
        self._kernel.at(arrives, _ACKNOWLEDGEMENT, self._acknowledged, doubtful)
        if faults.ack_timeout_us is not None and (doubtful.lost or delay > faults.ack_timeout_us):
            arrives = now + faults.ack_timeout_us
            self._kernel.at(arrives, _ACKNOWLEDGEMENT, self._give_up, doubtful)
        self.outstanding_us = max(self.outstanding_us, arrives)

    def _acknowledged(self, event: Any) -> None:
        """The tool acts on a request; unless its answer is lost, that is known at once."""
        request: _Doubtful = event._value
        call, heard = request.call, not request.lost
        if heard and not request.given_up:
            self._awaiting.discard(call)
        request.heard = heard
        job = self._jobs[call]
        in_time = job.version.outcome is None and not job.sealed
        if request.cancels:
            if in_time and not request.refused:
                self.cancels += 1
                self._stop(job)
                version = job.version
                self._settle(job, "cancelled", version.deadline_us, version.completion_us)
                self._tell(topic.CANCELLED, job.version)
            else:
                self.late_cancels += 1
                if in_time:
                    job.cancel_refused = True
                self._tell(topic.REFUSED if in_time else topic.LATE_CANCEL, job.version)
            if heard:
                self._know_unless_believed(call)
                if request.argument is not None and not request.given_up:
                    self.launch(request.argument)
            return
        assert request.argument is not None
        if not in_time:
            self.late_updates += 1
            self._tell(topic.LATE_UPDATE, job.version)
            if heard:
                self._know_unless_believed(call)
                if not request.given_up and self._profile.boundary == "deadline":
                    self.launch(request.argument)
            return
        if request.argument == job.version.argument:  # asked again, since the first answer was lost
            self._know(call)
            return
        self.updates += 1
        old = job.version
        self._settle(job, "updated", old.deadline_us, old.completion_us)
        now = self._kernel.now
        keeps = request.reuse and self._profile.keeps_progress(old.argument, request.argument)
        start = old.start_us if keeps else now
        self._open(call, old.version + 1, request.argument, start, now, topic.UPDATED, known=heard)

    def _know_unless_believed(self, call: int) -> None:
        # Past its deadline a call counts as executed until the tool says that it failed.
        if not self._jobs[call].sealed:
            self._know(call)

    def _give_up(self, event: Any) -> None:
        """No acknowledgement in time: go on without, and learn the outcome at the deadline."""
        request: _Doubtful = event._value
        if request.heard:
            return
        request.given_up = True
        self._awaiting.discard(request.call)
        believed = self.current[request.call]
        if believed.deadline_us < NEVER:
            at = max(self._kernel.now, believed.deadline_us)
            self._kernel.at(at, _DEADLINE, self._learn, (request.call, believed))
        too_late = believed.outcome == "executed" and self._profile.boundary == "deadline"
        if request.argument is not None and (request.cancels or too_late):
            self.launch(request.argument)

    def _learn(self, event: Any) -> None:
        call, believed = event._value
        if self.current[call] is believed and not self._jobs[call].sealed:
            self._know(call)

    def _attempted(self, source: str, call: int, runtime_us: Microseconds) -> Attempts:
        if not self._may_fail and self._faults.runtime is None:
            return Attempts(runtime_us, "ok", 1)
        return attempts(self._faults, runtime_us, self._drawn(source, call))

    def _drawn(self, source: str, call: int | None = None) -> np.random.Generator:
        """The generator of one source of randomness, for a call's own draws a fresh one."""
        if call is not None:
            return stream(*self._stream_key, source, call)
        if source not in self._random:
            self._random[source] = stream(*self._stream_key, source)
        return self._random[source]

    def _tell(self, kind: str, version: VersionRecord, detail: int | None = None) -> None:
        if kind in self._topics:
            now = self._kernel.now
            self._kernel.publish(
                kind,
                LogRecord(now, kind, version.call, version.version, version.argument, detail),
            )
