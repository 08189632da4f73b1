"""What is kept of a recording for good: its annotations, and what was heard in each prefix.

Records need no audio: a pack is made from them by any parser. They travel in one Parquet file
beside each pack.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from frontends.build import Heard
from frontends.metadata import Source
from frontends.processor import instruction_set
from frontends.protocol import Decode, Word
from simcore.errors import InputError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIX: Final = ".decodes.parquet"
SCHEMA: Final = "decodes/v2"


@dataclass(frozen=True, slots=True)
class Record:
    """A recording and the decodes of its prefixes.

    `key` is a digest of everything that it was made from, but for the `processor` that made it;
    `columns` are its `trace/v1` columns; `ends` are the prefixes' ends in samples at 16 kHz;
    service and wall times are as measured.
    """

    recording_id: str
    group_id: str
    key: str
    audio_sha256: str
    processor: str
    columns: dict[str, Any]
    ends: tuple[int, ...]
    pauses_us: tuple[int, ...]
    service_us: tuple[int, ...]
    wall_us: tuple[int, ...]
    words: tuple[tuple[str, ...], ...]
    probabilities: tuple[tuple[float, ...], ...]

    def heard(self) -> Heard:
        """As `frontends.build.assemble` wants it; its keys are those of `Decodes`."""
        keys = tuple(f"{self.recording_id}/{index}" for index in range(len(self.ends)))
        source = Source(Path(f"{self.recording_id}.wav"), self.columns)
        return Heard(source, self.ends, keys, self.pauses_us, self.audio_sha256)

    def decodes(self) -> dict[str, Decode]:
        """The decode of each of `heard().keys`; the words' places were not kept."""
        return {
            key: Decode(
                tuple(Word(text, 0, 0, p) for text, p in zip(words, probabilities, strict=True)),
                service,
                wall,
            )
            for key, words, probabilities, service, wall in zip(
                self.heard().keys,
                self.words,
                self.probabilities,
                self.service_us,
                self.wall_us,
                strict=True,
            )
        }


def record_of(
    columns: dict[str, Any],
    key: str,
    digest: str,
    ends: Iterable[int],
    pauses: Iterable[int],
    decodes: Iterable[Decode],
) -> Record:
    """A record; probabilities are kept to three decimals."""
    decodes = list(decodes)
    return Record(
        columns["recording_id"],
        columns["group_id"],
        key,
        digest,
        instruction_set(),
        columns,
        tuple(ends),
        tuple(pauses),
        tuple(decode.service_us for decode in decodes),
        tuple(decode.wall_us for decode in decodes),
        tuple(tuple(word.text for word in decode.words) for decode in decodes),
        tuple(tuple(round(word.probability, 3) for word in decode.words) for decode in decodes),
    )


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write records as Parquet, whole or not at all."""
    import polars as pl

    integers = pl.List(pl.Int64)
    schema: dict[str, Any] = {
        "schema": pl.String,
        "recording_id": pl.String,
        "group_id": pl.String,
        "key": pl.String,
        "audio_sha256": pl.String,
        "processor": pl.String,
        "columns": pl.String,
        "ends": integers,
        "pauses_us": integers,
        "service_us": integers,
        "wall_us": integers,
        "words": pl.List(pl.List(pl.String)),
        "probabilities": pl.List(pl.List(pl.Float32)),
    }
    rows = [
        {"schema": SCHEMA}
        | {name: getattr(record, name) for name in Record.__slots__}
        | {"columns": json.dumps(record.columns, ensure_ascii=False)}
        for record in records
    ]
    buffer = io.BytesIO()
    pl.DataFrame(rows, schema=schema, orient="row").write_parquet(
        buffer, compression="zstd", compression_level=19
    )
    write_atomic(path, buffer.getvalue())


def read_records(path: Path) -> list[Record]:
    """The records of a file, none if it is not there; raises `InputError` for another schema."""
    import polars as pl

    if not path.is_file():
        return []
    try:
        rows = pl.read_parquet(path).to_dicts()
        found = {row.pop("schema") for row in rows}
        if found - {SCHEMA}:
            raise InputError(f"is of schema {sorted(found)}, not {SCHEMA}", file=str(path))
        return [record_from_row({**row, "columns": json.loads(row["columns"])}) for row in rows]
    except (pl.exceptions.PolarsError, KeyError, TypeError, json.JSONDecodeError) as error:
        raise InputError(f"holds no decodes: {error}", file=str(path)) from None


def record_from_row(row: dict[str, Any]) -> Record:
    """A record from JSON types or a data frame's row."""
    frozen: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    frozen["words"] = tuple(map(tuple, row["words"]))
    frozen["probabilities"] = tuple(
        tuple(round(p, 3) for p in prefix) for prefix in row["probabilities"]
    )
    return Record(**frozen)
