"""The forecast controls say what their names say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from predictors.controls import CONTROLS, with_controls
from predictors.labels import observe
from simcore import read_traces, run
from simcore.errors import UsageError
from simcore.files.scenarios import load_scenario

if TYPE_CHECKING:
    from simcore.trace import Recording

PACK = Path(__file__).parents[2] / "scenarios" / "packs" / "recast"
PERIOD = 320_000


@pytest.fixture(scope="module")
def recordings() -> tuple[Recording, ...]:
    traces = read_traces(PACK / "test.parquet")[::3]
    other = [replace(r, forecasts=(replace(r.forecasts[0], checkpoint="gru-0"),)) for r in traces]
    both = [
        replace(r, forecasts=(*r.forecasts[:1], *o.forecasts))
        for r, o in zip(traces, other, strict=True)
    ]
    return with_controls(both, read_traces(PACK / "train.parquet"), PERIOD, seed=3)


def test_every_recording_has_every_control(recordings: tuple[Recording, ...]) -> None:
    for recording in recordings:
        names = [f.checkpoint for f in recording.forecasts]
        assert names == ["hazard", "gru-0", *CONTROLS, "hazard-permuted", "gru-0-permuted"]


def test_adding_controls_twice_changes_nothing(recordings: tuple[Recording, ...]) -> None:
    assert with_controls(recordings, read_traces(PACK / "train.parquet"), PERIOD, 3) == recordings


def test_the_base_rate_is_that_of_training(recordings: tuple[Recording, ...]) -> None:
    source = read_traces(PACK / "train.parquet")
    stood = [o.outcomes == (11,) for r in source for o in observe(r, PERIOD)]
    forecasts = [recording.forecast("base-rate") for recording in recordings]
    (constant,) = {p for forecast in forecasts if forecast is not None for p in forecast.p_bad}
    assert constant == pytest.approx(1 - sum(stood) / len(stood), abs=0.01)


def test_the_oracle_knows_what_is_wrong(recordings: tuple[Recording, ...]) -> None:
    for recording in recordings:
        oracle, always = recording.forecast("oracle"), recording.forecast("always")
        assert oracle is not None
        assert always is not None
        said = [a.argument for a in recording.arrivals if a.argument is not None]
        assert set(always.p_bad) == ({1.0} if said else set())
        # Of the version that was heard last: an empty argument leaves it as it is.
        ends = [said[0] != recording.target, said[-1] != recording.target] if said else []
        assert [*oracle.p_bad[:1], *oracle.p_bad[-1:]] == ends


def test_the_veto_with_the_truth_is_bounded_by_both_baselines(
    recordings: tuple[Recording, ...],
) -> None:
    scenario = load_scenario("recast_prospective", policies=["rassg", "eou", "rassg-no-cancel"])
    scenario = replace(
        scenario,
        recordings=recordings[:40],
        checkpoints=("oracle", "always"),
        actions=scenario.actions[:2],
    )
    frame = run(scenario)
    oracle = frame.filter(policy="rassg", checkpoint="oracle")
    always = frame.filter(policy="rassg", checkpoint="always")
    kept = frame.filter(policy="rassg-no-cancel")
    assert oracle["stale"].sum() < kept["stale"].sum() / 4
    assert oracle["delay_s"].mean() < always["delay_s"].mean()  # type: ignore[operator]
    assert oracle["cost"].mean() < min(always["cost"].mean(), kept["cost"].mean())  # type: ignore


def test_what_cannot_be_controlled_is_refused(recordings: tuple[Recording, ...]) -> None:
    with pytest.raises(UsageError, match="no target"):
        with_controls([replace(recordings[0], labelled=False)], recordings, PERIOD, 0)
    with pytest.raises(UsageError, match="two groups"):
        with_controls([recordings[0]], recordings, PERIOD, 0)
    bare = [replace(recording, forecasts=()) for recording in recordings]
    with pytest.raises(UsageError, match="no forecasts yet"):
        with_controls(bare, recordings, PERIOD, 0)
