"""A discrete-event simulator of voice agents' tool calls, in which the commit rule is a policy.

`simulate` runs one trajectory, `run` a whole scenario, `load_scenario` reads one from YAML and
`read_traces` recordings from a file.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simcore.experiment import run
    from simcore.files.scenarios import load_scenario
    from simcore.files.traces import read_traces, write_traces
    from simcore.scenario import Control, Scenario
    from simcore.tool import ToolProfile
    from simcore.trace import Recording, canonical
    from simcore.trajectory import Trajectory, simulate

__all__ = [
    "Control",
    "Recording",
    "Scenario",
    "ToolProfile",
    "Trajectory",
    "canonical",
    "load_scenario",
    "read_traces",
    "run",
    "simulate",
    "write_traces",
]

_HOMES = {
    "Control": "scenario",
    "Recording": "trace",
    "Scenario": "scenario",
    "ToolProfile": "tool",
    "Trajectory": "trajectory",
    "canonical": "trace",
    "load_scenario": "files.scenarios",
    "read_traces": "files.traces",
    "run": "experiment",
    "simulate": "trajectory",
    "write_traces": "files.traces",
}


def __getattr__(name: str) -> Any:
    # Imported when first used: `simcore --help` should not wait for SimPy, NumPy or polars.
    if name not in _HOMES:
        raise AttributeError(f"module 'simcore' has no attribute '{name}'")
    return getattr(import_module(f"simcore.{_HOMES[name]}"), name)
