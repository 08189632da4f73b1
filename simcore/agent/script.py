"""What an agent does about what it hears: a script, the same for every system that plays it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, Literal

from simcore.clock import parse_duration
from simcore.tool import ToolProfile
from simcore.trace import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.clock import Microseconds
    from simcore.trace import Argument

Slip = Literal["repeat", "missed"]
"""What only an agent that speculates does wrong: it makes a call again, or misses a correction."""

REFERENCE: Final = re.compile(r"\$([A-Za-z_]\w*)")
TOKENS_PER_SECOND: Final = 150
_WORD: Final = re.compile(r"<\w+>|\$?\w+|[^\w\s]")
_UNSPECIFIED: Final = "·"
_UNCANCELLED_US: Final = 3_600_000_000

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call by its id; a later one of the same id takes its place. `arguments` is JSON text.

    "$other" in an argument stands for the result of the call `other`.
    """

    id: str
    tool: str
    arguments: str

    @property
    def references(self) -> Tokens:
        """The ids whose results the arguments name, in order, once each."""
        return tuple(dict.fromkeys(REFERENCE.findall(self.arguments)))

    @property
    def text(self) -> str:
        """The call as the agent writes it."""
        return f"<call> {self.id} {self.tool} {self.arguments}"

    def resolved(self, results: Mapping[str, str]) -> Argument:
        """The call with results in the place of what refers to them, in canonical form."""
        arguments = _filled(json.loads(self.arguments), results)
        text = canonical({"tool": self.tool, "arguments": arguments})
        assert text is not None
        return text


@dataclass(frozen=True, slots=True)
class Step:
    """Thinking, and then one act at most.

    It is done once `heard` updates have reached the agent and it has the `results` named.
    """

    heard: int
    think: Tokens = ()
    results: Tokens = ()
    call: Call | None = None
    remove: str | None = None
    answer: Tokens | None = None
    slip: Slip | None = None

    @property
    def about(self) -> str | None:
        """The id of the call that it makes, changes or removes."""
        return self.remove if self.call is None else self.call.id

    @property
    def words(self) -> Tokens:
        """What the agent writes to act."""
        if self.call is not None:
            return words(self.call.text)
        if self.remove is not None:
            return words(f"<remove> {self.remove}")
        return () if self.answer is None else ("<answer>", *self.answer)


@dataclass(frozen=True, slots=True)
class Update:
    """Something more of the query reaches the agent; the last update completes it."""

    at_us: Microseconds
    text: str


@dataclass(frozen=True, slots=True)
class Script:
    """One query and what an agent does about it; `token_us` is the time of one token."""

    id: str
    token_us: Microseconds
    tools: Mapping[str, ToolProfile]
    speech: tuple[Update, ...]
    steps: tuple[Step, ...]

    @property
    def final_us(self) -> Microseconds:
        """When the query is complete."""
        return self.speech[-1].at_us


def words(text: str) -> Tokens:
    """The tokens of the token clock: words, signs, and markers.

    >>> words('<call> a find {"city": "$b"}')
    ('<call>', 'a', 'find', '{', '"', 'city', '"', ':', '"', '$b', '"', '}')
    """
    return tuple(_WORD.findall(text))


def result_of(argument: Argument) -> str:
    """What a simulated tool answers: other arguments, and other inputs to these, other answers."""
    return "r" + blake2b(argument.encode(), digest_size=5).hexdigest()


def _filled(value: Any, results: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return REFERENCE.sub(lambda match: results[match[1]], value)
    if isinstance(value, list):
        return [_filled(item, results) for item in value]
    if isinstance(value, dict):
        return {key: _filled(item, results) for key, item in value.items()}
    return value


def from_row(row: Mapping[str, Any]) -> Script:
    """The script of a row of `script/v1` that has been checked."""
    speech = tuple(Update(parse_duration(u["at"]), u.get("text", "")) for u in row["speech"])
    return Script(
        row["id"],
        round(1_000_000 / row.get("tokens_per_second", TOKENS_PER_SECOND)),
        {name: _tool(name, tool) for name, tool in row["tools"].items()},
        speech,
        tuple(_step(step, len(speech)) for step in row["steps"]),
    )


def _tool(name: str, tool: Mapping[str, Any]) -> ToolProfile:
    # What is read can be dropped as long as it runs; a write happens when it is let go.
    effect = tool.get("effect", "read")
    window = _UNCANCELLED_US if effect == "read" else 0
    return ToolProfile(name, parse_duration(tool["runtime"]), window, effect=effect)


def _step(step: Mapping[str, Any], final: int) -> Step:
    call = None
    if step.get("call") is not None:
        arguments = canonical(step.get("arguments", {}))
        assert arguments is not None
        call = Call(step["call"], step["tool"], arguments)
    answer = step.get("answer")
    heard = step.get("heard")
    return Step(
        final if heard is None else heard,
        _tokens(step.get("think", 0)),
        tuple(step.get("results", ())),
        call,
        step.get("remove"),
        None if answer is None else _tokens(answer),
        step.get("slip"),
    )


def _tokens(length: int | str) -> Tokens:
    return (_UNSPECIFIED,) * length if isinstance(length, int) else words(length)
