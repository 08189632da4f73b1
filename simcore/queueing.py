"""When one decoder delivers the prefixes of a recording, by the time that each decode takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from simcore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Recording

Queueing = Literal["fifo", "latest"]


def arrival_times(
    prefix_ends: Sequence[Microseconds], services: Sequence[Microseconds], queueing: Queueing
) -> list[Microseconds | None]:
    """When each prefix has been decoded; None for a prefix that is skipped.

    ``prefix_ends`` never decrease and the last one is the final flush. ``fifo`` decodes every
    prefix in order: arrived = max(prefix end, previous arrival) + service. With ``latest`` a
    decoder that frees up takes the newest prefix that has ended and drops the older ones that
    wait; nothing is newer than the final flush, so it is never dropped.

    >>> arrival_times([1, 2, 3, 9], [4, 4, 4, 4], "fifo")
    [5, 9, 13, 17]
    >>> arrival_times([1, 2, 3, 9], [4, 4, 4, 4], "latest")
    [5, None, 9, 13]
    """
    times: list[Microseconds | None] = [None] * len(prefix_ends)
    free = position = 0
    while position < len(prefix_ends):
        start = max(prefix_ends[position], free)
        if queueing == "latest":
            while position + 1 < len(prefix_ends) and prefix_ends[position + 1] <= start:
                position += 1
        times[position] = free = start + services[position]
        position += 1
    return times


def requeue(recording: Recording, queueing: Queueing) -> Recording:
    """The recording as the other queueing would have delivered it.

    Needs every prefix and its ``service_us``, so it starts from a recording stored as ``fifo``.
    Raises ``InputError`` where a service time is missing.
    """
    services: list[Microseconds] = []
    for index, arrival in enumerate(recording.arrivals):
        if arrival.service_us is None:
            raise InputError(
                f"'queueing: {queueing}' recomputes the arrivals, but service_us is missing",
                place=f"recording '{recording.recording_id}', arrivals[{index}]",
            )
        services.append(arrival.service_us)
    times = arrival_times([a.prefix_end_us for a in recording.arrivals], services, queueing)
    arrivals = tuple(
        replace(arrival, arrived_at_us=time)
        for arrival, time in zip(recording.arrivals, times, strict=True)
        if time is not None
    )
    return replace(recording, arrivals=arrivals)
