"""A played script as a trajectory, scored like any other."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING

from simcore.agent.script import from_row
from simcore.agent.simulation import play
from simcore.errors import UsageError
from simcore.settings import settings_of
from simcore.trajectory import Trajectory

if TYPE_CHECKING:
    from simcore.agent.script import Script
    from simcore.agent.simulation import TaskManager
    from simcore.faults import Faults
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Recording


def agent_trajectory(
    trace: Recording,
    action: ToolProfile,
    manager: TaskManager,
    control: Control,
    *,
    seed: int,
    replication: int,
    faults: Faults | None,
    log: bool,
) -> Trajectory:
    """Play a recording's script. The action gives the prices, the script its own tools.

    `stale_versions` counts effects that nobody wanted, `delay_s` is from the final query to the
    answer, `success` wants the right calls behind the answer and all effects right. Raises
    `UsageError` for a recording without a script, `AgentError` where the agent never answers.
    """
    played = play(
        script_in(trace),
        manager,
        control=control,
        seed=seed,
        replication=replication,
        faults=faults,
        log=log,
    )
    success = played.right and trace.target is not None
    arguments = [effect.argument for effect in played.effects]
    cost = action.stale_cost * played.wrong_effects
    cost += action.cancel_cost * (played.cancels + played.late_cancels)
    if success:
        cost += action.delay_price * played.answer_s
    elif trace.target is not None:
        cost += action.price_of_missing
    right = "right" if success else "wrong"
    if trace.target is None and not arguments:
        right = "right_abstention"
    return Trajectory(
        stale=played.wrong_effects > 0,
        stale_versions=played.wrong_effects,
        success=success,
        delay_s=played.answer_s if success else None,
        first_commit_us=played.first_us,
        completed_us=played.answer_us,
        commits=played.runs,
        updates=0,
        late_updates=0,
        cancels=played.cancels,
        late_cancels=played.late_cancels,
        skipped_ticks=0,
        final_argument=played.plan,
        result=right,  # type: ignore[arg-type]  # one of Result's words
        duplicate_effects=len(arguments) - len(set(arguments)),
        cost=cost,
        onset_phase=None,
        versions=played.versions,
        log=played.log,
    )


def script_in(trace: Recording) -> Script:
    """The script that a recording's settings hold. Raises `UsageError`."""
    if trace.settings is None or "agent" not in settings_of(trace):
        raise UsageError(f"'{trace.recording_id}' has no script for an agent to play")
    return _script(trace.settings)


@lru_cache(maxsize=1 << 12)
def _script(settings: str) -> Script:
    return from_row(json.loads(settings)["agent"])
