"""SimPy's event loop with an explicit order at one instant, and topics to subscribe to.

One-shot things are events with a callback, not processes: a process costs three times as much and
defers its body to a later hop, which would leave the order at one instant to chance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import simpy
from simpy.events import Event

if TYPE_CHECKING:
    from collections.abc import Callable

    from simpy.events import EventPriority

    from simcore.clock import Microseconds, Priority


class Kernel(simpy.Environment):
    """Executes events by (time, priority, sequence); time is integer microseconds from 0.

    A SimPy process may run in it too (an agent that reacts, a backend with limited capacity).
    """

    def __init__(self) -> None:
        super().__init__(initial_time=0)
        self.topics: dict[str, list[Callable[[Any], None]]] = {}

    @property
    def now(self) -> Microseconds:
        """The present instant."""
        return cast("Microseconds", self._now)

    def at(
        self,
        time: Microseconds,
        priority: Priority,
        callback: Callable[[Any], None],
        value: Any = None,
    ) -> None:
        """Call `callback(event)` at `time`; `event.value` is `value`.

        An event cannot be withdrawn: its callback must know when it is out of date. Raises
        ``ValueError`` for a time that has passed.
        """
        delay = time - self.now
        if delay < 0:
            raise ValueError(f"an event at {time} us, but the clock is at {self.now} us")
        self.schedule(_Once(self, callback, value), cast("EventPriority", priority), delay)

    def subscribe(self, topic: str, callback: Callable[[Any], None]) -> None:
        """Call `callback(fact)` for every fact published under `topic`, in subscription order."""
        self.topics.setdefault(topic, []).append(callback)

    def publish(self, topic: str, fact: Any) -> None:
        """Tell the subscribers of `topic`, now."""
        for callback in self.topics.get(topic, ()):
            callback(fact)


class _Once(Event):
    """An event that is triggered from the start, as SimPy's own Timeout is."""

    def __init__(self, env: Kernel, callback: Callable[[Any], None], value: Any) -> None:
        self.env = env
        self.callbacks = [callback]
        self._value = value
        self._ok = True
