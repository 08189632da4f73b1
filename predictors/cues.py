"""Cue words: whether the text shows an editing phrase about the current version."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from predictors.versions import versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.clock import Microseconds
    from simcore.trace import Arrival

EDITING_PHRASES: Final = (
    "actually",
    "change that",
    "correction",
    "excuse me",
    "forget that",
    "hang on",
    "hold on",
    "i mean",
    "i meant",
    "i misspoke",
    "instead",
    "make it",
    "make that",
    "my mistake",
    "never mind",
    "nevermind",
    "no",
    "not that",
    "on second thought",
    "oops",
    "or rather",
    "pardon",
    "rather",
    "scratch that",
    "sorry",
    "strike that",
    "that's wrong",
    "that's not right",
    "wait",
    "whoops",
)
"""General English editing terms (Levelt 1983, *Monitoring and self-repair in speech*).

Written down once and fitted to no recording. Filled pauses ("uh", "um") are left out: they mark
hesitation more often than repair, and recognizers tend to drop them.
"""

_WORD: Final = re.compile(r"[a-z0-9']+")
_ANY: Final = "|".join(sorted(EDITING_PHRASES, key=len, reverse=True))
_PHRASE: Final = re.compile(rf"(?<!\S)(?:{_ANY})(?!\S)")
_TRAILING: Final = re.compile(rf"(?:(?<!\S)(?:{_ANY})(?: |$))+$")


@dataclass(frozen=True, slots=True)
class State:
    """A tick's view of the current version.

    `age_us` is the time since its first arrival; `cue`: the text shows an editing phrase that is
    about this version; `final`: the final flush has been seen.
    """

    age_us: Microseconds
    cue: bool
    final: bool


def state(known: Sequence[Arrival], time: Microseconds) -> State | None:
    """The state at `time` given the arrivals known by then, None before the first non-empty one.

    An editing phrase is about the current version unless it led to it: when the latest text has
    more of them than the text that the version began with had before its last word of another kind.
    Counts, because prefixes are decoded anew and positions move.
    """
    runs = versions(known)
    if not runs:
        return None
    version = runs[-1]
    led_to_it = _TRAILING.sub("", words(version.first.text))
    cue = len(_PHRASE.findall(words(known[-1].text))) > len(_PHRASE.findall(led_to_it))
    return State(time - version.began_us, cue, known[-1].is_final)


def words(text: str) -> str:
    """Lower-case words with single spaces between them.

    >>> words("At 3 pm. No, wait -- at FOUR!")
    'at 3 pm no wait at four'
    """
    return " ".join(_WORD.findall(text.lower().replace("’", "'")))
