"""`simcore trace`: what a person types and what comes of it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

import simcore.registry
from frontends.parsing.lexicon import Lexicon
from simcore.errors import InputError, SimcoreError, UsageError
from simcore.files.traces import read_traces

from .fakes import Fake, noise, run_trace, wav

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("av", reason="needs the extra 'speech'")
pytest.importorskip("text_to_num", reason="needs the extra 'speech'")


@pytest.fixture(autouse=True)
def fakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recognizer that needs no model, under the name `whisper`, and a cache of its own."""
    registered = {"whisper": lambda model, **options: Fake(), "lexicon": Lexicon}
    monkeypatch.setattr(simcore.registry, "load", lambda group, name: registered[name])
    monkeypatch.setenv("RASSG_SIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CI", "true")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    audio = tmp_path / "audio"
    audio.mkdir()
    wav(audio / "a.wav", noise(6))
    target = {"tool": "book", "arguments": {"time": "16:00"}}
    row = {"audio": "a.wav", "domain": "time", "target": target}
    (audio / "metadata.jsonl").write_text(json.dumps(row))
    return audio


def test_build_writes_a_pack_and_says_how_good_it_is(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    out = tmp_path / "packs" / "own.parquet"
    said = run_trace("build", folder, "--out", out, "--jobs", 1)
    assert "1 recordings, 7 arrivals, the final parse is right in 1 of 1" in said
    assert "decoding: 7 of 7" in said
    (recording,) = read_traces(out)
    assert recording.recording_id == "a"
    assert (tmp_path / "packs" / "own.provenance.json").is_file()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        (["--queueing", "fif"], UsageError, "unknown queueing 'fif'; did you mean 'fifo'"),
        (["--step", "0 ms"], UsageError, "--step: must be longer than nothing"),
        (["--step", "1 sec"], UsageError, "--step: '1 sec' has the unknown unit 'sec'"),
        (["--longest", "2 s"], SimcoreError, "longer than 2 s; --longest raises this limit"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    folder: Path, tmp_path: Path, options: list[str], error: type[Exception], message: str
) -> None:
    out = tmp_path / "own.parquet"
    with pytest.raises(error) as caught:
        run_trace("build", folder, "--out", out, *options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not out.exists()


def test_a_folder_without_metadata(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder has no metadata\.jsonl"):
        run_trace("build", tmp_path, "--out", tmp_path / "own.parquet")


def test_a_single_audio_file_needs_no_metadata(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    out = tmp_path / "own.parquet"
    (audio,) = (path for path in folder.iterdir() if path.suffix == ".wav")
    assert "1 recordings, 7 arrivals" in run_trace("build", audio, "--out", out, "--jobs", 1)
    (recording,) = read_traces(out)
    assert (recording.recording_id, recording.target) == (audio.stem, None)
    with pytest.raises(InputError, match="there is no such file or folder"):
        run_trace("build", tmp_path / "none.wav", "--out", out)


def test_an_unknown_model(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"unknown model 'tiny'; did you mean 'tiny\.en'"):
        run_trace("models", "--only", "tiny")


def test_nothing_heavy_is_imported_for_the_help() -> None:
    code = (
        "import sys, frontends.commands; "
        "print([m for m in ('numpy', 'polars', 'faster_whisper', 'av') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
