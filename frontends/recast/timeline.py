"""Lays a script's spoken texts out in time: pauses, annotations, and audio that a pair shares.

Times follow from the lengths of the synthesized texts, never from what a recognizer hears.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from frontends.audio import RATE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from frontends.recast.script import Milliseconds, Script, Span, Variant

    Speech = Mapping[str, NDArray[np.int16]]

GRAIN: Final = RATE // 1000
"""Samples a millisecond: texts are padded to whole ones, so times are whole microseconds."""
LEAD: Final = 200
"""Silence before the first word, in milliseconds."""
LONGEST: Final = 15_000
"""No recording is longer, in milliseconds, so that 1,500 feature frames hold it."""
SLACK: Final = 800
"""The width of the draw, in milliseconds, where a repair's speech is longer than its bounds."""


class TooLong(ValueError):
    """The speech alone breaks a bound of the script, or the recording would be too long."""


@dataclass(frozen=True, slots=True)
class Take:
    """One recording: its samples at 16 kHz and its `trace/v1` columns."""

    samples: NDArray[np.int16]
    columns: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Laid:
    """A span in time: its pieces (samples, or the length of a silence) and when its speech ends."""

    span: Span
    pieces: tuple[NDArray[np.int16] | Milliseconds, ...]
    length: Milliseconds
    said: Milliseconds
    whole: bool


def to_grain(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """The samples, padded with silence to a whole number of milliseconds."""
    return np.pad(samples, (0, -len(samples) % GRAIN))


def lay_out(script: Script, speech: Speech, seed: str) -> list[Take]:
    """The recordings of a group; `speech` holds the samples of each text, in whole milliseconds.

    Raises `TooLong` where the speech alone breaks a bound of the script.
    """
    rng = Random(f"{seed}/shared")
    shared = [_lay(span, speech, rng) for span in script.shared]
    start = LEAD + sum(laid.length for laid in shared)
    laid: dict[str, list[_Laid]] = {}
    end = LONGEST
    for variant in reversed(script.variants):
        rng = Random(f"{seed}/{variant.name}")
        spans = [_lay(span, speech, rng) for span in variant.spans]
        if variant.matched:
            free = LONGEST - start - sum(_said(span, speech) for span in variant.spans)
            aim = free + end - LONGEST + rng.randint(-500, 500)
            spans = [_lay(variant.spans[0], speech, rng, rest=min(max(aim, 600), free))]
        end = start + sum(span.length for span in spans)
        if end > LONGEST:
            raise TooLong(f"{script.group_id}: the recording would take {end} ms")
        laid[variant.name] = spans
    branch = _branch(start, script.variants, laid)
    return [
        _take(script, variant, [*shared, *laid[variant.name]], branch)
        for variant in script.variants
    ]


def _branch(
    start: Milliseconds, variants: Sequence[Variant], laid: Mapping[str, list[_Laid]]
) -> Milliseconds | None:
    """Where the recordings part: at the repair's onset."""
    if len(variants) == 1:
        return None
    for span in laid["corrected"]:
        if span.span.repair:
            return start
        start += span.length
    raise AssertionError("a corrected recording has a repair")


def _take(
    script: Script, variant: Variant, spans: Sequence[_Laid], branch: Milliseconds | None
) -> Take:
    values: list[dict[str, Any]] = []
    repairs: list[dict[str, Any]] = []
    texts: list[str] = []
    pieces: list[NDArray[np.int16] | Milliseconds] = [LEAD]
    time = LEAD
    for laid in spans:
        span = laid.span
        available = None
        if span.argument is not None and laid.whole:
            available = (time + laid.said) * 1_000
            values.append({"argument": span.argument, "available_us": available})
        if span.repair:
            onset = {"onset_us": time * 1_000, "resolved_us": available}
            repairs.append({**onset, "kind": script.subset})
        texts += span.texts if laid.whole else ()
        pieces += laid.pieces
        time += laid.length
    columns: dict[str, Any] = {
        "recording_id": f"{script.group_id}-{variant.name}",
        "corpus": "recast",
        "split": script.split,
        "group_id": script.group_id,
        "subset": script.subset,
        "variant": variant.name,
        "voice": script.voice,
        "domain": script.domain,
        "carrier_id": script.carrier_id,
        "spoken": " ".join(texts),
        "target": variant.target,
        "values": values,
        "repairs": repairs,
    }
    if variant.target is not None:
        columns["origin_us"] = values[-1]["available_us"]
    if branch is not None:
        columns |= {"pair_id": script.group_id, "branch_us": branch * 1_000}
    if repairs:
        edit = variant.edit
        columns["editing"] = "none" if edit is None else "seen" if edit.seen else "unseen"
        if edit is not None:
            columns["edit_id"] = edit.id
    return Take(_join(pieces), columns)


def _lay(span: Span, speech: Speech, rng: Random, *, rest: Milliseconds | None = None) -> _Laid:
    said = _said(span, speech)
    if rest is None:
        rest = _rest(span, said, rng)
    if rest < 0:
        return _cut(span, speech, said + rest)
    pauses = _split(rest, len(span.texts), span, rng)
    pieces: list[NDArray[np.int16] | Milliseconds] = [pauses[0]]
    for text, pause in zip(span.texts, pauses[1:], strict=True):
        pieces += [speech[text], pause]
    return _Laid(span, tuple(pieces), said + rest, said + rest - pauses[-1], whole=True)


def _cut(span: Span, speech: Speech, length: Milliseconds) -> _Laid:
    samples = _join([speech[text] for text in span.texts])[: length * GRAIN]
    return _Laid(span, (samples,), length, length, whole=False)


def _said(span: Span, speech: Speech) -> Milliseconds:
    return sum(len(speech[text]) for text in span.texts) // GRAIN


def _rest(span: Span, said: Milliseconds, rng: Random) -> Milliseconds:
    """All pauses of a span together; negative where its speech is to be cut."""
    if span.rest is not None:
        return rng.randint(*span.rest)
    if span.length is None:
        return 0
    low, high = span.length
    if span.cut:
        return low - said
    least = said + (100 if span.texts and low < high else 0)
    if least > low:
        low, high = least, max(high, least + SLACK) if span.repair or low == high else high
    if low > high:
        raise TooLong(f"{said} ms of speech do not fit into {high} ms")
    return rng.randint(low, high) - said


def _split(rest: Milliseconds, texts: int, span: Span, rng: Random) -> list[Milliseconds]:
    """`rest` in texts + 1 pauses: one before each text, and one after the last."""
    allowed = [span.leads, *[True] * (texts - 1), span.trails] if texts else [True]
    weights = [rng.uniform(0.5, 1.5) * open_ for open_ in allowed]
    total = sum(weights)
    if not total:
        return [0] * len(weights)
    pauses = [int(rest * weight / total) for weight in weights]
    pauses[allowed.index(True)] += rest - sum(pauses)
    return pauses


def _join(pieces: Iterable[NDArray[np.int16] | Milliseconds]) -> NDArray[np.int16]:
    return np.concatenate(
        [np.zeros(piece * GRAIN, np.int16) if isinstance(piece, int) else piece for piece in pieces]
    )
