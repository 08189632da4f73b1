"""Packs of ReCAST from the records that are finished, and the parser's freeze before the test."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from frontends.build import STEP, assemble
from frontends.recast.build import finished_records, group_keys
from frontends.recast.recipe import (
    GROUPS,
    NOISES,
    SEED,
    SPLITS,
    all_items,
    noisy_items,
    recordings,
)
from frontends.recast.record import SUFFIX, write_records
from frontends.recast.synth import describe_synthesizer
from simcore.errors import InputError
from simcore.files.atomic import write_atomic
from simcore.files.traces import write_traces

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from frontends.protocol import Decode, Parser, Recognizer
    from frontends.recast.record import Record
    from simcore.trace import Recording

Scales = Mapping[str, float]
ONE: Final[Scales] = {"": 1.0}

FROZEN: Final = "frozen.json"
SOURCE: Final = frozenset(SPLITS) - {"test"}
"""What the parser may be developed on."""


@dataclass(frozen=True, slots=True)
class _Decodes:
    """Stands in for the cache of decodes where they come from records."""

    decodes: dict[str, Decode]

    def get(self, key: str) -> Decode:
        return self.decodes[key]


def write_packs(
    out: Path, work: Path, recognizer: Recognizer, parser: Parser, *, scales: Scales = ONE
) -> Iterator[str]:
    """Write the decodes and the pack of each split that has any; yields a line about each.

    `scales` says how long a decode takes where the recognizer will run, relative to the processor
    that made a record; the name "" stands for every processor that is not named.
    The test is parsed only by the parser that was frozen: raises `InputError` otherwise.
    """
    keys = group_keys(recognizer, [*all_items(), *noisy_items()])
    for pack in (*SPLITS, *NOISES):
        records = finished_records(out, work, pack, keys)
        if not records:
            yield f"{pack}: nothing is finished yet"
            continue
        write_records(out / f"{pack}{SUFFIX}", records)
        if pack not in SOURCE:
            require_frozen(out, parser)
        packed = [parse_record(record, parser, scales) for record in records]
        path = out / f"{pack}.parquet"
        made = _provenance(pack, records, recognizer, parser, scales)
        write_traces(path, packed, provenance=made)
        groups = made["groups"]
        yield f"{path}: {groups['made']} of {groups['planned']} groups, {accuracy(packed)}"


def parse_record(record: Record, parser: Parser, scales: Scales = ONE) -> Recording:
    """The trace of a record as a parser reads it."""
    scale = scale_of(record.processor, scales)
    return assemble(record.heard(), parser, _Decodes(record.decodes()), service_scale=scale)


def scale_of(processor: str, scales: Scales) -> float:
    return scales.get(processor, scales.get("", 1.0))


def accuracy(packed: Sequence[Recording]) -> str:
    """How often the final parse is right."""
    right = sum(recording.arrivals[-1].argument == recording.target for recording in packed)
    return f"{len(packed)} recordings, the final parse is right in {right / len(packed):.1%}"


def freeze(out: Path, parser: Parser) -> None:
    """Fix the parser for good, before any recording of the test was parsed."""
    text = json.dumps({"parser": dict(parser.describe())}, indent=2)
    write_atomic(out / FROZEN, f"{text}\n".encode())


def require_frozen(out: Path, parser: Parser) -> None:
    """Raise `InputError` unless the parser is the one that was frozen."""
    path = out / FROZEN
    if not path.is_file():
        raise InputError(
            "the parser is not frozen yet, and the test must not be parsed before; once it does "
            "well on the development packs: simcore recast freeze",
            file=str(path),
        )
    if json.loads(path.read_text(encoding="utf-8"))["parser"] != dict(parser.describe()):
        raise InputError(
            "the parser has changed since it was frozen; what it does on the test must not have "
            "been the reason",
            file=str(path),
        )


def _provenance(
    pack: str,
    records: Sequence[Record],
    recognizer: Recognizer,
    parser: Parser,
    scales: Scales,
) -> dict[str, Any]:
    items = [item for item in (*all_items(), *noisy_items()) if item.pack == pack]
    planned = Counter(item.subset for item in items)
    made = Counter({record.key: record.columns["subset"] for record in records}.values())
    audio = sha256("".join(record.audio_sha256 for record in records).encode()).hexdigest()
    return {
        "recipe": "recast",
        "seed": SEED,
        "noise_db": NOISES.get(pack),
        "groups": {"made": made.total(), "planned": planned.total()},
        "recordings": {"made": len(records), "planned": recordings(items)},
        "subsets": {
            subset: {"made": made[subset], "planned": planned[subset]} for subset in GROUPS
        },
        "voices": dict(sorted(Counter(record.columns["voice"] for record in records).items())),
        "audio": {"sha256": audio, "synthesizer": describe_synthesizer()},
        "recognizer": dict(recognizer.describe()),
        "parser": dict(parser.describe()),
        "prefix_step_us": STEP,
        "queueing": "fifo",
        "processors": {
            processor: _decoded(
                [record for record in records if record.processor == processor],
                scale_of(processor, scales),
            )
            for processor in sorted({record.processor for record in records})
        },
    }


def _decoded(records: Sequence[Record], scale: float) -> dict[str, Any]:
    """What was decoded on one kind of processor."""
    services = sorted(service for record in records for service in record.service_us)
    return {
        "recordings": len(records),
        "service_scale": scale,
        "measured_service_us": {
            "median": services[len(services) // 2],
            "p95": services[len(services) * 95 // 100],
        },
    }
