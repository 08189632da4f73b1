"""`simcore train`: fit predictors, write their forecasts into traces, say how good they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from predictors.training import Dataset
    from simcore.trace import Recording

app = typer.Typer(
    name="train", help="Fit predictors and add their forecasts to traces.", no_args_is_help=True
)

_Period = Annotated[str, typer.Option(help="Time between two forecasts: the control period.")]
_Traces = Annotated[str, typer.Argument(help="A pack such as recast/test, or a trace file.")]
_Several = Annotated[list[str], typer.Argument(help="Packs or trace files, taken together.")]
_Model = Annotated[Path, typer.Argument(help="A model file, or a folder of GRU checkpoints.")]
_Train = Annotated[str, typer.Option("--train", help="What was trained on.")]
_Selection = Annotated[str, typer.Option("--selection", help="What chooses the epoch.")]
_Calibration = Annotated[str, typer.Option(help="What the calibrator is fitted on.")]
_Scenario = Annotated[str, typer.Option(help="Whose actions and control are meant.")]
_Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")]

TRAIN = "recast/train"
SELECTION = "recast/dev-selection"
CALIBRATION = "recast/dev-calibration"
SCENARIO = "recast_prospective"


@app.command("hazard")
def train_hazard(
    on: Annotated[str, typer.Option(help="The pack or trace file to learn from.")],
    out: Annotated[Path, typer.Option(help="The model file to write (JSON).")],
) -> None:
    """Fit the empirical hazard of supersession by version age and editing phrase."""
    from predictors.baselines import constant
    from predictors.hazard import fit
    from predictors.labels import STEP_US
    from predictors.quality_report import TICKS, Subject, evaluate, overview

    recordings = _read(on)
    model = fit(recordings, on)
    model.save(out)
    done = model.training
    typer.echo(
        f"{out}: {done.recordings} recordings, {done.versions} versions, {done.observations} ticks"
    )
    subjects = (Subject(model), Subject(constant(done.outcomes)))
    typer.echo(overview(evaluate(recordings, subjects, STEP_US), TICKS, f"{on}, all ticks"))


@app.command("gru")
def train_gru(
    train: _Train = TRAIN,
    selection: _Selection = SELECTION,
    calibration: _Calibration = CALIBRATION,
    out: Annotated[
        Path | None, typer.Option(help="The checkpoints' folder [default: gru beside the pack].")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="How many checkpoints.")] = 3,
    epochs: Annotated[int, typer.Option(min=1, help="The most epochs that one may take.")] = 80,
    quiet: _Quiet = False,
) -> None:
    """Train the causal GRU: checkpoints gru-0, gru-1, ... that differ in their seed alone."""
    from predictors.forecast import SAFETENSORS
    from predictors.gru import Settings
    from predictors.network import import_torch
    from predictors.training import train as fit
    from simcore.files.traces import resolve_traces
    from simcore.progress import show_progress

    import_torch()
    settings = Settings(epochs=epochs)
    folder = out or resolve_traces(train, Path()).parent / "gru"
    data, select, calibrate = _datasets(train, selection, calibration)
    for seed in range(seeds):
        with show_progress(quiet=quiet) as progress:
            model = fit(f"gru-{seed}", data, select, calibrate, seed, settings, progress)
        record = model.record
        path = folder / f"{record.checkpoint}{SAFETENSORS}"
        model.save(path)
        typer.echo(
            f"{path}: epoch {record.epoch} of {len(record.selection_loss)}, selection loss "
            f"{record.selection_loss[record.epoch - 1]:.3f}, calibrator a {record.calibrator.a:.2f}"
            f" b {record.calibrator.b:+.2f}, {record.seconds:.0f} s, {path.stat().st_size:,} bytes"
        )


@app.command("forecast")
def write_forecasts(
    traces: Annotated[list[str], typer.Argument(help="Packs or trace files; they are rewritten.")],
    model: Annotated[Path, typer.Option(help="The model file, or a folder of checkpoints.")],
    period: _Period = "320 ms",
) -> None:
    """Add forecasts to traces, in place of the same checkpoints' earlier ones."""
    from predictors.forecast import add_forecasts, load_predictor, model_files
    from simcore.files.traces import resolve_traces

    period_us = _period(period)
    models = {file: load_predictor(file) for file in model_files(model)}
    for path in [resolve_traces(name, Path()) for name in traces]:
        count = add_forecasts(path, models, period_us)
        names = ", ".join(predictor.checkpoint for predictor in models.values())
        typer.echo(f"{path}: {names} on {count} recordings")


