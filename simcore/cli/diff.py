"""`simcore diff`: two finished runs beside each other."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import Annotated

import typer

from simcore.errors import UsageError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("diff")(diff_command)


def diff_command(
    base: Annotated[Path, typer.Argument(help="A run's folder.")],
    other: Annotated[Path, typer.Argument(help="The folder of the run that is held against it.")],
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=VALUE",
            help="Only trajectories with this value, such as subset=prospective.",
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A Markdown file to write.")] = None,
) -> None:
    """What changed from one run to another.

    Pairs their trajectories by policy, recording, action, checkpoint and replication, whatever else
    differs: the parser of the recordings, the tools, the code.
    """
    from rich.console import Console

    from simcore.files.atomic import write_atomic
    from simcore.report.diff import diff_runs, grids, notes

    found = diff_runs(base, other, dict(_pair(text) for text in where or ()))
    tables, told = grids(found), list(notes(found))
    if out is not None:
        parts = [part for grid in tables for part in (f"**{grid.title}**", grid.markdown())]
        write_atomic(out, "\n\n".join([*parts, *told, ""]).encode())
    console = Console()
    for grid in tables:
        if console.is_terminal:
            console.print(grid)
        else:
            print(grid)
        print()
    for line in told:
        print(line, file=sys.stderr)


def _pair(text: str) -> tuple[str, str]:
    column, mark, value = text.partition("=")
    if not (column and mark):
        raise UsageError(f"--where '{text}' is not COLUMN=VALUE")
    return column, value
