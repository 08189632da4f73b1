"""Sources put the world's events on the clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.clock import Priority
from simcore.recorder import ARRIVAL, LogRecord

if TYPE_CHECKING:
    from simcore.kernel import Kernel
    from simcore.trace import AgentEvent, Recording


class TraceSource:
    """Open loop: publishes a recording's arrivals (as `LogRecord`) and agent events as they happen.

    Only topics with a subscriber are put on the clock: a tick policy looks at arrivals when it is
    asked, and would pay for events that nobody hears. Subscribe before `start`.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording

    def start(self, kernel: Kernel) -> None:
        """Schedule the events; those of one instant keep the file's order."""
        if ARRIVAL in kernel.topics:
            for index, arrival in enumerate(self._recording.arrivals):
                at = arrival.arrived_at_us
                fact = LogRecord(at, ARRIVAL, argument=arrival.argument, detail=index)
                kernel.at(at, Priority.SOURCE, _publish, (kernel, ARRIVAL, fact))
        for event in self._recording.events:
            if event.type in kernel.topics:
                kernel.at(event.at_us, Priority.SOURCE, _publish, (kernel, event.type, event))


def _publish(event: Any) -> None:
    kernel: Kernel
    fact: LogRecord | AgentEvent
    kernel, topic, fact = event._value
    kernel.publish(topic, fact)
