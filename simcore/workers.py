"""Processes that work for this one, and end with it."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from threading import Thread


def worker_pool(jobs: int) -> ProcessPoolExecutor:
    """A pool of spawned processes (polars' threads do not survive a fork).

    A worker whose caller was killed ends within a second, instead of staying for ever.
    """
    return ProcessPoolExecutor(
        jobs, mp_context=get_context("spawn"), initializer=_end_with, initargs=(os.getpid(),)
    )


def _end_with(parent: int) -> None:
    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    Thread(target=watch, daemon=True).start()
