"""`metadata.jsonl` of a folder of audio: a line a recording, in the columns of `trace/v1`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.faults import path_text
from simcore.files.trace_model import RecordingRow
from simcore.files.trace_rows import parse_row

if TYPE_CHECKING:
    from pathlib import Path

METADATA: Final = "metadata.jsonl"

_MADE_HERE: Final = frozenset({"schema", "audio_end_us", "arrivals", "events", "forecasts"})
_KNOWN: Final = (
    {field.alias or name for name, field in RecordingRow.model_fields.items()} - _MADE_HERE
) | {"audio"}


@dataclass(frozen=True, slots=True)
class Source:
    """An audio file and what is known about it: the `trace/v1` columns that decoding leaves."""

    audio: Path
    columns: dict[str, Any]

    @property
    def recording_id(self) -> str:
        return str(self.columns["recording_id"])

    @property
    def domain(self) -> str | None:
        return self.columns.get("domain")


def single(audio: Path) -> Source:
    """An audio file of which nothing is known but what is said in it."""
    return Source(audio, {"recording_id": audio.stem})


def read_metadata(folder: Path) -> list[Source]:
    """The recordings that a folder's `metadata.jsonl` lists, in its order.

    A line is an object with `audio` (a file in the folder) and any columns of `trace/v1`;
    `recording_id` defaults to the file's stem. Raises `InputErrors` with every fault and its line.
    """
    path = folder / METADATA
    if not folder.is_dir():
        raise InputError("there is no such file or folder", file=str(folder))
    if not path.is_file():
        message = f"the folder has no {METADATA}; a single audio file needs none"
        raise InputError(message, file=str(folder))
    sources: list[Source] = []
    faults: list[InputError] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"line {number}"
        found, source = _read_line(line, folder)
        if source is not None:
            first = lines.setdefault(source.recording_id, number)
            if first != number:
                found.append(f"'{source.recording_id}' is the id of line {first} too")
            sources.append(source)
        faults += [InputError(fault, file=str(path), place=place) for fault in found]
    if not sources and not faults:
        faults.append(InputError("is empty: it lists no recordings", file=str(path)))
    if faults:
        raise InputErrors(faults)
    return sources


def _read_line(line: bytes, folder: Path) -> tuple[list[str], Source | None]:
    try:
        row = json.loads(line)
    except UnicodeDecodeError:
        return ["is not UTF-8 text"], None
    except json.JSONDecodeError as error:
        return [f"is no JSON, or is cut short: {error.msg} at column {error.colno}"], None
    if not isinstance(row, dict):
        return ["a recording is an object"], None
    faults = [
        f"'{key}' comes from decoding; leave it out"
        if key in _MADE_HERE
        else f"unknown key '{key}'{nearest(key, _KNOWN)}"
        for key in row
        if key not in _KNOWN
    ]
    columns = {key: value for key, value in row.items() if key in _KNOWN and key != "audio"}
    name = row.get("audio")
    if not isinstance(name, str) or not name:
        return [*faults, "the key 'audio' must name a file"], None
    audio = folder / name
    if not audio.is_file():
        faults.append(f"there is no audio file '{name}'{_near(name, folder)}")
    columns.setdefault("recording_id", audio.stem)
    stub = {"prefix_end_us": 0, "arrived_at_us": 0, "is_final": True}
    _, found = parse_row({**columns, "audio_end_us": 0, "arrivals": [stub]})
    faults += [f"{path_text(where)}: {fault}" for where, fault in found]
    if not isinstance(columns["recording_id"], str):
        return faults, None
    return faults, Source(audio, columns)


def _near(name: str, folder: Path) -> str:
    others = [path.name for path in folder.iterdir() if path.suffix == (folder / name).suffix]
    hint = nearest(name, others)
    return hint if "did you mean" in hint else ""
