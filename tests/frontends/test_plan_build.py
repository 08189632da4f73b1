"""Parsing that takes time: it is measured, done once a text, and added to what a prefix takes."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

import simcore.registry
from frontends.build import (
    assemble,
    decode_all,
    from_speech_end,
    hear,
    listen,
    parse_all,
    provenance,
)
from frontends.cache import DecodeCache, ParseCache
from frontends.metadata import Source
from frontends.parsing.remembered import Remembered
from frontends.protocol import Decode, Parsed, Word
from simcore.errors import UsageError
from simcore.files.traces import read_traces

from .fakes import Fake, no_pauses, noise, run_trace, wav

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

pytest.importorskip("av", reason="needs the extra 'speech'")

PARSE = 300_000
parsed_texts: list[str] = []


@dataclass(frozen=True)
class Slow:
    """Calls `note` with what was said, in 300 ms."""

    name: str = "slow"

    def describe(self) -> Mapping[str, Any]:
        return {"name": self.name}

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        if not words:
            return Parsed(None)
        parsed_texts.append(" ".join(words))
        plan = [{"tool": "note", "arguments": {"text": " ".join(words)}}]
        return Parsed(plan, (0,), PARSE)


@dataclass(frozen=True)
class Steady(Fake):
    """Hears a second word after 2 s, and nothing before 1 s; 100 ms a decode."""

    def decode(self, samples: Any) -> Decode:
        seconds = len(samples) / 16_000
        heard = ["stop", "now"][: int(min(seconds, 2))]
        return Decode(tuple(Word(w, 0, 1, 0.5) for w in heard), 100_000, 1)


@pytest.fixture(autouse=True)
def fresh() -> None:
    parsed_texts.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    audio = tmp_path / "audio"
    audio.mkdir()
    wav(audio / "a.wav", noise(4))
    (audio / "metadata.jsonl").write_text(json.dumps({"audio": "a.wav"}))
    return audio


def build(
    folder: Path, cache: Path, recognizer: Any = None, parser: Any = None, **options: Any
) -> Any:
    recognizer = recognizer or Steady()
    decodes = DecodeCache(cache / "decodes")
    remembered = Remembered(parser or Slow(), ParseCache(cache / "parses"))
    heard = listen(folder, recognizer, pauses=no_pauses)
    decode_all(heard, recognizer, decodes, jobs=0)
    parse_all(heard, remembered, decodes, jobs=0)
    return [assemble(one, remembered, decodes, **options) for one in heard]


def test_a_parse_counts_where_the_words_are_new(folder: Path, tmp_path: Path) -> None:
    (recording,) = build(folder, tmp_path)
    assert [a.text for a in recording.arrivals] == ["", "stop", "stop now", "stop now", "stop now"]
    assert [a.service_us for a in recording.arrivals] == [
        100_000,
        400_000,
        400_000,
        100_000,
        100_000,
    ]
    assert parsed_texts == ["stop", "stop now"]
    assert [a.argument is None for a in recording.arrivals] == [True, *[False] * 4]
    (scaled,) = build(folder, tmp_path, service_scale=0.5)
    assert [a.service_us for a in scaled.arrivals] == [50_000, 200_000, 200_000, 50_000, 50_000]


def test_what_is_known_is_not_parsed_again(folder: Path, tmp_path: Path) -> None:
    first = build(folder, tmp_path)
    assert build(folder, tmp_path) == first
    assert len(parsed_texts) == 2
    build(folder, tmp_path, parser=Slow("another"))
    assert len(parsed_texts) == 4


def test_a_stopped_build_goes_on(folder: Path, tmp_path: Path) -> None:
    class Stopped(Slow):
        def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
            if len(parsed_texts) == 1:
                raise KeyboardInterrupt
            return super().parse(words, domain)

    with pytest.raises(KeyboardInterrupt):
        build(folder, tmp_path, parser=Stopped())
    assert parsed_texts == ["stop"]
    resumed = build(folder, tmp_path)
    assert parsed_texts == ["stop", "stop now"]
    assert resumed == build(folder, tmp_path / "whole")


@pytest.mark.parametrize("cost", [0.1, 0.6, 1.5])
def test_latest_pays_for_each_text_that_it_was_the_first_to_see(
    folder: Path, tmp_path: Path, cost: float
) -> None:
    (recording,) = build(folder, tmp_path, Fake(cost), queueing="latest")
    free, said = 0, ""
    for arrival in recording.arrivals:
        decode = round(arrival.prefix_end_us * cost)
        service = decode + (PARSE if arrival.text not in ("", said) else 0)
        assert arrival.service_us == service
        free = max(free, arrival.prefix_end_us) + service
        assert arrival.arrived_at_us == free
        said = arrival.text
    ends = [arrival.prefix_end_us for arrival in recording.arrivals]
    assert (len(ends) < 5) == (cost > 0.5)


def test_a_text_that_a_skipped_prefix_brought_is_paid_for_by_the_next(
    folder: Path, tmp_path: Path
) -> None:
    class Behind(Steady):
        def decode(self, samples: Any) -> Decode:
            return replace(super().decode(samples), service_us=2_880_000)

    (recording,) = build(folder, tmp_path, Behind(), queueing="latest")
    assert [a.prefix_end_us for a in recording.arrivals] == [960_000, 3_840_000, 4_000_000]
    assert [a.service_us for a in recording.arrivals] == [2_880_000, 3_180_000, 2_880_000]


def test_the_provenance_tells_what_parsing_took(folder: Path, tmp_path: Path) -> None:
    build(folder, tmp_path)
    decodes = DecodeCache(tmp_path / "decodes")
    heard = listen(folder, Steady(), pauses=no_pauses)
    parser = Remembered(Slow(), ParseCache(tmp_path / "parses"))
    made = provenance(heard, Steady(), parser, decodes)
    assert made["measured_parse_us"] == {
        "count": 2,
        "median": PARSE,
        "p95": PARSE,
        "total": 2 * PARSE,
    }


def test_longer_recordings_can_be_left_out(folder: Path) -> None:
    wav(folder / "b.wav", noise(2))
    sources = [Source(folder / f"{name}.wav", {"recording_id": name}) for name in "ab"]
    heard = hear(sources, Fake(), skip_longer=3_000_000, pauses=no_pauses)
    assert [one.source.recording_id for one in heard] == ["b"]


def test_the_delay_can_start_at_the_end_of_speech(folder: Path, tmp_path: Path) -> None:
    def silent(samples: Any, ends: Sequence[int]) -> list[int]:
        return [0] * (len(ends) - 1) + [1_500_000]

    (heard,) = listen(folder, Steady(), pauses=silent)
    assert from_speech_end(heard).source.columns["origin_us"] == 2_500_000


FDB_TOOLS = [
    {"name": "track_order", "parameters": {"properties": {"order_id": {"type": "string"}}}}
]


@pytest.fixture
def release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release of one recording, and a recognizer that hears the same words in any."""
    monkeypatch.setenv("RASSG_SIM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("CI", "true")
    load = simcore.registry.load
    monkeypatch.setattr(
        simcore.registry,
        "load",
        lambda group, name: (
            (lambda model, **_: Fake()) if group == "frontends" else load(group, name)
        ),
    )
    root = tmp_path / "release"
    for name, seconds in (("shop_01_anna", 3.0), ("shop_02_bert", 6.0)):
        (root / name).mkdir(parents=True)
        wav(root / name / "input.wav", noise(seconds))
        calls = [{"function": "track_order", "args": {"order": "GG5"}}]
        (root / name / "metadata.json").write_text(
            json.dumps({"id": name[:7], "domain": "shop", "expected_tool_calls": calls})
        )
    (tmp_path / "tools.json").write_text(json.dumps(FDB_TOOLS))
    return root


def test_a_data_set_becomes_a_pack(release: Path, tmp_path: Path) -> None:
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python (extra 'gguf')")
    pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")
    from .qwen2 import write_qwen2

    model = write_qwen2(tmp_path / "qwen2.gguf")
    out = tmp_path / "pack.parquet"
    said = run_trace(
        "build",
        *("--dataset", "fdb-v3", "--root", release, "--tools", tmp_path / "tools.json"),
        *("--parser", f"gguf:{model}", "--context", 2048, "--skip-longer", "5 s"),
        *("--jobs", 1, "--out", out),
    )
    assert "1 recordings, 4 arrivals, the final parse is right in 0 of 1" in said
    assert "left out because of --skip-longer: 1" in said
    assert "gold that does not fit the tools, kept as it is: 2 of 2 recordings" in said
    assert "shop_01_anna: call 0: 'track_order' has no argument 'order'" in said
    (recording,) = read_traces(out)
    assert recording.corpus == "fdb-v3"
    assert recording.target == '[{"arguments":{"order":"gg5"},"tool":"track_order"}]'
    for arrival in recording.arrivals:
        if arrival.argument is not None:
            assert {call["tool"] for call in json.loads(arrival.argument)} == {"track_order"}
    made = json.loads((tmp_path / "pack.provenance.json").read_text())
    assert made["parser"]["name"] == "gguf"
    assert made["left_out"] == 1
    assert made["measured_parse_us"]["count"] >= 1
    assert set(made["gold"]) == {"shop_01_anna", "shop_02_bert"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dataset", "fdb-v3"], "--dataset fdb-v3 needs --root"),
        (["--dataset", "fdb", "--root", "."], "unknown data set 'fdb'; did you mean 'fdb-v3'"),
        (["--dataset", "fdb-v3", "--root", "."], "the data set 'fdb-v3' needs --tools"),
        ([], "give either a folder or --dataset"),
        ([".", "--dataset", "fdb-v3"], "give either a folder or --dataset"),
        ([".", "--parser", "gguf"], "--parser gguf needs a model's file: gguf:FILE"),
        ([".", "--parser", "gguf:x.gguf"], "--parser gguf needs --tools"),
        ([".", "--origin", "speech"], "unknown origin 'speech'; did you mean 'speech-end'"),
    ],
)
def test_a_wrong_option_is_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_trace("build", *options, "--out", tmp_path / "pack.parquet")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
