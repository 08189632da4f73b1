"""The task manager of an agent that calls before the user has finished.

After "Speculative Interaction Agents" (arXiv 2605.13360), which takes it from processors: what is
only read may run early, what is written waits in a buffer until it is certain.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from simcore.agent.graph import Graph
from simcore.agent.process import ANSWERED, CALLED, FINAL_QUERY, PAUSED, REMOVED
from simcore.agent.program import System  # noqa: TC001  (options are checked by their types)
from simcore.agent.script import Call, result_of
from simcore.commands import Cancel, Command, Launch, Respond
from simcore.recorder import COMPLETED, FAILED, TIMED_OUT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from simcore.commands import Answer, Status
    from simcore.policy import View
    from simcore.tool import ToolProfile
    from simcore.trace import AgentEvent, Argument


@dataclass(slots=True)
class Task:
    """A call that stands: its run, if it has one, and how that ended. `committed`: a write that the
    agent can no longer change."""

    call: Call
    committed: bool = False
    run: int | None = None
    argument: Argument | None = None
    status: Status = "running"

    @property
    def result(self) -> str | None:
        """What those that refer to it are given."""
        done = self.status == "booked" and self.argument is not None
        return result_of(self.argument) if done and self.argument is not None else None


@dataclass
class SpeculativeInteraction:
    """Runs an agent's calls as soon as their inputs are there, and writes when they are certain.

    - `system`: how the agent plays its script: `speculative`, `asynchronous` or `sequential`;
    - `hold_writes`: a write waits for the commit point, the first pause or answer after the final
      query; without it writes run like reads;
    - `ignore_repeats`: a call that is made again unchanged goes on (ours); without it, it is run
      again with all that depends on it.
    """

    needs_agent: ClassVar[bool] = True
    reads_forecast: ClassVar[bool] = False
    subscribes: ClassVar[tuple[str, ...]] = (
        CALLED,
        REMOVED,
        FINAL_QUERY,
        PAUSED,
        ANSWERED,
        COMPLETED,
        FAILED,
        TIMED_OUT,
    )

    system: System = "speculative"
    hold_writes: bool = True
    ignore_repeats: bool = False

    def equip(self, tools: Mapping[str, ToolProfile]) -> None:
        """Learn which tools there are; called once, after `reset`."""
        self._tools = tools

    def reset(self, view: View) -> None:
        self._graph = Graph()
        self._tasks: dict[str, Task] = {}
        self._runs: dict[int, str] = {}
        self._final = False

    @property
    def standing(self) -> Mapping[str, Task]:
        """The calls that stand, by the agent's ids."""
        return self._tasks

    def on(self, event: Any, view: View) -> Answer:
        return tuple(self._commands(event, view)) or None

    def _commands(self, event: Any, view: View) -> list[Command]:
        kind = getattr(event, "type", None) or event.kind
        if kind == CALLED:
            return self._called(event, view)
        if kind == REMOVED:
            return self._removed(event.id)
        if kind == FINAL_QUERY:
            self._final = True
            return []
        if kind in (PAUSED, ANSWERED):
            return self._commit_point(view) if self._final else []
        return self._ended(event.call, kind, view)

    def _called(self, event: AgentEvent, view: View) -> list[Command]:
        call = Call(event.id or "", event.name or "", event.args or "{}")
        before = self._tasks.get(call.id)
        if before is not None:
            if self._fixed(call.id):
                return self._refused(call.id)
            if self.ignore_repeats and before.call == call:
                return self._told([call.id, *self._graph.dependants(call.id)])
        affected = [call.id, *self._graph.dependants(call.id)]
        commands = self._dropped(affected)
        self._graph.put(call)
        self._tasks[call.id] = Task(call)
        return commands + self._started(affected, view)

    def _removed(self, ident: str) -> list[Command]:
        if self._fixed(ident):
            return self._refused(ident)
        gone = self._graph.remove(ident)
        commands = self._dropped(gone)
        for other in gone:
            self._tasks.pop(other, None)
        return commands

    def _fixed(self, ident: str) -> bool:
        """Whether a call, or a call made of its result, is certain already."""
        dependants = self._graph.dependants(ident)
        return any(self._tasks[other].committed for other in (ident, *dependants))

    def _refused(self, ident: str) -> list[Command]:
        """Nothing changes, and the agent, which thought it did, is told what stands."""
        task = self._tasks[ident]
        told = self._told([ident, *self._graph.dependants(ident)])
        return [Respond(ident, "rejected", task.run), *told]

    def _told(self, idents: Iterable[str]) -> list[Command]:
        tasks = [(ident, self._tasks[ident]) for ident in idents]
        return [Respond(i, task.status, task.run) for i, task in tasks if task.status != "running"]

    def _dropped(self, idents: Iterable[str]) -> list[Command]:
        """End what runs for some calls; they have to begin again."""
        commands: list[Command] = []
        for ident in idents:
            task = self._tasks.get(ident)
            if task is None:
                continue
            if task.run is not None and task.status == "running":
                commands.append(Cancel(task.run))
            if task.run is not None:
                self._runs.pop(task.run, None)
            self._tasks[ident] = Task(task.call)
        return commands

    def _commit_point(self, view: View) -> list[Command]:
        """Nothing more will be changed: every write so far may run, in order of its inputs."""
        writes = [ident for ident, task in self._tasks.items() if self._is_write(task)]
        for ident in writes:
            self._tasks[ident].committed = True
        return self._started(writes, view)

    def _is_write(self, task: Task) -> bool:
        return self._tools[task.call.tool].effect == "write"

    def _started(self, idents: Iterable[str], view: View) -> list[Command]:
        """Run those calls whose inputs are there."""
        commands: list[Command] = []
        number = len(view.calls)
        for ident in idents:
            task = self._tasks.get(ident)
            if task is None or task.run is not None or task.status != "running":
                continue
            inputs = {other: self._tasks[other] for other in task.call.references}
            if any(other.status in ("failed", "unknown") for other in inputs.values()):
                commands += self._failed(ident, "failed")
                continue
            results = {other: given.result for other, given in inputs.items()}
            if None in results.values():
                continue
            if self.hold_writes and self._is_write(task) and not task.committed:
                continue
            task.argument = task.call.resolved({i: r for i, r in results.items() if r})
            task.run, number = number, number + 1
            # What was written cannot be changed, however early it was.
            task.committed = self._is_write(task)
            self._runs[task.run] = ident
            commands.append(Launch(task.argument, ident))
        return commands

    def _ended(self, run: int, kind: str, view: View) -> list[Command]:
        ident = self._runs.get(run)
        if ident is None:
            return []
        task = self._tasks[ident]
        if kind != COMPLETED:
            return self._failed(ident, "failed" if kind == FAILED else "unknown")
        task.status = "booked"
        return [Respond(ident, "booked", run), *self._started(self._graph.dependants(ident), view)]

    def _failed(self, ident: str, status: Status) -> list[Command]:
        """A call has failed, and so has all that needs its result."""
        commands: list[Command] = []
        for other in (ident, *self._graph.dependants(ident)):
            task = self._tasks[other]
            if task.status == "running":
                task.status = status if other == ident else "failed"
                commands.append(Respond(other, task.status, task.run))
        return commands
