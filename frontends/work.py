"""Runs tasks in processes of one thread each."""

from __future__ import annotations

import os
from concurrent.futures import as_completed
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from simcore.workers import worker_pool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from simcore.progress import Progress

Task = TypeVar("Task")

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_all(
    function: Callable[[Task], object],
    tasks: Sequence[Task],
    *,
    jobs: int,
    label: str,
    progress: Progress,
    done: int = 0,
    size: Callable[[Task], int] = lambda task: 1,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Call `function` on every task, in `jobs` processes; in this one where `jobs` is 0.

    `progress(label, done, total)` is told after each task; `done` counts what was there before,
    `size` weighs a task. The first exception ends the run; tasks that finished stay finished.
    `stop` is asked after each task: once it says so, tasks in work are finished, the rest is left.
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
            if stop():
                return
        return
    with (
        _one_thread_each(),
        worker_pool(min(jobs, len(tasks))) as pool,
    ):
        futures = {pool.submit(function, task): size(task) for task in tasks}
        try:
            for future in as_completed(futures):
                future.result()
                done += futures[future]
                progress(label, done, total)
                if stop():
                    pool.shutdown(cancel_futures=True)
                    return
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
