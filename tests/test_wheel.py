"""The built wheel holds all that its scenarios need, and runs without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files, in a folder of their own."""
    place = tmp_path_factory.mktemp("wheel")
    build = ("wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(place))
    subprocess.run([sys.executable, "-m", "pip", *build, str(ROOT)], check=True)
    (wheel,) = place.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(place / "site")
    return place / "site"


def test_its_scenarios_run_from_it(installed: Path, tmp_path: Path) -> None:
    code = (
        "import sys, simcore; print(simcore.__file__, file=sys.stderr);"
        "from simcore.cli.main import main; main()"
    )
    words = ("run", "recast_prospective", "--policy", "rassg", "--out", "r")
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(installed) in done.stderr
    assert "rassg" in done.stdout


def test_it_holds_nothing_that_is_only_for_developers(installed: Path) -> None:
    top = {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")}
    assert top == {"simcore", "policies", "frontends", "predictors"}
    assert not list(installed.rglob("*.wav"))
    assert (installed / "simcore" / "py.typed").exists()
