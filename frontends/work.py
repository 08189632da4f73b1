"""Runs tasks in processes of one thread each, and shows how far they are."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Progress = Callable[[str, int, int], None]

Task = TypeVar("Task")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_LINE_EVERY = 10.0
"""Seconds between progress lines where no terminal shows a bar."""


def run_all(
    function: Callable[[Task], object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    label: str,
    progress: Progress,
    done: int = 0,
    size: Callable[[Task], int] = lambda task: 1,
) -> None:
    """Call `function` on every task, in `jobs` processes; in this one where `jobs` is 0.

    `progress(label, done, total)` is told after each task; `done` counts what was there before,
    `size` weighs a task. The first exception ends the run; tasks that finished stay finished.
    """
    total = done + sum(map(size, tasks))
    progress(label, done, total)
    if not tasks:
        return
    if jobs == 0:
        for task in tasks:
            function(task)
            done += size(task)
            progress(label, done, total)
        return
    with (
        _one_thread_each(),
        ProcessPoolExecutor(min(jobs, len(tasks)), mp_context=get_context("spawn")) as pool,
    ):
        futures = {pool.submit(function, task): size(task) for task in tasks}
        try:
            for future in as_completed(futures):
                future.result()
                done += futures[future]
                progress(label, done, total)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Children inherit the environment; numeric libraries read it when they load."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def show_progress() -> Iterator[Progress]:
    """A bar with an estimate on a terminal; elsewhere, or where CI is set, a line now and then."""
    from rich.console import Console

    console = Console(stderr=True)
    if console.is_terminal and not os.environ.get("CI"):
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        columns: tuple[Any, ...] = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )
        with Bar(*columns, console=console) as bar:
            shown: dict[str, Any] = {}

            def draw(label: str, done: int, total: int) -> None:
                if label not in shown:
                    shown[label] = bar.add_task(label, total=total)
                bar.update(shown[label], completed=done, total=total)

            yield draw
        return
    yield _lines(console.print)


def _lines(say: Callable[[str], None]) -> Progress:
    begun: dict[str, tuple[float, int]] = {}
    last: dict[str, float] = {}

    def tell(label: str, done: int, total: int) -> None:
        now = time.monotonic()
        start, before = begun.get(label, (now, done))
        if done <= before:
            begun[label] = start, before = now, done
        if done < total and now - last.get(label, -_LINE_EVERY) < _LINE_EVERY:
            return
        last[label] = now
        line = f"{label}: {done} of {total}"
        if before < done < total:
            left = (now - start) / (done - before) * (total - done)
            line += (
                f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"
            )
        say(line)

    return tell
