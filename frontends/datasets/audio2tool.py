"""Audio2Tool (arXiv 2604.22821), tier 6, corrections: `tier6_correction/metadata.jsonl` and audio.

A line is one reading of a query by one voice; the first published reading of each query is taken.
The release's tools are in `tools_registry.csv`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from frontends.datasets.dataset import Dataset, read_rows
from frontends.tools.signature import read_value
from simcore.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from frontends.tools.catalog import Tools

NAME: Final = "audio2tool-t6"
TIER: Final = "tier6_correction"
REGISTRY: Final = "tools_registry.csv"


def read_audio2tool(root: Path, tools: Tools) -> Dataset:
    """One reading of every query of tier 6, in the order of the queries.

    `root` is the release's folder or its `public` folder. Of a query's readings whose synthesis did
    not fail and whose audio is there, that of the lowest speaker number is taken. Raises
    `InputErrors` with every fault.
    """
    folder = next((f for f in (root / TIER, root / "public" / TIER) if f.is_dir()), None)
    if folder is None:
        raise InputErrors([InputError(f"has no folder {TIER}", file=str(root))])
    metadata = folder / "metadata.jsonl"
    if not metadata.is_file():
        raise InputErrors([InputError("has no metadata.jsonl", file=str(folder))])
    readings: dict[int, dict[str, Any]] = {}
    faults: list[InputError] = []
    try:
        for place, row in read_rows(metadata):
            query, speaker = row.get("query_idx"), row.get("speaker_idx") or 0
            if not isinstance(query, int) or not isinstance(row.get("audio"), str):
                message = "a reading needs a number 'query_idx' and a file 'audio'"
                faults.append(InputError(message, file=str(metadata), place=place))
            elif (
                row.get("speech_synthesis_success") is not False
                and (folder / row["audio"]).is_file()
            ):
                taken = readings.get(query)
                if taken is None or speaker < (taken.get("speaker_idx") or 0):
                    readings[query] = row
    except InputError as fault:
        faults.append(fault)
    if not readings and not faults:
        faults.append(InputError("lists no reading whose audio is there", file=str(metadata)))
    if faults:
        raise InputErrors(faults)
    dataset = Dataset(NAME)
    for _, row in sorted(readings.items()):
        audio = folder / row["audio"]
        columns = {
            "recording_id": audio.stem,
            "voice": None if row.get("speaker_idx") is None else f"s{row['speaker_idx']}",
            "domain": row.get("domain"),
            "subset": row.get("correction_type"),
            "spoken": row.get("query"),
        }
        dataset.add(audio, columns, _calls(row), tools)
    return dataset


def _calls(row: Mapping[str, Any]) -> list[dict[str, Any]] | str:
    """The gold of a row: its own call and the additional ones, or why it cannot be read."""
    more = _literal(row.get("additional_tool_calls") or [])
    calls = []
    for part in (row, *(more if isinstance(more, list) else ["?"])):
        part = _literal(part)
        name = part.get("tool_name") if isinstance(part, dict) else None
        if not isinstance(name, str) or not name:
            return f"the gold names no tool: {part!r}"
        arguments = _literal(part.get("extracted_params") or {})
        if not isinstance(arguments, dict):
            return f"the arguments of '{name}' cannot be read: {arguments!r}"
        calls.append({"tool": name, "arguments": arguments})
    return calls


def _literal(value: Any) -> Any:
    """What a Python literal in a string stands for: both forms occur in the release."""
    return read_value(value) if isinstance(value, str) else value
