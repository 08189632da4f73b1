"""Recordings made again from the seed are the recordings of the packs; needs both models.

And the instructions of the processor that made them: 8-bit networks compute other sums on others.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from frontends.cache import DecodeCache
from frontends.models import model_folder
from frontends.processor import instruction_set
from frontends.recast.build import ENCODER_FRAMES, finished_records, group_keys, make_groups
from frontends.recast.recipe import SPLITS, all_items
from frontends.recast.record import SUFFIX, read_records
from simcore.files.shipped import shipped_scenarios

if TYPE_CHECKING:
    from pathlib import Path

    from frontends.recast.record import Record

for package in ("faster_whisper", "kokoro_onnx"):
    pytest.importorskip(package, reason=f"needs {package}: pip install 'rassg-sim[synthesis]'")
pytestmark = [
    pytest.mark.speech,
    pytest.mark.skipif(
        not (model_folder("base") and model_folder("kokoro")),
        reason="needs models: simcore trace models --only base --only kokoro",
    ),
]


def five() -> list[Record]:
    """The shortest recordings that were made on such a processor, of each split if there are."""
    folder = shipped_scenarios() / "packs" / "recast"
    here = [
        record
        for split in SPLITS
        for record in read_records(folder / f"{split}{SUFFIX}")
        if record.processor == instruction_set()
    ]
    if not here:
        pytest.skip(f"no recording was made on a processor with {instruction_set()}")
    place: Counter[str] = Counter()
    ranked = []
    for record in sorted(here, key=lambda record: record.ends[-1]):
        split = record.columns["split"]
        place[split] += 1
        ranked.append((place[split], SPLITS.index(split), record))
    return [record for *_, record in sorted(ranked, key=lambda row: row[:2])[:5]]


def test_five_recordings_made_again_sound_the_same_and_read_nearly_so(tmp_path: Path) -> None:
    from frontends.whisper import Whisper

    records = five()
    groups = {record.group_id for record in records}
    items = [item for item in all_items() if item.name in groups]
    whisper = Whisper("base", encoder_frames=ENCODER_FRAMES)
    make_groups(
        tmp_path,
        whisper,
        DecodeCache(tmp_path / "decodes"),
        [],
        items=items,
        jobs=2,
        progress=lambda label, done, total: None,
    )
    keys = group_keys(whisper, items)
    again = {
        record.recording_id: record
        for split in SPLITS
        for record in finished_records(tmp_path, tmp_path, split, keys)
    }
    same: list[bool] = []
    for record in records:
        made = again[record.recording_id]
        assert made.audio_sha256 == record.audio_sha256
        assert made.columns == record.columns
        assert made.ends == record.ends
        same += [one == other for one, other in zip(made.words, record.words, strict=True)]
    # Models of processors with equal instructions may add in other orders: a text may turn.
    assert sum(same) >= 0.9 * len(same)
