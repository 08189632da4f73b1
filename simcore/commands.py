"""What a policy may answer. Commands without a call refer to the one call that it holds."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from simcore.clock import NEVER

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.trace import Argument


class Launch(NamedTuple):
    """Start a fresh call (the paper's Commit)."""

    argument: Argument


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


Command = Launch | Update | Cancel | Restart | Select | Wake

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
