"""Word errors of a transcript, where a number counts the same however it is written."""

from __future__ import annotations

import re
from typing import Final

from frontends.parsing.tokens import tokenize, with_digits
from simcore.errors import MissingError

_CURRENCY: Final = {"$": "dollars", "€": "euros", "£": "pounds"}
_REWRITES: Final = (
    (re.compile(r"([$€£]) (\d[\d.:]*)"), lambda found: f"{found[2]} {_CURRENCY[found[1]]}"),
    (re.compile(r"\b(dollar|euro|pound)\b"), r"\1s"),
    (re.compile(r"(?<=\d)(:00| oclock)\b"), ""),
    (re.compile(r"(?<=\d) oh? (?=\d)"), "0"),
    (re.compile(r"(?<=\d)[.: ](?=\d)"), ""),
)
_FILLERS: Final = frozenset({"ah", "er", "hm", "hmm", "mm", "uh", "uhm", "um"})


def plain_words(text: str) -> list[str]:
    """Lower-case words without punctuation, fillers and "o'clock"; numbers in a row are one word.

    >>> plain_words("Um, at eight fifteen p.m., for $1,200.")
    ['at', '815', 'pm', 'for', '1200', 'dollars']
    >>> plain_words("at 8:15 PM for twelve hundred dollars")
    ['at', '815', 'pm', 'for', '1200', 'dollars']
    """
    line = " ".join(token.piece for token in with_digits(tokenize(text.split())))
    for pattern, replacement in _REWRITES:
        line = pattern.sub(replacement, line)
    return [word for word in line.split() if word not in _FILLERS]


def word_errors(spoken: str, heard: str) -> tuple[int, int]:
    """(substitutions + deletions + insertions, words spoken), after `plain_words` of both.

    Raises `MissingError` without the package jiwer.

    >>> word_errors("Book it for three p.m.", "book it for 3 PM, please")
    (1, 5)
    """
    try:
        from jiwer import process_words
    except ImportError:
        raise MissingError(
            "the word error rate needs the package jiwer; "
            "install it with: pip install 'rassg-sim[speech]'"
        ) from None
    said, got = plain_words(spoken), plain_words(heard)
    if not said:
        return len(got), 0
    found = process_words(" ".join(said), " ".join(got))
    return found.substitutions + found.deletions + found.insertions, len(said)
