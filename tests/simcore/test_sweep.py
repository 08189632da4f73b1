"""Sweeps: the same file whatever happened on the way, nothing kept of another run."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from simcore import Scenario, load_scenario, run, sweep
from simcore.errors import UsageError
from simcore.metrics import paired_differences, summarize
from simcore.scenario import PolicySpec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from simcore.metrics import PairedDifference, PolicySummary

SHORT_PARTS = (
    "import sys\n"
    "from simcore import sweep\n"
    "from simcore.cli.main import main\n"
    "sweep._FLUSH_ROWS = 500\n"
    "if __name__ == '__main__':\n"
    "    main()\n"
)


class Cut(Exception):
    """Ends a sweep half way."""


@pytest.fixture
def scenario() -> Scenario:
    quick = load_scenario("restaurant_booking", policies=["eou", "stream_rag", "rassg"])
    return replace(quick, replications=100)


def stop_after(rows: int) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if done >= rows:
            raise Cut

    return tell


@pytest.fixture(autouse=True)
def _short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep, "_FLUSH_ROWS", 100)
    monkeypatch.setattr(sweep, "_PANEL_ROWS", 500)
    monkeypatch.setattr("simcore.experiment.BLOCK_SIZE", 30)


def test_a_sweep_that_is_cut_goes_on_and_ends_with_the_same_file(
    scenario: Scenario, tmp_path: Path
) -> None:
    path = sweep.write_trajectories(scenario, tmp_path)
    assert_frame_equal(pl.read_parquet(path), run(scenario))
    whole = path.read_bytes()
    folder, digest = tmp_path / "cut", sweep.run_digest(scenario)
    begun = []
    for rows in (150, 151, 700):
        with pytest.raises(Cut), sweep.unfinished(folder, digest):
            sweep.write_trajectories(scenario, folder, progress=stop_after(rows))
    with sweep.unfinished(folder, digest):
        tell = lambda done, total: begun.append(done)  # noqa: E731
        again = sweep.write_trajectories(scenario, folder, progress=tell)
        assert again.read_bytes() == whole
    assert 500 < begun[0] <= 700, "all but the last part was kept"
    assert not folder.exists()


def test_another_scenario_or_other_code_starts_over(scenario: Scenario, tmp_path: Path) -> None:
    def left(digest: str) -> bool:
        kept = False
        with suppress(Cut), sweep.unfinished(tmp_path / "u", digest) as folder:
            kept = (folder / "trajectories").exists()
            (folder / "trajectories").mkdir(exist_ok=True)
            (folder / "trajectories" / "0-1.parquet").touch()
            raise Cut
        return kept

    file = tmp_path / "mine.py"
    file.write_text("from policies.eou import EndOfUtterance as Mine\n")
    mine = (PolicySpec(f"{file}:Mine", "mine"),)
    digests = [
        sweep.run_digest(scenario),
        sweep.run_digest(replace(scenario, resolved={**scenario.resolved, "seed": 8})),
        sweep.run_digest(replace(scenario, policies=mine)),
    ]
    assert len(set(digests)) == 3
    assert digests[0] == sweep.run_digest(scenario)
    assert not left(digests[0])
    assert left(digests[0])
    assert not left(digests[1])


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with sweep.unfinished(tmp_path / "u", "x") as folder:
        inside = sweep.unfinished(folder, "x")
        with pytest.raises(UsageError, match="another run is at work"), inside:
            pass


def dicts(parts: Iterable[PolicySummary | PairedDifference]) -> list[dict[str, Any]]:
    return [part.to_dict() for part in parts]


def test_panels_have_every_policy_and_give_the_same_figures(
    scenario: Scenario, tmp_path: Path
) -> None:
    frame = run(scenario)
    panels = sweep.Panels(sweep.write_trajectories(scenario, tmp_path))
    parts = list(panels)
    assert len(parts) > 1
    labels = [spec.label for spec in scenario.policies]
    assert all(part["policy"].unique(maintain_order=True).to_list() == labels for part in parts)
    assert_frame_equal(pl.concat(parts), frame, check_row_order=False)
    assert dicts(summarize(panels)) == dicts(summarize(frame))
    assert dicts(paired_differences(panels)) == dicts(paired_differences(frame))


def test_a_killed_run_goes_on_from_its_finished_blocks(tmp_path: Path) -> None:
    script = tmp_path / "short_parts.py"
    script.write_text(SHORT_PARTS)
    policies, setting = ["eou", "rassg"], "replications=800"
    words = ["run", "restaurant_booking", "--policy", ",".join(policies), "--set", setting]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, str(script), *words, "--out", "killed"],
            cwd=tmp_path,
            env=os.environ | {"CI": "1"},
            stderr=subprocess.PIPE,
            text=True,
        )

    parts = tmp_path / ".killed.unfinished" / "trajectories"
    victim = start()
    while len(list(parts.glob("*.parquet"))) < 2:
        assert victim.poll() is None, victim.communicate()
        time.sleep(0.005)
    victim.kill()
    victim.communicate()
    assert not (tmp_path / "killed").exists()
    _, said = start().communicate()
    first = int(said.split("trajectories: ")[1].split()[0].replace(",", ""))
    assert 1000 <= first < 6400, said
    same = load_scenario("restaurant_booking", policies=policies, overrides=[setting])
    whole = sweep.write_trajectories(same, tmp_path)
    assert (tmp_path / "killed" / "trajectories.parquet").read_bytes() == whole.read_bytes()
    assert not parts.exists()
