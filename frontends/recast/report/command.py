"""`simcore recast report`: trace packs judged by what was said."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report_command(
    packs: Annotated[
        list[str] | None,
        typer.Argument(
            help="Packs by name (recast/test) or file (.parquet, .jsonl); "
            "without any, the recast packs that are here."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder for report.md and its pictures.")] = Path(
        "recast-report"
    ),
) -> None:
    """Report how well the recordings of trace packs were recognized and parsed.

    Counts of recordings by subset, voice, domain, editing phrase and noise; word error rate;
    accuracy of the final and of the intermediate parses; how often a parse changes for the worse;
    distances between values and repairs; decoding times. Rates come with 95 % intervals. The same
    packs give the same files.
    """
    from frontends.recast.report.packs import recast_packs
    from frontends.recast.report.write import report

    missing: list[str] = []
    if not packs:
        packs, missing = recast_packs()
    page = report(packs, out)
    if missing:
        typer.echo(f"not here, so not in the report: {', '.join(missing)}", err=True)
    typer.echo(f"written: {page}")
