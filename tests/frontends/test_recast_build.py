"""Groups are made once, kept for good, and parsed only when they may be; with no model at all."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from frontends.cache import DecodeCache
from frontends.processor import instruction_set
from frontends.recast import build, packs
from frontends.recast.grammar import load_grammar
from frontends.recast.noise import add_noise, make_babble
from frontends.recast.recipe import Item
from frontends.recast.record import SUFFIX, read_records, write_records
from simcore.errors import InputError
from simcore.files.traces import read_traces
from tests.frontends.fakes import Fake

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from frontends.protocol import Decode

pytest.importorskip("av", reason="needs av: pip install 'rassg-sim[speech]'")
pytest.importorskip("text_to_num", reason="needs text2num: pip install 'rassg-sim[speech]'")

ITEMS = [
    Item("train", "prospective", 0),
    Item("train", "human", 1),
    Item("dev-selection", "ordinary", 0),
    Item("test", "prospective", 3),
]


class Voice:
    """Speaks in noise that depends on the text and the voice."""

    spoken: list[str]

    def __init__(self) -> None:
        self.spoken = []

    def speak(self, text: str, voice: str) -> NDArray[np.int16]:
        self.spoken.append(text)
        rng = np.random.default_rng(list(f"{voice}{text}".encode()))
        return rng.integers(-3_000, 3_000, (200 + 60 * len(text)) * 16).astype(np.int16)


class Listener(Fake):
    """Hears a value after three seconds, counts its decodes, and can fail."""

    def decode(self, samples: NDArray[np.float32]) -> Decode:
        heard.append(len(samples))
        if failing and len(heard) > failing[0]:
            raise KeyboardInterrupt
        return super().decode(samples)


heard: list[int] = []
failing: list[int] = []


@pytest.fixture(autouse=True)
def _no_models(monkeypatch: pytest.MonkeyPatch) -> None:
    heard.clear()
    failing.clear()
    voice = Voice()
    monkeypatch.setattr(build, "_engine", lambda: voice)
    monkeypatch.setattr(build, "trailing_silence", lambda samples, ends: [0] * len(ends))
    for module in (build, packs):
        monkeypatch.setattr(module, "describe_synthesizer", lambda: {"name": "noise"})


def make(work: Path, items: Sequence[Item] = ITEMS, finished: Any = (), **options: Any) -> None:
    build.make_groups(
        work,
        Listener(),
        DecodeCache(work / "decodes"),
        finished,
        items=items,
        jobs=0,
        progress=lambda label, done, total: None,
        **options,
    )


class Parsing:
    """The lexicon, or another parser by its digest."""

    def __init__(self, digest: str = "") -> None:
        from frontends.parsing.lexicon import Lexicon

        self._lexicon, self._digest = Lexicon(), digest

    def describe(self) -> Mapping[str, Any]:
        return {**self._lexicon.describe(), "also": self._digest}

    def parse(self, words: Sequence[str], domain: str | None = None) -> Any:
        return self._lexicon.parse(words, domain)


def pack(work: Path, parser: Any = None) -> list[str]:
    return list(packs.write_packs(work / "out", work, Listener(), parser or Parsing()))


def files(work: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(work)): path.read_bytes()
        for folder in ("audio", "groups")
        for path in sorted((work / folder).rglob("*.*"))
    }


@pytest.mark.parametrize("at", [3, 20, 45])
def test_a_build_that_is_killed_goes_on_and_ends_the_same(tmp_path: Path, at: int) -> None:
    make(tmp_path / "whole")
    whole = len(heard)
    heard.clear()
    failing.append(at)
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "killed")
    failing.clear()
    heard.clear()
    make(tmp_path / "killed")
    assert len(heard) == whole - at
    assert files(tmp_path / "killed") == files(tmp_path / "whole")


def test_a_build_stops_when_told_and_keeps_what_it_has(tmp_path: Path) -> None:
    make(tmp_path, stop=lambda: True)
    assert len(list((tmp_path / "groups").iterdir())) == 1


def test_a_pair_is_decoded_once_before_its_branch(tmp_path: Path) -> None:
    make(tmp_path, ITEMS[:1])
    keys = build.group_keys(Listener(), ITEMS[:1])
    stable, corrected = build.finished_records(tmp_path, tmp_path, "train", keys)
    branch = stable.columns["branch_us"] * 16 // 1_000
    shared = sum(end <= branch for end in stable.ends)
    assert shared >= 2
    assert len(heard) == len(stable.ends) + len(corrected.ends) - shared
    for name in ("ends", "service_us", "words", "probabilities"):
        assert getattr(stable, name)[:shared] == getattr(corrected, name)[:shared]


def test_records_survive_their_file(tmp_path: Path) -> None:
    make(tmp_path)
    keys = build.group_keys(Listener(), ITEMS)
    records = build.finished_records(tmp_path, tmp_path, "train", keys)
    assert len(records) == 4
    path = tmp_path / f"train{SUFFIX}"
    write_records(path, records)
    assert read_records(path) == records


def test_finished_records_need_neither_work_nor_audio(tmp_path: Path) -> None:
    make(tmp_path / "a")
    with pytest.raises(InputError, match="not frozen"):
        pack(tmp_path / "a")
    heard.clear()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "out").rename(tmp_path / "b" / "out")
    out = tmp_path / "b" / "out"
    names = ("train", "dev-selection", "test")
    finished = [record for name in names for record in read_records(out / f"{name}{SUFFIX}")]
    make(tmp_path / "b", finished=finished)
    assert heard == []
    before = (out / "train.parquet").read_bytes()
    with pytest.raises(InputError, match="not frozen"):
        pack(tmp_path / "b")
    assert (out / "train.parquet").read_bytes() == before


def test_another_recognizer_makes_groups_anew(tmp_path: Path) -> None:
    make(tmp_path, ITEMS[:1])
    keys = build.group_keys(Listener(cost=0.2), ITEMS[:1])
    assert build.finished_records(tmp_path, tmp_path, "train", keys) == []


def test_the_test_is_parsed_by_the_frozen_parser_alone(tmp_path: Path) -> None:
    make(tmp_path)
    with pytest.raises(InputError, match="simcore recast freeze"):
        pack(tmp_path)
    assert not (tmp_path / "out" / "test.parquet").exists()
    packs.freeze(tmp_path / "out", Parsing())
    with pytest.raises(InputError, match="has changed since it was frozen"):
        pack(tmp_path, Parsing("changed"))
    assert not (tmp_path / "out" / "test.parquet").exists()
    lines = pack(tmp_path)
    assert any("test.parquet: 1 of 1380 groups, 2 recordings" in line for line in lines)
    assert any(line == "noisy-10db: nothing is finished yet" for line in lines)


def test_packs_hold_what_was_heard(tmp_path: Path) -> None:
    make(tmp_path)
    packs.freeze(tmp_path / "out", Parsing())
    pack(tmp_path)
    stable, corrected = read_traces(tmp_path / "out" / "test.parquet")
    assert (stable.variant, corrected.variant) == ("stable", "corrected")
    assert corrected.editing in ("seen", "unseen", "none")
    assert stable.arrivals[-1].prefix_end_us == stable.audio_end_us
    assert stable.arrivals[-1].text.startswith("book a table for three p.m.")
    assert stable.branch_us is not None
    shared = stable.branch_us // 960_000
    assert stable.arrivals[:shared] == corrected.arrivals[:shared]


def test_noise_is_as_loud_as_said_and_shared_by_a_pair(tmp_path: Path) -> None:
    voice = Voice()
    make_babble(tmp_path / "babble.wav", voice.speak)
    takes = build.speak_group(Item("test", "prospective", 3), voice)  # type: ignore[arg-type]
    for ratio in (20, 10):
        stable, corrected = add_noise(takes, tmp_path / "babble.wav", ratio, "0")
        branch = stable.columns["branch_us"] * 16 // 1_000
        np.testing.assert_array_equal(stable.samples[:branch], corrected.samples[:branch])
        assert stable.columns["noise"] == f"{ratio} dB"
        assert stable.columns["recording_id"].endswith(f"-stable-{ratio}db")
        clean = takes[0].samples.astype(float)
        noise = stable.samples - clean
        speech = clean[clean != 0]
        found = 10 * np.log10(np.mean(speech**2) / np.mean(noise**2))
        assert found == pytest.approx(ratio, abs=1)
        same = {"recording_id", "noise"}
        assert {k: v for k, v in stable.columns.items() if k not in same} == {
            k: v for k, v in takes[0].columns.items() if k not in same
        }


def test_a_noisy_copy_says_the_same(tmp_path: Path) -> None:
    clean, noisy = Item("test", "early", 10), Item("noisy-10db", "early", 10)
    assert dataclasses.asdict(clean.script()) == dataclasses.asdict(noisy.script())
    make(tmp_path, [noisy])
    keys = build.group_keys(Listener(), [noisy, clean])
    assert keys[noisy] != keys[clean]
    (stable, _) = build.finished_records(tmp_path, tmp_path, "noisy-10db", keys)
    assert stable.columns["split"] == "test"


def test_a_noisy_copy_of_what_was_spoken_here_is_not_spoken_again(tmp_path: Path) -> None:
    clean, noisy = Item("test", "early", 10), Item("noisy-10db", "early", 10)
    voice: Any = build._engine()
    make(tmp_path / "alone", [noisy])
    make(tmp_path / "both", [clean, noisy])
    spoken = len(voice.spoken)
    for name in ("stable", "corrected"):
        wav = f"audio/noisy-10db/test-early-0010-{name}-10db.wav"
        assert (tmp_path / "both" / wav).read_bytes() == (tmp_path / "alone" / wav).read_bytes()
    make(tmp_path / "clean", [clean])
    again = len(voice.spoken) - spoken
    babble = sum(text in load_grammar("source").tails for text in voice.spoken[:spoken])
    assert spoken - babble == 2 * again


def test_service_times_are_scaled_by_the_processor_that_took_them(tmp_path: Path) -> None:
    make(tmp_path, ITEMS[:1])
    keys = build.group_keys(Listener(), ITEMS[:1])
    (record, _) = build.finished_records(tmp_path, tmp_path, "train", keys)
    assert record.processor == instruction_set()
    one, other = (
        dataclasses.replace(record, processor=processor) for processor in ("here", "there")
    )
    scales = {"": 0.5, "there": 0.25}
    services = [
        [arrival.service_us for arrival in packs.parse_record(made, Parsing(), scales).arrivals]
        for made in (record, one, other)
    ]
    assert services[0] == services[1] == [round(us * 0.5) for us in record.service_us]
    assert services[2] == [round(us * 0.25) for us in record.service_us]


def test_a_file_of_another_schema_says_so(tmp_path: Path) -> None:
    import polars as pl

    path = tmp_path / f"train{SUFFIX}"
    pl.DataFrame({"schema": ["decodes/v9"]}).write_parquet(path)
    with pytest.raises(InputError, match=r"schema \['decodes/v9'\], not decodes/v2"):
        read_records(path)
