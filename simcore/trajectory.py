"""One trajectory: a recording, an action and a policy on the event clock, and its score."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Literal, NamedTuple

from simcore.agent_scores import agent_scores, agent_trouble
from simcore.backend import Backend
from simcore.clock import seconds
from simcore.drivers.immediate import ImmediateDriver
from simcore.drivers.ticks import TickDriver
from simcore.errors import UsageError
from simcore.faults import NO_FAULTS, reordered
from simcore.kernel import Kernel
from simcore.ledger import Ledger
from simcore.onset import onset_phase
from simcore.policy import TickPolicy, View
from simcore.recorder import LOGGED, LogRecord
from simcore.scenario import ChannelSpec, Control
from simcore.settings import overridden
from simcore.source import TraceSource
from simcore.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.agent_scores import AgentScores, FailureKind
    from simcore.clock import Microseconds
    from simcore.faults import Faults
    from simcore.onset import OnsetPhase
    from simcore.policy import Policy
    from simcore.recorder import VersionRecord
    from simcore.tool import ToolProfile
    from simcore.trace import Argument, Recording

DEFAULT_CONTROL = Control()
DEFAULT_CHANNEL = ChannelSpec()
_COMMITMENT = attrgetter("committed_us", "call", "version")

Result = Literal["right", "wrong", "none", "right_abstention"]


class Trajectory(NamedTuple):
    """The outcome of one trajectory.

    The fields before `versions` are columns of `trajectories.parquet`; scores are None for an
    unlabelled recording. `delay_s` is the held call's completion minus the recording's origin in
    seconds, negative clipped to 0, None unless the call holds the target. `onset_phase` says where
    the first repair fell (see `simcore.onset`). `versions` are in order of their commitment; `log`
    is empty unless it was asked for. `agent` scores an agent's calls. `trouble` is what went wrong,
    judged by the rules of `simcore.agent_scores`.
    """

    stale: bool | None
    stale_versions: int | None
    success: bool | None
    delay_s: float | None
    first_commit_us: Microseconds | None
    completed_us: Microseconds | None
    commits: int
    updates: int
    late_updates: int
    cancels: int
    late_cancels: int
    skipped_ticks: int
    final_argument: Argument | None
    result: Result | None
    duplicate_effects: int
    cost: float | None
    onset_phase: OnsetPhase | None
    versions: tuple[VersionRecord, ...]
    log: tuple[LogRecord, ...] = ()
    agent: AgentScores | None = None
    trouble: FailureKind | None = None


def simulate(
    trace: Recording,
    action: ToolProfile,
    policy: Policy | Callable[[], Policy],
    control: Control = DEFAULT_CONTROL,
    checkpoint: str | None = None,
    *,
    seed: int = 0,
    replication: int = 0,
    log: bool = False,
    faults: Faults | None = None,
    channel: ChannelSpec = DEFAULT_CHANNEL,
) -> Trajectory:
    """Run one trajectory and score it.

    `policy` is a class or another factory, or an object that has not been used yet. `checkpoint`
    names the forecasts that it sees; `seed` and `replication` choose its random numbers. `faults`
    says what can go wrong with the tool, `channel` how an agent hears of its calls. What the
    recording's own `settings` say comes first; its policy options reach a `PolicyFactory`. Raises
    `UsageError` where the recording lacks the forecasts; what a policy raises passes through.
    """
    if trace.settings is not None:
        action, channel, policy = overridden(trace, action, channel, policy)
    forecast = None
    if checkpoint is not None:
        forecast = trace.forecast(checkpoint)
        if forecast is None:
            raise UsageError(f"{trace.recording_id} has no forecasts of checkpoint '{checkpoint}'")
    rule = policy() if callable(policy) else policy
    if getattr(rule, "needs_agent", False):
        from simcore.agent.trajectory import agent_trajectory

        return agent_trajectory(
            trace,
            action,
            rule,  # type: ignore[arg-type]  # the TaskManager protocol
            control,
            seed=seed,
            replication=replication,
            faults=faults,
            log=log,
        )
    kernel = Kernel()
    stream_key = (seed, trace.recording_id, action.name, replication)
    by_tick = isinstance(rule, TickPolicy)
    check_boundary(by_tick, rule, action)
    expected = control.acknowledgement_us
    ledger: Ledger
    if by_tick and faults is None:
        ledger = Ledger(kernel, action, expected)
    else:
        if faults is not None:
            if faults.reorder:
                trace = reordered(trace, faults, stream(*stream_key, "reorder"))
            if faults.acknowledgement is not None:
                expected = round(faults.acknowledgement.mean)
        ledger = Backend(kernel, action, expected, stream_key, faults or NO_FAULTS)
    records: list[LogRecord] = []
    if log:
        for topic in LOGGED:
            kernel.subscribe(topic, records.append)
    view = View(action, control, ledger, forecast, stream_key)
    view.acknowledgement_us = expected
    rule.reset(view)
    if getattr(rule, "sees_future", False):
        rule.foresee(trace)  # type: ignore[attr-defined]  # the Foresight protocol
    driver: TickDriver | ImmediateDriver
    if isinstance(rule, TickPolicy):
        driver = TickDriver(kernel, ledger, rule, view, trace)
    else:
        driver = ImmediateDriver(kernel, ledger, rule, view, trace, channel)
    if kernel.topics:
        TraceSource(trace).start(kernel)
    kernel.drain()
    if not isinstance(ledger, Backend):
        return score(trace, action, ledger, driver, tuple(records))
    ledger.lapse()
    result = score(trace, action, ledger, driver, tuple(records))
    if isinstance(driver, TickDriver):
        return result._replace(trouble=call_trouble(result, ledger.zombies()))
    scores = agent_scores(trace, action, ledger, driver.channel, driver.launched)
    trouble = agent_trouble(scores, ledger, driver.channel, driver.launched)
    return result._replace(agent=scores, trouble=trouble)


def check_boundary(by_tick: bool, rule: object, action: ToolProfile) -> None:
    """Whether a policy can use a tool of this kind; raises `UsageError`."""
    if by_tick and action.boundary == "explicit":
        raise UsageError(f"'{action.name}' has two phases: only policies that commit can use it")
    if getattr(rule, "needs_two_phases", False) and action.boundary != "explicit":
        raise UsageError(f"this policy commits: '{action.name}' needs two phases ('prepare')")


def call_trouble(result: Trajectory, zombies: int = 0) -> FailureKind | None:
    """The failure kind of a trajectory without an agent."""
    if zombies:
        return "zombie_commit"
    if result.duplicate_effects:
        return "duplicate_effect"
    if result.stale_versions:
        return "stale_execution"
    if result.success is False and result.cancels and result.final_argument is None:
        return "cancelled_needed_work"
    return "missed_deadline" if result.late_cancels or result.late_updates else None


def score(
    trace: Recording,
    action: ToolProfile,
    ledger: Ledger,
    driver: TickDriver | ImmediateDriver,
    log: tuple[LogRecord, ...] = (),
) -> Trajectory:
    """Hold the settled ledger against the target, which no policy has seen."""
    versions = ledger.closed
    executed = [version.argument for version in versions if version.outcome == "executed"]
    active = ledger.achieved
    held = completed = None
    if active is not None:
        held, completed = active.argument, active.completion_us
        if ledger.delivered_us is not None:
            completed = max(completed, ledger.delivered_us)
    stale_versions = success = delay = result = cost = None
    if trace.labelled:
        target = trace.target
        stale_versions = len(executed) - executed.count(target) if target else len(executed)
        cost = action.stale_cost * stale_versions + action.cancel_cost * (
            ledger.cancels + ledger.late_cancels
        )
        success = target is not None and held == target
        if success:
            assert completed is not None
            delay = seconds(max(0, completed - trace.delay_origin_us))
            cost += action.delay_price * delay
        elif target is not None:
            cost += action.price_of_missing
        if target is None:
            result = "wrong" if executed else "right_abstention"
        else:
            result = "right" if success else "none" if held is None else "wrong"
    if len(versions) > 1:
        versions = sorted(versions, key=_COMMITMENT)
    fields = (
        None if stale_versions is None else stale_versions > 0,
        stale_versions,
        success,
        delay,
        ledger.first_commit_us,
        completed,
        ledger.commits,
        ledger.updates,
        ledger.late_updates,
        ledger.cancels,
        ledger.late_cancels,
        driver.skipped_ticks,
        held,
        result,
        len(executed) - len(set(executed)) + ledger.repeats,
        cost,
        onset_phase(trace.repairs, versions) if trace.repairs else None,
        tuple(versions),
        log,
        None,
        None,
    )
    return tuple.__new__(Trajectory, fields)
