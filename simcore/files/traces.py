"""Trace files: `trace/v1` in JSON Lines or Parquet, and the packs that are found by name."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.atomic import write_atomic
from simcore.files.faults import path_text
from simcore.files.shipped import shipped_scenarios
from simcore.files.trace_rows import parse_row, recording_from_dict, recording_to_dict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from simcore.files.faults import Location
    from simcore.trace import Recording

__all__ = [
    "BadRow",
    "RowFault",
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

    A file of scripts for agents (`script/v1`, in JSON Lines or YAML) has a recording a script.

    Raises ``InputErrors`` with every fault of the file.
    """
    path = Path(path)
    file = str(path)
    if not path.is_file():
        raise InputErrors([InputError("there is no such trace file", file=file)])
    if path.suffix in (".yaml", ".yml") or holds_scripts(path):
        from simcore.files.scripts import read_scripts

        return read_scripts(path)
    if path.suffix == ".jsonl":
        return _recordings(_json_lines(path), "line", file)
    if path.suffix == ".parquet":
        from simcore.files.parquet import table_rows

        return _recordings(enumerate(table_rows(path), start=1), "row", file)
    message = f"traces are {' or '.join(_SUFFIXES)}, not '{path.suffix}'"
    raise InputErrors([InputError(message, file=file)])


def holds_scripts(path: Path) -> bool:
    """Whether a file in JSON Lines holds what agents do, not recordings."""
    if path.suffix != ".jsonl":
        return False
    with path.open("rb") as file:
        first = next((line for line in file if line.strip()), b"")
    row = _json(first)
    return isinstance(row, dict) and str(row.get("schema")).startswith("script/")


@dataclass(frozen=True, slots=True)
class BadRow:
    """What stands where a row should be, and why it is none."""

    message: str


@dataclass(frozen=True, slots=True)
class RowFault:
    """A fault of one row (counted by its place: a line, a row, an index), `where` within it."""

    place: int
    where: Location
    message: str


def parse_recordings(
    rows: Iterable[tuple[int, Any]], kind: str
) -> tuple[tuple[Recording, ...], list[RowFault]]:
    """The faultless recordings of (place, row) pairs, and every fault of the others.

    ``kind`` names a place: "line", "row" or "recording".
    """
    recordings: list[Recording] = []
    faults: list[RowFault] = []
    places: dict[str, int] = {}
    for place, row in rows:
        if isinstance(row, BadRow):
            faults.append(RowFault(place, (), row.message))
            continue
        recording, found = parse_row(row)
        faults.extend(RowFault(place, where, message) for where, message in found)
        if recording is not None:
            recordings.append(recording)
        name = row.get("recording_id") if isinstance(row, dict) else None
        if isinstance(name, str) and (first := places.setdefault(name, place)) != place:
            message = f"'{name}' is the id of {kind} {first} too; ids are unique"
            faults.append(RowFault(place, ("recording_id",), message))
    return tuple(recordings), faults


def _recordings(rows: Iterable[tuple[int, Any]], kind: str, file: str) -> tuple[Recording, ...]:
    recordings, faults = parse_recordings(rows, kind)
    if faults:
        raise InputErrors(
            InputError(
                fault.message,
                file=file,
                place=", ".join(filter(None, (f"{kind} {fault.place}", path_text(fault.where)))),
            )
            for fault in faults
        )
    if not recordings:
        raise InputErrors([InputError("is empty: it holds no recordings", file=file)])
    return recordings


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            yield number, _json(line)


def _json(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return BadRow("is not UTF-8 text")
    except json.JSONDecodeError as error:
        return BadRow(f"is no JSON, or is cut short: {error.msg} at column {error.colno}")
    except (ValueError, RecursionError) as error:
        return BadRow(f"is no usable JSON: {error}")


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
    _recordings(enumerate(rows, start=1), "recording", str(path))
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
        path.relative_to(packs).with_suffix("").as_posix()
        for path in packs.rglob("*.parquet")
        if "." not in path.stem  # such as a pack's decodes
    )


def resolve_traces(name_or_path: str, base_dir: str | Path) -> Path:
    """The trace file of a pack such as `recast/test`, else of a path relative to ``base_dir``.

    Raises ``InputError`` with the nearest pack where there is neither.
    """
    names = pack_names()
    if name_or_path in names:
        return shipped_scenarios() / "packs" / f"{name_or_path}.parquet"
    path = Path(base_dir) / name_or_path
    if path.is_file():
        return path
    if path.suffix in _SUFFIXES:
        raise InputError(f"there is no trace file '{name_or_path}'")
    raise InputError(f"unknown trace pack '{name_or_path}'{nearest(name_or_path, names)}")
