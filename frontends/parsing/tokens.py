"""Recognized words as plain tokens that remember which words they came from."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING

from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence

_HALF_DAY = re.compile(r"\b([ap])\.\s?m\b\.?|(?<=\d)\s?([ap])\.?m\b\.?")
_PIECE = re.compile(
    r"[$€£]|\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}:\d{2}|\d+(?:\.\d+)?|[^\W\d_]+", re.UNICODE
)


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a sign in lower case, from words `first` to `last` of the transcript."""

    piece: str
    first: int
    last: int

    # What text2num asks of a token.
    def text(self) -> str:
        return self.piece

    def nt_separated(self, previous: Token) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Line:
    """Tokens joined by spaces, for patterns; a span of `text` leads back to the words."""

    text: str
    tokens: tuple[Token, ...]
    starts: tuple[int, ...]

    @classmethod
    def of(cls, tokens: Sequence[Token]) -> Line:
        lengths = [len(token.piece) + 1 for token in tokens]
        starts = tuple(accumulate(lengths, initial=0))[:-1]
        return cls(" ".join(token.piece for token in tokens), tuple(tokens), starts)

    def words(self, start: int, end: int) -> tuple[int, ...]:
        """The indices of the words behind `text[start:end]`."""
        first = bisect_right(self.starts, start) - 1
        last = bisect_left(self.starts, end) - 1
        return tuple(range(self.tokens[first].first, self.tokens[last].last + 1))


def tokenize(words: Sequence[str]) -> list[Token]:
    """Lower case, no punctuation; "3 p.m." and "3pm" alike become "3", "pm".

    >>> [token.piece for token in tokenize(["At", "3", "p.m.,", "$1,200", "twenty-one"])]
    ['at', '3', 'pm', '$', '1200', 'twenty', 'one']
    """
    tokens: list[Token] = []
    for index, word in enumerate(words):
        plain = word.lower().replace("’", "'").replace("'", "")
        plain = _HALF_DAY.sub(lambda found: f" {found[1] or found[2]}m ", plain)
        for piece in _PIECE.findall(plain):
            if piece == "m" and tokens and tokens[-1].piece in ("a", "p"):
                half = tokens.pop()
                tokens.append(Token(f"{half.piece}m", half.first, index))
            else:
                tokens.append(Token(piece.replace(",", ""), index, index))
    return tokens


def with_digits(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with spoken numbers in digits.

    >>> [t.piece for t in with_digits(tokenize("two hundred and fifty dollars".split()))]
    ['250', 'dollars']
    """
    try:
        from text_to_num import find_numbers
    except ImportError:
        raise MissingError(
            "the lexicon parser needs the package text2num; "
            "install it with: pip install 'rassg-sim[speech]'"
        ) from None
    tokens = _scaled(tokens)
    result: list[Token] = []
    position = 0
    for found in find_numbers(tokens, "en", 0.0):
        result += tokens[position : found.start]
        number = tokens[found.start : found.end]
        result.append(Token(found.text, number[0].first, number[-1].last))
        position = found.end
    return [*result, *tokens[position:]]


_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}


def _scaled(tokens: Sequence[Token]) -> list[Token]:
    """The tokens with a scale multiplied into the digits before it: "2 thousand", "1.5 million"."""
    result: list[Token] = []
    for token in tokens:
        scale = _SCALES.get(token.piece)
        if scale and result and result[-1].piece[0].isdigit() and ":" not in result[-1].piece:
            before = result.pop()
            number = Decimal(before.piece) * scale
            result.append(Token(f"{number.normalize():f}", before.first, token.last))
        else:
            result.append(token)
    return result
