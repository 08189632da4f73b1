"""What the learned predictors know at a tick: functions of the arrivals seen so far alone.

None of it is a list of words. What tells that a repair is open, as recognizers write speech, is
that the speaker goes on after the value: starts the sentence again (its words come back), breaks
off, pauses after an incomplete phrase, or says words of which training knows what follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise, takewhile
from math import log1p
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from predictors.cues import words
from predictors.versions import seen, versions
from simcore.trace import Arrival

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet

    from numpy.typing import NDArray

    from simcore.clock import Microseconds

    Floats = NDArray[np.float32]

NEWEST: Final = 4
"""How many of the newest words after the value are shown to the model."""

BUCKETS: Final = 256
"""Where words, pairs of words and character triples are hashed to."""

_SENTENCE_END: Final = re.compile(r"[.?!]+(?=\s|$)")
_BROKEN_OFF: Final = re.compile(r"(?:-|\u2013|\u2014|\.\.\.|\u2026)$")


def features(arrivals: Sequence[Arrival], times: Iterable[Microseconds]) -> Floats:
    """A row of `NAMES` for each time, [times, features]; every time must see a version.

    The row at t is computed from the arrivals with `arrived_at_us <= t` and from t.
    """
    rows: list[Floats] = []
    heard: dict[int, _Heard] = {}
    for time in times:
        known = seen(arrivals, time)
        if len(known) not in heard:
            heard[len(known)] = _Heard.of(known)
        rows.append(heard[len(known)].at(time))
    return np.stack(rows) if rows else np.empty((0, len(NAMES)), np.float32)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one arrival leaves known until the next: all but the clock's part."""

    latest: Arrival
    began_us: Microseconds
    values: Floats
    text: Floats

    @classmethod
    def of(cls, known: Sequence[Arrival]) -> _Heard:
        version = versions(known)[-1]
        said = _Said.of(known)
        values = np.array(list(_at_arrival(known, said).values()), np.float32)
        return cls(known[-1], version.began_us, values, _bag(said.tail[-NEWEST:]))

    def at(self, time: Microseconds) -> Floats:
        clock = list(_clock(self.latest, self.began_us, time).values())
        return np.concatenate([self.values, np.array(clock, np.float32), self.text])


@dataclass(frozen=True, slots=True)
class _Said:
    """The latest text in words: up to the value, and after it."""

    before: Sequence[str]
    now: Sequence[str]
    head: Sequence[str]
    tail: Sequence[str]
    sentences: Sequence[Sequence[str]]

    @classmethod
    def of(cls, known: Sequence[Arrival]) -> _Said:
        """Prefixes are decoded anew: what the version began with may be spelled otherwise now."""
        now = words(known[-1].text).split()
        first = words(versions(known)[-1].first.text).split()
        blocks = SequenceMatcher(None, first, now, autojunk=False).get_matching_blocks()
        end = max((b.b + b.size for b in blocks if b.size), default=min(len(first), len(now)))
        sentences = (words(part).split() for part in _SENTENCE_END.split(known[-1].text))
        return cls(
            before=words(known[-2].text).split() if len(known) > 1 else [],
            now=now,
            head=now[:end],
            tail=now[end:],
            sentences=[sentence for sentence in sentences if sentence],
        )


def _at_arrival(known: Sequence[Arrival], said: _Said) -> dict[str, float]:
    return {
        **_confidence(known),
        **_history(known),
        **_pauses(known),
        **_changes(said),
        **_continuation(known[-1].text.rstrip(), said),
        "final": known[-1].is_final,
    }


def _clock(latest: Arrival, began_us: Microseconds, time: Microseconds) -> dict[str, float]:
    unheard = time - latest.prefix_end_us
    return {
        "version age": _seconds(time - began_us),
        "time": _seconds(time),
        "since the arrival": (time - latest.arrived_at_us) / 1e6,
        "since the prefix's end": unheard / 1e6,
        "silence": _seconds(latest.pause_us + unheard) if latest.pause_us else 0.0,
    }


