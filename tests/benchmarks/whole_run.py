"""A whole run in a process of its own: its speed with files and summary, and its peak memory.

`python -m tests.benchmarks.whole_run N` runs every policy of the main comparison N times and prints
trajectories a second and the peak in MiB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from simcore import sweep
from simcore.experiment import size
from simcore.files.scenarios import load_scenario
from simcore.report.summary import build_summary

SCENARIO = Path(__file__).parents[2] / "scenarios" / "recast_prospective.yaml"


def measured(replications: int) -> tuple[int, float, float]:
    """Trajectories, trajectories a second and the peak memory in MiB of one run on one core."""
    command = [sys.executable, "-m", "tests.benchmarks.whole_run", str(replications)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    count, rate, peak = map(float, done.stdout.split())
    return int(count), rate, peak


def main() -> None:
    """What a run does, but for the clairvoyant, whose search would be all there is to measure."""
    loaded = load_scenario(SCENARIO)
    quick = tuple(spec for spec in loaded.policies if spec.name != "clairvoyant")
    scenario = replace(loaded, policies=quick, replications=int(sys.argv[1]))
    began = process_time()
    with TemporaryDirectory() as folder:
        path = sweep.write_trajectories(scenario, Path(folder))
        build_summary(sweep.Panels(path), scenario)
    rate = size(scenario) / (process_time() - began)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(size(scenario), rate, peak)


if __name__ == "__main__":
    main()
