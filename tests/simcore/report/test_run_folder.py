from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from simcore.errors import UsageError
from simcore.report.run_folder import FORMATS, check_target, write_run

GIVEN = {"scenario": "tea.yaml"}

if TYPE_CHECKING:
    from pathlib import Path

    from simcore.report.summary import Summary


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def saved(frame: pl.DataFrame, folder: Path, name: str = "t") -> Path:
    """A file of trajectories as a run writes it, outside of the folder under test."""
    path = folder.parent / f"{folder.name}-{name}.parquet"
    frame.write_parquet(path)
    return path


def test_all_formats_at_once(tmp_path: Path, frame: pl.DataFrame, summary: Summary) -> None:
    target = tmp_path / "runs" / "one"
    trace = {"traceEvents": []}
    written = write_run(
        target,
        saved(frame, tmp_path),
        summary,
        formats=set(FORMATS),
        perfetto=trace,
        events=saved(frame, tmp_path, "e"),
    )
    expected = ["events.parquet", "trajectories.parquet", *FORMATS.values()]
    assert [path.name for path in written] == names(target) == sorted(expected)
    assert names(target.parent) == ["one"], "nothing is left beside the run"
    assert_frame_equal(pl.read_parquet(target / "trajectories.parquet"), frame)
    assert json.loads((target / "trace.json").read_text()) == trace
    read = json.loads((target / "summary.json").read_text())
    assert read["schema"] == "summary/v1"
    assert read["scenario"]["hash"] == summary.scenario_hash
    assert read["scenario"]["as_given"] == GIVEN
    assert [policy["policy"] for policy in read["policies"]] == ["eou", "eager|bold", "odd"]
    assert read["policies"][1]["stale_rate"]["count"] == 16
    assert read["differences"][0]["stale_added"] == 16
    assert read["passed"] is False


def test_a_second_run_replaces_the_first_but_no_stranger(
    tmp_path: Path, frame: pl.DataFrame, summary: Summary
) -> None:
    target = tmp_path / "run"
    write_run(target, saved(frame, tmp_path), summary, formats={"html", "junit"})
    (target / "notes.txt").write_text("mine")
    (target / "timelines").mkdir()
    write_run(target, saved(frame, tmp_path), summary, formats={"md"})
    assert names(target) == ["notes.txt", "report.md", "summary.json", "trajectories.parquet"]
    assert names(tmp_path) == ["run"]


def test_an_empty_folder_is_used(tmp_path: Path, frame: pl.DataFrame, summary: Summary) -> None:
    write_run(tmp_path, saved(frame, tmp_path.parent), summary)
    assert "summary.json" in names(tmp_path)


@pytest.mark.parametrize("content", [None, "not json", '{"schema": "trace/v1"}', "[1]"])
def test_other_folders_are_refused_untouched(
    content: str | None, tmp_path: Path, frame: pl.DataFrame, summary: Summary
) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    if content is not None:
        (tmp_path / "summary.json").write_text(content)
    before = names(tmp_path)
    with pytest.raises(UsageError, match="not empty and no earlier run"):
        write_run(tmp_path, saved(frame, tmp_path.parent), summary)
    assert names(tmp_path) == before


def test_bad_targets_and_formats_are_told_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is a file"):
        check_target(tmp_path / "file")
    with pytest.raises(UsageError, match="did you mean 'html'"):
        check_target(tmp_path / "new", {"htm"})
    check_target(tmp_path / "new", FORMATS)
    assert names(tmp_path) == ["file"]


def test_a_fault_while_writing_leaves_the_earlier_run(
    tmp_path: Path, frame: pl.DataFrame, summary: Summary, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "run"
    write_run(target, saved(frame, tmp_path), summary, formats={"md"})
    (target / "notes.txt").write_text("mine")
    before = {path.name: path.read_bytes() for path in target.iterdir()}

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "move", full)
        with pytest.raises(UsageError, match="No space left on device"):
            write_run(target, saved(frame, tmp_path), summary)
    rename = type(target).rename

    def refuse_new(path: Path, to: Path) -> Path:
        if path.name.endswith(".new"):
            full()
        return rename(path, to)

    with monkeypatch.context() as patch:
        patch.setattr(type(target), "rename", refuse_new)
        with pytest.raises(UsageError, match="No space left on device"):
            write_run(target, saved(frame, tmp_path), summary)
    assert {path.name: path.read_bytes() for path in target.iterdir()} == before
    assert names(tmp_path) == ["run"]
