"""Lays spoken segments out in time: pauses, annotations, and audio that a pair shares exactly.

Times follow from the lengths of the synthesized segments, never from what a recognizer hears.
Pauses are drawn so that the distances of a subset hold, before anything is decoded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from frontends.audio import RATE

if TYPE_CHECKING:
    from collections.abc import Iterable
    from random import Random

    from numpy.typing import NDArray

    from frontends.recast.script import PairScript

GRAIN = RATE // 1000
"""Samples a millisecond: segments are padded to whole ones, so times are whole microseconds."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The distances of a subset, in milliseconds; each is drawn evenly from `lowest` to `highest`.

    `gap`: from the first value's availability to the repair's onset. `resolve`: from the onset to
    the new value's availability. `tail`: from there to the end of the audio. Speech that is longer
    than a lower bound raises it, and `SLACK` is then the least width of the draw.
    """

    name: str
    gap: tuple[int, int]
    resolve: tuple[int, int]
    tail: tuple[int, int]


PROSPECTIVE = Shape("prospective", gap=(1_000, 3_500), resolve=(2_000, 3_200), tail=(3_000, 3_800))
SLACK = 800
LEAD = 200
"""Silence before the first word, in milliseconds."""
LONGEST = 15_000
"""No recording is longer, in milliseconds, so that 1,500 feature frames hold it."""


@dataclass(frozen=True, slots=True)
class Segments:
    """The synthesized parts of a pair at 16 kHz, each a whole number of milliseconds long."""

    opening: NDArray[np.int16]
    filler: NDArray[np.int16]
    repair: NDArray[np.int16]
    replacement: NDArray[np.int16]
    aside: NDArray[np.int16]
    tail: NDArray[np.int16]


@dataclass(frozen=True, slots=True)
class Take:
    """One recording: its samples at 16 kHz and its row of metadata, without the file's name."""

    samples: NDArray[np.int16]
    metadata: dict[str, Any]


def to_grain(samples: NDArray[np.int16]) -> NDArray[np.int16]:
    """The samples, padded with silence to a whole number of milliseconds."""
    return np.pad(samples, (0, -len(samples) % GRAIN))


def lay_out(script: PairScript, parts: Segments, shape: Shape, rng: Random) -> tuple[Take, Take]:
    """The stable and the corrected recording of a pair.

    Raises ``ValueError`` where the speech alone breaks a bound of the shape or is too long.
    """
    available = LEAD + _ms(parts.opening)
    gap = _draw(shape.gap, _ms(parts.filler) + 200, rng, most=shape.gap[1])
    before = round((gap - _ms(parts.filler)) * rng.uniform(0.2, 0.5))
    branch = available + gap
    speech = _ms(parts.repair) + _ms(parts.replacement)
    resolve = _draw(shape.resolve, speech + 100, rng)
    resolved = branch + resolve
    tail = _draw(shape.tail, _ms(parts.tail) + 500, rng, most=LONGEST - resolved)
    rest = tail - _ms(parts.tail)
    quiet = round(rest * rng.uniform(0.2, 0.4))
    end = resolved + tail

    shared = [
        silence(LEAD),
        parts.opening,
        silence(before),
        parts.filler,
        silence(gap - before - _ms(parts.filler)),
    ]
    corrected = [
        *shared,
        parts.repair,
        silence(resolve - speech),
        parts.replacement,
        silence(quiet),
        parts.tail,
        silence(rest - quiet),
    ]
    aside = _ms(parts.aside) + _ms(parts.tail)
    stable_rest = max(end - branch + rng.randint(-500, 500) - aside, 600)
    stable_rest = min(stable_rest, LONGEST - branch - aside)
    between = round(stable_rest * rng.uniform(0.3, 0.6))
    stable = [
        *shared,
        parts.aside,
        silence(between),
        parts.tail,
        silence(stable_rest - between),
    ]
    common = {
        "corpus": "recast-pilot",
        "split": script.split,
        "group_id": script.pair_id,
        "pair_id": script.pair_id,
        "subset": shape.name,
        "voice": script.voice,
        "domain": script.domain,
        "carrier_id": script.carrier.id,
        "branch_us": branch * 1_000,
    }
    first = {"argument": script.first.argument, "available_us": available * 1_000}
    second = {"argument": script.second.argument, "available_us": resolved * 1_000}
    repair = {"onset_us": branch * 1_000, "resolved_us": resolved * 1_000, "kind": shape.name}
    return (
        Take(
            _join(stable),
            {
                "recording_id": f"{script.pair_id}-stable",
                **common,
                "variant": "stable",
                "target": script.first.argument,
                "origin_us": available * 1_000,
                "values": [first],
                "repairs": [],
            },
        ),
        Take(
            _join(corrected),
            {
                "recording_id": f"{script.pair_id}-corrected",
                **common,
                "variant": "corrected",
                "target": script.second.argument,
                "origin_us": resolved * 1_000,
                "values": [first, second],
                "repairs": [repair],
                **({} if script.edit is None else {"edit_id": script.edit.id}),
            },
        ),
    )


def silence(milliseconds: int) -> NDArray[np.int16]:
    return np.zeros(milliseconds * GRAIN, np.int16)


def _ms(samples: NDArray[np.int16]) -> int:
    return len(samples) // GRAIN


def _join(parts: Iterable[NDArray[np.int16]]) -> NDArray[np.int16]:
    return np.concatenate(list(parts))


def _draw(bounds: tuple[int, int], least: int, rng: Random, *, most: int | None = None) -> int:
    lowest = max(bounds[0], least)
    highest = max(bounds[1], lowest + SLACK)
    if most is not None:
        highest = min(highest, most)
    if lowest > highest:
        raise ValueError(f"the speech needs {lowest} ms, more than the {highest} ms allowed")
    return rng.randint(lowest, highest)
