"""Order at one instant is explicit, and time never goes back."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
import simpy
from hypothesis import given
from hypothesis import strategies as st

from simcore.clock import Priority
from simcore.kernel import Kernel

if TYPE_CHECKING:
    from collections.abc import Iterator


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(Priority)), max_size=30))
def test_events_come_by_time_then_priority_then_sequence(
    events: list[tuple[int, Priority]],
) -> None:
    kernel, seen = Kernel(), []
    for number, (time, priority) in enumerate(events):
        key = (time, priority, number)
        kernel.at(time, priority, lambda event: seen.append((kernel.now, event._value)), key)
    kernel.run()
    assert [key for _, key in seen] == sorted(key for _, key in seen)
    assert all(now == key[0] for now, key in seen)
    assert all(a <= b for (a, _), (b, _) in itertools.pairwise(seen))


def test_simpy_processes_and_resources_run_in_it() -> None:
    kernel, seen = Kernel(), []

    def customer(name: str, resource: simpy.Resource) -> Iterator[simpy.Event]:
        with resource.request() as turn:
            yield turn
            yield kernel.timeout(10)
        seen.append((kernel.now, name))

    counter = simpy.Resource(kernel, capacity=1)
    for name in ("a", "b"):
        kernel.process(customer(name, counter))
    kernel.at(10, Priority.SOURCE, lambda _: seen.append((kernel.now, "event")))
    kernel.drain()
    assert sorted(seen) == [(10, "a"), (10, "event"), (20, "b")]


def test_a_process_that_fails_is_heard() -> None:
    kernel = Kernel()

    def failing() -> Iterator[simpy.Event]:
        yield kernel.timeout(1)
        raise ZeroDivisionError("in a process")

    kernel.process(failing())
    with pytest.raises(ZeroDivisionError, match="in a process"):
        kernel.drain()


def test_an_event_in_the_past_is_refused() -> None:
    kernel = Kernel()
    kernel.at(5, Priority.TICK, lambda _: kernel.at(4, Priority.TICK, print))
    with pytest.raises(ValueError, match="4 us, but the clock is at 5 us"):
        kernel.run()


def test_subscribers_hear_their_topic_in_order() -> None:
    kernel, heard = Kernel(), []
    kernel.subscribe("a", lambda fact: heard.append(("first", fact)))
    kernel.subscribe("a", lambda fact: heard.append(("second", fact)))
    kernel.publish("a", 1)
    kernel.publish("b", 2)
    assert heard == [("first", 1), ("second", 1)]
