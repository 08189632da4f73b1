"""How far long work has come: a bar on a terminal, plain lines where the output is piped."""

from __future__ import annotations

import os
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Progress = Callable[[str, int, int], None]

_LINE_EVERY = 10.0
"""Seconds between progress lines where no terminal shows a bar."""


@contextmanager
def show_progress(*, quiet: bool = False) -> Iterator[Progress]:
    """A callback `(label, done, total)` that shows progress on standard error.

    A bar with an estimate on a terminal; elsewhere, or where CI is set, a line now and then.
    """
    if quiet:
        yield lambda label, done, total: None
        return
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
        with Bar(*columns, console=console, transient=True) as bar:
            shown: dict[str, Any] = {}

            def draw(label: str, done: int, total: int) -> None:
                if label not in shown:
                    shown[label] = bar.add_task(label, total=total)
                bar.update(shown[label], completed=done, total=total)

            yield draw
        return
    yield _lines(lambda line: print(line, file=sys.stderr))


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
        line = f"{label}: {done:,} of {total:,}"
        if before < done < total:
            left = (now - start) / (done - before) * (total - done)
            line += (
                f", about {left / 60:.0f} min left" if left >= 90 else f", about {left:.0f} s left"
            )
        say(line)

    return tell
