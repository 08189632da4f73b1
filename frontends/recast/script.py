"""Draws what is said: for each pair one script, from a seed, before anything is synthesized."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from frontends.recast.grammar import CARRIERS, DOMAINS, EDITS, TAILS, VOICES, draw_value

if TYPE_CHECKING:
    from frontends.recast.grammar import Carrier, Domain, Edit, Split, Spoken

WITHOUT_EDIT = 0.4
"""The share of corrections that restart without an editing phrase (at least a third)."""


@dataclass(frozen=True, slots=True)
class PairScript:
    """A stable and a corrected recording, alike up to the branch where the repair begins.

    Both say the carrier's opening with `first`, and its filler. The corrected one goes on with
    the editing phrase (or the carrier's restart), the carrier again with `second`, and `tail`; the
    stable one with `aside` and `tail`.
    """

    pair_id: str
    split: Split
    domain: Domain
    voice: str
    carrier: Carrier
    edit: Edit | None
    first: Spoken
    second: Spoken
    aside: str
    tail: str

    @property
    def opening(self) -> str:
        return self.carrier.opening.format(value=self.first.text) + ","

    @property
    def filler(self) -> str:
        return self.carrier.filler + "."

    @property
    def repair(self) -> str:
        """What begins the repair."""
        return _sentence(self.carrier.restart) + "," if self.edit is None else self.edit.text

    @property
    def replacement(self) -> str:
        return self.carrier.again.format(value=self.second.text) + "."


def draw_pairs(split: Split, pairs: int, seed: int) -> list[PairScript]:
    """`pairs` scripts, evenly over the domains; within each, carriers, voices and edits rotate.

    The same seed gives the same scripts, and a longer list begins with the shorter one.
    """
    scripts = []
    for index in range(pairs):
        domain = DOMAINS[index % len(DOMAINS)]
        turn = index // len(DOMAINS)
        rng = Random(f"{seed}/{split}/{index}")
        first = second = draw_value(domain, rng)
        while second.argument == first.argument:
            second = draw_value(domain, rng)
        aside, tail = rng.sample(TAILS[split], 2)
        scripts.append(
            PairScript(
                pair_id=f"{split}-{index:04}",
                split=split,
                domain=domain,
                voice=VOICES[split][(turn + index) % len(VOICES[split])],
                carrier=CARRIERS[split][domain][turn % len(CARRIERS[split][domain])],
                edit=_edit(split, index),
                first=first,
                second=second,
                aside=aside,
                tail=tail,
            )
        )
    return scripts


def _edit(split: Split, index: int) -> Edit | None:
    """Every so often none, else the next phrase; of the test's, seen and unseen ones in turn."""
    spoken = int((index + 1) * (1 - WITHOUT_EDIT))
    if spoken == int(index * (1 - WITHOUT_EDIT)):
        return None
    edits = sorted(EDITS[split], key=lambda edit: edit.seen)
    half = len(edits) // 2
    order = [edit for pair in zip(edits[:half], edits[half:], strict=True) for edit in pair]
    return order[(spoken - 1) % len(order)]


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
