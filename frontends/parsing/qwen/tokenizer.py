"""A small byte-level BPE: words and pieces of transcripts, and the JSON around values in one token.

Digits are single tokens, as Qwen2 has them. A place or a name is spelled as in the transcript, with
the space before it, so that copying it is repeating its tokens.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from frontends.parsing.qwen.requests import Plan
    from frontends.tools.catalog import Tool, Tools

PAD: Final = "<|endoftext|>"
BEGIN: Final = "<|im_start|>"
END: Final = "<|im_end|>"
SPECIAL: Final = (PAD, BEGIN, END)
NOTHING: Final = "[]"

SPLIT: Final = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
"""How Qwen2 splits text before it merges bytes."""

_VALUE: Final = "\x00"
_ARGUMENTS: Final = '","arguments":'
_LONGEST: Final = 32
"""Bytes of a token's text; llama-cpp-python gives longer ones as nothing."""
_COPIED: Final = ("location", "contact")


@dataclass(frozen=True)
class Tokenizer:
    """Tokens in the order of their numbers: bytes and merged ones, special ones, JSON."""

    plain: tuple[str, ...]
    merges: tuple[str, ...]
    scaffolds: tuple[str, ...]

    @classmethod
    def train(cls, texts: Iterable[str], tools: Tools, size: int) -> Tokenizer:
        """Learn `size` plain tokens from texts; the same texts give the same tokens."""
        import tokenizers

        trained = _bpe(tokenizers.models.BPE())
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=size,
            initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        trained.train_from_iterator(texts, trainer)
        model = json.loads(trained.to_str())["model"]
        plain = sorted(model["vocab"], key=model["vocab"].__getitem__)
        merges = (m if isinstance(m, str) else " ".join(m) for m in model["merges"])
        return cls(tuple(plain), tuple(merges), tuple(scaffolds(tools)))

    @classmethod
    def load(cls, path: Path) -> Tokenizer:
        """What `save` wrote."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(*(tuple(data[key]) for key in ("plain", "merges", "scaffolds")))

    def save(self, path: Path) -> None:
        from simcore.files.atomic import write_atomic

        data = {"plain": self.plain, "merges": self.merges, "scaffolds": self.scaffolds}
        write_atomic(path, json.dumps(data, ensure_ascii=False, indent=0).encode())

    @property
    def tokens(self) -> tuple[str, ...]:
        return (*self.plain, *SPECIAL, *self.scaffolds)

    @cached_property
    def numbers(self) -> dict[str, int]:
        """Of special tokens and JSON."""
        start = len(self.plain)
        return {text: start + at for at, text in enumerate((*SPECIAL, *self.scaffolds))}

    @cached_property
    def _encoder(self) -> Any:
        import tokenizers

        vocabulary = {token: number for number, token in enumerate(self.plain)}
        merges = [(left, right) for left, _, right in (m.partition(" ") for m in self.merges)]
        return _bpe(tokenizers.models.BPE(vocab=vocabulary, merges=merges))

    def encode(self, text: str) -> list[int]:
        """The tokens of plain text."""
        numbers: list[int] = self._encoder.encode(text).ids
        return numbers

    def prompt(self, transcript: str) -> list[int]:
        """A transcript as the model's chat template has it, without its end."""
        return [self.numbers[BEGIN], *self.encode(f" {transcript}")]

    def answer(self, plan: Plan | None) -> list[int]:
        """A plan of one call as the model answers, with the end."""
        made: list[int] = []
        for part, is_value in _parts(plan):
            made += self.encode(part) if is_value else [self.numbers[part]]
        return [*made, self.numbers[END]]


def scaffolds(tools: Tools) -> Iterator[str]:
    """The JSON around the values of any call of the tools, each text once."""
    found = {NOTHING: None}
    for tool in tools.values():
        for names, choices in _shapes(tool):
            plan = {"tool": tool.name, "arguments": {name: choices.get(name, "") for name in names}}
            found |= {part: None for part, is_value in _parts(plan) if not is_value}
    yield from found


def _shapes(tool: Tool) -> Iterator[tuple[list[str], Mapping[str, str]]]:
    """The arguments that a call may have, and the values of those that are one of few."""
    optional = [name for name in tool.properties if name not in tool.required]
    enums = {name: schema["enum"] for name, schema in tool.properties.items() if "enum" in schema}
    for given in product((False, True), repeat=len(optional)):
        left_out = {name for name, there in zip(optional, given, strict=True) if not there}
        names = [name for name in tool.properties if name not in left_out]
        for chosen in product(*enums.values()):
            yield names, dict(zip(enums, chosen, strict=True))


def _parts(plan: Plan | None) -> Iterator[tuple[str, bool]]:
    """The text of a plan, its free values (True) and the JSON between them in turn."""
    if plan is None:
        yield NOTHING, False
        return
    values = [str(value) for name, value in plan["arguments"].items() if name != "currency"]
    marked = {
        name: value if name == "currency" else _VALUE for name, value in plan["arguments"].items()
    }
    call = [{"tool": plan["tool"], "arguments": marked}]
    text = json.dumps(call, separators=(",", ":"), ensure_ascii=False)
    between = text.split(json.dumps(_VALUE)[1:-1])
    copied = [f" {v}" if n in _COPIED else v for n, v in _free(plan, values)]
    for value, part in zip(["", *copied], between, strict=True):
        if value:
            yield value, True
        yield from ((piece, False) for piece in _short(part))


def _short(text: str) -> Iterator[str]:
    """The text, in two before the arguments, in pieces that llama-cpp-python can hold."""
    tool, mark, rest = text.partition(_ARGUMENTS)
    for part in (tool, mark + rest):
        yield from (part[at : at + _LONGEST] for at in range(0, len(part), _LONGEST))


def _free(plan: Plan, values: Sequence[str]) -> list[tuple[str, str]]:
    names = [name for name in plan["arguments"] if name != "currency"]
    return list(zip(names, values, strict=True))


def _bpe(model: Any) -> Any:
    import tokenizers

    made = tokenizers.Tokenizer(model)
    before = tokenizers.pre_tokenizers
    made.pre_tokenizer = before.Sequence(
        [
            before.Split(tokenizers.Regex(SPLIT), "isolated"),
            before.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return made


def need_tokenizers() -> None:
    """Raises `MissingError` where the package is not installed."""
    try:
        import tokenizers  # noqa: F401
    except ModuleNotFoundError:
        raise MissingError(
            "training a parser needs the package tokenizers: pip install 'rassg-sim[train]'"
        ) from None
