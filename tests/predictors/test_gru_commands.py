"""`simcore train` from traces to checkpoints, forecasts, quality and controls."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")

from predictors.commands import app
from predictors.splits import PARTS
from simcore.errors import MissingError
from simcore.files.traces import read_traces, write_traces
from tests.predictors.strategies import spoken

if TYPE_CHECKING:
    from pathlib import Path


def simcore_train(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_from_one_pack_to_a_quality_report(tmp_path: Path) -> None:
    pack, test = tmp_path / "pack.jsonl", tmp_path / "test.jsonl"
    write_traces(pack, [spoken(n) for n in range(26)])
    write_traces(test, [spoken(n) for n in range(26, 32)])
    simcore_train("split", pack, "--out", tmp_path)
    train, selection, calibration = (tmp_path / f"{part}.parquet" for part in PARTS)
    parts = ["--train", train, "--selection", selection, "--calibration", calibration]

    trained = simcore_train("gru", *parts, "--seeds", 2, "--epochs", 2, "-q")
    checkpoints = tmp_path / "gru"
    assert [line.split(":")[0] for line in trained.splitlines()] == [
        f"{checkpoints / name}.safetensors" for name in ("gru-0", "gru-1")
    ]

    simcore_train("forecast", "--model", checkpoints, test)
    written = read_traces(test)
    for recording in written:
        assert [f.checkpoint for f in recording.forecasts] == ["gru-0", "gru-1"]
    kept = json.loads(test.with_suffix(".provenance.json").read_text())["forecasts"]
    for name in ("gru-0", "gru-1"):
        file = checkpoints / f"{name}.safetensors"
        assert kept[name]["sha256"] == sha256(file.read_bytes()).hexdigest()

    controls = tmp_path / "controls.jsonl"
    said = simcore_train("controls", test, "--train", train, "--out", controls)
    assert said.strip().endswith("gru-0-permuted, gru-1-permuted")
    assert [r.forecast("gru-1") for r in read_traces(controls)] == [
        r.forecast("gru-1") for r in written
    ]

    quality = tmp_path / "quality"
    shown = simcore_train("evaluate", checkpoints, test, *parts, "--out", quality, "-q")
    assert "last chances to veto" in shown
    document = json.loads((quality / "quality.json").read_text())
    assert document["checkpoints"] == ["gru-0", "gru-1"]
    whole = {
        (entry["predictor"], entry["calibrated"]): entry["scores"]["nll"]
        for entry in document["entries"]
        if entry["where"] == "ticks" and entry["column"] is None
    }
    assert set(whole) == {
        ("base-rate", True),
        ("cue-words", True),
        ("hazard", True),
        ("logistic", True),
        *((name, calibrated) for name in ("gru-0", "gru-1") for calibrated in (False, True)),
    }
    assert whole["cue-words", True] < whole["base-rate", True]
    assert document["tick_us"] > 0


def test_without_torch_the_message_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingError, match=r"pip install 'rassg-sim\[train\]'"):
        simcore_train("gru", "--train", tmp_path / "none.parquet")
