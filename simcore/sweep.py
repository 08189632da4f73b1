"""Sweeps that survive being killed: finished blocks are files, merged at the end.

The files lie in a folder beside the run's own. It is keyed by a digest of the scenario, its traces
and the code: the same command goes on from them, and anything else starts over.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import platform
import shutil
import sys
import time
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from simcore.errors import UsageError
from simcore.experiment import blocks, in_order, log_block, run_block, size
from simcore.files.atomic import write_atomic
from simcore.registry import policy_factory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from concurrent.futures import Executor

    import polars as pl

    from simcore.scenario import Scenario

_FLUSH_S: Final = 1.0
"""Seconds of work a part; that much is lost by a kill."""

_FLUSH_ROWS: Final = 20_000
_ROW_GROUP: Final = 1 << 15
_PANEL_ROWS: Final = 20_000


@contextmanager
def unfinished(folder: Path, digest: str) -> Iterator[Path]:
    """A folder for the parts of one run, removed unless the block raises.

    What another run left there goes first. Raises ``UsageError`` where one is at work there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("w") as lock:
            _take(lock, folder)
            _keep_only(folder, digest)
            try:
                yield folder
            except BaseException:
                if not any(folder.glob("*/*.parquet")):
                    shutil.rmtree(folder)
                raise
            shutil.rmtree(folder)
    except OSError as fault:
        raise UsageError(f"cannot write the run to {folder}: {fault.strerror}") from fault


def _take(lock: TextIO, folder: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(f"another run is at work in {folder}; name another --out") from None


def _keep_only(folder: Path, digest: str) -> None:
    key = folder / "key"
    if key.exists() and key.read_text("utf-8") == digest:
        return
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
    write_atomic(key, digest.encode())


def run_digest(scenario: Scenario) -> str:
    """What a run's rows depend on: scenario, traces, the simulator's code and its policies'."""
    found = hashlib.sha256()
    content = (dict(scenario.resolved), platform.python_version())
    found.update(json.dumps(content, sort_keys=True, default=str).encode())
    for path in _sources(scenario):
        found.update(path.read_bytes())
    return found.hexdigest()


def _sources(scenario: Scenario) -> Iterable[Path]:
    files = set(Path(__file__).parent.rglob("*.py"))
    for spec in scenario.policies:
        file, colon, _ = spec.name.rpartition(":")
        if colon:
            files.add(Path(file))
        module = sys.modules[policy_factory(spec.name, spec.options).policy.__module__]
        package = sys.modules[module.__name__.partition(".")[0]]
        for folder in getattr(package, "__path__", ()):
            files |= set(Path(folder).rglob("*.py"))
        if module.__file__ is not None:
            files.add(Path(module.__file__))
    return sorted(files)


def write_trajectories(
    scenario: Scenario,
    folder: Path,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """The rows of `simcore.run` as a Parquet file in `folder`, going on from the parts there.

    The same bytes wherever earlier attempts were cut and on any executor, in memory that does not
    grow with the number of trajectories.
    """
    return _write(run_block, "trajectories", scenario, folder, executor, progress)


def write_events(
    scenario: Scenario,
    folder: Path,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Every event of every trajectory, as `write_trajectories` writes; what raises has none."""
    return _write(log_block, "events", scenario, folder, executor, progress)


def _write(
    work_of: Callable[[Any], pl.DataFrame],
    name: str,
    scenario: Scenario,
    folder: Path,
    executor: Executor | None,
    progress: Callable[[int, int], None] | None,
) -> Path:
    import polars as pl

    parts = folder / name
    parts.mkdir(exist_ok=True)
    work = blocks(scenario)
    earlier = _parts(parts)
    finished = int(earlier[-1].stem.split("-")[1]) if earlier else 0
    done, total = sum(block.size for block in islice(work, finished)), size(scenario)
    if progress is not None and done:
        progress(done, total)
    waiting: list[pl.DataFrame] = []
    first, began = finished, time.monotonic()

    def flush() -> None:
        # named by the blocks in it, so that the last name says where to go on
        pl.concat(waiting).write_parquet(parts / "unfinished")
        (parts / "unfinished").rename(parts / f"{first:09}-{first + len(waiting):09}.parquet")

    sizes = blocks(scenario)
    todo = islice(sizes, finished, None)
    for block, frame in zip(todo, in_order(work_of, work, executor), strict=True):
        waiting.append(frame)
        done += block.size
        late = time.monotonic() - began > _FLUSH_S
        if late or sum(frame.height for frame in waiting) > _FLUSH_ROWS:
            flush()
            first, began = first + len(waiting), time.monotonic()
            waiting.clear()
        if progress is not None:
            progress(done, total)
    if waiting:
        flush()
    merged = folder / f"{name}.parquet"
    pl.scan_parquet(_parts(parts)).sink_parquet(
        merged, row_group_size=_ROW_GROUP, maintain_order=True
    )
    return merged


def _parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


class Panels:
    """The trajectories of a run's file, all policies' on some recordings at a time.

    Iterating again reads again; memory holds one panel of about 20,000 rows.
    """

    def __init__(self, path: Path) -> None:
        import polars as pl

        self._scan = pl.scan_parquet(path)
        counts = self._scan.group_by("policy", maintain_order=True).agg(pl.len())
        recordings = self._scan.select(pl.col("recording_id").n_unique())
        self._recordings = int(recordings.collect(engine="streaming").item())
        self._each = [
            rows // self._recordings for rows in counts.collect(engine="streaming")["len"]
        ]

    def __iter__(self) -> Iterator[pl.DataFrame]:
        import polars as pl

        step = max(1, _PANEL_ROWS // sum(self._each))
        for first in range(0, self._recordings, step):
            some = min(step, self._recordings - first)
            slices, before = [], 0
            for each in self._each:
                slices.append(self._scan.slice(before + first * each, some * each))
                before += self._recordings * each
            yield pl.concat(slices).collect()
