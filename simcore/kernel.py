"""SimPy's event loop with an explicit order at one instant, and topics to subscribe to.

One-shot things are events with a callback, not processes: a process costs three times as much and
defers its body to a later hop, which would leave the order at one instant to chance.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING, Any

import simpy

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.clock import Microseconds


class Kernel(simpy.Environment):
    """Executes events by (time, priority, sequence); time is integer microseconds from 0.

    A SimPy process may run in it too (an agent that reacts, a backend with limited capacity).
    """

    _now: Microseconds

    def __init__(self) -> None:
        # What Environment's own sets, without binding event types that few trajectories use: they
        # are found on the class as well, and one environment a trajectory makes it count.
        self._now = 0
        self._queue = []
        self._eid = count()
        self._active_proc = None
        self.topics: dict[str, list[Callable[[Any], None]]] = {}

    @property
    def now(self) -> Microseconds:
        """The present instant."""
        return self._now

    def at(
        self,
        time: Microseconds,
        priority: int,
        callback: Callable[[Any], None],
        value: Any = None,
    ) -> None:
        """Call `callback(event)` at `time`; `event._value` is `value`.

        `priority` is one of `simcore.clock.Priority`. An event cannot be withdrawn: its callback
        must know when it is out of date. Raises ``ValueError`` for a time that has passed.
        """
        if time < self._now:
            raise ValueError(f"an event at {time} us, but the clock is at {self._now} us")
        # What Environment.schedule does, without its detour over a relative delay.
        heappush(self._queue, (time, priority, next(self._eid), _Once(callback, value)))  # type: ignore[misc]

    def again(self, event: Recurrent, time: Microseconds, priority: int) -> None:
        """Put an event on the clock that is not on it, once more, at a time that has not passed."""
        event.callbacks = event.kept
        heappush(self._queue, (time, priority, next(self._eid), event))  # type: ignore[misc]

    def drain(self) -> None:
        """Execute events until none are left: `run()` without a call for each step."""
        queue = self._queue
        while queue:
            self._now, _, _, event = heappop(queue)  # type: ignore[assignment]
            callbacks: Any = event.callbacks
            event.callbacks = None  # type: ignore[assignment]
            if type(callbacks) is tuple:  # one of ours, with one callback and nothing to fail
                callbacks[0](event)
                continue
            for callback in callbacks:
                callback(event)
            if not event._ok and not event.defused:
                raise event._value

    def subscribe(self, topic: str, callback: Callable[[Any], None]) -> None:
        """Call `callback(fact)` for every fact published under `topic`, in subscription order."""
        self.topics.setdefault(topic, []).append(callback)

    def publish(self, topic: str, fact: Any) -> None:
        """Tell the subscribers of `topic`, now."""
        for callback in self.topics.get(topic, ()):
            callback(fact)


class _Once:
    """As much of a triggered SimPy event as the loop looks at: nothing ever waits for it."""

    __slots__ = ("_value", "callbacks")
    _ok = True

    def __init__(self, callback: Callable[[Any], None], value: Any) -> None:
        self.callbacks: tuple[Callable[[Any], None], ...] | None = (callback,)
        self._value = value


class Recurrent(_Once):
    """An event of one callback, for `Kernel.again`; it spares a new object each time."""

    __slots__ = ("kept",)

    def __init__(self, callback: Callable[[Any], None]) -> None:
        self.kept = self.callbacks = (callback,)
        self._value = None
