"""Makes ReCAST group by group: speak, lay out, decode every prefix; then packs from what is there.

A group that is finished stays finished: in the work folder, and in the decodes beside the packs.
A build that is killed at any point goes on with the groups that are missing.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import numpy as np

from frontends.audio import read_audio, write_wav
from frontends.build import prefix_ends
from frontends.cache import DecodeCache, decode_key
from frontends.pauses import trailing_silence
from frontends.recast.noise import add_noise, make_babble
from frontends.recast.recipe import SEED, Item, all_items, noisy_items
from frontends.recast.record import SUFFIX, Record, read_records, record_from_row, record_of
from frontends.recast.synth import Kokoro, describe_synthesizer
from frontends.recast.timeline import Take, TooLong, lay_out
from frontends.work import run_all
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from frontends.protocol import Recognizer
    from simcore.progress import Progress

ENCODER_FRAMES = 1_500
"""Whisper's window: no recording is longer than 15 s."""
ATTEMPTS = 50


@dataclass(frozen=True, slots=True)
class _Task:
    item: Item
    key: str
    recognizer: Recognizer
    cache: DecodeCache
    work: Path


def make_groups(
    work: Path,
    recognizer: Recognizer,
    cache: DecodeCache,
    finished: Sequence[Record],
    *,
    items: Sequence[Item] | None = None,
    jobs: int,
    progress: Progress,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Make every group that is neither among the `finished` records nor in the work folder.

    `stop` is asked after each group; once it says so, the groups in work are finished and the rest
    is left.
    """
    keys = group_keys(recognizer, [*all_items(), *noisy_items()] if items is None else items)
    done = {record.key for record in finished}
    tasks = [
        _Task(item, key, recognizer, cache, work)
        for item, key in keys.items()
        if key not in done and not _records(work, item, key)
    ]
    run_all(
        _make,
        tasks,
        jobs=jobs,
        label="groups",
        progress=progress,
        done=len(keys) - len(tasks),
        stop=stop,
    )


def group_keys(recognizer: Recognizer, items: Sequence[Item]) -> dict[Item, str]:
    """For each group, the digest of what it is made from: script, seed, speech and recognizer."""
    made_with = [describe_synthesizer(), dict(recognizer.describe())]
    return {item: _digest([asdict(item.script()), SEED, made_with, *_with(item)]) for item in items}


def _with(item: Item) -> list[int]:
    return [] if item.noise is None else [item.noise]


def finished_records(out: Path, work: Path, pack: str, keys: dict[Item, str]) -> list[Record]:
    """What there is for a pack, beside it or in the work folder, in the recipe's order."""
    kept: dict[str, list[Record]] = {}
    for record in read_records(out / f"{pack}{SUFFIX}"):
        kept.setdefault(record.key, []).append(record)
    records: list[Record] = []
    for item, key in keys.items():
        if item.pack == pack:
            records += kept.get(key) or _records(work, item, key)
    return records


def speak_group(item: Item, engine: Kokoro) -> list[Take]:
    """The recordings of a group. Speech that is too long for its script is drawn anew."""
    for attempt in range(ATTEMPTS):
        script = item.script(attempt)
        texts = {
            text
            for spans in (script.shared, *(variant.spans for variant in script.variants))
            for span in spans
            for text in span.texts
        }
        speech = {text: engine.speak(text, script.voice) for text in sorted(texts)}
        try:
            return lay_out(script, speech, f"{SEED}/{script.group_id}/{attempt}")
        except TooLong:
            continue
    raise TooLong(f"{item.name}: no script of {ATTEMPTS} fits its bounds")


@lru_cache(maxsize=1)
def _engine() -> Kokoro:
    return Kokoro()


def _make(task: _Task) -> None:
    """Make one group; its file is written last, so that a killed run starts it again."""
    item = task.item
    if item.noise is None:
        takes = speak_group(item, _engine())
    else:
        takes = _spoken(item, task) or speak_group(item, _engine())
        seed = f"{SEED}/{item.subset}/{item.index}"
        takes = add_noise(takes, _babble(task.work), item.noise, seed)
    rows = []
    for take in takes:
        name = f"{take.columns['recording_id']}.wav"
        write_wav(task.work / "audio" / item.pack / name, take.samples)
        rows.append(asdict(_hear(take, task)))
    path = task.work / "groups" / f"{item.name}.json"
    write_atomic(path, json.dumps(rows, ensure_ascii=False).encode())


def _spoken(item: Item, task: _Task) -> list[Take]:
    """The clean recordings of a noisy copy, where they were made here."""
    clean = replace(item, pack=item.split)
    records = _records(task.work, clean, group_keys(task.recognizer, [clean])[clean])
    folder = task.work / "audio" / clean.pack
    return [
        Take(_whole(read_audio(folder / f"{record.recording_id}.wav")), record.columns)
        for record in records
    ]


def _whole(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    return (samples * 32_768).astype(np.int16)


def _babble(work: Path) -> Path:
    path = work / "babble.wav"
    if not path.is_file():
        make_babble(path, _engine().speak)
    return path


def _hear(take: Take, task: _Task) -> Record:
    samples = (take.samples / np.float32(32_768)).astype(np.float32)
    ends = prefix_ends(len(samples))
    described = task.recognizer.describe()
    decodes = []
    for end in ends:
        prefix = samples[:end]
        key = decode_key(prefix, described)
        if key not in task.cache:
            task.cache.put(key, task.recognizer.decode(prefix))
        decodes.append(task.cache.get(key))
    digest = sha256(take.samples.astype("<i2").tobytes()).hexdigest()
    pauses = trailing_silence(samples, ends)
    return record_of(take.columns, task.key, digest, ends, pauses, decodes)


def _records(work: Path, item: Item, key: str) -> list[Record]:
    path = work / "groups" / f"{item.name}.json"
    if not path.is_file():
        return []
    records = [record_from_row(row) for row in json.loads(path.read_bytes())]
    return records if all(record.key == key for record in records) else []


def _digest(value: Any) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
