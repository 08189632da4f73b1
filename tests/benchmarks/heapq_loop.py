"""RASSG as a bare loop over a heap of events (time, priority, sequence, payload). A yardstick.

It visits every tick; the priority tells what the event is.
"""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush
from typing import Any

from tests.benchmarks.common import Prepared, outcome_row, prepare

__all__ = ["prepare", "simulate"]

ACKNOWLEDGEMENT, ARRIVAL, DECISION, TICK, COMPLETION, DEADLINE = range(1, 7)
WAIT, COMMIT, UPDATE, CANCEL = range(4)
ARGUMENT, START, END, OUTCOME, COMPLETED = range(5)  # a version


def simulate(inputs: Prepared) -> dict[str, Any]:
    """The outcome row of one trajectory."""
    runtime, window, keeps = inputs.runtime, inputs.window, inputs.keeps_progress
    stale_cost, cancel_cost, beta = inputs.stale_cost, inputs.cancel_cost, inputs.delay_price
    period, processing, kappa = inputs.period, inputs.processing, inputs.kappa
    n = len(inputs.arrivals)
    heap: list[tuple[int, int, int, Any]] = [
        (at, ARRIVAL, i, argument) for i, (at, argument) in enumerate(inputs.arrivals)
    ]  # sorted, so a heap
    heappush(heap, (0, TICK, n, None))
    seq = n
    heard = run = 0
    latest: str | None = None
    versions: list[list[Any]] = []
    active: list[Any] | None = None
    acknowledged = 0
    first_commit: int | None = None
    commits = updates = late_updates = cancels = late_cancels = skipped = 0

    while heap:
        now, kind, _, payload = heappop(heap)
        launch = None
        if kind == TICK:
            if payload is not None:
                tick, candidate, agreeing, final = payload
            else:
                tick, candidate, agreeing, final = now, latest, run, heard == n
                if acknowledged > now:
                    seq += 1
                    heappush(heap, (acknowledged, TICK, seq, (tick, candidate, agreeing, final)))
                    continue
            d = now + processing
            command = WAIT
            if candidate is not None:
                if active is None:
                    if final or agreeing >= 3:
                        command = COMMIT
                elif candidate != active[ARGUMENT]:
                    command = UPDATE
                elif not final and d + kappa <= active[END] < d + kappa + period:
                    index = bisect_right(inputs.forecast_at, tick) - 1
                    if index >= 0:
                        p_bad = inputs.p_bad[index]
                        g = min(runtime, max(0, d - active[START])) / 1_000_000
                        if stale_cost * p_bad > cancel_cost + beta * g * (1 - p_bad):
                            command = CANCEL
            if command != WAIT:
                seq += 1
                heappush(heap, (d, DECISION, seq, (command, candidate)))
            elif final:
                continue
            following = tick + period
            if following < d:
                following = -(-d // period) * period
                skipped += (following - tick) // period - 1
            seq += 1
            heappush(heap, (following, TICK, seq, None))
        elif kind == ARRIVAL:
            heard += 1
            if payload == latest:
                run += 1
            else:
                latest = payload
                run = 1
        elif kind == DECISION:
            command, argument = payload
            if command == COMMIT:
                commits += 1
                if first_commit is None:
                    first_commit = now
                launch, start = argument, now
            else:
                acknowledged = now + kappa
                seq += 1
                heappush(heap, (acknowledged, ACKNOWLEDGEMENT, seq, payload))
        elif kind == ACKNOWLEDGEMENT:
            command, argument = payload
            assert active is not None
            in_time = active[OUTCOME] is None
            if command == CANCEL:
                if in_time:
                    active[OUTCOME] = "cancelled"
                    active = None
                    cancels += 1
                else:
                    late_cancels += 1
            else:
                launch, start = argument, now
                if in_time:
                    active[OUTCOME] = "updated"
                    updates += 1
                    if (active[ARGUMENT], argument) in keeps:
                        start = active[START]
                else:
                    late_updates += 1
                    commits += 1
        elif kind == COMPLETION:
            if payload[OUTCOME] is None or payload[OUTCOME] == "executed":
                payload[COMPLETED] = now
        elif payload[OUTCOME] is None:  # its deadline
            payload[OUTCOME] = "executed"
        if launch is not None:
            end = completion = max(now, start + runtime)
            if now + window < end:
                end = now + window
            active = [launch, start, end, None, None]
            versions.append(active)
            heappush(heap, (completion, COMPLETION, seq + 1, active))
            seq += 2
            heappush(heap, (end, DEADLINE, seq, active))

    return outcome_row(
        inputs,
        [version[ARGUMENT] for version in versions if version[OUTCOME] == "executed"],
        None if active is None else active[ARGUMENT],
        None if active is None else active[COMPLETED],
        first_commit,
        commits,
        updates,
        late_updates,
        cancels,
        late_cancels,
        skipped,
    )
