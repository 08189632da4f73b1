"""Commands that look and run nothing: validate, schema, and what is registered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from simcore.errors import InputErrors, SimcoreError, UsageError, nearest
from simcore.registry import first_line, load, registered

if TYPE_CHECKING:
    from collections.abc import Callable


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    app.command("validate")(validate_command)
    app.command("schema")(schema_command)
    for group in ("policies", "frontends", "importers"):
        app.command(group, help=f"List the registered {group}.")(_lister(group))


def validate_command(
    files: Annotated[list[str], typer.Argument(help="Scenario and trace files.")],
) -> None:
    """Print every fault of scenarios and traces."""
    from simcore.files.scenarios import validate_files

    faults = validate_files(files)
    if faults:
        raise InputErrors(faults)
    print(f"{len(files)} file{'s' if len(files) > 1 else ''}: no faults")


def schema_command(
    kind: Annotated[str, typer.Argument(metavar="scenario|trace")],
) -> None:
    """Print a file format's JSON Schema."""
    import json

    from simcore.files.schema import json_schema

    if kind not in ("scenario", "trace"):
        raise UsageError(f"no schema '{kind}'{nearest(kind, ('scenario', 'trace'))}")
    json.dump(json_schema(kind), sys.stdout, indent=2)  # type: ignore[arg-type]
    print()


def _lister(group: str) -> Callable[[], None]:
    def command() -> None:
        names = registered(group)
        width = max(map(len, names), default=0)
        for name in names:
            try:
                about = first_line(load(group, name))
            except SimcoreError as error:
                about = f"({error})"
            print(f"{name:<{width}}  {about}")
        if not names:
            print(f"no {group} are registered")

    return command
