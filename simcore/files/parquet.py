"""`trace/v1` rows as a Parquet table: one row a recording, lists of structs, zstd.

What has no fixed type (an argument, a target, event arguments, settings, observations) is a column
of canonical JSON text. A target column that is null is an unlabelled recording, one that holds
the text "null" says that no call is right.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.faults import known_keys
from simcore.files.trace_model import SCALARS, RecordingRow
from simcore.trace import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    import polars as pl

_JSON_COLUMNS = ("target", "settings", "observed")
_JSON_FIELDS = {"values": "argument", "arrivals": "argument", "events": "args"}


def table_bytes(rows: Iterable[dict[str, Any]]) -> bytes:
    """The Parquet file of `trace/v1` rows (as `recording_to_dict` gives them)."""
    import polars as pl

    frame = pl.DataFrame([_flat(row) for row in rows], schema=_schema(), orient="row")
    buffer = io.BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def table_rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a Parquet file as `trace/v1` mappings, not validated.

    Raises ``InputErrors`` for a file that is no such table.
    """
    import polars as pl

    try:
        frame = pl.read_parquet(path)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).partition("\n")[0]
        raise InputErrors([InputError(f"is no Parquet file ({reason})", file=str(path))]) from None
    known = known_keys(RecordingRow, ())
    unknown = [name for name in frame.columns if name not in known]
    if unknown:
        raise InputErrors(
            InputError(f"unknown key '{name}'{nearest(name, known)}", file=str(path), place=name)
            for name in unknown
        )
    for row in frame.iter_rows(named=True):
        yield _nested(row)


def _schema() -> dict[str, pl.DataType]:
    import polars as pl

    time, number, text = pl.Int64(), pl.Float64(), pl.String()
    fields: dict[str, dict[str, pl.DataType]] = {
        "values": {"argument": text, "available_us": time},
        "repairs": {"onset_us": time, "resolved_us": time, "kind": text},
        "arrivals": {
            "prefix_end_us": time,
            "arrived_at_us": time,
            "text": text,
            "confidence": number,
            "argument": text,
            "is_final": pl.Boolean(),
            "service_us": time,
            "pause_us": time,
        },
        "events": {
            "at_us": time,
            "type": text,
            "id": text,
            "name": text,
            "args": text,
            "text": text,
            "label": text,
        },
        "forecasts": {
            "checkpoint": text,
            "at_us": pl.List(time),
            "p_bad": pl.List(number),
            "masses": pl.List(pl.List(number)),
        },
    }
    schema: dict[str, pl.DataType] = {"schema": text}
    schema |= {name: time if name.endswith("_us") else text for name in SCALARS}
    schema["target"] = text
    schema |= {name: pl.List(pl.Struct(inner)) for name, inner in fields.items()}
    return schema | {"settings": text, "observed": text}


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    flat = dict(row)
    for name in _JSON_COLUMNS:
        if name in row:
            flat[name] = "null" if row[name] is None else canonical(row[name])
    for name, key in _JSON_FIELDS.items():
        flat[name] = [item | {key: canonical(item.get(key))} for item in row.get(name, [])]
    return flat


def _nested(flat: dict[str, Any]) -> dict[str, Any]:
    row = {name: value for name, value in flat.items() if value is not None}
    for name in _JSON_COLUMNS:
        if name in row:
            row[name] = _value(row[name])
    for name, key in _JSON_FIELDS.items():
        for item in row.get(name, []):
            if isinstance(item, dict) and key in item:
                item[key] = _value(item[key])
    return row


@dataclass(frozen=True, slots=True)
class _NoJson:
    """Stands for a text that is no JSON; no model accepts it."""

    text: Any

    def __repr__(self) -> str:
        return f"text that is no JSON: {self.text!r}"


def _value(text: Any) -> Any:
    if text is None:
        return None
    return _loads(text) if isinstance(text, str) else _NoJson(text)


@lru_cache(maxsize=1 << 16)
def _loads(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return _NoJson(text)
