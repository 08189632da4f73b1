"""One script under one policy on the event clock, and its score."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from simcore.agent.process import ANSWERED, FINAL_QUERY, PAUSED, Agent
from simcore.agent.program import program, resolved, right_steps, standing
from simcore.agent.tools import ToolBackend
from simcore.clock import seconds
from simcore.drivers.immediate import ImmediateDriver
from simcore.faults import NO_FAULTS
from simcore.kernel import Kernel
from simcore.policy import View
from simcore.recorder import LOGGED
from simcore.scenario import ChannelSpec, Control
from simcore.trace import Recording, canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simcore.agent.process import Piece
    from simcore.agent.program import System
    from simcore.agent.script import Call, Script
    from simcore.backend import Effect
    from simcore.clock import Microseconds
    from simcore.commands import Answer, Note, Respond
    from simcore.faults import Faults
    from simcore.recorder import LogRecord, VersionRecord
    from simcore.tool import ToolProfile
    from simcore.trace import Argument


class AgentError(Exception):
    """The agent has come to no answer."""


class StandingCall(Protocol):
    """What a task manager holds of a call that stands: its run's argument, once it runs."""

    call: Call
    argument: Argument | None


class TaskManager(Protocol):
    """A policy for the calls of an agent that is played along with it (`needs_agent`)."""

    subscribes: ClassVar[tuple[str, ...]]
    system: System

    @property
    def standing(self) -> Mapping[str, StandingCall]: ...
    def reset(self, view: View) -> None: ...
    def equip(self, tools: Mapping[str, ToolProfile]) -> None: ...
    def on(self, event: Any, view: View) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a script. Times are microseconds; `answer_us` is when the answer begins.

    - `commit_us`: the commit point, the first pause or answer after the final query;
    - `effects`: what was written, in order; `wrong_effects`: those that nobody wanted, also a
      wanted one that happened twice; `missing_effects`: wanted ones that did not happen;
    - `right`: all effects are those wanted and the answer was made of the right calls;
    - `runs`: calls that were started; `wasted`: those of them that the answer does not use;
    - `plan`: the calls that stood at the end; `pieces`: the agent's context as it grew;
    - `tokens`: how many the agent generated; `interruptions`: how often it was interrupted.
    """

    answer_us: Microseconds
    final_us: Microseconds
    commit_us: Microseconds
    effects: tuple[Effect, ...]
    wrong_effects: int
    missing_effects: int
    right: bool
    runs: int
    wasted: int
    cancels: int
    late_cancels: int
    plan: Argument | None
    pieces: tuple[Piece, ...]
    tokens: int
    interruptions: int
    versions: tuple[VersionRecord, ...]
    first_us: Microseconds | None
    log: tuple[LogRecord, ...] = ()

    @property
    def answer_s(self) -> float:
        """Seconds from the final query to the answer."""
        return seconds(self.answer_us - self.final_us)


class _Ear(NamedTuple):
    """The driver's channel to the agent: it takes answers at once, and notes are not for it."""

    agent: Agent
    blocking: bool = False

    def undone(self, fact: Any) -> bool:
        return False

    def respond(self, command: Respond) -> None:
        self.agent.respond(command)

    def note(self, command: Note) -> None:
        raise NotImplementedError("this agent takes answers to its calls alone")


def play(
    script: Script,
    manager: TaskManager,
    *,
    control: Control = Control(),  # noqa: B008  (frozen)
    seed: int = 0,
    replication: int = 0,
    faults: Faults | None = None,
    log: bool = False,
) -> Played:
    """Play a script under a task manager that has not been used yet.

    Raises `AgentError` where the agent never answers.
    """
    kernel = Kernel()
    key = (seed, script.id, "tools", replication)
    faults = faults or NO_FAULTS
    expected = control.acknowledgement_us
    ledger = ToolBackend(kernel, script.tools, expected, key, faults)
    records: list[LogRecord] = []
    for topic in LOGGED if log else ():
        kernel.subscribe(topic, records.append)
    profile = next(iter(script.tools.values()))
    view = View(profile, control, ledger, None, key)
    manager.reset(view)
    manager.equip(script.tools)
    agent = Agent(kernel, script, program(script, manager.system))
    commits = _CommitPoint(kernel)
    driver = ImmediateDriver(
        kernel, ledger, manager, view, Recording(script.id, script.final_us), ChannelSpec()
    )
    driver.channel = _Ear(agent)  # type: ignore[assignment]
    agent.start()
    kernel.drain()
    if agent.answered_us is None or commits.at_us is None:
        raise AgentError(f"the agent of '{script.id}' never answers: it lacks {agent.waits_for}")
    ledger.lapse()

    wanted = resolved(standing(right_steps(script)))
    effects = tuple(effect for effect in ledger.effects if _is_write(script.tools, effect.argument))
    done = Counter(effect.argument for effect in effects)
    due = Counter(text for text in wanted.values() if _is_write(script.tools, text))
    used = {ident: task.argument for ident, task in manager.standing.items()}
    plan = sorted((ident, task.call) for ident, task in manager.standing.items())
    return Played(
        agent.answered_us,
        script.final_us,
        commits.at_us,
        effects,
        (done - due).total(),
        (due - done).total(),
        done == due and used == wanted,
        ledger.commits,
        ledger.commits - sum(argument is not None for argument in used.values()),
        ledger.cancels,
        ledger.late_cancels,
        plan_of([call for _, call in plan]),
        tuple(agent.pieces),
        sum(len(piece.tokens) for piece in agent.pieces if piece.source == "agent"),
        agent.interruptions,
        tuple(ledger.closed),
        ledger.first_commit_us,
        tuple(records),
    )


class _CommitPoint:
    """Notes the first pause or answer after the final query."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._final = False
        self.at_us: Microseconds | None = None
        kernel.subscribe(FINAL_QUERY, self._complete)
        kernel.subscribe(PAUSED, self._rests)
        kernel.subscribe(ANSWERED, self._rests)

    def _complete(self, _: Any) -> None:
        self._final = True

    def _rests(self, _: Any) -> None:
        if self._final and self.at_us is None:
            self.at_us = self._kernel.now


def plan_of(calls: Sequence[Call]) -> Argument | None:
    """Calls as one argument, a plan; None where there are none."""
    plan = [{"tool": call.tool, "arguments": json.loads(call.arguments)} for call in calls]
    return canonical(plan) if plan else None


def _is_write(tools: Mapping[str, ToolProfile], argument: Argument) -> bool:
    return tools[json.loads(argument)["tool"]].effect == "write"
