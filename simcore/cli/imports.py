"""`simcore import`: an agent's own log into traces."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import Annotated

import typer

from simcore.errors import InputError


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("import")(import_command)


def import_command(
    format: Annotated[str, typer.Argument(metavar="FORMAT", help="See `simcore importers`.")],
    file: Annotated[Path, typer.Argument(help="The log.")],
    out: Annotated[Path, typer.Option(help="The traces to write: .jsonl or .parquet.")],
    tools: Annotated[
        Path | None, typer.Option(help="A catalogue (actions/v1) of the tools that are called.")
    ] = None,
) -> None:
    """Turn an agent's own log into traces."""
    from simcore.files.scenarios import load_actions
    from simcore.files.traces import write_traces
    from simcore.registry import load

    read = load("importers", format)
    catalogue = None if tools is None else load_actions(tools)
    if not file.is_file():
        raise InputError("there is no such file", file=str(file))
    recordings = read(file, catalogue)
    write_traces(out, recordings)
    count = len(recordings)
    typer.echo(f"{out}: {count} recording{'' if count == 1 else 's'}")
