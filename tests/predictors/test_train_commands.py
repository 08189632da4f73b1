"""`simcore train`: a model from traces, its forecasts on them, its scores."""

from __future__ import annotations

import json
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from predictors.commands import app
from predictors.forecast import add_forecasts, load_predictor
from predictors.hazard import fit
from simcore.errors import InputError, SimcoreError, UsageError
from simcore.files.traces import read_traces, write_traces
from simcore.trace import Arrival, Forecast, Recording, Repair

if TYPE_CHECKING:
    from pathlib import Path

THREE = '{"arguments":{"time":"15:00"},"tool":"book"}'
FOUR = '{"arguments":{"time":"16:00"},"tool":"book"}'


def recording(name: str, texts: list[str], *, corrected: bool) -> Recording:
    """One arrival a text; a corrected one ends with the other argument."""
    times = [n * 960_000 for n in range(1, len(texts) + 1)]
    return Recording(
        recording_id=name,
        audio_end_us=times[-1],
        arrivals=tuple(
            Arrival(
                time,
                time + 100_000,
                text,
                0.9,
                FOUR if corrected and time == times[-1] else THREE,
                time == times[-1],
            )
            for time, text in zip(times, texts, strict=True)
        ),
        labelled=True,
        target=FOUR if corrected else THREE,
        repairs=(Repair(times[-1] - 1_500_000, times[-1], "prospective"),) if corrected else (),
    )


STABLE = ["at three", "at three please", "at three please thanks", "at three please thanks"]
CORRECTED = ["at three", "at three no", "at three no wait", "at three no wait four"]
PACK = (
    recording("stable", STABLE, corrected=False),
    recording("corrected", CORRECTED, corrected=True),
)


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    path = tmp_path / "pack.jsonl"
    write_traces(path, PACK, provenance={"recipe": "by hand", "seed": 3})
    return path


def simcore_train(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_fit_forecast_evaluate(traces: Path) -> None:
    model = traces.with_name("hazard.json")
    fitted = simcore_train("hazard", "--on", traces, "--out", model)
    assert "2 recordings, 3 versions" in fitted
    assert "base-rate" in fitted
    simcore_train("forecast", "--model", model, traces)
    scored = simcore_train("evaluate", model, traces, "--no-baselines", "-q")
    assert set(fitted.splitlines()[2:]) < set(scored.splitlines())
    assert "last chances to veto" in scored

    after = read_traces(traces)
    assert [replace(r, forecasts=()) for r in after] == list(PACK)
    expected = [fit(PACK, str(traces)).forecast(r, 320_000) for r in PACK]
    assert [r.forecast("hazard") for r in after] == expected
    assert json.loads(traces.with_suffix(".provenance.json").read_text()) == {
        "recipe": "by hand",
        "seed": 3,
        "forecasts": {
            "hazard": {
                "model": "hazard.json",
                "sha256": sha256(model.read_bytes()).hexdigest(),
                "period_us": 320_000,
            }
        },
    }


def test_several_traces_are_taken_together_and_none_twice(traces: Path) -> None:
    model = traces.with_name("hazard.json")
    simcore_train("hazard", "--on", traces, "--out", model)
    noisy = traces.with_name("noisy.jsonl")
    copies = [replace(r, recording_id=f"{r.recording_id}-10db", noise="10 dB") for r in PACK]
    write_traces(noisy, copies)
    simcore_train("forecast", "--model", model, traces, noisy)
    out = traces.with_name("both.jsonl")
    simcore_train("controls", traces, noisy, "--train", traces, "--out", out)
    assert [r.recording_id for r in read_traces(out)] == [r.recording_id for r in (*PACK, *copies)]
    arguments = ["evaluate", model, traces, noisy, "--no-baselines", "-q", "--out", out.parent]
    assert f"{traces}, {noisy}, all ticks" in simcore_train(*arguments)
    assert json.loads((out.parent / "quality.json").read_text())["recordings"] == 4
    with pytest.raises(UsageError, match="'stable' came before"):
        simcore_train("controls", traces, traces, "--train", traces, "--out", out)


def test_forecasting_twice_and_fitting_again_change_nothing(traces: Path) -> None:
    model = traces.with_name("hazard.json")
    simcore_train("hazard", "--on", traces, "--out", model)
    simcore_train("forecast", "--model", model, traces)
    files = [traces, model, traces.with_suffix(".provenance.json")]
    before = [file.read_bytes() for file in files]
    simcore_train("hazard", "--on", traces, "--out", model)
    simcore_train("forecast", "--model", model, traces)
    assert [file.read_bytes() for file in files] == before


def test_another_checkpoints_forecast_stays(traces: Path) -> None:
    other = Forecast("gru-0", (320_000,), (0.5,))
    write_traces(traces, [replace(r, forecasts=(other,)) for r in PACK])
    model = traces.with_name("hazard.json")
    fit(PACK, "pack").save(model)
    add_forecasts(traces, {model: load_predictor(model)}, 640_000)
    for row in read_traces(traces):
        assert row.forecast("gru-0") == other
        hazard = row.forecast("hazard")
        assert hazard is not None
        assert all(time % 640_000 == 0 for time in hazard.at_us)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"schema": "hazrd/v1"}',
            "no predictor reads the schema 'hazrd/v1'; did you mean 'hazard'",
        ),
        ('{"name": "hazard"}', 'a model file needs a "schema"'),
        ('{"schema": "hazard/v1"', "is no JSON, or is cut short"),
    ],
)
def test_a_file_that_is_no_model_leaves_the_traces_alone(
    traces: Path, text: str, message: str
) -> None:
    before = traces.read_bytes()
    model = traces.with_name("hazard.json")
    model.write_text(text)
    with pytest.raises(InputError, match=message):
        simcore_train("forecast", "--model", model, traces)
    assert traces.read_bytes() == before


@pytest.mark.parametrize("period", ["0 s", "-1", "320 mss"])
def test_a_bad_period(traces: Path, period: str) -> None:
    model = traces.with_name("hazard.json")
    fit(PACK, "pack").save(model)
    with pytest.raises(SimcoreError, match=r"^--period: "):
        simcore_train("forecast", "--model", model, traces, f"--period={period}")
