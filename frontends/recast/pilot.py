"""The pilot recipe: stable/corrected pairs of the prospective shape, a source and a test part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from frontends.recast.script import draw_pairs
from frontends.recast.synth import synthesize
from frontends.recast.timeline import PROSPECTIVE

if TYPE_CHECKING:
    from pathlib import Path

    from frontends.recast.grammar import Split
    from simcore.progress import Progress

SEED: Final = 20261
PAIRS: Final = 60
ENCODER_FRAMES: Final = 1_500
"""Whisper's window for the pilot: every recording is under 15 s."""
SPLITS: Final[tuple[Split, ...]] = ("source", "test")


def speak_pilot(
    folder: Path, *, jobs: int, progress: Progress, pairs: int = PAIRS, seed: int = SEED
) -> None:
    """Write `folder/source` and `folder/test`, each with its recordings and `metadata.jsonl`."""
    for split in SPLITS:
        synthesize(
            draw_pairs(split, pairs, seed),
            PROSPECTIVE,
            seed,
            folder / split,
            jobs=jobs,
            progress=progress,
        )
