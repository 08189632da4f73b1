"""`make bench`: the engine beside two plain scripts of the same rules, in one run.

All three are timed in turn on the same few trajectories, in processor time, many times over; ratios
are taken within a turn, since machines are noisy. Then whole runs, once and ten times over (with
`--hundred` also a hundred times, for minutes): their speed, files and summary included, and their
peak memory, which must not grow.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from simcore.experiment import COLUMNS, run
from simcore.files.scenarios import load_scenario
from simcore.files.trace_rows import recording_to_dict
from tests.benchmarks import heapq_loop, simpy_script
from tests.benchmarks.whole_run import SCENARIO, measured

if TYPE_CHECKING:
    from simcore.scenario import Scenario

PLAIN = {"simpy script": simpy_script.simulate, "heapq loop": heapq_loop.simulate}

ROUNDS = 5
CHUNK = 20
"""Recordings a measurement: short ones in turn, so that a slow moment meets all three."""


def main() -> None:
    """Print trajectories a second of the three, their ratios, and that all outcomes agree."""
    scenario = load_scenario(SCENARIO, policies=["rassg"])
    rates: dict[str, list[float]] = {name: [] for name in ("simcore", *PLAIN)}
    for _ in range(ROUNDS):
        for first in range(0, len(scenario.recordings), CHUNK):
            some = scenario.recordings[first : first + CHUNK]
            for name, rate in _measured(replace(scenario, recordings=some)).items():
                rates[name].append(rate)
    count = len(rates["simcore"])
    print(f"rassg on one core, medians of {count} measurements in turn; all outcomes agree")
    for name, values in rates.items():
        print(f"{name:<14}{median(values):>10,.0f} trajectories/s")
    for name in PLAIN:
        ratios = [ours / theirs for ours, theirs in zip(rates["simcore"], rates[name], strict=True)]
        print(f"simcore is {median(ratios):.2f} times as fast as the {name}")
    loop = median(rates["heapq loop"])
    for replications in (1, 10, 100)[: 3 if "--hundred" in sys.argv else 2]:
        count, rate, peak = measured(replications)
        print(
            f"all policies {replications} times, {count:,} trajectories, with files and summary: "
            f"{rate:,.0f}/s ({rate / loop:.2f} of the heapq loop), peak {peak:.0f} MiB"
        )


def _measured(scenario: Scenario) -> dict[str, float]:
    """Trajectories a second of processor time; ends the program where outcomes differ."""
    plain = _plain_inputs(scenario)
    began = process_time()
    frame = run(scenario)  # with every outcome, as a run folder has it
    rates = {"simcore": len(plain) / (process_time() - began)}
    ours = frame.to_dicts()
    for name, simulate in PLAIN.items():
        began = process_time()
        rows = [simulate(inputs) for inputs in plain]
        rates[name] = len(plain) / (process_time() - began)
        _require_agreement(name, ours, rows)
    return rates


def _plain_inputs(scenario: Scenario) -> list[Any]:
    control = {
        "period_us": scenario.control.period_us,
        "processing_us": scenario.control.processing_us,
        "acknowledgement_us": scenario.control.acknowledgement_us,
    }
    inputs = []
    for recording in scenario.recordings:
        trace = recording_to_dict(recording)
        for action in scenario.actions:
            fields = action.reusable_fields
            tool = {
                "runtime_us": action.runtime_us,
                "cancel_window_us": action.cancel_window_us,
                "stale_cost": action.stale_cost,
                "cancel_cost": action.cancel_cost,
                "delay_price": action.delay_price,
                "miss_cost": action.miss_cost,
                "reusable_fields": None if fields is None else sorted(fields),
            }
            inputs += [
                simpy_script.prepare(trace, tool, control, checkpoint)
                for checkpoint in scenario.checkpoints or (None,)
            ]
    return inputs


def _require_agreement(name: str, ours: list[dict[str, Any]], rows: list[dict[str, Any]]) -> None:
    for our, row in zip(ours, rows, strict=True):
        for column in COLUMNS:
            if column not in row:
                continue
            one, other = our[column], row[column]
            same = abs(one - other) < 1e-9 if isinstance(one, float) else one == other
            if not same:
                sys.exit(f"{name} disagrees on {column}: {other!r}, simcore has {one!r}")


if __name__ == "__main__":
    main()
