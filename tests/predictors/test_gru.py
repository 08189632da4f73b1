"""The GRU: learns, repeats itself, sees no future, and comes back from its file."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from predictors.baselines import constant  # noqa: E402
from predictors.forecast import add_forecasts, load_predictor, load_predictors  # noqa: E402
from predictors.gru import Gru, Settings, rounded  # noqa: E402
from predictors.labels import STEP_US  # noqa: E402
from predictors.quality import label, scores  # noqa: E402
from predictors.training import Dataset, train  # noqa: E402
from simcore.errors import InputError, UsageError  # noqa: E402
from simcore.files.traces import write_traces  # noqa: E402
from simcore.trace import Arrival, Recording  # noqa: E402
from tests.predictors.strategies import THREE, other_futures, recordings, spoken  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = Settings(epochs=30, batch=8, rate=0.02, dropout=0, feature_dropout=0, word_dropout=0)


DATA = Dataset.of("train", [spoken(n) for n in range(16)])
HELD_OUT = Dataset.of("held out", [spoken(n) for n in range(16, 24)])


@pytest.fixture(scope="module")
def model() -> Gru:
    return train("gru-0", DATA, HELD_OUT, HELD_OUT, 0, SETTINGS)


def test_learns_what_announces_a_correction(model: Gru) -> None:
    rows = label(HELD_OUT.recordings, STEP_US)
    every = np.ones(len(rows.at_us), bool)
    own = scores(rows, rows.masses(model, STEP_US), every)
    base = scores(rows, rows.masses(constant(model.outcomes), STEP_US), every)
    assert own is not None
    assert base is not None
    assert own.nll < base.nll / 2
    # A stable and a corrected recording are one until the third arrival, and two from then on.
    stable, corrected = model.forecasts(HELD_OUT.recordings[:2], STEP_US)
    assert stable.p_bad[0] == pytest.approx(corrected.p_bad[0], abs=1e-3)
    early, late = 2_560_000, 3_520_000
    assert corrected.p_bad[corrected.index(late)] > 0.8 > 0.2 > stable.p_bad[stable.index(late)]
    assert stable.p_bad[stable.index(early)] == pytest.approx(
        corrected.p_bad[corrected.index(early)], abs=1e-3
    )


def test_the_same_seed_gives_the_same_weights_and_another_others() -> None:
    short = Settings(epochs=2, batch=8)
    first = train("gru-0", DATA, HELD_OUT, HELD_OUT, 0, short)
    torch.rand(1)  # What else draws random numbers must not matter.
    again = train("gru-0", DATA, HELD_OUT, HELD_OUT, 0, short)
    other = train("gru-1", DATA, HELD_OUT, HELD_OUT, 1, short)

    def weights(of: Gru) -> dict[str, Any]:
        return {name: value.tolist() for name, value in of.network.parts.state_dict().items()}

    assert weights(again) == weights(first) != weights(other)
    assert again.record == first.record.model_copy(update={"seconds": again.record.seconds})


def test_the_epoch_with_the_lowest_selection_loss_is_kept() -> None:
    from predictors.loss import loss

    def harmless(number: int) -> Recording:
        """Says "no wait" and nothing comes of it: what is learned from DATA is wrong here."""
        spoke = spoken(number)
        arrivals = tuple(replace(a, argument=THREE) for a in spoke.arrivals)
        return replace(spoke, arrivals=arrivals, target=THREE, repairs=())

    contrary = Dataset.of("contrary", [harmless(n) for n in range(1, 9)])
    found = train("gru-0", DATA, contrary, HELD_OUT, 0, SETTINGS)
    record, held = found.record, contrary.batch
    assert record.epoch == 1 + int(np.argmin(record.selection_loss))
    assert record.epoch < len(record.selection_loss)
    with torch.inference_mode():
        kept = loss(
            found.network.log_masses(torch.from_numpy(held.x)),
            torch.from_numpy(held.compatible),
            torch.from_numpy(held.weight),
        )
    assert kept.item() == pytest.approx(min(record.selection_loss), abs=1e-4)


@given(recordings(), st.integers(0, 25), st.data())
@settings(max_examples=15, deadline=None)
def test_the_future_changes_no_earlier_forecast(
    model: Gru, recording: Recording, tick: int, data: st.DataObject
) -> None:
    time = tick * STEP_US
    other = data.draw(other_futures(recording, time))
    # Alone, and in a batch with a longer recording that pads it.
    first = model.forecasts([recording], STEP_US)[0]
    second = model.forecasts([other, spoken(1)], STEP_US)[0]
    past = [i for i, at in enumerate(first.at_us) if at <= time]
    assert [i for i, at in enumerate(second.at_us) if at <= time] == past
    assert first.masses is not None
    assert second.masses is not None
    for i in past:
        assert second.at_us[i] == first.at_us[i]
        assert second.masses[i] == pytest.approx(first.masses[i], abs=3e-4)
        assert second.p_bad[i] == pytest.approx(1 - second.masses[i][11], abs=1e-12)
        assert sum(first.masses[i]) == pytest.approx(1, abs=1e-12)


def test_rounded_masses_add_up() -> None:
    masses = np.random.default_rng(0).dirichlet(np.full(12, 0.1), size=(50, 4))
    short = rounded(masses)
    assert short.sum(axis=-1) == pytest.approx(1, abs=1e-12)
    assert np.abs(short - masses).max() < 1e-3
    assert np.abs(short * 1e4 - np.round(short * 1e4)).max() < 1e-3
    assert short.min() >= 0


def test_a_recording_without_an_argument_has_an_empty_forecast(model: Gru) -> None:
    silent = replace(spoken(0), arrivals=(Arrival(5, 5, "", 0.0, None, True),))
    assert model.forecasts([silent], STEP_US)[0].at_us == ()
    empty, full = model.forecasts([silent, spoken(0)], STEP_US)
    assert empty.at_us == ()
    assert full.at_us
    with pytest.raises(InputError, match=r"^silent: no recording has an argument"):
        Dataset.of("silent", [silent])


def test_another_period_than_that_of_training_is_refused(model: Gru) -> None:
    with pytest.raises(UsageError, match="trained on a period of 320000 us, not 160000 us"):
        model.forecasts([spoken(0)], 160_000)


def test_a_checkpoint_comes_back_from_its_file(model: Gru, tmp_path: Path) -> None:
    path = tmp_path / "gru" / "gru-0.safetensors"
    model.save(path)
    assert path.stat().st_size < 200_000
    again = load_predictor(path)
    assert isinstance(again, Gru)
    assert again.record == model.record
    some = HELD_OUT.recordings
    assert again.forecasts(some, STEP_US) == model.forecasts(some, STEP_US)
    assert load_predictors(path.parent)[0].checkpoint == "gru-0"
    record = again.record
    assert (record.train.traces, record.train.recordings) == ("train", 16)
    assert record.train.digest != record.selection.digest


def damaged(path: Path, **changes: Any) -> None:
    from safetensors import safe_open
    from safetensors.numpy import load_file, save_file

    with safe_open(path, framework="numpy") as file:
        metadata = dict(file.metadata())
    weights = load_file(path)
    record = json.loads(metadata["record"])
    for key, value in changes.items():
        if key in metadata:
            metadata[key] = value
        elif key == "weights":
            weights = {"outcomes.bias": weights["outcomes.bias"]}
        else:
            record[key] = value
            metadata["record"] = json.dumps(record)
    save_file(weights, path, metadata)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"schema": "gru/v2"}, "schema: unknown value 'gru/v2'; did you mean 'gru/v1'"),
        ({"schema": "grew/v1"}, "schema: no predictor reads the schema 'grew/v1'; did you mean"),
        ({"features": "00000000"}, "was trained on other features .* train it again"),
        ({"epok": 3}, "epok: unknown key 'epok'; did you mean 'epoch'"),
        ({"record": "{"}, "its training record is no JSON"),
        ({"weights": None}, "its weights do not fit: "),
    ],
)
def test_a_bad_checkpoint_is_one_clear_line(
    model: Gru, tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    path = tmp_path / "gru-0.safetensors"
    model.save(path)
    damaged(path, **changes)
    with pytest.raises(InputError, match=f"^{path}: {message}") as caught:
        load_predictor(path)
    assert "\n" not in str(caught.value)


def test_what_is_no_checkpoint(tmp_path: Path) -> None:
    path = tmp_path / "gru-0.safetensors"
    with pytest.raises(InputError, match="there is no such file"):
        load_predictor(path)
    path.write_bytes(b"no tensors")
    with pytest.raises(InputError, match="is no safetensors file"):
        load_predictor(path)
    path.unlink()
    with pytest.raises(InputError, match="holds no checkpoint"):
        load_predictors(tmp_path)


def test_running_a_scenario_imports_no_torch(model: Gru, tmp_path: Path) -> None:
    traces, checkpoint = tmp_path / "pack.jsonl", tmp_path / "gru-0.safetensors"
    write_traces(traces, HELD_OUT.recordings)
    model.save(checkpoint)
    add_forecasts(traces, {checkpoint: model}, STEP_US)
    (tmp_path / "s.yaml").write_text(
        "schema: scenario/v1\nname: s\ntraces: pack.jsonl\n"
        "actions: [{name: book, runtime: 3 s, cancel_window: 1 s}]\n"
        "policies: [rassg, {name: rassg, label: ahead, launch: lookahead}]\ncheckpoints: [gru-0]\n"
    )
    code = (
        "import sys; from simcore import load_scenario, run; frame = run(load_scenario('s.yaml'));"
        "assert not frame['failure'].is_not_null().any(); assert frame['commits'].sum() > 0;"
        "assert frame.filter(policy='ahead')['commits'].sum() > 0;"
        "sys.exit('torch' in sys.modules or 'safetensors' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
