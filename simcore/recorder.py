"""What happened, as flat records: the log of a trajectory and its call versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.trace import Argument

Outcome = Literal["executed", "updated", "cancelled", "failed"]
"""`failed`: the tool gave up, and nothing was executed."""


class VersionRecord(NamedTuple):
    """One argument version of a call: committed at c on a pipeline started at s, until b.

    `outcome` is None while the version can still be taken back.
    """

    call: int
    version: int
    argument: Argument
    start_us: Microseconds
    committed_us: Microseconds
    deadline_us: Microseconds
    completion_us: Microseconds
    outcome: Outcome | None


class LogRecord(NamedTuple):
    """One event of a trajectory; `kind` is the topic that it is published under.

    `detail` is the arrival's index for `arrival`, the new version's deadline for `launched`,
    `updated` and `late_update`. What was told to an agent has its status as `argument`:
    `responded`, `noted`, and `lost_answer` where the id was dead.
    """

    at_us: Microseconds
    kind: str
    call: int | None = None
    version: int | None = None
    argument: Argument | None = None
    detail: int | None = None


TICK = "tick"
TIMER = "timer"
ARRIVAL = "arrival"
LAUNCHED = "launched"
UPDATE_REQUESTED = "update_requested"
UPDATED = "updated"
LATE_UPDATE = "late_update"
CANCEL_REQUESTED = "cancel_requested"
CANCELLED = "cancelled"
LATE_CANCEL = "late_cancel"
SELECTED = "selected"
IRREVERSIBLE = "irreversible"
COMPLETED = "completed"
PREPARED = "prepared"
REFUSED = "cancel_refused"
FAILED = "failed"
TIMED_OUT = "timed_out"
RESPONDED = "responded"
LOST = "lost_answer"
NOTED = "noted"

LOGGED = (
    TICK,
    ARRIVAL,
    LAUNCHED,
    UPDATE_REQUESTED,
    UPDATED,
    LATE_UPDATE,
    CANCEL_REQUESTED,
    CANCELLED,
    LATE_CANCEL,
    SELECTED,
    IRREVERSIBLE,
    COMPLETED,
    PREPARED,
    REFUSED,
    FAILED,
    TIMED_OUT,
    RESPONDED,
    LOST,
    NOTED,
)
