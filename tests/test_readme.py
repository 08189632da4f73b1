"""Every example in the README runs, and prints what it says."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
NAMED = re.compile(r"# (\w+\.(?:py|yaml))\n")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the README tells to write."""
    place = tmp_path_factory.mktemp("readme")
    for language, text in BLOCKS:
        if language in ("python", "yaml") and (name := NAMED.match(text)):
            (place / name[1]).write_text(text)
    return place


def _commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a console block with the lines it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def _run(words: list[str], folder: Path) -> str:
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_commands_print_what_the_readme_says(folder: Path) -> None:
    commands = [pair for kind, text in BLOCKS if kind == "console" for pair in _commands(text)]
    assert len(commands) >= 5
    for command, expected in commands:
        tool, *words = shlex.split(command)
        assert tool == "simcore"
        printed = _run([sys.executable, "-m", "simcore", *words], folder).splitlines()
        if "..." in expected:
            expected = expected[: expected.index("...")]
            printed = printed[: len(expected)]
        assert printed == expected, command


def test_python_examples_run(folder: Path) -> None:
    examples = [text for kind, text in BLOCKS if kind == "python" and not NAMED.match(text)]
    assert examples
    for number, text in enumerate(examples):
        file = folder / f"example_{number}.py"
        file.write_text(text)
        _run([sys.executable, "-W", "error", str(file)], folder)


def test_the_policy_and_its_tests_hold(folder: Path) -> None:
    printed = _run([sys.executable, "-m", "pytest", "-q", "test_patient.py"], folder)
    assert "2 passed" in printed


def test_the_files_it_names_exist() -> None:
    text = (ROOT / "README.md").read_text()
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert link.startswith("https://") or (ROOT / link).exists(), link
