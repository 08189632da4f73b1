"""Argument versions of a recording, and the control ticks at which one is current."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Argument, Arrival


@dataclass(frozen=True, slots=True)
class Version:
    """A maximal run of arrivals with one non-empty argument, which began with `first`."""

    argument: Argument
    first: Arrival

    @property
    def began_us(self) -> Microseconds:
        """When the version became known."""
        return self.first.arrived_at_us


def versions(arrivals: Sequence[Arrival]) -> tuple[Version, ...]:
    """The versions in order. Empty arguments neither end nor start one; A, B, A are three."""
    runs: list[Version] = []
    for arrival in arrivals:
        if arrival.argument is not None and (not runs or runs[-1].argument != arrival.argument):
            runs.append(Version(arrival.argument, arrival))
    return tuple(runs)


def ticks(arrivals: Sequence[Arrival], period_us: Microseconds) -> range:
    """The ticks that see a version, up to the one that first sees the final flush."""
    first = next((a.arrived_at_us for a in arrivals if a.argument is not None), None)
    if first is None:
        return range(0)
    begin = -(-first // period_us)
    end = -(-arrivals[-1].arrived_at_us // period_us)
    return range(begin * period_us, end * period_us + 1, period_us)


def seen(arrivals: Sequence[Arrival], time: Microseconds) -> Sequence[Arrival]:
    """The arrivals known at `time`, one that arrives at that instant included."""
    count = len(arrivals)
    while count and arrivals[count - 1].arrived_at_us > time:
        count -= 1
    return arrivals[:count]
