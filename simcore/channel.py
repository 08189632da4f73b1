"""How an agent hears of its calls: answers, notes, and the replies that these cut.

A BLOCKING call keeps the agent silent until it is answered; an interruption drops it, and its id
is dead: an answer is then lost. A NON_BLOCKING call lets the agent go on, and its answer is taken
in silently, when the agent is silent, or at once, which cuts what the agent says.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simcore.clock import Priority
from simcore.ledger import IllegalCommandError
from simcore.recorder import LOST, NOTED, RESPONDED, LogRecord
from simcore.trace import AgentEvent

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.commands import Note, Respond, Status
    from simcore.kernel import Kernel
    from simcore.scenario import ChannelSpec

REISSUE: Final = "reissue"
"""The label of a call that an agent makes again because the first was dropped."""


class Told(NamedTuple):
    """An answer (`id`) or a note (no id), sent `at_us`; heard later, never where the id is dead."""

    at_us: Microseconds
    status: Status
    call: int | None
    id: str | None
    heard_us: Microseconds | None


class Channel:
    """One agent's channel: what was asked, what it was told, and whether it speaks.

    With `defers` set, speech does not interrupt an agent that waits for a call.
    """

    def __init__(self, kernel: Kernel, spec: ChannelSpec) -> None:
        self._kernel = kernel
        self._spec = spec
        self._speaking = False
        self._waiting: list[tuple[str, Any]] = []
        self.asked: dict[str, AgentEvent] = {}
        self.dead: set[str] = set()
        self.answered: set[str] = set()
        self.told: list[Told] = []
        self.replies_cut = 0
        self.defers = False
        kernel.subscribe("tool_call", self._called)
        kernel.subscribe("agent_audio_start", self._speaks)
        kernel.subscribe("agent_audio_end", self._falls_silent)
        if spec.behavior == "BLOCKING":
            kernel.subscribe("interrupted", self._interrupted)

    @property
    def blocking(self) -> bool:
        """Whether the agent waits for its calls."""
        return self._spec.behavior == "BLOCKING"

    @property
    def notes(self) -> int:
        """How many notes were sent."""
        return sum(told.id is None for told in self.told)

    @property
    def responses(self) -> int:
        """How many answers were sent."""
        return sum(told.id is not None for told in self.told)

    def respond(self, command: Respond) -> None:
        """Answer a call. Raises `IllegalCommandError` for an unknown id and a second answer."""
        if command.id not in self.asked:
            raise IllegalCommandError(f"an answer to '{command.id}', which the agent never called")
        if command.id in self.answered:
            raise IllegalCommandError(f"a second answer to '{command.id}'")
        self.answered.add(command.id)
        now, heard = self._kernel.now, True
        kind = LOST if command.id in self.dead else RESPONDED
        if kind == LOST:
            heard = False
        elif not self.blocking and self._speaking:
            if self._spec.scheduling == "WHEN_IDLE":
                self._waiting.append(("answer", len(self.told)))
                heard = False
            elif self._spec.scheduling == "INTERRUPT":
                self._cut()
        self._tell(kind, command.status, command.call, command.id, now if heard else None)

    def note(self, command: Note) -> None:
        """Tell the agent something in a turn of its own."""
        if self._speaking and command.when == "when_silent":
            self._waiting.append(("note", command))
            return
        if self._speaking:
            self._cut()
            at = self._kernel.now + self._spec.interruption_us
            self._kernel.at(at, Priority.SOURCE, self._interrupts)
        self._tell(NOTED, command.status, command.call, None, self._kernel.now)

    def _tell(
        self,
        kind: str,
        status: Status,
        call: int | None,
        ident: str | None,
        heard: Microseconds | None,
    ) -> None:
        now = self._kernel.now
        self.told.append(Told(now, status, call, ident, heard))
        self._kernel.publish(kind, LogRecord(now, kind, call, None, status))

    def undone(self, fact: Any) -> bool:
        """Whether a fact does not happen here: a call is only re-issued where one was dropped."""
        return self.defers and getattr(fact, "label", None) == REISSUE and not self.dead

    def _called(self, event: AgentEvent) -> None:
        if event.id is not None and not self.undone(event):
            self.asked[event.id] = event

    def _interrupted(self, event: Any) -> None:
        if not self.defers:
            self.dead |= self.asked.keys() - self.answered

    def _interrupts(self, _: Any) -> None:
        self._kernel.publish("interrupted", AgentEvent(self._kernel.now, "interrupted"))

    def _cut(self) -> None:
        self.replies_cut += 1
        self._silent()

    def _speaks(self, _: Any) -> None:
        self._speaking = True

    def _falls_silent(self, _: Any) -> None:
        self._silent()

    def _silent(self) -> None:
        self._speaking = False
        waiting, self._waiting = self._waiting, []
        for kind, what in waiting:
            if kind == "note":
                self.note(what)
            else:
                self.told[what] = self.told[what]._replace(heard_us=self._kernel.now)
