"""Policies x recordings x actions x checkpoints x replications, in blocks, on an executor."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import islice, product
from typing import TYPE_CHECKING, Any, Final

from simcore.agent.simulation import AgentError
from simcore.agent.trajectory import script_in
from simcore.agent_scores import AgentScores
from simcore.drivers.ticks import UnsettledError
from simcore.errors import UsageError
from simcore.ledger import IllegalCommandError
from simcore.policy import TickPolicy
from simcore.recorder import LogRecord
from simcore.registry import PolicyFactory, policy_factory
from simcore.settings import settings_of
from simcore.trajectory import DEFAULT_CHANNEL, Trajectory, check_boundary, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import Executor

    import polars as pl

    from simcore.faults import Faults
    from simcore.scenario import ChannelSpec, Control, PolicySpec, Scenario
    from simcore.tool import ToolProfile
    from simcore.trace import Recording

BLOCK_SIZE: Final = 300
"""Trajectories a block, at most: large enough to hide the hand-over, small enough to share out."""

_AHEAD: Final = 32
"""Blocks handed out before their turn: what a fast worker finishes early waits in memory."""

SCORES: Final = Trajectory._fields[: Trajectory._fields.index("versions")]
KEYS: Final = (
    "recording_id",
    "group_id",
    "subset",
    "variant",
    "policy",
    "action",
    "checkpoint",
    "replication",
)
COLUMNS: Final = (*KEYS, *SCORES, "failure", "error", "seed")
AGENT_COLUMNS: Final = (*AgentScores._fields, "failure_kind")
"""What runs with an agent's calls, or with faults, have beside `COLUMNS`."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some recordings under one policy, with every action, checkpoint and replication.

    A recording with more of these than fit a block comes alone, with a `part` of them. An
    `extended` block has the `AGENT_COLUMNS` too.
    """

    spec: PolicySpec
    recordings: tuple[Recording, ...]
    actions: tuple[ToolProfile, ...]
    checkpoints: tuple[str | None, ...]
    replications: int
    control: Control
    seed: int
    part: tuple[int, int]
    faults: Faults | None = None
    channel: ChannelSpec = DEFAULT_CHANNEL
    extended: bool = False

    @property
    def size(self) -> int:
        first, stop = self.part
        return len(self.recordings) * (stop - first)

    @property
    def settings(self) -> Iterator[tuple[ToolProfile, str | None, int]]:
        """The actions, checkpoints and replications that each recording meets."""
        every = product(self.actions, self.checkpoints, range(self.replications))
        return islice(every, *self.part)


def run(
    scenario: Scenario,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> pl.DataFrame:
    """All trajectories of a scenario, a row each, in the same order for any executor.

    Rows are ordered by policy, recording, action, checkpoint and replication, with the columns of
    `trajectories.parquet`. The caller owns the executor; without one everything runs here.
    `progress(done, total)` counts trajectories. A trajectory that raises is a row with its
    `failure` (illegal_command, unsettled, agent_error or policy_error), the `error` and the seed
    that repeats it. Raises `UsageError` for a policy or option that does not exist, for a
    checkpoint that a recording lacks, and for an agent's policy where it lacks a script.
    """
    import polars as pl

    total, done, frames = size(scenario), 0, []
    for frame in in_order(run_block, blocks(scenario), executor):
        frames.append(frame)
        done += frame.height
        if progress is not None:
            progress(done, total)
    return pl.concat(frames)


def in_order(
    work_of: Callable[[Block], pl.DataFrame],
    work: Iterator[Block],
    executor: Executor | None,
) -> Iterator[pl.DataFrame]:
    """The blocks' frames in order, a bounded number of blocks ahead of what has been taken."""
    if executor is None:
        yield from map(work_of, work)
        return
    waiting = deque(executor.submit(work_of, block) for block in islice(work, _AHEAD))
    while waiting:
        frame = waiting.popleft().result()
        waiting.extend(executor.submit(work_of, block) for block in islice(work, 1))
        yield frame


def size(scenario: Scenario) -> int:
    """How many trajectories a scenario has."""
    each = sum(len(checkpoints) for *_, checkpoints in _plan(scenario))
    return len(scenario.recordings) * len(scenario.actions) * scenario.replications * each


