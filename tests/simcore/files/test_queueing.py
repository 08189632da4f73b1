"""One decoder: every prefix in order, or the newest that waits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simcore.errors import InputError
from simcore.queueing import arrival_times, requeue
from simcore.trace import Arrival, Recording

prefixes = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 25)), min_size=1, max_size=12).map(
    lambda pairs: (
        [sum(gap for gap, _ in pairs[: i + 1]) for i in range(len(pairs))],
        [service for _, service in pairs],
    )
)


@given(prefixes)
def test_fifo_decodes_every_prefix_after_the_one_before(
    prefixes: tuple[list[int], list[int]],
) -> None:
    ends, services = prefixes
    before = 0
    for end, service, time in zip(
        ends, services, arrival_times(ends, services, "fifo"), strict=True
    ):
        assert time == max(end, before) + service
        before = time


@given(prefixes)
def test_latest_takes_the_newest_prefix_that_has_ended(
    prefixes: tuple[list[int], list[int]],
) -> None:
    ends, services = prefixes
    times = arrival_times(ends, services, "latest")
    kept = [i for i, time in enumerate(times) if time is not None]
    assert kept[-1] == len(ends) - 1, "the final flush is never skipped"
    free = 0
    for previous, i in zip([-1, *kept], kept, strict=False):
        start = max(ends[previous + 1], free)
        ended = [k for k in range(previous + 1, len(ends)) if ends[k] <= start]
        assert i == max(ended)
        free = start + services[i]
        assert times[i] == free


@given(prefixes)
def test_where_nothing_waits_both_are_the_same(prefixes: tuple[list[int], list[int]]) -> None:
    gaps, services = prefixes
    ends = [100 * (i + 1) for i in range(len(gaps))]
    assert arrival_times(ends, services, "latest") == arrival_times(ends, services, "fifo")


def recording(*services: int | None) -> Recording:
    arrivals = tuple(
        Arrival(10 * (i + 1), 10 * (i + 1), f"{i}", 0.5, None, i == len(services) - 1, service)
        for i, service in enumerate(services)
    )
    return Recording("r", 10 * len(services), arrivals)


def test_a_recording_loses_the_arrivals_that_are_superseded() -> None:
    queued = requeue(recording(25, 5, 5, 5), "latest")
    assert [(a.text, a.arrived_at_us) for a in queued.arrivals] == [("0", 35), ("2", 40), ("3", 45)]


def test_latest_needs_every_service_time() -> None:
    with pytest.raises(InputError, match=r"arrivals\[1\].*service_us is missing"):
        requeue(recording(5, None, 5), "latest")
