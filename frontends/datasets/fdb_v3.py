"""Full-Duplex-Bench v3 (arXiv 2604.04847): a folder a recording, `{example}_{speaker}/`.

Each holds `input.wav` and `metadata.json` with `expected_tool_calls`. Its script is not what was
said: speakers depart from it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from frontends.datasets.dataset import Dataset, read_object
from simcore.errors import InputError, InputErrors

if TYPE_CHECKING:
    from pathlib import Path

    from frontends.tools.catalog import Tools

NAME: Final = "fdb-v3"


def read_fdb_v3(root: Path, tools: Tools) -> Dataset:
    """The recordings of a release's folder, by name.

    Recordings of one scenario are one group; `subset` says whether the speaker takes something
    back. Raises `InputErrors` with every fault.
    """
    dataset = Dataset(NAME)
    faults: list[InputError] = []
    folders = sorted(root.iterdir()) if root.is_dir() else []
    for folder in folders:
        audio, metadata = folder / "input.wav", folder / "metadata.json"
        if not audio.is_file() and not metadata.is_file():
            continue
        try:
            for file in (audio, metadata):
                if not file.is_file():
                    raise InputError(f"the recording has no {file.name}", file=str(folder))
            row = read_object(metadata.read_bytes(), metadata)
            columns, calls = _recording(folder.name, row, metadata)
            dataset.add(audio, columns, calls, tools)
        except InputError as fault:
            faults.append(fault)
    if not dataset.sources and not faults:
        faults.append(
            InputError(
                "holds no recording, a folder with input.wav and metadata.json", file=str(root)
            )
        )
    if faults:
        raise InputErrors(faults)
    return dataset


def _recording(
    name: str, row: dict[str, Any], file: Path
) -> tuple[dict[str, Any], list[dict[str, Any]] | str]:
    example = row.get("id")
    if not isinstance(example, str):
        raise InputError("the key 'id' must name the scenario", file=str(file))
    columns = {
        "recording_id": name,
        "group_id": example,
        "voice": name.removeprefix(f"{example}_") if name != example else None,
        "domain": row.get("domain"),
        "subset": "rollback" if row.get("state_rollback_test") else "plain",
    }
    gold = row.get("expected_tool_calls")
    if not isinstance(gold, list):
        return columns, "has no expected_tool_calls"
    try:
        return columns, [{"tool": c["function"], "arguments": dict(c["args"])} for c in gold]
    except (KeyError, TypeError, ValueError):
        return columns, "expected_tool_calls are not objects with 'function' and 'args'"
