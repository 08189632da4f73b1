"""Requests as token sequences: one text, and from it a branch for each of its beginnings.

A branch is what its beginning has of its own, the end of the prompt, and the answer. It sees the
text up to where it leaves it, and itself: so the text is computed once for all of its beginnings.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile
from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from frontends.parsing.qwen.requests import draw_request
from frontends.parsing.qwen.tokenizer import END
from frontends.parsing.qwen.written import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from frontends.parsing.qwen.tokenizer import Tokenizer
    from frontends.parsing.qwen.written import Prefix
    from frontends.recast.grammar import Grammar

    Texts = tuple[Prefix, Sequence[Prefix]]

LONGEST: Final = 320
"""Tokens of a sequence; longer ones lose branches, then are left out."""
UNKNOWN: Final = -100
_POOL: Final = 16


@dataclass(frozen=True, slots=True)
class Row:
    """A row: tokens, and of each its position, its branch (0: the text), the place where the branch
    leaves the text, and the token that should follow (`UNKNOWN` where none is learned)."""

    tokens: list[int]
    positions: list[int]
    branches: list[int]
    starts: list[int]
    following: list[int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows of equal length [rows, length], padded: `branches` is -1 there."""

    tokens: NDArray[np.int64]
    positions: NDArray[np.int64]
    branches: NDArray[np.int64]
    starts: NDArray[np.int64]
    following: NDArray[np.int64]


def sequence(texts: Texts, tokenizer: Tokenizer) -> Row:
    """The whole text, its answer, and as many beginnings as there is room for."""
    whole, beginnings = texts
    text = tokenizer.prompt(whole.text)
    end = tokenizer.numbers[END]
    places = list(range(len(text)))
    row = Row(list(text), places, [0] * len(text), [p + 1 for p in places], [UNKNOWN] * len(text))
    for number, prefix in enumerate((whole, *beginnings), start=1):
        prompt = [*tokenizer.prompt(prefix.text), end]
        shared = _shared(text, prompt)
        answer = tokenizer.answer(prefix.plan)
        branch = [*prompt[shared:], *answer[:-1]]
        if number > 1 and len(row.tokens) + len(branch) > LONGEST:
            continue
        row.tokens.extend(branch)
        row.positions.extend(range(shared, shared + len(branch)))
        row.branches.extend([number] * len(branch))
        row.starts.extend([shared] * len(branch))
        row.following.extend([UNKNOWN] * (len(branch) - len(answer)) + answer)
    return row


def batch(rows: Sequence[Row]) -> Batch:
    """Rows side by side."""
    length = max(len(row.tokens) for row in rows)

    def padded(name: str, value: int) -> NDArray[np.int64]:
        made = np.full((len(rows), length), value, np.int64)
        for at, row in enumerate(rows):
            column = getattr(row, name)
            made[at, : len(column)] = column
        return made

    return Batch(
        padded("tokens", 0),
        padded("positions", 0),
        padded("branches", -1),
        padded("starts", 0),
        padded("following", UNKNOWN),
    )


@dataclass(frozen=True, slots=True)
class Source:
    """Where training texts come from: drawn at random, and now and then recorded ones."""

    tokenizer: Tokenizer
    recorded: Sequence[Texts]
    share: float
    prefixes: int
    grammar: Grammar

    def batches(self, seed: int, size: int, first: int) -> Iterator[Batch]:
        """Batches of about `size` tokens for ever, from number `first` on: each pool of batches has
        a stream of its own, so that a training that goes on draws what an unbroken one would."""
        pool = first // _POOL
        while True:
            rng = Random(f"{seed}/texts/{pool}")
            made = self._pool(rng, size)
            yield from made[first - pool * _POOL :]
            pool += 1
            first = pool * _POOL

    def _pool(self, rng: Random, size: int) -> list[Batch]:
        """Batches of rows of similar length, in random order."""
        rows: list[Row] = []
        tokens = 0
        while tokens < size * _POOL:
            if self.recorded and rng.random() < self.share:
                texts = rng.choice(self.recorded)
            else:
                texts = write(draw_request(rng, self.grammar), rng, self.prefixes)
            row = sequence(texts, self.tokenizer)
            if len(row.tokens) <= LONGEST:
                rows.append(row)
                tokens += len(row.tokens)
        rows.sort(key=lambda row: len(row.tokens))
        share = tokens / _POOL
        groups: list[list[Row]] = [[] for _ in range(_POOL)]
        done = 0.0
        for row in rows:
            groups[min(int(done / share), _POOL - 1)].append(row)
            done += len(row.tokens)
        batches = [batch(group) for group in groups]
        rng.shuffle(batches)
        return batches


def _shared(text: Sequence[int], prompt: Sequence[int]) -> int:
    """How many tokens both begin with."""
    pairs = zip(text, prompt, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
