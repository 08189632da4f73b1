"""Entry point: the commands, those of other packages, and what exit codes mean.

0 done, 1 a gate failed or a trajectory did, 2 wrong usage or a faulty file, 3 something is missing
or broken inside.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Annotated

import typer

from simcore.cli import diff, imports, inspect, run, tables, timeline
from simcore.errors import InputErrors, SimcoreError
from simcore.registry import registered

app = typer.Typer(
    name="simcore",
    help="When may a voice agent start a tool call? Simulate the rule you would use.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
run.add_to(app)
tables.add_to(app)
diff.add_to(app)
inspect.add_to(app)
imports.add_to(app)
timeline.add_to(app)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"rassg-sim {version('rassg-sim')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Options that come before any command."""


def _add_plugins() -> None:
    for name, point in registered("commands").items():
        try:
            plugin = point.load()
        except ModuleNotFoundError as error:
            _explain_missing(name, str(error.name))
        else:
            app.add_typer(plugin, name=name)


def _explain_missing(name: str, module: str) -> None:
    @app.command(name, help=f"(needs the module '{module}', which is not installed)")
    def command() -> None:
        typer.echo(f"error: '{name}' needs '{module}', which is not installed", err=True)
        raise typer.Exit(3)


def main() -> None:
    """Run the command line; a person's mistake ends in one line, never in a traceback."""
    try:
        _add_plugins()
        app()
    except InputErrors as error:
        for fault in error.faults:
            print(f"error: {fault}", file=sys.stderr)
        sys.exit(error.exit_code)
    except SimcoreError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader (head, less) has gone; keep Python from complaining at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("SIMCORE_DEBUG"):
            raise
        print(
            f"internal error: {type(error).__name__}: {error}"
            " (set SIMCORE_DEBUG=1 for the traceback)",
            file=sys.stderr,
        )
        sys.exit(3)


if __name__ == "__main__":
    main()
