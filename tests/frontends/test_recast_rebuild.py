"""Recordings made again from the seed are the recordings of the packs; needs both models."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from frontends.models import model_folder
from frontends.recast.build import ENCODER_FRAMES, speak_group
from frontends.recast.recipe import SPLITS, Item, all_items
from frontends.recast.record import SUFFIX, Record, read_records
from simcore.files.shipped import shipped_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator

for package in ("faster_whisper", "kokoro_onnx"):
    pytest.importorskip(package, reason=f"needs {package}: pip install 'rassg-sim[synthesis]'")
pytestmark = [
    pytest.mark.speech,
    pytest.mark.skipif(
        not (model_folder("base") and model_folder("kokoro")),
        reason="needs models: simcore trace models --only base --only kokoro",
    ),
]
FIVE = 5


def shortest() -> Iterator[tuple[Item, Record]]:
    """The shortest recording of each split, and of whole the next."""
    folder = shipped_scenarios() / "packs" / "recast"
    items = {item.name: item for item in all_items()}
    records = [
        sorted(read_records(folder / f"{split}{SUFFIX}"), key=lambda record: record.ends[-1])
        for split in SPLITS
    ]
    chosen = [own[0] for own in records] + [records[-1][1]]
    for record in chosen[:FIVE]:
        yield items[record.group_id], record


@pytest.mark.parametrize("number", range(FIVE))
def test_a_recording_made_again_is_the_same(number: int) -> None:
    from frontends.recast.synth import Kokoro
    from frontends.whisper import Whisper

    item, record = list(shortest())[number]
    takes = speak_group(item, Kokoro())
    (take,) = (t for t in takes if t.columns["recording_id"] == record.recording_id)
    assert take.columns == record.columns
    samples = (take.samples / np.float32(32_768)).astype(np.float32)
    whisper = Whisper("base", encoder_frames=ENCODER_FRAMES)
    for end, words in zip(record.ends, record.words, strict=True):
        assert tuple(word.text for word in whisper.decode(samples[:end]).words) == words