def blocks(scenario: Scenario) -> Iterator[Block]:
    """The scenario's work in order; fails before any of it runs."""
    plan = _plan(scenario)
    for spec, factory, checkpoints in plan:
        _require_forecasts(scenario, spec.label, factory, checkpoints)
        _require_tools(scenario, factory)
    extended = is_extended(scenario)
    for spec, _, checkpoints in plan:
        each = len(scenario.actions) * len(checkpoints) * scenario.replications
        step = max(1, BLOCK_SIZE // each)
        for first in range(0, len(scenario.recordings), step):
            for begin in range(0, each, BLOCK_SIZE):
                yield Block(
                    spec,
                    scenario.recordings[first : first + step],
                    scenario.actions,
                    checkpoints,
                    scenario.replications,
                    scenario.control,
                    scenario.seed,
                    (begin, min(begin + BLOCK_SIZE, each)),
                    scenario.faults,
                    scenario.channel or DEFAULT_CHANNEL,
                    extended,
                )


def is_extended(scenario: Scenario) -> bool:
    """Whether rows have the `AGENT_COLUMNS`: with an agent's calls, and where things go wrong."""
    return scenario.faults is not None or any(
        event.type == "tool_call" for recording in scenario.recordings for event in recording.events
    )


def _require_tools(scenario: Scenario, factory: PolicyFactory) -> None:
    """Policies meet tools that they can use, and recordings' settings options that they have."""
    by_tick = issubclass(factory.policy, TickPolicy)
    for action in scenario.actions:
        check_boundary(by_tick, factory.policy, action)
    for recording in scenario.recordings:
        if getattr(factory.policy, "needs_agent", False):
            script_in(recording)
        options = settings_of(recording).get("policies", {})
        if factory.name in options:
            try:
                factory.adapted(options[factory.name])
            except UsageError as error:
                raise UsageError(f"{recording.recording_id}, settings: {error}") from None


def _plan(
    scenario: Scenario,
) -> list[tuple[PolicySpec, PolicyFactory, tuple[str | None, ...]]]:
    factories = [policy_factory(spec.name, spec.options) for spec in scenario.policies]
    return [
        (spec, factory, checkpoints_for(scenario, spec, factory))
        for spec, factory in zip(scenario.policies, factories, strict=True)
    ]


def checkpoints_for(
    scenario: Scenario, spec: PolicySpec, factory: PolicyFactory
) -> tuple[str | None, ...]:
    """The checkpoints that a policy runs with; what no forecast can change runs once, with None."""
    if not factory.reads_forecast:
        return (None,)
    return (scenario.checkpoints if spec.checkpoints is None else spec.checkpoints) or (None,)


def _require_forecasts(
    scenario: Scenario, label: str, factory: PolicyFactory, checkpoints: tuple[str | None, ...]
) -> None:
    if not factory.reads_forecast:
        return
    if factory.needs_masses and None in checkpoints:
        raise UsageError(f"policy '{label}' needs forecasts: name a checkpoint")
    for checkpoint, recording in product(checkpoints, scenario.recordings):
        if checkpoint is None:
            continue
        forecast = recording.forecast(checkpoint)
        if forecast is None:
            raise UsageError(
                f"'{recording.recording_id}' has no forecasts of checkpoint '{checkpoint}'"
            )
        if factory.needs_masses and forecast.masses is None:
            raise UsageError(
                f"policy '{label}' needs the 12 masses, but '{recording.recording_id}' has p_bad "
                f"alone for checkpoint '{checkpoint}'"
            )


def run_block(block: Block) -> pl.DataFrame:
    """The rows of one block."""
    import polars as pl

    columns = zip(*_rows(block), strict=True)
    types = schema(extended=block.extended)
    return pl.DataFrame(dict(zip(types, columns, strict=True)), schema=types)


def log_block(block: Block) -> pl.DataFrame:
    """The events of one block."""
    import polars as pl

    rows = [
        (*keys, *record)
        for keys, result in _trajectories(block, log=True)
        if isinstance(result, Trajectory)
        for record in result.log
    ]
    types: dict[str, Any] = dict.fromkeys(KEYS, pl.String) | {"replication": pl.Int64}
    types |= dict.fromkeys(LogRecord._fields, pl.Int64) | {"kind": pl.String, "argument": pl.String}
    return pl.DataFrame(rows, schema=types, orient="row")


def _rows(block: Block) -> Iterator[tuple[Any, ...]]:
    for keys, result in _trajectories(block):
        if isinstance(result, Trajectory):
            row = (*keys, *result[: len(SCORES)], None, None, block.seed)
            if block.extended:
                agent = result.agent or (None,) * len(AgentScores._fields)
                row += (*agent, result.trouble)
            yield row
        else:
            message = f"{type(result).__name__}: {result}".splitlines()[0]
            row = (*keys, *(None,) * len(SCORES), _failure(result), message, block.seed)
            yield row + (None,) * len(AGENT_COLUMNS) * block.extended


def _trajectories(
    block: Block, *, log: bool = False
) -> Iterator[tuple[tuple[Any, ...], Trajectory | Exception]]:
    factory = policy_factory(block.spec.name, block.spec.options)
    for recording in block.recordings:
        about = (recording.recording_id, recording.cluster, recording.subset, recording.variant)
        for action, checkpoint, replication in block.settings:
            keys = (*about, block.spec.label, action.name, checkpoint, replication)
            try:
                yield (
                    keys,
                    simulate(
                        recording,
                        action,
                        factory,
                        block.control,
                        checkpoint,
                        seed=block.seed,
                        replication=replication,
                        log=log,
                        faults=block.faults,
                        channel=block.channel,
                    ),
                )
            except Exception as error:
                yield keys, error


def _failure(error: Exception) -> str:
    if isinstance(error, IllegalCommandError):
        return "illegal_command"
    if isinstance(error, AgentError):
        return "agent_error"
    return "unsettled" if isinstance(error, UnsettledError) else "policy_error"


def schema(*, extended: bool = False) -> dict[str, Any]:
    """The column types of `trajectories.parquet`."""
    import polars as pl

    types: dict[str, Any] = dict.fromkeys(COLUMNS, pl.Int64)
    types |= dict.fromkeys(KEYS[:-1], pl.String)
    texts = ("final_argument", "result", "onset_phase", "failure", "error")
    types |= dict.fromkeys(texts, pl.String)
    types |= dict.fromkeys(("stale", "success"), pl.Boolean)
    types |= dict.fromkeys(("delay_s", "cost"), pl.Float64)
    if extended:
        types |= dict.fromkeys(AGENT_COLUMNS, pl.Int64)
        types |= dict.fromkeys(("decision", "failure_kind"), pl.String)
        types |= dict.fromkeys(("unwanted_commit", "double_booking", "wanted_lost"), pl.Boolean)
        types |= dict.fromkeys(("stop_to_decision_s", "added_delay_s"), pl.Float64)
    return types
