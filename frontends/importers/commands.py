"""`simcore trace sessions`: generated sessions of a live agent."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import Annotated

import typer


def sessions_command(
    out: Annotated[Path, typer.Option(help="The traces to write: .parquet or .jsonl.")],
    count: Annotated[int, typer.Option(min=1, help="How many sessions.")] = 4_000,
    seed: Annotated[int, typer.Option(min=0, help="The same seed, the same sessions.")] = 7,
) -> None:
    """Generate sessions of a live agent whose user stops, corrects himself, or only speaks."""
    from frontends.importers.sessions import sessions
    from simcore.files.traces import write_traces

    provenance = {
        "recipe": f"simcore trace sessions --count {count} --seed {seed}",
        "synthetic": "every time is drawn; ranges and rates are in frontends/importers/sessions.py",
    }
    write_traces(out, sessions(count, seed), provenance=provenance)
    typer.echo(f"{out}: {count} sessions")