def _own(known: Sequence[Arrival]) -> list[Arrival]:
    """The arrivals since the version began, empty ones too."""
    began_us = versions(known)[-1].began_us
    return [arrival for arrival in known if arrival.arrived_at_us >= began_us]


def _confidence(known: Sequence[Arrival]) -> dict[str, float]:
    sure = [a.confidence or 0.0 for a in _own(known) if a.argument is not None]
    return {
        "confidence": sure[-1],
        "confidence, change": sure[-1] - sure[-2] if len(sure) > 1 else 0.0,
        "confidence, since the version began": sure[-1] - sure[0],
        "confidence, lowest of the version": min(sure),
    }


def _history(known: Sequence[Arrival]) -> dict[str, float]:
    *earlier, version = versions(known)
    agreeing = takewhile(lambda a: a.argument == version.argument, reversed(known))
    return {
        "no argument": known[-1].argument is None,
        "agreement": min(sum(1 for _ in agreeing), 8) / 4,
        "versions before": min(len(earlier), 4),
        "arrivals without argument": min(sum(a.argument is None for a in known), 8) / 4,
        "arrivals of the version": log1p(len(_own(known))),
        "value said before": any(run.argument == version.argument for run in earlier),
    }


def _pauses(known: Sequence[Arrival]) -> dict[str, float]:
    return {
        "pause": _seconds(known[-1].pause_us),
        "pause at the version's start": _seconds(versions(known)[-1].first.pause_us),
        "longest pause of the version": _seconds(max(a.pause_us for a in _own(known))),
    }


def _changes(said: _Said) -> dict[str, float]:
    kept = _common(said.now, said.before)
    return {
        "new words": min(len(said.now) - kept, 8) / 4,
        "words revised": 1 - kept / len(said.before) if said.before else 0.0,
        "nothing new": said.now == said.before,
    }


def _continuation(text: str, said: _Said) -> dict[str, float]:
    broken_off = bool(_BROKEN_OFF.search(text))
    *earlier, newest = said.sentences or [[]]
    steps, known_steps = list(pairwise(said.tail)), set(pairwise(said.head))
    run = SequenceMatcher(None, said.head, said.tail, autojunk=False).find_longest_match()
    return {
        "words after the value": log1p(len(said.tail)),
        "ends a sentence": text.endswith((".", "?", "!")) and not broken_off,
        "ends with a comma": text.endswith(","),
        "breaks off": broken_off,
        "newest sentence, words": log1p(len(newest)),
        "repeated words": _share(said.tail, set(said.head)),
        "repeated words, newest": _share(said.tail[-NEWEST:], set(said.head)),
        "repeated pairs of words": _share(steps, known_steps),
        "longest repetition": min(run.size, 6) / 3,
        "begins like an earlier sentence": max((_common(newest, s) for s in earlier), default=0)
        / 3,
    }


def _share(items: Sequence[object], known: AbstractSet[object]) -> float:
    return sum(item in known for item in items) / len(items) if items else 0.0


def _seconds(duration_us: Microseconds) -> float:
    return log1p(duration_us / 1e6)


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the common beginning."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return sum(1 for _ in same)


def _bag(newest: Sequence[str]) -> Floats:
    """Hashed words, pairs of words and character triples, of length 1 (0 without words)."""
    bag = np.zeros(BUCKETS, np.float32)
    for word in newest:
        bag[_bucket(word)] += 1
        marked = f"<{word}>"
        for start in range(len(marked) - 2):
            bag[_bucket(f"#{marked[start : start + 3]}")] += 0.5
    for one, other in pairwise(newest):
        bag[_bucket(f"{one} {other}")] += 1
    size = float(np.linalg.norm(bag))
    return bag / size if size else bag


def _bucket(key: str) -> int:
    return crc32(key.encode()) % BUCKETS


_ANY: Final = [Arrival(0, 0, "", 0.0, "", False)]
PLAIN: Final = (*_at_arrival(_ANY, _Said.of(_ANY)), *_clock(_ANY[0], 0, 0))
NAMES: Final = (*PLAIN, *(f"text {bucket}" for bucket in range(BUCKETS)))
"""What a row holds: `PLAIN` quantities, then the hashed text."""
