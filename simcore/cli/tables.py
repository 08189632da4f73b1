"""`simcore tables`: the paper's two tables, their ablations and controls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simcore.cli import run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.report.sections import Section
    from simcore.scenario import Scenario
    from simcore.sweep import Panels


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("tables")(tables_command)


def tables_command(
    scenario: Annotated[str, typer.Argument(help="A scenario file, or a shipped one.")] = "tables",
    policy: run.PolicyOption = None,
    traces: run.TracesOption = None,
    set_: run.SetOption = None,
    seed: run.SeedOption = None,
    jobs: run.JobsOption = 1,
    out: Annotated[Path, typer.Option(help="The run's folder.")] = Path("runs/tables"),
    formats: run.FormatOption = "json,md,html",
    quality: Annotated[
        Path | None, typer.Option(help="A quality.json of 'simcore train evaluate --out'.")
    ] = None,
    quiet: run.QuietOption = False,
    verbose: run.VerboseOption = False,
) -> None:
    """Tables 1 and 2 beside the paper's.

    Every other checkpoint in the traces is a control, as 'simcore train controls' writes them.
    """
    from simcore.report.study import with_controls

    def study(panels: Panels, scenario: Scenario) -> Sequence[Section]:
        from simcore.report.paper_tables import sections
        from simcore.report.quality import quality_section
        from simcore.report.study import build_study
        from simcore.timeline.remaining import remaining_stale
        from simcore.timeline.telling import telling_cases

        told = sections(build_study(panels, scenario))
        told[3:3] = [*remaining_stale(panels, scenario), *telling_cases(panels, scenario)]
        return told if quality is None else [*told, quality_section(quality)]

    if quality is not None:
        from simcore.report.quality import quality_section

        quality_section(quality)  # a faulty file is told before the work is done
    policies = None if policy is None else run.names_in(policy, "--policy")
    request = run.request_of(scenario, policies, traces, set_ or (), seed)
    wanted = run.names_in(formats, "--format")
    run.execute(
        request,
        out,
        wanted,
        jobs,
        events=False,
        quiet=quiet,
        verbose=verbose,
        prepare=with_controls,
        study=study,
    )
