"""Trace files: `trace/v1` in JSON Lines or Parquet, and the packs that are found by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.atomic import write_atomic
from simcore.files.faults import path_text
from simcore.files.shipped import shipped_scenarios
from simcore.files.trace_rows import parse_row, recording_from_dict, recording_to_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from simcore.trace import Recording

__all__ = [
    "pack_names",
    "parse_recordings",
    "read_traces",
    "recording_from_dict",
    "recording_to_dict",
    "resolve_traces",
    "write_traces",
]

_SUFFIXES = (".jsonl", ".parquet")


def read_traces(path: str | Path) -> tuple[Recording, ...]:
    """The recordings of a trace file, in its order; the suffix says JSON Lines or Parquet.

    Raises ``InputErrors`` with every fault of the file.
    """
    path = Path(path)
    file = str(path)
    if not path.is_file():
        raise InputErrors([InputError("there is no such trace file", file=file)])
    if path.suffix == ".jsonl":
        return parse_recordings(_json_lines(path), file)
    if path.suffix == ".parquet":
        from simcore.files.parquet import table_rows

        rows = enumerate(table_rows(path), start=1)
        return parse_recordings(((f"row {number}", row) for number, row in rows), file)
    message = f"traces are {' or '.join(_SUFFIXES)}, not '{path.suffix}'"
    raise InputErrors([InputError(message, file=file)])


def parse_recordings(
    rows: Iterable[tuple[str, Any]], file: str | None = None
) -> tuple[Recording, ...]:
    """The recordings of (place, row) pairs; a row may be an ``InputError`` of its own.

    Raises ``InputErrors`` with every fault, each with its place.
    """
    recordings: list[Recording] = []
    faults: list[InputError] = []
    places: dict[str, str] = {}
    for place, row in rows:
        if isinstance(row, InputError):
            faults.append(row)
            places[place] = place
            continue
        recording, found = parse_row(row)
        for location, message in found:
            inner = ", ".join(part for part in (place, path_text(location)) if part)
            faults.append(InputError(message, file=file, place=inner))
        if recording is not None:
            recordings.append(recording)
        name = row.get("recording_id") if isinstance(row, dict) else None
        if isinstance(name, str):
            first = places.setdefault(name, place)
            if first is not place:
                message = f"'{name}' is also at {first}; ids are unique"
                faults.append(InputError(message, file=file, place=f"{place}, recording_id"))
    if not recordings and not faults:
        faults.append(InputError("is empty; it holds no recordings", file=file))
    if faults:
        raise InputErrors(faults)
    return tuple(recordings)


def _json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    data = path.read_bytes()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            yield place, json.loads(line.decode("utf-8-sig"))
        except UnicodeDecodeError:
            yield place, InputError("is not UTF-8 text", file=str(path), place=place)
        except json.JSONDecodeError as error:
            message = f"is no JSON, or is cut short, at column {error.colno} ({error.msg})"
            yield place, InputError(message, file=str(path), place=place)
        except (ValueError, RecursionError) as error:
            yield place, InputError(f"is no usable JSON ({error})", file=str(path), place=place)


def write_traces(
    path: str | Path,
    recordings: Iterable[Recording],
    *,
    provenance: Mapping[str, Any] | None = None,
) -> None:
    """Write recordings as the suffix says, after the checks that reading them makes.

    The file appears whole or not at all. ``provenance`` goes into `<stem>.provenance.json`
    beside it. Equal recordings give equal bytes.
    """
    path = Path(path)
    rows = [recording_to_dict(recording) for recording in recordings]
    parse_recordings(((f"recording {i}", row) for i, row in enumerate(rows)), str(path))
    if path.suffix == ".jsonl":
        lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        data = "".join(f"{line}\n" for line in lines).encode()
    elif path.suffix == ".parquet":
        from simcore.files.parquet import table_bytes

        data = table_bytes(rows)
    else:
        message = f"traces are {' or '.join(_SUFFIXES)}, not '{path.suffix}'"
        raise InputErrors([InputError(message, file=str(path))])
    write_atomic(path, data)
    if provenance is not None:
        text = json.dumps(provenance, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
        write_atomic(path.with_suffix(".provenance.json"), text.encode())


def pack_names() -> list[str]:
    """The packs that come with the simulator, as scenarios name them."""
    packs = shipped_scenarios() / "packs"
    return sorted(
        path.relative_to(packs).with_suffix("").as_posix() for path in packs.rglob("*.parquet")
    )


def resolve_traces(name_or_path: str, base_dir: str | Path) -> Path:
    """The trace file of a pack such as `pilot/test`, else of a path relative to ``base_dir``.

    Raises ``InputError`` with the nearest pack where there is neither.
    """
    names = pack_names()
    if name_or_path in names:
        return shipped_scenarios() / "packs" / f"{name_or_path}.parquet"
    path = Path(base_dir) / name_or_path
    if path.is_file():
        return path
    if path.suffix in _SUFFIXES:
        raise InputError(f"there is no trace file '{name_or_path}'", file=None)
    raise InputError(f"unknown trace pack '{name_or_path}'{nearest(name_or_path, names)}")
