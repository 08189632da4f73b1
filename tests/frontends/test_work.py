"""Work in processes: all of it is done, and none goes on when the caller was killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from frontends.work import run_all


def write(path: Path) -> None:
    path.write_text(str(os.getpid()))


def linger(path: Path) -> None:
    write(path)
    time.sleep(60)


def test_every_task_is_done_in_other_processes(tmp_path: Path) -> None:
    paths = [tmp_path / str(number) for number in range(4)]
    told: list[tuple[int, int]] = []
    run_all(
        write, paths, jobs=2, label="", progress=lambda _, done, total: told.append((done, total))
    )
    assert told[-1] == (4, 4)
    assert all(path.read_text() != str(os.getpid()) for path in paths)


KILLED = """
import sys
from pathlib import Path
import pytest

from frontends.work import run_all
from tests.frontends.test_work import linger
if __name__ == "__main__":
    run_all(linger, [Path(sys.argv[1])], jobs=1, label="", progress=lambda *told: None)
"""


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks for the worker in /proc")
def test_workers_end_when_their_caller_is_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(KILLED)
    mark = tmp_path / "pid"
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    caller = subprocess.Popen(
        [sys.executable, script, mark], env={**os.environ, "PYTHONPATH": path}
    )
    try:
        wait_for(lambda: mark.is_file() and mark.read_text() != "")
    finally:
        caller.kill()
        caller.wait()
    worker = Path("/proc") / mark.read_text()
    wait_for(lambda: not worker.exists() or "Z" in (worker / "stat").read_text().split()[2])


def wait_for(happens, seconds: float = 50) -> None:  # type: ignore[no-untyped-def]
    until = time.monotonic() + seconds
    while not happens():
        assert time.monotonic() < until
        time.sleep(0.05)
