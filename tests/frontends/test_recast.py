"""What the generator promises before anything is spoken or decoded."""

from __future__ import annotations

import re
from dataclasses import fields
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends.audio import RATE
from frontends.recast.grammar import CARRIERS, DOMAINS, EDITS, RESERVED_TEST_VOICES, TAILS, VOICES
from frontends.recast.pilot import ENCODER_FRAMES, PAIRS, SEED
from frontends.recast.script import draw_pairs
from frontends.recast.timeline import LONGEST, PROSPECTIVE, Segments, lay_out, to_grain

if TYPE_CHECKING:
    from frontends.recast.script import PairScript


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+", text.lower()))


def test_source_and_test_share_no_voice_carrier_or_tail() -> None:
    assert not set(VOICES["source"]) & set(VOICES["test"])
    assert not RESERVED_TEST_VOICES & {*VOICES["source"], *VOICES["test"]}
    assert not set(TAILS["source"]) & set(TAILS["test"])
    for domain in DOMAINS:
        source, test = (CARRIERS[split][domain] for split in ("source", "test"))
        for part in ("id", "opening", "filler", "restart"):
            assert not {getattr(c, part) for c in source} & {getattr(c, part) for c in test}


def test_half_of_the_tests_phrases_share_no_word_with_the_sources() -> None:
    known = set().union(*(words(edit.text) for edit in EDITS["source"]))
    for edit in EDITS["test"]:
        assert edit.seen == bool(words(edit.text) & known), edit
        assert edit.seen == (words(edit.text) <= known), edit
    assert sum(not edit.seen for edit in EDITS["test"]) * 2 == len(EDITS["test"])


@pytest.mark.parametrize("split", ["source", "test"])
def test_the_pilot_is_balanced(split: Any) -> None:
    scripts = draw_pairs(split, PAIRS, SEED)
    assert len({script.pair_id for script in scripts}) == PAIRS
    for domain in DOMAINS:
        own = [script for script in scripts if script.domain == domain]
        assert len(own) == PAIRS // 4
        assert sum(script.edit is None for script in own) * 3 >= len(own)
        assert {script.carrier for script in own} == set(CARRIERS[split][domain])
        assert {script.voice for script in own} == set(VOICES[split])
    phrases = [script.edit for script in scripts if script.edit is not None]
    assert set(phrases) == set(EDITS[split])
    if split == "test":
        assert sum(not edit.seen for edit in phrases) * 2 == len(phrases)
    assert all(script.first.argument != script.second.argument for script in scripts)
    assert all(script.aside != script.tail for script in scripts)


def test_scripts_repeat_and_a_longer_list_begins_with_the_shorter() -> None:
    assert draw_pairs("test", 40, 1)[:12] == draw_pairs("test", 12, 1)
    assert draw_pairs("test", 12, 1) != draw_pairs("test", 12, 2)


SCRIPT = draw_pairs("source", 1, SEED)[0]
LENGTHS = {
    "opening": (800, 3_300),
    "filler": (500, 1_800),
    "repair": (300, 1_500),
    "replacement": (400, 1_900),
    "aside": (900, 2_600),
    "tail": (900, 2_600),
}
MARKS = {name: mark for mark, name in enumerate(LENGTHS, start=1)}


def segments(lengths: dict[str, int]) -> Segments:
    """Each part a constant of its own, so that the laid-out audio shows where it went."""
    return Segments(
        **{
            name: np.full(length * RATE // 1_000, MARKS[name], np.int16)
            for name, length in lengths.items()
        }
    )


def place(samples: np.ndarray, mark: int) -> tuple[int, int]:  # type: ignore[type-arg]
    """Where a part begins and ends, in microseconds."""
    found = np.flatnonzero(samples == mark)
    return int(found[0]) * 1_000_000 // RATE, (int(found[-1]) + 1) * 1_000_000 // RATE


@given(
    lengths=st.fixed_dictionaries({n: st.integers(*bounds) for n, bounds in LENGTHS.items()}),
    seed=st.integers(0, 10_000),
)
def test_annotations_say_where_the_segments_are(lengths: dict[str, int], seed: int) -> None:
    stable, corrected = lay_out(SCRIPT, segments(lengths), PROSPECTIVE, Random(seed))
    s, c = stable.metadata, corrected.metadata

    first, second = c["values"]
    (repair,) = c["repairs"]
    assert first["available_us"] == place(corrected.samples, MARKS["opening"])[1]
    assert repair["onset_us"] == place(corrected.samples, MARKS["repair"])[0]
    assert second["available_us"] == place(corrected.samples, MARKS["replacement"])[1]
    assert repair["resolved_us"] == second["available_us"] == c["origin_us"]
    assert c["target"] == second["argument"] == SCRIPT.second.argument
    assert s["target"] == first["argument"] == s["values"][0]["argument"]
    assert s["origin_us"] == first["available_us"]
    assert (s["repairs"], len(s["values"])) == ([], 1)

    branch = c["branch_us"] * RATE // 1_000_000
    assert branch == s["branch_us"] * RATE // 1_000_000
    np.testing.assert_array_equal(stable.samples[:branch], corrected.samples[:branch])
    assert stable.samples[branch] == MARKS["aside"]

    assert 1_000_000 <= repair["onset_us"] - first["available_us"] <= 3_500_000
    assert repair["resolved_us"] - repair["onset_us"] >= 2_000_000
    assert len(corrected.samples) * 1_000_000 // RATE - repair["resolved_us"] >= 3_000_000
    for take in (stable, corrected):
        assert len(take.samples) <= LONGEST * RATE // 1_000
        assert take.samples[-1] == 0
        tail = place(take.samples, MARKS["tail"])
        assert tail[1] - tail[0] == lengths["tail"] * 1_000
    assert abs(len(stable.samples) - len(corrected.samples)) <= 2 * RATE


def test_the_same_seed_lays_out_the_same() -> None:
    lengths = {name: low for name, (low, _) in LENGTHS.items()}
    one, two = (lay_out(SCRIPT, segments(lengths), PROSPECTIVE, Random(4)) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a.samples, b.samples)
        assert a.metadata == b.metadata


def test_speech_that_breaks_the_shape_is_refused() -> None:
    lengths = {name: low for name, (low, _) in LENGTHS.items()} | {"filler": 4_000}
    with pytest.raises(ValueError, match="the speech needs 4200 ms, more than the 3500 ms"):
        lay_out(SCRIPT, segments(lengths), PROSPECTIVE, Random(0))


def test_the_window_holds_the_longest_recording() -> None:
    assert ENCODER_FRAMES * 10 == LONGEST


@given(st.integers(0, 100))
def test_segments_are_whole_milliseconds(samples: int) -> None:
    padded = to_grain(np.ones(samples, np.int16))
    assert len(padded) % (RATE // 1_000) == 0
    assert 0 <= len(padded) - samples < RATE // 1_000
    assert padded.sum() == samples


def test_a_script_says_what_it_means() -> None:
    def spoken(script: PairScript) -> list[str]:
        return [getattr(script, field.name) for field in fields(Segments)]

    for script in draw_pairs("test", 40, 5):
        text = spoken(script)
        assert script.first.text in text[0]
        assert script.second.text in text[3]
        assert "{" not in "".join(text)
