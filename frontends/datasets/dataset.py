"""What a loader makes of a data set: recordings with their gold plans, and what is odd about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from frontends.metadata import Source
from frontends.tools.plans import canonical_plan, misfits
from simcore.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from frontends.tools.catalog import Tools


@dataclass(frozen=True, slots=True)
class Dataset:
    """Recordings in order, and by recording what is wrong with its gold, which is kept as it is."""

    name: str
    sources: list[Source] = field(default_factory=list)
    misfits: dict[str, list[str]] = field(default_factory=dict)

    def add(
        self,
        audio: Path,
        columns: Mapping[str, Any],
        calls: Sequence[Mapping[str, Any]] | str,
        tools: Tools,
    ) -> None:
        """A recording with its gold calls, or with the reason why they cannot be read."""
        made = {**columns, "corpus": self.name, "split": "test"}
        if isinstance(calls, str):
            found = [calls]
        else:
            made["target"] = canonical_plan(calls, tools)
            found = misfits(calls, tools)
        if found:
            self.misfits[str(columns["recording_id"])] = found
        self.sources.append(Source(audio, {k: v for k, v in made.items() if k == "target" or v}))


def read_rows(path: Path) -> Iterator[tuple[str, Any]]:
    """The objects of a JSON Lines file with their places; raises `InputError` for another line."""
    for number, line in enumerate(path.read_bytes().split(b"\n"), start=1):
        if line.strip():
            place = f"line {number}"
            yield place, read_object(line, path, place)


def read_object(data: bytes, path: Path, place: str | None = None) -> Any:
    """A JSON object; raises `InputError` for anything else."""
    try:
        value = json.loads(data)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"is no JSON: {error}", file=str(path), place=place) from None
    if not isinstance(value, dict):
        raise InputError("is no JSON object", file=str(path), place=place)
    return value
