"""Recordings and their gold, from a released data set or from a folder of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from frontends.datasets.audio2tool import REGISTRY, read_audio2tool
from frontends.datasets.dataset import Dataset
from frontends.datasets.fdb_v3 import read_fdb_v3
from frontends.metadata import read_metadata, single
from frontends.tools.catalog import read_tools
from frontends.tools.plans import canonical_plan, misfits
from simcore.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from frontends.tools.catalog import Tools

LOADERS: Final[Mapping[str, Callable[[Path, Tools], Dataset]]] = {
    "fdb-v3": read_fdb_v3,
    "audio2tool": read_audio2tool,
}


def find_tools(dataset: str, root: Path, given: Path | None) -> Path:
    """The tools file of a data set: the one given, else the one in its release.

    Raises `UsageError` for an unknown data set, and where there is neither.
    """
    if dataset not in LOADERS:
        raise UsageError(f"unknown data set '{dataset}'{nearest(dataset, LOADERS)}")
    released = root / REGISTRY
    if given is None and not released.is_file():
        raise UsageError(f"the data set '{dataset}' needs --tools: there is no {released}")
    return given or released


def read_dataset(dataset: str, root: Path, tools: Path) -> Dataset:
    """A released data set; raises `InputErrors` with every fault of its files."""
    return LOADERS[dataset](root, read_tools(tools))


def read_folder(folder: Path, tools: Path | None = None) -> Dataset:
    """A folder with `metadata.jsonl`, or one audio file; with tools, the targets are brought into
    canonical form."""
    sources = [single(folder)] if folder.is_file() else read_metadata(folder)
    dataset = Dataset(folder.name, sources)
    if tools is None:
        return dataset
    known = read_tools(tools)
    for source in sources:
        target = source.columns.get("target")
        if target is not None:
            calls = target if isinstance(target, list) else [target]
            source.columns["target"] = canonical_plan(calls, known)
            if found := misfits(calls, known):
                dataset.misfits[source.recording_id] = found
    return dataset
