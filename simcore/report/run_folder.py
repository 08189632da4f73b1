"""A run's files, written beside the target and put in its place when they are complete."""

from __future__ import annotations

import json
import secrets
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Literal

from simcore.errors import InputError, UsageError, nearest
from simcore.report.summary import SCHEMA

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from simcore.report.sections import Section
    from simcore.report.summary import Summary

FORMATS: Final = {
    "json": "summary.json",
    "md": "report.md",
    "html": "report.html",
    "junit": "junit.xml",
    "perfetto": "trace.json",
}
TRAJECTORIES: Final = "trajectories.parquet"
EVENTS: Final = "events.parquet"
TIMELINES: Final = "timelines"
_OURS: Final = {TRAJECTORIES, EVENTS, TIMELINES, *FORMATS.values()}


def check_target(out_dir: Path, formats: Collection[str] = ()) -> None:
    """Whether a run may be written to `out_dir`, to be asked before the work is done.

    Raises ``UsageError`` for an unknown format, and for anything there that is neither an empty
    folder nor an earlier run.
    """
    for name in formats:
        if name not in FORMATS:
            raise UsageError(f"there is no report format '{name}'{nearest(name, FORMATS)}")
    if not out_dir.exists():
        return
    if not out_dir.is_dir():
        raise UsageError(f"{out_dir} is a file, not a folder")
    if any(out_dir.iterdir()) and not _is_run(out_dir):
        raise UsageError(f"{out_dir} is not empty and no earlier run; name another folder")


def write_run(
    out_dir: Path,
    trajectories: Path,
    summary: Summary,
    *,
    formats: Collection[str] = ("json", "md"),
    perfetto: Mapping[str, Any] | None = None,
    events: Path | None = None,
    sections: Sequence[Section] = (),
) -> list[Path]:
    """Write a run folder in one step and return its files.

    `trajectories` and `events` are Parquet files that are moved there. `summary.json` is always
    written, the rest by `formats` (see `FORMATS`); `perfetto` is the trace that
    `simcore.timeline.perfetto_run` builds; `sections` stand first in the reports. An earlier run at
    `out_dir` is replaced, with its timelines; what else lay in its folder is kept. Raises
    ``UsageError`` as `check_target` does, and where the disk refuses.
    """
    from simcore.report.html import html
    from simcore.report.junit import junit
    from simcore.report.markdown import markdown

    check_target(out_dir, formats)
    texts = {"json": _json(summary.to_dict())}
    if "md" in formats:
        texts["md"] = markdown(summary, sections)
    if "html" in formats:
        texts["html"] = html(summary, sections)
    if "junit" in formats:
        texts["junit"] = junit(summary)
    if "perfetto" in formats and perfetto is not None:
        texts["perfetto"] = json.dumps(perfetto, separators=(",", ":")) + "\n"
    with _replacing(out_dir) as folder:
        shutil.move(trajectories, folder / TRAJECTORIES)
        if events is not None:
            shutil.move(events, folder / EVENTS)
        for name, text in texts.items():
            (folder / FORMATS[name]).write_text(text, encoding="utf-8")
    written = {TRAJECTORIES, EVENTS, *(FORMATS[name] for name in texts)}
    return sorted(path for path in out_dir.iterdir() if path.name in written)


def read_summary(run_dir: Path) -> dict[str, Any]:
    """The content of a run's `summary.json`.

    Raises ``UsageError`` where there is none, and ``InputError`` for a file that is something else.
    """
    file = run_dir / FORMATS["json"]
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError:
        message = f"{run_dir} is not the folder of a run: it has no {FORMATS['json']}"
        raise UsageError(message) from None
    except ValueError:
        found = None
    if not isinstance(found, dict) or found.get("schema") != SCHEMA:
        raise InputError(f"not a run's summary ({SCHEMA})", file=str(file))
    return found


def read_scenario(run_dir: Path, part: Literal["as_given", "resolved"]) -> dict[str, Any]:
    """The scenario of a run, as it was asked for or as it ran.

    Raises as `read_summary` does, and ``InputError`` for a summary that does not tell.
    """
    try:
        return dict(read_summary(run_dir)["scenario"][part])
    except (KeyError, TypeError):
        message = "not the summary of a run that can be repeated"
        raise InputError(message, file=str(run_dir / FORMATS["json"])) from None


@contextmanager
def _replacing(target: Path) -> Iterator[Path]:
    """A new folder beside the target, renamed to it unless the block raises."""
    target = target.resolve()
    mark = secrets.token_hex(4)
    new = target.parent / f".{target.name}.{mark}.new"
    old = target.parent / f".{target.name}.{mark}.old"
    try:
        new.mkdir(parents=True)
        yield new
        if target.exists():
            target.rename(old)
        new.rename(target)
        if old.exists():
            for path in old.iterdir():
                if path.name not in _OURS:
                    path.rename(target / path.name)
            shutil.rmtree(old)
    except OSError as fault:
        if old.exists() and not target.exists():
            old.rename(target)
        raise UsageError(f"cannot write the run to {target}: {fault.strerror}") from fault
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _is_run(folder: Path) -> bool:
    try:
        return bool(read_summary(folder))
    except (UsageError, InputError):
        return False


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
