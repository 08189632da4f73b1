"""The GGUF parser: a transcript to a plan, by a language model that any tools can be given to.

What the model gets wrong stays wrong: its answer is held to the tools' schema and brought into
canonical form, and that is all.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from frontends.models import digest_of, model_folder
from frontends.parsing.gguf.model import LONGEST_ANSWER, Model, check_file
from frontends.parsing.gguf.prompt import message
from frontends.parsing.gguf.schema import plan_schema
from frontends.parsing.qwen import shipped
from frontends.protocol import Parsed
from frontends.tools.catalog import read_tools
from frontends.tools.plans import canonical_plan, free_text, is_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from frontends.tools.catalog import Tools

_WORD: Final = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Gguf:
    """Plans by a language model in a GGUF file, on one thread at temperature 0.

    `file` is a path, a model fetched by `simcore trace models`, or `qwen`: that one is shipped and
    knows ReCAST's tools alone. `tools` is a file as `frontends.tools.catalog` reads them. `context`
    is the most tokens of tools, transcript and answer together, `most_calls` the longest plan.
    Raises `MissingError` (exit code 3) for a file that is missing, no GGUF or no chat model, and
    where tools or transcript are too large.
    """

    file: Path
    tools: Path
    context: int = 8192
    most_calls: int = 4

    def check(self) -> None:
        """Raise what `parse` would, before hours have gone into decoding."""
        _open(self)

    def describe(self) -> Mapping[str, Any]:
        """Settings, model and tools digests, and what the model is told."""
        try:
            package = version("llama-cpp-python")
        except PackageNotFoundError:
            package = "not installed"
        told = message(read_tools(self.tools), "")
        return {
            "name": "gguf",
            "model": locate(self.file).name,
            "sha256": _digest(locate(self.file)),
            "tools_sha256": sha256(self.tools.read_bytes()).hexdigest(),
            "prompt_sha256": sha256(told.encode()).hexdigest(),
            "context": self.context,
            "most_calls": self.most_calls,
            "longest_answer": LONGEST_ANSWER,
            "temperature": 0,
            "packages": {"llama-cpp-python": package},
        }

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        """The plan that the model reads off the words, None where it sees no call yet.

        An answer that is cut short at its longest is None as well. `service_us` is the processor
        time from the transcript's tokens to the last of the answer's.
        """
        text = " ".join(words).strip()
        if not text:
            return Parsed(None)
        session = _session(self)
        answer, service = session.model.answer(session.prompt(text), session.grammar)
        try:
            # llama.cpp's grammar lets bare control characters into strings.
            plan = canonical_plan(json.loads(answer, strict=False), session.tools)
        except json.JSONDecodeError:
            plan = None
        return Parsed(plan, _carriers(words, plan), service)


def locate(file: Path) -> Path:
    """The model's file, which may be given by the name of one that is shipped or was fetched."""
    if str(file) == shipped.NAME and not file.exists():
        file = shipped.MODEL
    folder = model_folder(str(file))
    fetched = sorted(folder.glob("*.gguf")) if folder is not None and not file.exists() else []
    found = fetched[0] if fetched else file
    check_file(found)
    return found


@dataclass(frozen=True, slots=True)
class _Session:
    model: Model
    tools: Tools
    grammar: Any

    def prompt(self, transcript: str) -> list[int]:
        return self.model.prompt(message(self.tools, transcript))


@lru_cache(maxsize=1)
def _session(parser: Gguf) -> _Session:
    session = _open(parser)
    session.model.hold([session.prompt(text) for text in ("yes", "No", "7")])
    return session


def _open(parser: Gguf) -> _Session:
    tools = read_tools(parser.tools)
    model = Model(locate(parser.file), parser.context)
    grammar = model.grammar(json.dumps(plan_schema(tools, parser.most_calls)))
    session = _Session(model, tools, grammar)
    model.check_room(len(session.prompt("")))
    return session


@lru_cache
def _digest(file: Path) -> str:
    return digest_of(file)


def _carriers(words: Sequence[str], plan: list[dict[str, Any]] | None) -> tuple[int, ...]:
    """The indices of the words that occur in a value of the plan."""
    said = {
        part
        for call in plan or ()
        for value in _values(call["arguments"])
        for part in _WORD.findall(str(value).casefold())
    }
    return tuple(
        index
        for index, word in enumerate(words)
        if said.intersection(_WORD.findall(free_text(word)))
    )


def _values(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from _values(item)
    elif isinstance(value, list):
        for item in value:
            yield from _values(item)
    elif not is_reference(value):
        yield value
