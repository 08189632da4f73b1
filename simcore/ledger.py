"""The only writer of calls: launches, updates and cancels them and keeps the invariants.

Every version gets exactly one outcome: *executed* when the clock passes its deadline, *updated* or
*cancelled* when a request is acknowledged in time. Nothing changes an outcome.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from simcore import recorder as topic
from simcore.clock import Priority
from simcore.recorder import LogRecord, VersionRecord

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.kernel import Kernel
    from simcore.recorder import Outcome
    from simcore.tool import ToolProfile
    from simcore.trace import Argument


# As plain numbers: they are compared for every event.
_ACKNOWLEDGEMENT: Final = int(Priority.ACKNOWLEDGEMENT)
_COMPLETION: Final = int(Priority.COMPLETION)
_DEADLINE: Final = int(Priority.DEADLINE)


# A named tuple made from a plain one, without a Python call for its fields.
_record: Final = partial(tuple.__new__, VersionRecord)


class IllegalCommandError(Exception):
    """A command that the state of the calls does not allow; the policy is at fault."""


class _Request:
    """An update or a cancellation on its way; `argument` is None for a bare cancellation."""

    __slots__ = ("argument", "call", "cancels", "reuse")

    def __init__(self, call: int, argument: Argument | None, cancels: bool, reuse: bool) -> None:
        self.call, self.argument, self.cancels, self.reuse = call, argument, cancels, reuse


class Ledger:
    """All calls of one trajectory, each with its current version.

    `held` is the call whose result the controller would use; `outstanding_us` is when the last
    request is acknowledged. Counters follow the run folder's columns. Tools that have two phases or
    can fail are in `simcore.backend`.
    """

    surprises = False
    repeats = 0

    __slots__ = (
        "_acknowledgement_us",
        "_awaiting",
        "_kernel",
        "_profile",
        "_topics",
        "cancels",
        "closed",
        "commits",
        "current",
        "delivered_us",
        "first_commit_us",
        "held",
        "late_cancels",
        "late_updates",
        "outstanding_us",
        "updates",
    )

    def __init__(
        self, kernel: Kernel, profile: ToolProfile, acknowledgement_us: Microseconds
    ) -> None:
        self._kernel = kernel
        self._topics = kernel.topics
        self._profile = profile
        self._acknowledgement_us = acknowledgement_us
        self._awaiting: set[int] = set()
        self.current: list[VersionRecord] = []
        self.closed: list[VersionRecord] = []
        self.held: int | None = None
        self.delivered_us: Microseconds | None = None
        self.first_commit_us: Microseconds | None = None
        self.outstanding_us: Microseconds = -1
        self.commits = self.updates = self.late_updates = self.cancels = self.late_cancels = 0

    @property
    def active(self) -> VersionRecord | None:
        """The version of the held call; an executed or completed one still counts."""
        return None if self.held is None else self.current[self.held]

    @property
    def achieved(self) -> VersionRecord | None:
        """The version whose result counts in the end."""
        return self.active

    @property
    def undecided(self) -> bool:
        """Whether some version has no outcome yet."""
        return any(version.outcome is None for version in self.current)

    def launch(self, argument: Argument) -> int:
        """Start a fresh call now (c = s = now), hold it, and return its number."""
        if not argument:
            raise IllegalCommandError("a launch needs an argument")
        call = len(self.current)
        now = self._kernel._now
        self.current.append(None)  # type: ignore[arg-type]  # _open fills the place
        self._open(call, 0, argument, now, now, topic.LAUNCHED)
        if not self.commits:
            self.first_commit_us = now
        self.commits += 1
        self.held = call
        return call

    def update(self, argument: Argument, *, reuse: bool = True, call: int | None = None) -> None:
        """Ask for another argument; it takes effect when it is acknowledged."""
        call = self._named(call)
        if not argument or argument == self.current[call].argument:
            raise IllegalCommandError(
                "an update needs an argument that differs from the active one"
            )
        self._request(_Request(call, argument, False, reuse), topic.UPDATE_REQUESTED)

    def cancel(self, call: int | None = None) -> None:
        """Ask to take a call back; it takes effect when it is acknowledged."""
        self._request(_Request(self._named(call), None, True, False), topic.CANCEL_REQUESTED)

    def restart(self, argument: Argument, call: int | None = None) -> None:
        """Ask to take a call back; at the acknowledgement `argument` starts afresh either way."""
        if not argument:
            raise IllegalCommandError("a restart needs an argument")
        self._request(_Request(self._named(call), argument, True, False), topic.CANCEL_REQUESTED)

    def select(self, argument: Argument | None) -> None:
        """Hold the earliest call with `argument`, or none; cancel all others that still can be."""
        live = [version for version in self.current if version.outcome != "cancelled"]
        chosen = next((version for version in live if version.argument == argument), None)
        for version in live:
            if version is not chosen and version.outcome is None:
                self.cancel(version.call)
        self.held = None if chosen is None else chosen.call
        self.delivered_us = None if chosen is None else self._kernel._now
        if chosen is not None:
            self._tell(topic.SELECTED, chosen)

    def commit(self, call: int) -> None:
        """Make a prepared call's effect happen; only tools of two phases can (`Backend`)."""
        raise IllegalCommandError("a tool with a deadline has no commit")

    def _named(self, call: int | None) -> int:
        call = self.held if call is None else call
        if call is None:
            raise IllegalCommandError("no call is active")
        if not 0 <= call < len(self.current) or self.current[call].outcome == "cancelled":
            raise IllegalCommandError(f"call {call} is not active")
        return call

    def _request(self, request: _Request, kind: str) -> None:
        if request.call in self._awaiting:
            raise IllegalCommandError(f"call {request.call} awaits an acknowledgement already")
        self._awaiting.add(request.call)
        if kind in self._topics:
            self._tell(kind, self.current[request.call])
        arrives = self._kernel._now + self._acknowledgement_us
        self.outstanding_us = max(self.outstanding_us, arrives)
        self._kernel.at(arrives, _ACKNOWLEDGEMENT, self._acknowledged, request)

    def _acknowledged(self, event: Any) -> None:
        request: _Request = event._value
        call = request.call
        self._awaiting.discard(call)
        version = self.current[call]
        in_time = version.outcome is None
        if request.cancels:
            if in_time:
                self.cancels += 1
                self._close(version, "cancelled", topic.CANCELLED)
                if self.held == call:
                    self.held = None
            else:
                self.late_cancels += 1
                self._tell(topic.LATE_CANCEL, version)
            if request.argument is not None:
                self.launch(request.argument)
            return
        assert request.argument is not None
        if not in_time:
            self.late_updates += 1
            self._tell(topic.LATE_UPDATE, version)
            self.launch(request.argument)
            return
        self.updates += 1
        self._close(version, "updated", None)
        now = self._kernel._now
        keeps = request.reuse and self._profile.keeps_progress(version.argument, request.argument)
        start = version.start_us if keeps else now
        self._open(call, version.version + 1, request.argument, start, now, topic.UPDATED)

    def _open(
        self,
        call: int,
        number: int,
        argument: Argument,
        start: Microseconds,
        committed: Microseconds,
        kind: str,
    ) -> None:
        profile = self._profile
        # ToolProfile.completion and .deadline, written out: this runs for every version.
        completion = max(committed, start + profile.runtime_us)
        deadline = min(committed + profile.cancel_window_us, completion)
        version = _record((call, number, argument, start, committed, deadline, completion, None))
        self.current[call] = version
        kernel = self._kernel
        kernel.at(deadline, _DEADLINE, self._passed, version)
        if topic.COMPLETED in self._topics:
            kernel.at(completion, _COMPLETION, self._completed, version)
        if kind in self._topics:
            self._tell(kind, version, deadline)

    def _passed(self, event: Any) -> None:
        version: VersionRecord = event._value
        if self.current[version.call] is version:
            self._close(version, "executed", topic.IRREVERSIBLE)

    def _completed(self, event: Any) -> None:
        version: VersionRecord = event._value
        now = self.current[version.call]
        if now.version == version.version and now.outcome in (None, "executed"):
            self._tell(topic.COMPLETED, version)

    def _close(self, version: VersionRecord, outcome: Outcome, kind: str | None) -> None:
        if version.outcome is not None:
            raise AssertionError(f"{version} has its outcome already")
        closed = _record((*version[:-1], outcome))
        self.current[version.call] = closed
        self.closed.append(closed)
        if kind is not None and kind in self._topics:
            self._tell(kind, closed)

    def _tell(self, kind: str, version: VersionRecord, detail: int | None = None) -> None:
        self._kernel.publish(
            kind,
            LogRecord(
                self._kernel._now, kind, version.call, version.version, version.argument, detail
            ),
        )
