"""The command line as a person meets it: output, exit codes, and one line for a mistake."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import polars as pl
import pytest

if TYPE_CHECKING:
    from pathlib import Path

HEAVY = {"polars", "numpy", "simpy", "pydantic", "altair", "ruamel", "rich.progress", "torch"}
RAISING = '''
from simcore.policy import TickPolicy


class Raises(TickPolicy):
    """Always fails."""

    def decide(self, view):
        raise RuntimeError("no idea")
'''


def simcore(
    *words: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "simcore", *words],
        cwd=cwd,
        env=os.environ | {"CI": "1", "COLUMNS": "100"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['simcore', '--help']\n"
        "from simcore.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        f"print('heavy:', sorted({HEAVY!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "heavy: []" in done.stdout
    for command in ("run", "compare", "validate", "timeline", "trace", "train", "policies"):
        assert f"  {command} " in done.stdout


def test_run_writes_its_folder_and_prints_a_table(tmp_path: Path) -> None:
    done = simcore(
        *("run", "restaurant_booking", "--policy", "eou,rassg", "--out", "first", "--events"),
        *("--format", "json,md,html,junit,perfetto"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout
    assert "rassg" in done.stdout
    assert "trajectories: 8 of 8" in done.stderr
    names = {path.name for path in (tmp_path / "first").iterdir()}
    assert names == {
        "trajectories.parquet",
        "events.parquet",
        "summary.json",
        "report.md",
        "report.html",
        "junit.xml",
        "trace.json",
    }
    assert pl.read_parquet(tmp_path / "first" / "events.parquet")["kind"].n_unique() > 5


def test_jobs_write_the_same_rows(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        done = simcore("run", "money_transfer", "--jobs", jobs, "--out", jobs, "-q", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    one, two = (tmp_path / jobs / "trajectories.parquet" for jobs in ("1", "2"))
    assert one.read_bytes() == two.read_bytes()


def test_compare_starts_from_its_first_policy(tmp_path: Path) -> None:
    words = ("compare", "read_only_lookup", "--policies")
    done = simcore(*words, "rassg,eou", "--out", "c", cwd=tmp_path)
    assert "Paired differences from rassg" in done.stdout
    done = simcore(*words, "rassg", cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_settings_of_the_command_line_win(tmp_path: Path) -> None:
    done = simcore(
        *("run", "restaurant_booking", "--policy", "eou", "--out", "r", "--seed", "11"),
        *("--set", "control.processing=0.5 s", "-q"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    summary = json.loads((tmp_path / "r" / "summary.json").read_text())
    resolved = summary["scenario"]["resolved"]
    assert (summary["seed"], resolved["control"]["processing_us"]) == (11, 500_000)


def test_a_run_without_forecasts_says_what_misses_them(tmp_path: Path) -> None:
    words = ("run", "money_transfer", "--policy", "eou,rassg", "--set", "checkpoints=[]")
    done = simcore(*words, "--out", "r", cwd=tmp_path)
    assert done.returncode == 0
    assert "note: 'rassg' reads forecasts" in done.stderr
    assert "'eou'" not in done.stderr


def test_a_timeline_is_drawn_from_the_runs_folder(tmp_path: Path) -> None:
    simcore("run", "restaurant_booking", "--policy", "rassg", "--out", "r", "-q", cwd=tmp_path)
    done = simcore("timeline", "r", "late-corrected", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    drawn = sorted(path.suffix for path in (tmp_path / "r" / "timelines").iterdir())
    assert drawn == [".json", ".png", ".svg"]
    done = simcore("timeline", "r", "late-correct", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.strip().endswith("did you mean 'late-corrected'?")


def test_a_failed_gate_is_exit_code_1(tmp_path: Path) -> None:
    done = simcore(
        *("run", "restaurant_booking", "--out", "r"),
        *("--set", "gates={success_rate: {min: 1.0, policy: rassg}, cost: {max: 0.1}}"),
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "gate failed" in done.stdout


def test_quiet_still_says_what_failed(tmp_path: Path) -> None:
    words = ("run", "restaurant_booking", "--out", "r", "-q", "--set", "gates={cost: {max: 0}}")
    done = simcore(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert "gate failed" in done.stderr


def test_a_policy_that_raises_ends_in_failure_rows_and_exit_code_1(tmp_path: Path) -> None:
    (tmp_path / "raising.py").write_text(RAISING)
    words = ("run", "restaurant_booking", "--policy", "eou,raising.py:Raises", "--out", "r")
    done = simcore(*words, cwd=tmp_path)
    assert done.returncode == 1
    assert "no idea" in done.stdout
    assert "Traceback" not in done.stderr
    frame = pl.read_parquet(tmp_path / "r" / "trajectories.parquet")
    failed = frame.filter(pl.col("failure") == "policy_error")
    assert failed["seed"].to_list() == [7] * failed.height
    assert failed.height == frame.height // 2


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("run", "restaurant_bookin"), "did you mean 'restaurant_booking'?"),
        (("run", "restaurant_booking", "--policy", "rasg"), "did you mean 'rassg'?"),
        (("run", "restaurant_booking", "--policy", "eou,"), "empty name"),
        (("run", "restaurant_booking", "--policy", "eou,eou"), "names 'eou' twice"),
        (("run", "restaurant_booking", "--policy", "no.py:X"), "no file '"),
        (("run", "restaurant_booking", "--set", "sead=3"), "did you mean 'seed'?"),
        (("run", "restaurant_booking", "--set", "control.period=0"), "control.period"),
        (("run", "restaurant_booking", "--format", "pdf"), "no report format 'pdf'"),
        (("run", "restaurant_booking", "--traces", "nowhere.jsonl"), "nowhere.jsonl"),
        (("run", "restaurant_booking", "--out", "."), "not empty"),
        (("schema", "scenari"), "did you mean 'scenario'?"),
        (("validate", "nothing.yaml"), "nothing.yaml"),
        (("timeline", "nowhere", "r"), "not the folder of a run"),
    ],
)
def test_a_mistake_is_one_line(words: tuple[str, ...], complaint: str, tmp_path: Path) -> None:
    (tmp_path / "something").touch()
    done = simcore(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert complaint in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["something"]


def test_validate_prints_every_fault(tmp_path: Path) -> None:
    (tmp_path / "two.yaml").write_text("schema: scenario/v1\nname: x\nnam: y\nactions: []\n")
    done = simcore("validate", "two.yaml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("error: two.yaml") >= 3
    assert simcore("validate", "two.yaml", "three.yaml", cwd=tmp_path).stderr.count("three") == 1


def test_registered_things_are_listed() -> None:
    printed = simcore("policies").stdout
    assert "rassg            " in printed
    names = {line.split()[0] for line in printed.splitlines()}
    assert {"eou", "clairvoyant", "commit_guard"} <= names
    assert "whisper" in simcore("frontends").stdout
    assert json.loads(simcore("schema", "trace").stdout)["type"] == "object"


def test_an_internal_error_is_one_line_and_exit_code_3() -> None:
    code = (
        "import sys; sys.argv = ['simcore', 'policies']\n"
        "from simcore.cli import main\n"
        "main._add_plugins = lambda: 1 / 0\n"
        "main.main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr.startswith("internal error: ZeroDivisionError")
    assert done.stderr.count("\n") == 1
