"""`simcore timeline`: one trajectory of a run, as a picture and for Perfetto."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003  (typer reads the annotations)
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from simcore.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command("timeline")(timeline_command)


def timeline_command(
    run_dir: Annotated[Path, typer.Argument(help="The folder of a run.")],
    recording: Annotated[str, typer.Argument(help="A recording_id of that run.")],
    policy: Annotated[str | None, typer.Option(help="A label; the first by default.")] = None,
    action: Annotated[str | None, typer.Option(help="An action; the first by default.")] = None,
    checkpoint: Annotated[str | None, typer.Option(help="The first by default.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Where to draw it: a name in .png, .svg or .json.")
    ] = None,
) -> None:
    """Draw one trajectory of a run.

    Without --out a PNG, an SVG and a Perfetto trace in the run's folder.
    """
    from simcore.cli.run import load_request
    from simcore.experiment import checkpoints_for
    from simcore.files.atomic import write_atomic
    from simcore.registry import policy_factory
    from simcore.report.run_folder import read_scenario
    from simcore.timeline import perfetto, save_timeline, timeline_chart
    from simcore.trajectory import simulate

    scenario = load_request(read_scenario(run_dir, "as_given"))
    trace = _pick("recording", recording, scenario.recordings, lambda item: item.recording_id)
    spec = _pick("policy", policy, scenario.policies, lambda item: item.label)
    profile = _pick("action", action, scenario.actions, lambda item: item.name)
    factory = policy_factory(spec.name, spec.options)
    used = checkpoints_for(scenario, spec, factory)
    if checkpoint is not None and used == (None,):
        raise UsageError(f"policy '{spec.label}' reads no checkpoint here")
    chosen = _pick("checkpoint", checkpoint, used, str)
    result = simulate(
        trace, profile, factory, scenario.control, chosen, seed=scenario.seed, log=True
    )
    title = f"{trace.recording_id}: {spec.label} on {profile.name}"
    stem = f"{trace.recording_id}-{spec.label}-{profile.name}".replace("/", "_")
    folder = run_dir / "timelines"
    paths = [out] if out else [folder / f"{stem}{end}" for end in (".png", ".svg", ".json")]
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            story = perfetto(trace, result.versions, result.log, name=title, checkpoint=chosen)
            write_atomic(path, json.dumps(story).encode())
        else:
            chart = timeline_chart(
                trace,
                profile,
                result.versions,
                result.log,
                title=title,
                checkpoint=chosen,
                control=scenario.control,
            )
            save_timeline(chart, path)
        print(f"written: {path}", file=sys.stderr)


def _pick(kind: str, name: str | None, items: Sequence[T], key: Callable[[T], str]) -> T:
    if name is None:
        return items[0]
    for item in items:
        if key(item) == name:
            return item
    raise UsageError(f"the run has no {kind} '{name}'{nearest(name, map(key, items))}")
