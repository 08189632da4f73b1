"""`make bench`: the engine beside two plain scripts of the same rules, in one run.

Each round times all three in turn on the same trajectories, in processor time; the figures are
medians of rounds, and the ratios are taken round by round, since machines are noisy.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

from simcore.experiment import COLUMNS, run
from simcore.files.scenarios import load_scenario
from simcore.files.trace_rows import recording_to_dict
from tests.benchmarks import heapq_loop, simpy_script

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.scenario import Scenario

SCENARIO = Path(__file__).parents[2] / "scenarios" / "recast_prospective.yaml"
ROUNDS = 5
RECORDINGS = 120


def main() -> None:
    """Print trajectories a second of the three, their ratios, and that all outcomes agree."""
    scenario = load_scenario(SCENARIO, policies=["rassg"])
    scenario = replace(scenario, recordings=scenario.recordings[:RECORDINGS])
    plain = _plain_inputs(scenario)
    runners: dict[str, Callable[[], list[dict[str, Any]]]] = {
        "simcore": lambda: run(scenario).to_dicts(),
        "simpy script": lambda: [simpy_script.simulate(inputs) for inputs in plain],
        "heapq loop": lambda: [heapq_loop.simulate(inputs) for inputs in plain],
    }
    rates: dict[str, list[float]] = {name: [] for name in runners}
    for _ in range(ROUNDS):
        rows = {}
        for name, runner in runners.items():
            began = process_time()
            rows[name] = runner()
            rates[name].append(len(plain) / (process_time() - began))
        _require_agreement(rows)
    print(f"rassg, {len(plain)} trajectories, one core, medians of {ROUNDS} rounds; outcomes agree")
    for name, values in rates.items():
        print(f"{name:<14}{median(values):>10,.0f} trajectories/s")
    for name in ("simpy script", "heapq loop"):
        ratios = [ours / theirs for ours, theirs in zip(rates["simcore"], rates[name], strict=True)]
        print(f"simcore is {median(ratios):.2f} times as fast as the {name}")


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


def _require_agreement(rows: dict[str, list[dict[str, Any]]]) -> None:
    shared = [column for column in COLUMNS if column in rows["heapq loop"][0]]
    for name, found in rows.items():
        for ours, theirs in zip(rows["simcore"], found, strict=True):
            for column in shared:
                one, other = ours[column], theirs[column]
                same = abs(one - other) < 1e-9 if isinstance(one, float) else one == other
                if not same:
                    sys.exit(f"{name} disagrees on {column}: {other!r}, simcore has {one!r}")


if __name__ == "__main__":
    main()
