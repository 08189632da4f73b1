"""A folder of audio becomes traces, however often the build is killed on the way."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends.build import assemble, decode_all, listen, prefix_ends, provenance
from frontends.cache import DecodeCache, decode_key
from frontends.parsing.lexicon import Lexicon
from frontends.protocol import Decode, Parsed, Word, confidence
from simcore.errors import InputErrors
from simcore.files.traces import read_traces, write_traces

from .fakes import RATE, Fake, no_pauses, noise, wav

pytest.importorskip("av", reason="needs av: pip install 'rassg-sim[speech]'")
pytest.importorskip("text_to_num", reason="needs text2num: pip install 'rassg-sim[speech]'")

BOOK = {"tool": "book", "arguments": {"time": "16:00"}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A pair that shares its first 4 s, and a recording of its own."""
    audio = tmp_path / "audio"
    audio.mkdir()
    shared = noise(4)
    rows = []
    for name, samples in {
        "stable": np.concatenate([shared, noise(3, 1)]),
        "corrected": np.concatenate([shared, noise(3.5, 2)]),
        "other": noise(2.5, 3),
    }.items():
        wav(audio / f"{name}.wav", samples)
        rows.append({"audio": f"{name}.wav", "domain": "time", "target": BOOK, "split": "source"})
    (audio / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return audio


def build(folder: Path, cache: DecodeCache, recognizer: Any = None, **options: Any) -> Any:
    recognizer = recognizer or Fake()
    heard = listen(folder, recognizer, pauses=no_pauses)
    decode_all(heard, recognizer, cache, jobs=options.pop("jobs", 0))
    return [assemble(one, Lexicon(), cache, **options) for one in heard]


def test_arrivals_follow_from_prefixes_and_service(folder: Path, tmp_path: Path) -> None:
    stable, corrected, other = build(folder, DecodeCache(tmp_path / "cache"))
    assert [a.prefix_end_us for a in other.arrivals] == [960_000, 1_920_000, 2_500_000]
    assert [a.service_us for a in other.arrivals] == [96_000, 192_000, 250_000]
    assert [a.arrived_at_us for a in other.arrivals] == [1_056_000, 2_112_000, 2_750_000]
    assert [a.is_final for a in other.arrivals] == [False, False, True]
    assert [a.text for a in other.arrivals] == ["book", "book a table", "book a table for three"]
    assert other.arrivals[0].argument is None
    assert other.arrivals[-1].argument == '{"arguments":{"time":"15:00"},"tool":"book"}'
    assert other.audio_end_us == 2_500_000
    assert corrected.arrivals[-1].argument == corrected.target
    assert stable.arrivals[-1].prefix_end_us == 7_000_000
    assert (stable.recording_id, stable.split, stable.labelled) == ("stable", "source", True)


def test_a_recognizer_that_will_run_on_a_faster_computer(folder: Path, tmp_path: Path) -> None:
    *_, other = build(folder, DecodeCache(tmp_path / "cache"), service_scale=0.5)
    assert [a.service_us for a in other.arrivals] == [48_000, 96_000, 125_000]
    assert [a.arrived_at_us for a in other.arrivals] == [1_008_000, 2_016_000, 2_625_000]


def test_confidence_is_the_mean_over_the_words_that_carry_the_argument() -> None:
    words = tuple(Word(text, 0, 0, p) for text, p in (("at", 0.2), ("3", 0.8), ("pm", 0.6)))
    decode = Decode(words, 1, 1)
    assert confidence(decode, Parsed({"tool": "t"}, (1, 2))) == pytest.approx(0.7)
    assert confidence(decode, Parsed(None)) == pytest.approx(1.6 / 3, abs=1e-6)
    assert confidence(Decode((), 1, 1), Parsed(None)) == 0


def test_a_shared_beginning_is_decoded_once(folder: Path, tmp_path: Path) -> None:
    decoded: list[int] = []

    class Counting(Fake):
        def decode(self, samples: Any) -> Decode:
            decoded.append(len(samples))
            return replace(super().decode(samples), service_us=1_000 * len(decoded))

    stable, corrected, _ = build(folder, DecodeCache(tmp_path / "cache"), Counting())
    assert len(decoded) == 8 + 8 + 3 - 4
    assert stable.arrivals[:4] == corrected.arrivals[:4]
    assert stable.arrivals[4].service_us != corrected.arrivals[4].service_us


def test_a_stopped_build_goes_on_and_gives_the_same(folder: Path, tmp_path: Path) -> None:
    whole = build(folder, DecodeCache(tmp_path / "whole"))
    left = [5]

    class Stopped(Fake):
        def decode(self, samples: Any) -> Decode:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return super().decode(samples)

    cache = DecodeCache(tmp_path / "cache")
    with pytest.raises(KeyboardInterrupt):
        build(folder, cache, Stopped())
    left[0] = 10
    assert build(folder, cache, Stopped()) == whole
    assert left[0] == 0


KILLED = """
import sys, time
from pathlib import Path
from frontends.build import decode_all, listen
from frontends.cache import DecodeCache
from tests.frontends.fakes import Fake, no_pauses

class Slow(Fake):
    def decode(self, samples):
        time.sleep(0.05)
        return super().decode(samples)

folder, cache = map(Path, sys.argv[1:])
decode_all(listen(folder, Slow(), pauses=no_pauses), Slow(), DecodeCache(cache), jobs=0)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_killed_process_leaves_nothing_broken(folder: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(folder), str(cache)],
        cwd=root,
        env={**os.environ, "PYTHONPATH": root},
    )
    while process.poll() is None and len(list(cache.rglob("*.json"))) < 3:
        time.sleep(0.01)
    process.kill()
    assert process.wait() == -signal.SIGKILL
    there = len(list(cache.rglob("*.json")))
    assert 3 <= there < 15
    resumed = build(folder, DecodeCache(cache))
    assert resumed == build(folder, DecodeCache(tmp_path / "whole"))


def test_processes_give_the_same(folder: Path, tmp_path: Path) -> None:
    alone = build(folder, DecodeCache(tmp_path / "alone"))
    assert build(folder, DecodeCache(tmp_path / "two"), jobs=2) == alone


def test_another_setting_is_another_decode(folder: Path, tmp_path: Path) -> None:
    samples = np.zeros(100, np.float32)
    keys = {
        decode_key(samples, Fake().describe()),
        decode_key(samples, Fake(cost=0.2).describe()),
        decode_key(samples[:-1], Fake().describe()),
    }
    assert len(keys) == 3


@pytest.mark.parametrize("cost", [0.05, 0.5, 1.0, 2.5])
def test_latest_is_never_later_and_keeps_the_final(
    folder: Path, tmp_path: Path, cost: float
) -> None:
    cache = DecodeCache(tmp_path / "cache")
    fifo = build(folder, cache, Fake(cost))
    latest = build(folder, cache, Fake(cost), queueing="latest")
    for all_of_them, some in zip(fifo, latest, strict=True):
        times = {a.prefix_end_us: a.arrived_at_us for a in all_of_them.arrivals}
        assert some.arrivals[-1].is_final
        assert some.arrivals[-1].prefix_end_us == all_of_them.arrivals[-1].prefix_end_us
        assert all(a.arrived_at_us <= times[a.prefix_end_us] for a in some.arrivals)
        free = 0
        for arrival in some.arrivals:
            assert arrival.service_us is not None
            free = max(free, arrival.prefix_end_us) + arrival.service_us
            assert arrival.arrived_at_us == free


@given(st.integers(1, 20 * RATE))
def test_prefixes_end_every_960_ms_and_with_the_audio(samples: int) -> None:
    ends = prefix_ends(samples)
    assert ends[-1] == samples
    assert ends[:-1] == [15_360 * (i + 1) for i in range(len(ends) - 1)]
    assert 0 < samples - (ends[-2] if len(ends) > 1 else 0) <= 15_360


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_the_pack_reads_back_with_its_provenance(folder: Path, tmp_path: Path, suffix: str) -> None:
    cache = DecodeCache(tmp_path / "cache")
    recordings = build(folder, cache)
    heard = listen(folder, Fake(), pauses=no_pauses)
    made = provenance(heard, Fake(), Lexicon(), cache)
    out = tmp_path / f"pack.{suffix}"
    write_traces(out, recordings, provenance=made)
    assert list(read_traces(out)) == recordings
    kept = json.loads((tmp_path / "pack.provenance.json").read_text())
    assert kept["recordings"] == 3
    assert kept["decodes"] == 15
    assert set(kept["audio_sha256"]) == {"stable", "corrected", "other"}
    assert len(set(kept["audio_sha256"].values())) == 3


def test_every_faulty_file_is_told_before_anything_is_decoded(folder: Path) -> None:
    (folder / "stable.wav").write_bytes(b"")
    (folder / "other.wav").write_bytes(b"no audio at all" * 9)
    with pytest.raises(InputErrors) as caught:
        listen(folder, Fake(), pauses=no_pauses)
    assert [Path(str(fault.file)).name for fault in caught.value.faults] == [
        "stable.wav",
        "other.wav",
    ]


def test_audio_that_a_cut_window_would_not_hold(folder: Path) -> None:
    with pytest.raises(InputErrors, match="longer than the 5 s that this recognizer") as caught:
        listen(folder, Fake(longest_us=5_000_000), pauses=no_pauses)
    assert len(caught.value.faults) == 2
