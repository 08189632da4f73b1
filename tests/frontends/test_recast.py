"""What the generator promises before anything is spoken or decoded."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends.audio import RATE
from frontends.recast.build import ATTEMPTS, ENCODER_FRAMES
from frontends.recast.grammar import DOMAINS, VOICES, load_grammar
from frontends.recast.recipe import GROUPS, SINGLE, SPLITS, Item, all_items, recordings
from frontends.recast.script import HUMAN_ONSET, draw_script
from frontends.recast.timeline import LONGEST, TooLong, lay_out, to_grain

if TYPE_CHECKING:
    from frontends.recast.grammar import Side
    from frontends.recast.script import Script
    from frontends.recast.timeline import Take

SOURCE, TEST = load_grammar("source"), load_grammar("test")
MS = RATE // 1_000


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z']+", text.lower()))


def texts(script: Script) -> list[str]:
    spans = [*script.shared, *(span for variant in script.variants for span in variant.spans)]
    return [text for span in spans for text in span.texts]


def speech(script: Script, pace: int = 60) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    """Each text as a constant of its own, about as long as it takes to say."""
    return {
        text: np.full((200 + pace * len(text)) * MS, mark, np.int16)
        for mark, text in enumerate(dict.fromkeys(texts(script)), start=1)
    }


@cache
def takes(subset: str, index: int, split: str = "test") -> list[Take]:
    side: Side = "test" if split == "test" else "source"
    for attempt in range(ATTEMPTS):
        script = draw_script(split, side, subset, index, 1, attempt)
        try:
            return lay_out(script, speech(script), f"{index}/{attempt}")
        except TooLong:
            continue
    raise AssertionError("no attempt fits")


def test_source_and_test_share_no_voice_carrier_tail_or_false_alarm() -> None:
    assert len(VOICES["source"]) >= 6
    assert len(VOICES["test"]) == 2
    assert not set(VOICES["source"]) & set(VOICES["test"])
    for name in ("tails", "cues", "fillers"):
        assert not set(getattr(SOURCE, name)) & set(getattr(TEST, name)), name
    for domain in DOMAINS:
        for kind in ("carriers", "two"):
            source, test = (getattr(side, kind)[domain] for side in (SOURCE, TEST))
            for part in ("id", "opening", "filler"):
                assert not {getattr(c, part) for c in source} & {getattr(c, part) for c in test}
        for switch in SOURCE.switch[domain]:
            assert switch.text not in {other.text for other in TEST.switch[domain]}


@pytest.mark.parametrize("kind", ["edits", "abandon"])
def test_half_of_the_tests_phrases_share_no_word_with_the_sources(kind: str) -> None:
    known = set().union(*(words(edit.text) for edit in (*SOURCE.edits, *SOURCE.abandon)))
    phrases = getattr(TEST, kind)
    for edit in phrases:
        assert edit.seen == bool(words(edit.text) & known), edit
    assert sum(not edit.seen for edit in phrases) * 2 == len(phrases)


def test_the_recipe_has_the_papers_sizes_and_one_mix() -> None:
    items = all_items()
    assert len({item.name for item in items}) == len(items)
    sizes = {split: recordings(i for i in items if i.split == split) for split in SPLITS}
    assert sizes == {"train": 320, "dev-selection": 64, "dev-calibration": 64, "test": 2_400}
    for subset, (*source, test) in GROUPS.items():
        assert sum(source) / 448 == pytest.approx(test / 2_400, abs=0.002), subset
        assert source[0] / 320 == pytest.approx(test / 2_400, abs=0.001), subset
    assert GROUPS["prospective"][-1] == 600
    for packs in (set(SPLITS) - {"test"}, {"test"}):
        own = [item.subset == "prospective" for item in items if item.pack in packs]
        assert own == sorted(own, reverse=True)
    assert {item.pack for item in items[:258]} == set(SPLITS) - {"test"}


@pytest.mark.parametrize("split", ["train", "test"])
def test_prospective_scripts_are_balanced(split: str) -> None:
    side: Side = "test" if split == "test" else "source"
    scripts = [Item(split, "prospective", index).script() for index in range(80)]
    edits = [script.variants[1].edit for script in scripts]
    for domain in DOMAINS:
        own = [script for script in scripts if script.domain == domain]
        assert len(own) == 20
        assert {script.voice for script in own} == set(VOICES[side])
        assert {script.carrier_id for script in own} == {
            carrier.id for carrier in load_grammar(side).carriers[domain]
        }
    assert edits.count(None) * 3 >= len(edits)
    spoken = [edit for edit in edits if edit is not None]
    assert {edit.id for edit in spoken} == {edit.id for edit in load_grammar(side).edits}
    if side == "test":
        assert sum(not edit.seen for edit in spoken) * 2 == pytest.approx(len(spoken), abs=1)


def test_a_third_of_all_corrections_have_no_editing_phrase() -> None:
    edits = [
        variant.edit
        for item in all_items()
        for variant in item.script().variants
        if any(span.repair for span in variant.spans)
    ]
    assert len(edits) > 1_000
    assert edits.count(None) * 3 >= len(edits)


def test_scripts_repeat() -> None:
    for subset in GROUPS:
        one, two = (draw_script("test", "test", subset, 5, 1) for _ in range(2))
        assert one == two
        assert one != draw_script("test", "test", subset, 5, 2)
        assert "{" not in "".join(texts(one))
        assert ".." not in " ".join(texts(one))


def gaps(columns: dict) -> tuple[int, int | None]:  # type: ignore[type-arg]
    """From the first whole value to the onset, and from there to the new value."""
    repair = columns["repairs"][0]
    first = max(
        v["available_us"] for v in columns["values"] if v["available_us"] <= repair["onset_us"]
    )
    end = repair["resolved_us"]
    return repair["onset_us"] - first, None if end is None else end - repair["onset_us"]


@pytest.mark.parametrize("index", range(12))
def test_the_distances_that_make_a_subset(index: int) -> None:
    _, corrected = takes("prospective", index)
    gap, resolve = gaps(corrected.columns)
    assert 1_000_000 <= gap <= 3_500_000
    assert resolve is not None
    assert resolve >= 2_000_000
    tail = len(corrected.samples) * 1_000_000 // RATE - corrected.columns["origin_us"]
    assert tail >= 3_000_000
    assert gaps(takes("early", index)[1].columns)[0] <= 1_000_000
    assert gaps(takes("late", index)[1].columns)[0] >= 6_000_000


@pytest.mark.parametrize("subset", GROUPS)
@pytest.mark.parametrize("index", range(8))
def test_a_group_is_one_until_its_branch_and_says_what_is_right(subset: str, index: int) -> None:
    group = takes(subset, index)
    assert len(group) == (1 if subset in SINGLE else 2)
    stable = group[0].columns
    assert stable["variant"] == "stable"
    assert stable["repairs"] == []
    assert stable["target"] == stable["values"][-1]["argument"]
    assert stable["origin_us"] == stable["values"][-1]["available_us"]
    assert "editing" not in stable
    for take in group:
        assert len(take.samples) <= LONGEST * MS
        assert take.columns["group_id"] == f"test-{subset}-{index:04}"
        assert take.columns["spoken"]
    if subset in SINGLE:
        return
    corrected = group[1].columns
    branch = corrected["branch_us"]
    assert branch == stable["branch_us"] == corrected["repairs"][0]["onset_us"]
    end = branch * RATE // 1_000_000
    np.testing.assert_array_equal(group[0].samples[:end], group[1].samples[:end])
    assert not np.array_equal(
        group[0].samples[end : end + RATE], group[1].samples[end : end + RATE]
    )
    assert corrected["editing"] in ("seen", "unseen", "none")
    if subset == "abandonment":
        assert corrected["target"] is None
        assert corrected["repairs"][0]["resolved_us"] is None
        assert "origin_us" not in corrected
    else:
        assert corrected["target"] == corrected["values"][-1]["argument"]
        assert corrected["origin_us"] == corrected["repairs"][-1]["resolved_us"]


def test_what_the_other_repairs_change() -> None:
    for index in range(8):
        first, *_, last = takes("double", index)[1].columns["values"]
        assert (first["argument"] == last["argument"]) == (index % 4 == 3)
        assert len(takes("double", index)[1].columns["repairs"]) == 2
        stable, corrected = (take.columns["target"] for take in takes("other-field", index))
        assert len(stable["arguments"]) == len(corrected["arguments"]) > 1
        changed = {k for k, v in stable["arguments"].items() if corrected["arguments"][k] != v}
        assert len(changed) == 1
        assert next(iter(stable["arguments"])) not in changed
        stable, corrected = (take.columns["target"] for take in takes("tool-change", index))
        assert stable["arguments"] == corrected["arguments"]
        assert stable["tool"] != corrected["tool"]


def test_human_repairs_are_as_soon_as_in_switchboard() -> None:
    onsets, cut = [], 0
    for index in range(400):
        corrected = Item("test", "human", index).script().variants[1]
        onsets.append(corrected.spans[0].length[0])  # type: ignore[index]
        cut += corrected.edit is None
    median, high = HUMAN_ONSET
    assert np.median(onsets) == pytest.approx(median, rel=0.15)
    assert np.percentile(onsets, 90) == pytest.approx(high, rel=0.2)
    assert cut / 400 == pytest.approx(0.83, abs=0.01)


def test_a_value_that_is_cut_was_never_said() -> None:
    values = [len(takes("human", index)[1].columns["values"]) for index in range(40)]
    assert set(values) == {1, 2}


@given(st.integers(0, 100))
def test_texts_are_whole_milliseconds(samples: int) -> None:
    padded = to_grain(np.ones(samples, np.int16))
    assert len(padded) % MS == 0
    assert 0 <= len(padded) - samples < MS
    assert padded.sum() == samples


def test_speech_that_breaks_the_bounds_is_refused() -> None:
    script = draw_script("test", "test", "prospective", 0, 1)
    with pytest.raises(TooLong, match="ms of speech do not fit into 3500 ms"):
        lay_out(script, speech(script, pace=250), "0")


def test_the_window_holds_the_longest_recording() -> None:
    assert ENCODER_FRAMES * 10 == LONGEST
