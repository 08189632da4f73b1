"""Two runs beside each other: what pairs, what differs, and what is said of the rest."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from typer.testing import CliRunner

from simcore.cli.main import app
from simcore.errors import InputError, UsageError
from simcore.report.diff import diff_runs, grids, notes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "one"
    words = ["run", "restaurant_booking", "--policy", "eou,rassg", "--out", str(folder), "--quiet"]
    assert CliRunner().invoke(app, words).exit_code == 0
    return folder


def changed(run: Path, target: Path, *columns: pl.Expr, **settings: Any) -> Path:
    """A copy of the run with other figures and other settings."""
    shutil.copytree(run, target)
    path = target / "trajectories.parquet"
    pl.read_parquet(path).with_columns(columns).reverse().write_parquet(path)
    summary = json.loads((target / "summary.json").read_text())
    summary["scenario"]["resolved"] |= settings
    (target / "summary.json").write_text(json.dumps(summary))
    return target


def test_a_run_is_no_different_from_itself(run: Path) -> None:
    found = diff_runs(run, run, {})
    assert [each.policy for each in found.policies] == ["eou", "rassg"]
    assert found.changed == ()
    assert found.alone == (0, 0)
    assert not list(notes(found))
    for each in found.policies:
        assert each.base == each.other
        assert each.paired.pairs == 4
        for figure in (each.paired.stale_rate, each.paired.delay_s, each.paired.cost):
            assert (figure.value, figure.verdict) == (0, "tie")


def test_differences_are_those_of_the_pairs_whatever_their_order(run: Path, tmp_path: Path) -> None:
    eou = pl.col("policy") == "eou"
    first = pl.col("recording_id") == pl.read_parquet(run / "trajectories.parquet")[0, 0]
    other = changed(
        run,
        tmp_path / "two",
        pl.when(eou).then(pl.col("cost") + 2).otherwise(pl.col("cost")).alias("cost"),
        pl.when(eou & first).then(True).otherwise(pl.col("stale")).alias("stale"),
        pl.col("cancels") + 1,
        traces="elsewhere",
    )
    found = diff_runs(run, other, {})
    end, ours = (each.paired for each in found.policies)
    assert end.cost.value == pytest.approx(2)
    assert end.stale_rate.value == pytest.approx(0.25)
    assert (end.stale_removed, end.stale_added) == (0, 1)
    assert (ours.cost.value, ours.stale_rate.value) == (0, 0)
    back = diff_runs(other, run, {}).policies[1].paired
    assert back.cost.value == pytest.approx(-2)
    assert (back.stale_removed, back.stale_added) == (1, 0)
    assert list(notes(found)) == ["not the same in both scenarios: traces"]
    events = grids(found)[2]
    (row,) = (row for row in events.rows if row[0] == "eou")
    assert row[events.headers.index("commits")] == "100.0 → 100.0"
    before, after = row[events.headers.index("cancels")].split(" → ")
    assert float(after) == float(before) + 100


def test_what_has_no_partner_is_left_out_and_told(run: Path, tmp_path: Path) -> None:
    other = changed(run, tmp_path / "two")
    path = other / "trajectories.parquet"
    rows = pl.read_parquet(path).filter(pl.col("policy") == "rassg")
    rows.filter(pl.col("recording_id") != rows[0, 0]).write_parquet(path)
    found = diff_runs(run, other, {})
    assert [(each.policy, each.paired.pairs) for each in found.policies] == [("rassg", 3)]
    assert found.alone == (5, 0)
    assert list(notes(found)) == [
        "5 trajectories of the first run have no partner and are left out"
    ]


def test_only_some_of_the_trajectories(run: Path) -> None:
    name = pl.read_parquet(run / "trajectories.parquet")[0, "recording_id"]
    found = diff_runs(run, run, {"recording_id": name, "replication": "0"})
    assert [each.paired.pairs for each in found.policies] == [1, 1]
    with pytest.raises(UsageError, match="no column 'recording'; did you mean 'recording_id'"):
        diff_runs(run, run, {"recording": name})
    with pytest.raises(UsageError, match=r"no trajectory of .* has a partner"):
        diff_runs(run, run, {"recording_id": "none"})


def test_a_folder_without_a_run(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="not the folder of a run"):
        diff_runs(run, tmp_path, {})
    (tmp_path / "summary.json").write_text("[1]")
    with pytest.raises(InputError, match="not a run's summary"):
        diff_runs(tmp_path, run, {})
    (tmp_path / "summary.json").write_text('{"schema": "summary/v1"}')
    with pytest.raises(InputError, match="not the summary of a run that can be repeated"):
        diff_runs(tmp_path, run, {})
    lost = changed(run, tmp_path / "lost")
    (lost / "trajectories.parquet").unlink()
    with pytest.raises(UsageError, match=r"lost its trajectories\.parquet"):
        diff_runs(run, lost, {})


def test_the_command_prints_and_writes(run: Path, tmp_path: Path) -> None:
    other = changed(run, tmp_path / "two", pl.col("cost") * 2)
    out = tmp_path / "diff.md"
    result = CliRunner().invoke(app, ["diff", str(run), str(other), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "The second minus the first" in result.output
    text = out.read_text()
    assert text.count("| policy |") == 3
    result = CliRunner().invoke(app, ["diff", str(run), str(other), "--where", "subset"])
    assert isinstance(result.exception, UsageError)
    assert "not COLUMN=VALUE" in str(result.exception)