@app.command("evaluate")
def print_quality(
    model: _Model,
    traces: _Several,
    out: Annotated[
        Path | None, typer.Option(help="A folder for quality.md, quality.json, reliability.svg.")
    ] = None,
    baselines: Annotated[
        bool, typer.Option(help="Fit cue words, the hazard and logistic regression to compare.")
    ] = True,
    train: _Train = TRAIN,
    selection: _Selection = SELECTION,
    calibration: _Calibration = CALIBRATION,
    scenario: _Scenario = SCENARIO,
    period: _Period = "320 ms",
    quiet: _Quiet = False,
) -> None:
    """Score a model on traces, beside the base rate and baselines fitted on what trained it.

    At all ticks, and at the last chances to veto a call of the scenario's actions.
    """
    from predictors.evaluation import about, fit_baselines, subjects_of
    from predictors.forecast import load_predictors
    from predictors.quality_report import TICKS, VETO, evaluate, overview, write_quality
    from simcore.files.scenarios import load_scenario
    from simcore.progress import show_progress

    models, period_us = load_predictors(model), _period(period)
    recordings, together = _join(traces), ", ".join(traces)
    subjects = subjects_of(models)
    chosen = load_scenario(scenario)
    with show_progress(quiet=quiet) as progress:
        if baselines:
            parts = _datasets(train, selection, calibration)
            subjects = (subjects[0], *fit_baselines(*parts, progress), *subjects[1:])
        entries = evaluate(
            recordings, subjects, period_us, chosen.actions, chosen.control, progress
        )
    for where, title in ((TICKS, "all ticks"), (VETO, "last chances to veto")):
        typer.echo(overview(entries, where, f"{together}, {title}"))
    facts = about(together, recordings, models, period_us)
    typer.echo(f"A forecast takes {facts['tick_us']:.0f} us a tick")
    if out is not None:
        write_quality(out, entries, facts)
        typer.echo(f"{out}: quality.md, quality.json, reliability.svg")


@app.command("threshold")
def choose_threshold(
    traces: _Traces = SELECTION,
    subset: Annotated[str | None, typer.Option(help="Only the recordings of one subset.")] = None,
    out: Annotated[Path | None, typer.Option(help="The JSON file to write.")] = None,
    scenario: _Scenario = SCENARIO,
) -> None:
    """The confidence policy's threshold with the lowest mean realized cost, and the curve."""
    from dataclasses import replace

    from predictors.threshold import curve, document, table
    from simcore.errors import UsageError
    from simcore.files.atomic import write_atomic
    from simcore.files.scenarios import load_scenario

    recordings = [r for r in _read(traces) if subset in (None, r.subset)]
    if not recordings:
        raise UsageError(f"--subset: no recording of {traces} has the subset '{subset}'")
    chosen = replace(load_scenario(scenario), recordings=tuple(recordings), checkpoints=())
    points = curve(chosen)
    typer.echo(table(points))
    if out is not None:
        text = json.dumps(document(chosen, traces, points), indent=1) + "\n"
        write_atomic(out, text.encode())
        typer.echo(f"{out}: written")


@app.command("split")
def split_pack(
    traces: _Traces,
    out: Annotated[Path, typer.Option(help="The folder for the three packs.")],
    seed: Annotated[int, typer.Option(min=0, help="Which groups go where.")] = 0,
) -> None:
    """Divide a pack by groups: 70 % to train, 15 % each to select and to calibrate."""
    from predictors.splits import split
    from simcore.files.traces import write_traces

    for name, part in split(_read(traces), seed).items():
        path = out / f"{name}.parquet"
        write_traces(path, part, provenance={"traces": traces, "split_seed": seed})
        typer.echo(f"{path}: {len(part)} recordings")


@app.command("controls")
def write_controls(
    traces: _Several,
    out: Annotated[Path, typer.Option(help="The trace file to write: .parquet or .jsonl.")],
    train: _Train = TRAIN,
    period: _Period = "320 ms",
    seed: Annotated[int, typer.Option(min=0, help="Who lends whom the permuted forecasts.")] = 0,
) -> None:
    """Write traces with controls beside their forecasts, to hold these against."""
    from predictors.controls import with_controls
    from simcore.files.traces import write_traces

    recordings = with_controls(_join(traces), _read(train), _period(period), seed)
    write_traces(out, recordings)
    names = ", ".join(forecast.checkpoint for forecast in recordings[0].forecasts)
    typer.echo(f"{out}: checkpoints {names}")


def _datasets(*names: str) -> tuple[Dataset, Dataset, Dataset]:
    from predictors.training import Dataset

    train, selection, calibration = (Dataset.of(name, _read(name)) for name in names)
    return train, selection, calibration


def _join(names: Sequence[str]) -> tuple[Recording, ...]:
    """The recordings of several traces; raises `UsageError` for one that comes twice."""
    from simcore.errors import UsageError

    found: dict[str, Recording] = {}
    for name in names:
        for recording in _read(name):
            if recording.recording_id in found:
                raise UsageError(f"{name}: '{recording.recording_id}' came before")
            found[recording.recording_id] = recording
    return tuple(found.values())


def _read(name: str) -> tuple[Recording, ...]:
    from simcore.files.traces import read_traces, resolve_traces

    return read_traces(resolve_traces(name, Path()))


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
