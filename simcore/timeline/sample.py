"""A few trajectories of a run for Perfetto: all of them would be too many to look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simcore.experiment import checkpoints_for
from simcore.registry import policy_factory
from simcore.timeline.perfetto import Lane, perfetto_run
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcore.scenario import Scenario

RECORDINGS: Final = 5


def sample(scenario: Scenario) -> dict[str, Any]:
    """Every policy on the first recordings, with the first action and checkpoint.

    A trajectory that fails is left out.
    """
    return perfetto_run(_lanes(scenario))


def _lanes(scenario: Scenario) -> Iterator[Lane]:
    action = scenario.actions[0]
    for recording in scenario.recordings[:RECORDINGS]:
        for spec in scenario.policies:
            factory = policy_factory(spec.name, spec.options)
            checkpoint = checkpoints_for(scenario, spec, factory)[0]
            try:
                result = simulate(
                    recording,
                    action,
                    factory,
                    scenario.control,
                    checkpoint,
                    seed=scenario.seed,
                    log=True,
                )
            except Exception:
                continue
            name = f"{recording.recording_id}: {spec.label} on {action.name}"
            yield Lane(name, recording, result.versions, result.log, checkpoint)
