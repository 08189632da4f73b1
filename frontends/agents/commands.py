"""`simcore agents`: scripts, and what speculation is worth on them; `simcore export-sft`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from simcore.registry import PolicyFactory

app = typer.Typer(
    name="agents", help="Scripts of agents that call while they listen.", no_args_is_help=True
)
# A command of its own, though plug-ins come as groups of them.
export_app = typer.Typer(
    name="export-sft",
    invoke_without_command=True,
    subcommand_metavar="",
    context_settings={"allow_interspersed_args": True},
)

_Out = Annotated[Path, typer.Option(help="The file to write, in JSON Lines.")]
_Seed = Annotated[int, typer.Option(min=0, help="Another seed, other scripts.")]


@app.command("generate")
def generate(
    workload: Annotated[Literal["chains", "dags", "speech"], typer.Argument()],
    out: _Out,
    count: Annotated[int, typer.Option(min=1, help="How many.")] = 200,
    seed: _Seed = 0,
) -> None:
    """Draw scripts: search-only chains, several tools with writes, or natural speech."""
    from frontends.agents.generate import scripts
    from frontends.agents.recipe import RECIPES
    from simcore.files.scripts import write_scripts

    write_scripts(out, scripts(RECIPES[workload], count, seed))
    typer.echo(f"{out}: {count} scripts")


@app.command("report")
def report(
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    count: Annotated[int, typer.Option(min=2, help="Scripts a workload.")] = 400,
    sweep: Annotated[int, typer.Option(min=2, help="Scripts a point of a sweep.")] = 100,
    seed: _Seed = 0,
) -> None:
    """Compare three systems on the same scripts, and show where speculation pays."""
    from frontends.agents.report import write_report
    from simcore.progress import show_progress

    with show_progress() as progress:
        for path in write_report(out, _managers(), count, sweep, seed, progress):
            typer.echo(f"written: {path}")


@export_app.callback()
def export_sft(
    scripts: Annotated[str, typer.Argument(help="A script file, or traces that hold scripts.")],
    out: _Out,
    form: Annotated[
        Literal["ids", "segments"],
        typer.Option("--format", help="Token numbers and labels, or stretches of text."),
    ] = "ids",
) -> None:
    """Write training sequences of agents that are interrupted, from played scripts."""
    from frontends.agents.sft import export
    from simcore.agent.trajectory import script_in
    from simcore.files.traces import read_traces, resolve_traces

    recordings = read_traces(resolve_traces(scripts, Path()))
    found = [script_in(recording) for recording in recordings]
    for path in export(found, _managers(), out, form):  # type: ignore[arg-type]
        typer.echo(f"written: {path}")


def _managers() -> PolicyFactory:
    from simcore.registry import policy_factory

    return policy_factory("speculative_interaction")
