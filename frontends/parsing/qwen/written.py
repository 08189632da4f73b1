"""Requests as a recognizer writes them: in whole, and what it writes of their beginnings."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from frontends.parsing.qwen.phrases import load_phrases
from frontends.parsing.qwen.requests import plans
from frontends.parsing.qwen.values import perturbed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from frontends.parsing.qwen.requests import Piece, Plan

_WORD_ERRORS: Final = 0.015
_NAMES: Final = ("location", "contact")


@dataclass(frozen=True, slots=True)
class Prefix:
    """What is written of a beginning, and the call that is meant by then."""

    text: str
    plan: Plan | None


def write(pieces: Sequence[Piece], rng: Random, prefixes: int) -> tuple[Prefix, list[Prefix]]:
    """The whole request, and some of its beginnings in the same spelling.

    Half of the beginnings end where a value does or before it is out.
    """
    style = _Style(rng)
    cuts = list(_cuts(pieces, style))
    whole = cuts[-1]
    near = [cut for cut in cuts[:-1] if cut.near]
    far = [cut for cut in cuts[:-1] if not cut.near]
    chosen = []
    for _ in range(min(prefixes, len(cuts) - 1)):
        pool = near if near and (rng.random() < 0.5 or not far) else far
        chosen.append(pool.pop(rng.randrange(len(pool))))
    end = whole.text if rng.random() < 0.5 else style.ended(whole.text, "", broken=False)
    written = [Prefix(end, whole.plan)]
    written += [Prefix(style.ended(cut.text, cut.next, cut.broken), cut.plan) for cut in chosen]
    if style.lower:
        written = [_lowered(prefix) for prefix in written]
    return written[0], written[1:]


@dataclass(frozen=True, slots=True)
class _Cut:
    text: str
    plan: Plan | None
    next: str
    near: bool = False
    broken: bool = False
    """Whether the text ends inside of a value."""


@dataclass(frozen=True, slots=True)
class _Style:
    """How this recording is written."""

    rng: Random
    bare: bool = False
    lower: bool = False

    def __init__(self, rng: Random) -> None:
        object.__setattr__(self, "rng", rng)
        object.__setattr__(self, "bare", rng.random() < 0.06)
        object.__setattr__(self, "lower", rng.random() < 0.03)

    def words(self, text: str) -> list[str]:
        """Words, some of them misheard."""
        words = text.split()
        for at, word in enumerate(words):
            chance = self.rng.random()
            if chance < _WORD_ERRORS and word.isalpha():
                words[at] = self._other(word)
            elif chance > 0.99:
                words[at] = word.title()
        return words

    def joined(self, before: str, stop: bool) -> str:
        """What was written so far, with the mark that the recognizer hears after it."""
        if not before:
            return ""
        text = before.rstrip(",")
        if self.bare:
            return text.rstrip(".")
        if text[-1] in ".?!":
            drop = 0.12 if stop else 0.4
            if self.rng.random() < drop and not text.endswith((".m.", ".M.")):
                return text[:-1] + self.rng.choice((",", ""))
            return text
        marks = (".", ".", ".", ",", "") if stop else (",", ".", "", "")
        return text + self.rng.choice(marks)

    def begun(self, words: list[str], before: str, value: bool) -> list[str]:
        """The first word in the case that it has after what was written before."""
        if not words or value or not before or (before[-1] in ".?!" and self.rng.random() < 0.9):
            return words
        first = words[0]
        if first == "I" or first.startswith("I'") or self.rng.random() < 0.15:
            return words
        return [first[0].lower() + first[1:], *words[1:]]

    def ended(self, text: str, following: str, broken: bool) -> str:
        """A beginning with the end that the recognizer gives it."""
        chance = self.rng.random()
        if broken:
            return text if chance < 0.4 or text[-1] in "-." else text + "."
        if following and chance < 0.2:
            part = following[: self.rng.randrange(1, max(2, len(following)))]
            if self.rng.random() < 0.3:
                part = self._other(part)
            return f"{text} {part}{self.rng.choice(('-', '...', '.', ''))}"
        text = text.rstrip(",")
        if text.endswith("."):
            return text
        return text + self.rng.choice((".", ".", ".", ".", "...", "..." if following else ".", ""))

    def _other(self, word: str) -> str:
        chance = self.rng.random()
        if chance < 0.4:
            return perturbed(word, self.rng)
        lists = load_phrases().lists
        return self.rng.choice(lists["nouns"] if chance < 0.8 else lists["verbs"]).split()[0]


def _cuts(pieces: Sequence[Piece], style: _Style) -> Iterator[_Cut]:
    """Every place where what was heard may end, the whole request last."""
    done = ""
    meant: Plan | None = None
    stop = True
    for number, (piece, plan) in enumerate(zip(pieces, plans(list(pieces)), strict=True)):
        done = style.joined(done, stop)
        last = number == len(pieces) - 1
        head = style.begun(style.words(piece.head), done, value=not piece.head)
        changes = piece.value is None and plan != meant
        for word in head[: len(head) if piece.value else -1]:
            done = f"{done} {word}".strip()
            yield _Cut(done, meant, "")
        if piece.value is not None:
            for partial in piece.value.partials:
                yield _Cut(f"{done} {partial}".strip(), meant, "", near=True, broken=True)
            done = f"{done} {piece.value.text}".strip()
            following = pieces[number + 1].head.split() if not last else []
            words = style.words(piece.tail)
            after = (words or following or [""])[0]
            if last and not words:
                yield _Cut(done, plan, after)
            else:
                yield _Cut(done, plan, after, near=True)
        else:
            words = head[-1:]
        for index, word in enumerate(words):
            done = f"{done} {word}".strip()
            yield _Cut(done, plan, "", near=changes and index == len(words) - 1)
        meant, stop = plan, piece.stop


def _lowered(prefix: Prefix) -> Prefix:
    if prefix.plan is None:
        return replace(prefix, text=prefix.text.lower())
    arguments: dict[str, Any] = {
        name: value.lower() if name in _NAMES else value
        for name, value in prefix.plan["arguments"].items()
    }
    return Prefix(prefix.text.lower(), {**prefix.plan, "arguments": arguments})
