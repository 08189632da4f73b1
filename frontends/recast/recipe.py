"""How many groups of each subset every split has, and in which order they are made."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Final

from frontends.recast.script import draw_script

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontends.recast.grammar import Side
    from frontends.recast.script import Script

SEED: Final = 2026
SPLITS: Final[tuple[str, ...]] = ("train", "dev-selection", "dev-calibration", "test")
SINGLE: Final = frozenset({"ordinary", "false-alarm"})
"""Subsets whose groups are one recording; the others' are a stable and a corrected one."""
GROUPS: Final[dict[str, tuple[int, int, int, int]]] = {
    "prospective": (80, 16, 16, 600),
    "ordinary": (24, 5, 5, 180),
    "early": (8, 1, 2, 60),
    "late": (6, 1, 1, 45),
    "human": (16, 4, 3, 120),
    "double": (6, 1, 1, 45),
    "other-field": (8, 1, 2, 60),
    "tool-change": (6, 2, 1, 45),
    "abandonment": (6, 1, 1, 45),
    "false-alarm": (24, 5, 5, 180),
}
"""Groups of each subset in the order of `SPLITS`: 320, 64, 64 and 2,400 recordings. The source's
mix is the test's, but for rounding."""


NOISES: Final[dict[str, int]] = {"noisy-20db": 20, "noisy-10db": 10}
"""The noisy copies of a tenth of the test, and their ratios of speech to noise in dB."""
_NOISY: Final = {
    "prospective": 60,
    "ordinary": 18,
    "early": 6,
    "late": 5,
    "human": 12,
    "double": 4,
    "other-field": 6,
    "tool-change": 5,
    "abandonment": 4,
    "false-alarm": 18,
}


@dataclass(frozen=True, slots=True)
class Item:
    """A group to make, for a split or for a noisy copy of the test."""

    pack: str
    subset: str
    index: int

    @property
    def name(self) -> str:
        return f"{self.pack}-{self.subset}-{self.index:04}"

    @property
    def noise(self) -> int | None:
        """The ratio of speech to noise in dB, None without noise."""
        return NOISES.get(self.pack)

    @property
    def split(self) -> str:
        return "test" if self.pack in NOISES else self.pack

    def script(self, attempt: int = 0) -> Script:
        """What is said; a noisy copy says what the clean recording says."""
        side: Side = "test" if self.split == "test" else "source"
        return draw_script(self.split, side, self.subset, self.index, SEED, attempt)


def all_items() -> list[Item]:
    """Every group of the splits, shuffled, in an order whose every beginning is usable.

    The source comes first: on it the parser is fixed and predictors are trained, before the test is
    looked at. In both, prospective pairs come first.
    """
    items = [
        Item(pack, subset, index)
        for subset, counts in GROUPS.items()
        for pack, count in zip(SPLITS, counts, strict=True)
        for index in range(count)
    ]
    Random(SEED).shuffle(items)
    return sorted(items, key=lambda item: (item.pack == "test", item.subset != "prospective"))


def noisy_items() -> list[Item]:
    """A tenth of the test's groups of each subset, drawn at random, once for each noise.

    At random: domains, carriers and editing phrases go round with the index.
    """
    drawn = {
        subset: Random(f"{SEED}/noisy/{subset}").sample(range(GROUPS[subset][-1]), count)
        for subset, count in _NOISY.items()
    }
    items = [
        Item(pack, subset, index)
        for pack in NOISES
        for subset, indices in drawn.items()
        for index in indices
    ]
    Random(SEED).shuffle(items)
    return items


def recordings(items: Iterable[Item]) -> int:
    return sum(1 if item.subset in SINGLE else 2 for item in items)
