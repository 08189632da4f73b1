"""How far long work has come: a bar on a terminal, plain lines where the output is piped."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(what: str, *, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A callback `(done, total)` that shows the progress on standard error."""
    if quiet:
        yield lambda done, total: None
        return
    if not sys.stderr.isatty() or os.environ.get("CI"):
        yield _lines(what)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), Remaining())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(what: str) -> Callable[[int, int], None]:
    shown = 0

    def show(done: int, total: int) -> None:
        nonlocal shown
        quarter = 4 * done // max(1, total)
        if quarter > shown:
            shown = quarter
            print(f"{what}: {done:,} of {total:,}", file=sys.stderr)

    return show
