"""`simcore train`: fit predictors, write their forecasts into traces, say how good they are."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from predictors.quality import Scores

app = typer.Typer(
    name="train", help="Fit predictors and add their forecasts to traces.", no_args_is_help=True
)

_Period = Annotated[str, typer.Option(help="Time between two forecasts: the control period.")]
_Traces = Annotated[str, typer.Argument(help="A pack such as pilot/test, or a trace file.")]


@app.command("hazard")
def train_hazard(
    on: Annotated[str, typer.Option(help="The pack or trace file to learn from.")],
    out: Annotated[Path, typer.Option(help="The model file to write (JSON).")],
) -> None:
    """Fit the empirical hazard of supersession by version age and editing phrase."""
    from predictors.hazard import fit
    from predictors.labels import STEP_US
    from predictors.quality import base_rate, evaluate
    from simcore.files.traces import read_traces, resolve_traces

    recordings = read_traces(resolve_traces(on, Path()))
    model = fit(recordings, on)
    model.save(out)
    done = model.training
    typer.echo(
        f"{out}: {done.recordings} recordings, {done.versions} versions, {done.observations} ticks"
    )
    base = base_rate(done.outcomes)
    _print_scores(on, ("hazard", "base rate"), evaluate(recordings, model, STEP_US, base))


@app.command("forecast")
def write_forecasts(
    traces: Annotated[list[str], typer.Argument(help="Packs or trace files; they are rewritten.")],
    model: Annotated[Path, typer.Option(help="The model file.")],
    period: _Period = "320 ms",
) -> None:
    """Add a model's forecasts to traces, in place of its earlier ones."""
    from predictors.forecast import add_forecasts, load_predictor
    from simcore.files.traces import resolve_traces

    predictor, period_us = load_predictor(model), _period(period)
    for path in [resolve_traces(name, Path()) for name in traces]:
        count = add_forecasts(path, predictor, model, period_us)
        typer.echo(f"{path}: {predictor.checkpoint} on {count} recordings")


@app.command("evaluate")
def print_quality(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    traces: _Traces,
    period: _Period = "320 ms",
) -> None:
    """Score a model on traces, beside the constant base rate of what it was fitted on."""
    from predictors.forecast import load_predictor
    from predictors.quality import base_rate, evaluate
    from simcore.files.traces import read_traces, resolve_traces

    predictor, period_us = load_predictor(model), _period(period)
    recordings = read_traces(resolve_traces(traces, Path()))
    scores = evaluate(recordings, predictor, period_us, base_rate(predictor.outcomes))
    _print_scores(traces, (predictor.checkpoint, "base rate"), scores)


@app.command("controls")
def write_controls(
    model: Annotated[Path, typer.Argument(help="The model file.")],
    traces: _Traces,
    out: Annotated[Path, typer.Option(help="The trace file to write: .parquet or .jsonl.")],
    period: _Period = "320 ms",
    seed: Annotated[int, typer.Option(min=0, help="Who lends whom the permuted forecasts.")] = 0,
) -> None:
    """Write traces with a model's forecasts and controls to hold them against."""
    from predictors.controls import CONTROLS, with_controls
    from predictors.forecast import load_predictor
    from simcore.files.traces import read_traces, resolve_traces, write_traces

    predictor, period_us = load_predictor(model), _period(period)
    recordings = read_traces(resolve_traces(traces, Path()))
    write_traces(out, with_controls(recordings, predictor, period_us, seed))
    typer.echo(f"{out}: checkpoints {', '.join((predictor.checkpoint, *CONTROLS))}")


def _period(text: str) -> int:
    from simcore.clock import parse_duration
    from simcore.errors import UsageError

    try:
        period_us = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--period: {error}") from None
    if period_us == 0:
        raise UsageError("--period: must be above 0")
    return period_us


def _print_scores(traces: str, names: Sequence[str], scores: Sequence[Scores]) -> None:
    typer.echo(f"{traces}: {scores[0].n} ticks; lower is better")
    typer.echo(f"{'':12}{'NLL':>10}{'Brier, superseded':>20}{'Brier, wrong':>15}")
    for name, row in zip(names, scores, strict=True):
        values = (row.nll, row.brier_superseded, row.brier_wrong)
        cells = ("-" if value is None else f"{value:.4f}" for value in values)
        typer.echo("{:12}{:>10}{:>20}{:>15}".format(name, *cells))
