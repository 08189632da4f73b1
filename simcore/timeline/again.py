"""A policy's trajectories once more, as their rows in `trajectories.parquet` say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.registry import policy_factory
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.scenario import Scenario
    from simcore.tool import ToolProfile
    from simcore.trace import Recording
    from simcore.trajectory import Trajectory


class Again:
    """Simulates what the policy with a label did in a run of the scenario."""

    def __init__(self, scenario: Scenario, label: str) -> None:
        spec = next(spec for spec in scenario.policies if spec.label == label)
        self._factory = policy_factory(spec.name, spec.options)
        self._scenario = scenario
        self._recordings = {r.recording_id: r for r in scenario.recordings}
        self._actions = {action.name: action for action in scenario.actions}

    def recording(self, row: Mapping[str, Any]) -> Recording:
        return self._recordings[row["recording_id"]]

    def action(self, row: Mapping[str, Any]) -> ToolProfile:
        return self._actions[row["action"]]

    def trajectory(self, row: Mapping[str, Any], *, log: bool = False) -> Trajectory:
        """The row's trajectory, with every event where `log`."""
        return simulate(
            self.recording(row),
            self.action(row),
            self._factory,
            self._scenario.control,
            row["checkpoint"],
            seed=self._scenario.seed,
            replication=row["replication"],
            log=log,
        )
