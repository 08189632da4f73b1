"""What a policy may answer. Commands without a call refer to the one call that it holds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from simcore.clock import NEVER

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.trace import Argument


Status = Literal["booked", "cancelled", "failed", "unknown", "running", "rejected"]
"""What an agent is told: the effect has happened, will not happen, was tried in vain, may have
happened, is still to come; or the call was not accepted."""


class Launch(NamedTuple):
    """Start a fresh call (the paper's Commit); of a tool of two phases, prepare it.

    `id` is the agent's call that it serves, where an agent asked for it.
    """

    argument: Argument
    id: str | None = None


class Update(NamedTuple):
    """Give the call another argument, keeping its progress where `reuse` and the tool allow it.

    Acknowledged after the deadline it is late: the old version has executed, and the new one
    starts afresh.
    """

    argument: Argument
    reuse: bool = True
    call: int | None = None


class Cancel(NamedTuple):
    """Take the call back, and its progress with it."""

    call: int | None = None


class Restart(NamedTuple):
    """Cancel, and launch `argument` when the cancellation is acknowledged, in time or not."""

    argument: Argument
    call: int | None = None


class Select(NamedTuple):
    """Of several parallel calls keep the earliest with `argument`; cancel the others."""

    argument: Argument | None


class Commit(NamedTuple):
    """Make the effect of a prepared call happen; nothing takes it back."""

    call: int


class Respond(NamedTuple):
    """Answer an agent's call by its `id`; an id has one answer.

    `call` is the call whose state `status` reports, if there is one.
    """

    id: str
    status: Status
    call: int | None = None


class Note(NamedTuple):
    """Tell the agent a call's state in a turn of its own, which cuts a reply that it is speaking.

    `when_silent` waits until it does not speak.
    """

    status: Status
    call: int
    when: Literal["at_once", "when_silent"] = "at_once"


class Wake(NamedTuple):
    """Wait, and do not ask before there is news or a decision could take effect at `at`.

    For tick policies news is the `arrivals`-th arrival from now; with `on_change` the one that
    changes the candidate; and always the final flush. Without this hint, alone or last among the
    commands, a policy is asked at every tick; the hint says that asking earlier could not change
    its answer.
    """

    at: Microseconds
    on_change: bool = False
    arrivals: int = 1


Command = Launch | Update | Cancel | Restart | Select | Commit | Respond | Note | Wake

UNTIL_ARRIVAL: Final = Wake(NEVER)
"""Wait until the next arrival."""

UNTIL_CHANGE: Final = Wake(NEVER, on_change=True)
"""Wait until the candidate changes or the final flush arrives."""


@cache
def until_arrivals(count: int) -> Wake:
    """Wait until the `count`-th arrival from now, or the final flush."""
    return Wake(NEVER, arrivals=count)


Answer = Command | tuple[Command, ...] | None
"""None waits until the next tick (or, event by event, does nothing)."""
