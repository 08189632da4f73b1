"""The agent as a process: it generates token by token, and what arrives interrupts it.

All it does falls on a grid of tokens. What arrives waits in a queue until the token in work is
finished, is put into its context there, and generation goes on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import simpy

from simcore.agent.graph import Graph
from simcore.agent.program import standing
from simcore.agent.script import words
from simcore.clock import Priority
from simcore.trace import AgentEvent

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simcore.agent.script import Script, Step, Tokens
    from simcore.clock import Microseconds
    from simcore.commands import Respond
    from simcore.kernel import Kernel

CALLED = "tool_call"
REMOVED = "call_removed"
FINAL_QUERY = "final_query"
PAUSED = "agent_paused"
ANSWERED = "agent_answered"
PAUSE: Final = ("<pause>",)


class Piece(NamedTuple):
    """A stretch of the agent's context that is complete at `at_us`.

    `source`: the agent's own tokens, or what was put in. `cut`: an arrival interrupted the last
    token.
    """

    at_us: Microseconds
    source: Literal["agent", "user", "tool"]
    tokens: Tokens
    cut: bool = False


class Arrived(NamedTuple):
    """Something for the agent: a part of the query (`id` None), or news of a call.

    `result`: the call has ended, so that what waits for it can go on.
    """

    at_us: Microseconds
    id: str | None
    text: str
    result: bool = False


class Agent:
    """Plays the steps of a program: of those whose needs are there, the first.

    A later step on the same call, if it can be done as well, takes the place of an earlier one:
    what was said last counts. Where nothing can be done the agent pauses (one token) until
    something arrives. It answers when every call that stands in the end has answered.
    """

    def __init__(self, kernel: Kernel, script: Script, steps: Sequence[Step]) -> None:
        self._kernel = kernel
        self._script = script
        self._pending = list(steps)
        self._stands = standing(steps)
        self._removals = _removals(steps)
        self._graph = Graph()
        self._heard = 0
        self._known: set[str] = set()
        self._changed_us: dict[str, Microseconds] = {}
        self._queue: list[Arrived] = []
        self._generating = False
        self._wake: Any = None
        self.pieces: list[Piece] = []
        self.answered_us: Microseconds | None = None
        self.interruptions = 0

    def start(self) -> None:
        """Put the query's updates on the clock, and begin."""
        for update in self._script.speech:
            arrived = Arrived(update.at_us, None, update.text)
            self._kernel.at(update.at_us, Priority.SOURCE, self._hear, arrived)
        self._process = self._kernel.process(self._live())

    @property
    def waits_for(self) -> str:
        """What an agent that has not answered lacks."""
        missing = [ident for ident in self._stands if ident not in self._known]
        return f"results of {', '.join(missing)}" if missing else "nothing that can still come"

    def respond(self, command: Respond) -> None:
        """Take a call's answer."""
        text = f"<result> {command.id} {command.status}"
        result = command.status != "rejected"
        self._take(Arrived(self._kernel.now, command.id, text, result))

    def _hear(self, event: Any) -> None:
        self._take(event._value)

    def _take(self, arrived: Arrived) -> None:
        self._queue.append(arrived)
        if self._generating:
            self._generating = False
            self._process.interrupt()
        elif self._wake is not None:
            wake, self._wake = self._wake, None
            wake.succeed()

    def _live(self) -> Generator[simpy.Event, Any, None]:
        paused = False
        while True:
            if self._queue:
                self._inject()
                paused = False
            step = self._next()
            if step is None:
                if paused:
                    self._wake = simpy.Event(self._kernel)
                    yield self._wake
                    yield self._at(self._boundary())
                else:
                    yield from self._generate(PAUSE)
                    self._say(PAUSED)
                    paused = True
                continue
            paused = False
            if step.think:
                yield from self._generate(step.think)
            if step.answer is not None:
                yield from self._generate(step.words[:1])
                self.answered_us = self._kernel.now
                self._say(ANSWERED)
                yield from self._generate(step.words[1:])
                return
            yield from self._generate(step.words)
            self._act(step)

    def _next(self) -> Step | None:
        """The step to do, taken from those that wait."""
        while True:
            self._pending = [step for step in self._pending if not self._idle_repeat(step)]
            ready = [step for step in self._pending if self._ready(step)]
            if not ready:
                return None
            step = ready[0]
            if step.about is not None:
                same = [s for s in ready if s.about == step.about and s.slip != "repeat"]
                step = same[-1] if same else step
            self._take_up(step)
            if step.remove is None or self._going(step):
                return step

    def _take_up(self, step: Step) -> None:
        """A step no longer waits, nor does what it leaves no reason for."""
        place = _index(self._pending, step)
        over = self._removals.get(id(step), {step.about or ""})
        if step.slip == "repeat":
            over = set()
        earlier = [other for other in self._pending[:place] if other.about not in over]
        self._pending = earlier + self._pending[place + 1 :]

    def _idle_repeat(self, step: Step) -> bool:
        """Whether the call that a slip would repeat is neither made nor going to be."""
        if step.slip != "repeat" or step.about in self._graph.calls:
            return False
        return not any(s.call is not None and s.about == step.about for s in self._before(step))

    def _before(self, step: Step) -> list[Step]:
        return self._pending[: _index(self._pending, step)]

    def _ready(self, step: Step) -> bool:
        if step.heard > self._heard or not self._known.issuperset(step.results):
            return False
        calls = self._graph.calls
        if step.answer is not None:
            return (
                self._heard == len(self._script.speech)
                and calls.keys() == self._stands.keys()
                and self._known.issuperset(calls)
                and all(calls[i] == stand.step.call for i, stand in self._stands.items())
            )
        if step.slip == "repeat":
            earlier = self._before(step)
            return step.about in calls and all(other.about != step.about for other in earlier)
        if step.call is not None:
            return all(other in calls for other in step.call.references) and not any(
                step.about in self._removals.get(id(other), ()) for other in self._before(step)
            )
        # Not before all that is to outlive what is removed has been turned to something else.
        gone = self._removals.get(id(step), set())
        return all(gone.issuperset(self._graph.dependants(i)) for i in self._going(step))

    def _going(self, step: Step) -> list[str]:
        """What stands of the calls that a step removes, as the script has it."""
        gone = self._removals.get(id(step), set())
        return [ident for ident in self._graph.calls if ident in gone]

    def _act(self, step: Step) -> None:
        about = step.about
        if about is None:
            return
        going = self._going(step)
        for ident in (about, *going, *self._graph.dependants(about)):
            self._known.discard(ident)
            self._changed_us[ident] = self._kernel.now
        if step.call is not None:
            self._graph.put(step.call)
            self._say(CALLED, about, step.call.tool, step.call.arguments)
        for ident in going:
            if ident in self._graph.calls:
                self._graph.remove(ident)
                self._say(REMOVED, ident)

    def _say(
        self, kind: str, ident: str | None = None, name: str | None = None, args: str | None = None
    ) -> None:
        self._kernel.publish(kind, AgentEvent(self._kernel.now, kind, ident, name, args))

    def _inject(self) -> None:
        """Put what has arrived into the context."""
        arrived, self._queue = self._queue, []
        for news in arrived:
            if news.id is None:
                self._heard += 1
                last = self._heard == len(self._script.speech)
                marker = "<final>" if last else "<update>"
                self._log("user", (marker, *words(news.text)))
                self._say(FINAL_QUERY if last else "query_update")
            else:
                self._log("tool", words(news.text))
                # What was sent before a change of the call is an answer to another one.
                if news.result and news.at_us >= self._changed_us.get(news.id, 0):
                    self._known.add(news.id)

    def _generate(self, tokens: Tokens) -> Generator[simpy.Event, Any, None]:
        """Generate tokens; what arrives is put in between."""
        rest = tokens
        while rest:
            if self._queue:
                self._inject()
            began, token_us = self._kernel.now, self._script.token_us
            self._generating = True
            try:
                yield self._at(began + len(rest) * token_us)
                self._generating = False
                self._log("agent", rest)
                return
            except simpy.Interrupt:
                self.interruptions += 1
                boundary = max(self._boundary(), began + token_us)
                if boundary > self._kernel.now:
                    yield self._at(boundary)
                count = (boundary - began) // token_us
                self._log("agent", rest[:count], cut=True)
                rest = rest[count:]

    def _log(
        self, source: Literal["agent", "user", "tool"], tokens: Tokens, cut: bool = False
    ) -> None:
        self.pieces.append(Piece(self._kernel.now, source, tokens, cut))

    def _boundary(self) -> Microseconds:
        """The end of the token in work."""
        return -(-self._kernel.now // self._script.token_us) * self._script.token_us

    def _at(self, time: Microseconds) -> simpy.Event:
        event = simpy.Event(self._kernel)
        self._kernel.at(time, Priority.DECISION, _succeed, event)
        return event


def _succeed(event: Any) -> None:
    event._value.succeed()


def _index(steps: list[Step], step: Step) -> int:
    """The place of this very step: equal ones may stand in a script twice."""
    return next(place for place, other in enumerate(steps) if other is step)


def _removals(steps: Sequence[Step]) -> dict[int, set[str]]:
    """What each removal takes with it, as the script has it."""
    graph, found = Graph(), dict[int, set[str]]()
    for step in steps:
        if step.call is not None:
            graph.put(step.call)
        elif step.remove is not None:
            found[id(step)] = set(graph.remove(step.remove))
    return found
