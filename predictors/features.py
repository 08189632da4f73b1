"""What the learned predictors know at a tick: functions of the arrivals seen so far alone.

None of it is a list of words. What tells that a repair is open, as recognizers write speech, is
that the speaker goes on after the value: starts the sentence again (its words come back), breaks
off, pauses after an incomplete phrase, or says words of which training knows what follows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise
from math import log1p
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from predictors.cues import words
from predictors.versions import seen, versions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simcore.clock import Microseconds
    from simcore.trace import Arrival

    Floats = NDArray[np.float32]

NEWEST: Final = 4
"""How many of the newest words after the value are shown to the model."""

BUCKETS: Final = 256
"""Where words, pairs of words and character triples are hashed to."""

_AT_ARRIVAL: Final = (
    "confidence",
    "confidence, change",
    "confidence, since the version began",
    "confidence, lowest of the version",
    "no argument",
    "agreement",
    "versions before",
    "arrivals without argument",
    "arrivals of the version",
    "value said before",
    "pause",
    "pause at the version's start",
    "longest pause of the version",
    "new words",
    "words revised",
    "nothing new",
    "words after the value",
    "ends a sentence",
    "ends with a comma",
    "breaks off",
    "sentences after the value",
    "newest sentence, words",
    "repeated words",
    "repeated words, newest",
    "repeated pairs of words",
    "longest repetition",
    "begins like an earlier sentence",
    "final",
)
_AT_TICK: Final = ("version age", "time", "since the arrival", "since the prefix's end", "silence")
NAMES: Final = (*_AT_ARRIVAL, *_AT_TICK, *(f"text {bucket}" for bucket in range(BUCKETS)))

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
        count = len(known)
        if count not in heard:
            heard[count] = _hear(known)
        rows.append(heard[count].at(time))
    return np.stack(rows) if rows else np.empty((0, len(NAMES)), np.float32)


@dataclass(frozen=True, slots=True)
class _Heard:
    """What one arrival leaves known until the next."""

    row: Floats
    text: Floats
    began_us: Microseconds
    arrived_us: Microseconds
    prefix_end_us: Microseconds
    pause_us: Microseconds

    def at(self, time: Microseconds) -> Floats:
        since_heard = time - self.prefix_end_us
        clock = (
            _seconds(time - self.began_us),
            _seconds(time),
            (time - self.arrived_us) / 1e6,
            since_heard / 1e6,
            _seconds(self.pause_us + since_heard) if self.pause_us else 0.0,
        )
        return np.concatenate([self.row, np.array(clock, np.float32), self.text])


def _seconds(duration_us: Microseconds) -> float:
    return log1p(duration_us / 1e6)


def _hear(known: Sequence[Arrival]) -> _Heard:
    runs = versions(known)
    version, last = runs[-1], known[-1]
    before = known[-2] if len(known) > 1 else None
    own = [a for a in known if a.arrived_at_us >= version.began_us]
    sure = [a.confidence or 0.0 for a in own if a.argument is not None]
    confidence = sure[-1]
    agreement = next(
        (n for n, a in enumerate(reversed(known)) if a.argument != version.argument), len(known)
    )
    said, earlier = words(last.text).split(), words(before.text).split() if before else []
    kept = _common(said, earlier)
    head, tail = _around_value(words(version.first.text).split(), said)
    sentences = [s.split() for s in map(words, _SENTENCE_END.split(last.text)) if s]
    newest = sentences[-1] if sentences else []
    after = last.text[-_tail_length(last.text, len(tail)) :] if tail else ""
    text = last.text.rstrip()
    row = (
        confidence,
        confidence - (sure[-2] if len(sure) > 1 else confidence),
        confidence - sure[0],
        min(sure),
        last.argument is None,
        min(agreement, 8) / 4,
        min(len(runs) - 1, 4),
        min(sum(a.argument is None for a in known), 8) / 4,
        log1p(len(own)),
        any(run.argument == version.argument for run in runs[:-1]),
        _seconds(last.pause_us),
        _seconds(version.first.pause_us),
        _seconds(max(a.pause_us for a in own)),
        min(max(0, len(said) - kept), 8) / 4,
        1 - kept / len(earlier) if earlier else 0.0,
        said == earlier,
        log1p(len(tail)),
        text.endswith((".", "?", "!")) and not _BROKEN_OFF.search(text),
        text.endswith(","),
        bool(_BROKEN_OFF.search(text)),
        len(_SENTENCE_END.findall(after)) / 2,
        log1p(len(newest)),
        *_repetition(head, tail),
        max((_common(newest, s) for s in sentences[:-1]), default=0) / 3,
        last.is_final,
    )
    return _Heard(
        np.array(row, np.float32),
        _bag(tail[-NEWEST:]),
        version.began_us,
        last.arrived_at_us,
        last.prefix_end_us,
        last.pause_us,
    )


def _around_value(first: Sequence[str], said: Sequence[str]) -> tuple[list[str], list[str]]:
    """The words up to the end of what the version began with, and those after.

    Prefixes are decoded anew, so that what was heard first may be spelled otherwise by now.
    """
    matches = SequenceMatcher(None, first, said, autojunk=False).get_matching_blocks()
    end = max((m.b + m.size for m in matches if m.size), default=min(len(first), len(said)))
    return list(said[:end]), list(said[end:])


def _tail_length(text: str, count: int) -> int:
    """How many characters the last `count` words of a text take, with what stands between."""
    starts = [match.start() for match in re.finditer(r"[a-z0-9']+", text.lower().replace("’", "'"))]
    return len(text) - starts[-count] if count <= len(starts) else len(text)


def _repetition(head: Sequence[str], tail: Sequence[str]) -> tuple[float, float, float, float]:
    """How much of what follows the value has been said before: words, the newest, pairs, a run."""
    if not tail:
        return (0.0, 0.0, 0.0, 0.0)
    known, pairs = set(head), set(pairwise(head))
    newest = tail[-NEWEST:]
    steps = list(pairwise(tail))
    block = SequenceMatcher(None, head, tail, autojunk=False).find_longest_match()
    return (
        sum(word in known for word in tail) / len(tail),
        sum(word in known for word in newest) / len(newest),
        sum(pair in pairs for pair in steps) / max(1, len(steps)),
        min(block.size, 6) / 3,
    )


def _common(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the common beginning."""
    count = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        count += 1
    return count


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
