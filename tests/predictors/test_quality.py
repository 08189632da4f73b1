"""Scores worked out by hand, and the ticks at which a veto is decided."""

from __future__ import annotations

import json
from dataclasses import replace
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictors.baselines import base_rate, constant, fit_cue_words
from predictors.opportunities import veto_ticks
from predictors.quality import Scores, auroc, label, scores
from predictors.quality_report import TICKS, VETO, Subject, evaluate, write_quality
from simcore import ToolProfile
from simcore.scenario import Control
from simcore.trace import Arrival, Forecast, Recording

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

THREE = '{"arguments":{"time":"15:00"},"tool":"book"}'
FOUR = '{"arguments":{"time":"16:00"},"tool":"book"}'
D = 320_000


class Same:
    """The same masses at every tick from 0 on."""

    checkpoint = "same"
    outcomes = (0,) * 12

    def __init__(self, masses: tuple[float, ...]) -> None:
        self.row = masses

    def forecasts(self, recordings: Sequence[Recording], period_us: int) -> tuple[Forecast, ...]:
        return (Forecast("same", (0,), (1 - self.row[11],), (self.row,)),) * len(recordings)


def trace(*arguments: str | None, **fields: Any) -> Recording:
    """An arrival every 320 ms from the first on; the last is final."""
    arrivals = tuple(
        Arrival(n * D, n * D, "", None, argument, n == len(arguments))
        for n, argument in enumerate(arguments, start=1)
    )
    return Recording(
        "r", len(arguments) * D, arrivals, **{"labelled": True, "target": FOUR, **fields}
    )


def scored(recording: Recording, masses: tuple[float, ...]) -> Scores:
    rows = label([recording], D)
    found = scores(rows, rows.masses(Same(masses), D), np.ones(len(rows.at_us), bool))
    assert found is not None
    return found


def test_scores_by_hand() -> None:
    # Outcome 1 and wrong at the first tick, then none and right.
    masses = (0.0, 0.4, *(0.0,) * 8, 0.1, 0.5)
    found = scored(trace(THREE, FOUR), masses)
    assert found.n == 2
    assert found.nll == pytest.approx(-(log(0.4) + log(0.5)) / 2)
    assert found.superseded is not None
    assert found.wrong is not None
    assert found.superseded.brier == found.wrong.brier == pytest.approx(0.25)
    # One bin: half of what has p_bad 0.5 was superseded.
    assert found.superseded.ece == pytest.approx(0)
    (only,) = found.superseded.reliability
    assert (only.low, only.high, only.n, only.mean, only.share) == (0.5, 0.6, 2, 0.5, 0.5)
    # "By now" never came (and has no mass); within 320 ms came once and has mass 0.4.
    assert [h.brier for h in found.horizons] == pytest.approx([0] + [(0.36 + 0.16) / 2] * 8)
    assert [h.share for h in found.horizons] == [0] + [0.5] * 8


def test_what_is_unknown_is_left_out() -> None:
    # The event is known, what became of the last version is T or none.
    masses = (0.0, 0.4, *(0.0,) * 8, 0.1, 0.5)
    found = scored(trace(THREE, FOUR, labelled=False), masses)
    assert found.nll == pytest.approx(-(log(0.4) + log(0.6)) / 2)
    assert found.superseded is not None
    assert (found.superseded.n, found.superseded.brier) == (1, pytest.approx(0.25))
    assert found.wrong is None
    assert found.horizons[1].n == 2


def test_a_flicker_is_superseded_but_not_wrong() -> None:
    found = scored(trace(FOUR, THREE, FOUR), (0.0, 1.0, *(0.0,) * 10))
    assert found.superseded is not None
    assert found.wrong is not None
    assert found.superseded.brier == pytest.approx(1 / 3)
    assert found.wrong.brier == pytest.approx(2 / 3)


def test_a_wrong_version_that_persists_counts_as_bad() -> None:
    found = scored(trace(THREE), (*(0.0,) * 10, 1.0, 0.0))
    assert found.superseded is not None
    assert found.wrong is not None
    assert (found.nll, found.superseded.brier, found.wrong.brier) == (0, 0, 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_the_share_of_pairs_in_order(drawn: list[tuple[int, bool]]) -> None:
    ones = [p for p, one in drawn if one]
    zeros = [p for p, one in drawn if not one]
    found = auroc(np.array([p / 5 for p, _ in drawn]), np.array([float(one) for _, one in drawn]))
    if not ones or not zeros:
        assert found is None
        return
    pairs = [(high > low) + (high == low) / 2 for high in ones for low in zeros]
    assert found == pytest.approx(sum(pairs) / len(pairs))


def test_the_base_rate_counts_each_outcome_once_more() -> None:
    assert base_rate([0] * 12) == pytest.approx([1 / 12] * 12)
    assert base_rate([88, *[0] * 11])[0] == pytest.approx(0.89)
    assert sum(constant([3] * 12).with_cue) == pytest.approx(1)


def test_cue_words_split_the_base_rate_by_what_the_text_shows() -> None:
    silent = trace(FOUR, FOUR, FOUR)
    texts = ("at three", "at three no wait", "at three no wait at four")
    cued = trace(THREE, THREE, FOUR)
    arrivals = tuple(replace(a, text=t) for a, t in zip(cued.arrivals, texts, strict=True))
    model = fit_cue_words([silent, silent, replace(cued, arrivals=arrivals)])
    # With a cue: once outcome 1. Without: six times none, once each outcome 2 and none.
    assert model.with_cue[1] == pytest.approx(2 / 13)
    assert model.without[11] == pytest.approx(8 / 20)


TOOL = ToolProfile("book", runtime_us=3_000_000, cancel_window_us=1_000_000)


def test_a_veto_is_decided_at_the_last_tick_that_cancels_in_time() -> None:
    # Three agree at 960 ms: committed at 970, irreversible at 1,970. A decision at tick t cancels
    # in time up to t + 10 + 20 <= 1,970: the last such tick is 1,920.
    recording = trace(*[THREE] * 10)
    assert list(veto_ticks(recording, TOOL, Control())) == [1_920_000]
    exact = replace(TOOL, cancel_window_us=980_000)
    assert list(veto_ticks(recording, exact, Control())) == [1_920_000]
    short = replace(TOOL, cancel_window_us=979_999)
    assert list(veto_ticks(recording, short, Control())) == [1_600_000]


def test_no_veto_after_the_final_flush_nor_of_another_candidate() -> None:
    assert list(veto_ticks(trace(*[THREE] * 6), TOOL, Control())) == []
    assert list(veto_ticks(trace(*[THREE] * 7), TOOL, Control())) == [1_920_000]
    # At 1,920 the candidate is empty, or another and the call is updated in time.
    assert list(veto_ticks(trace(*[THREE] * 5, None, *[THREE] * 4), TOOL, Control())) == []
    updated = veto_ticks(trace(*[THREE] * 5, *[FOUR] * 9), TOOL, Control())
    # Acknowledged at 1,950, irreversible at 2,950.
    assert list(updated) == [2_880_000]


def test_the_report_has_every_place_and_slice(tmp_path: Path) -> None:
    recordings = [
        replace(trace(*[THREE] * 5, *[FOUR] * 9), recording_id="a", voice="x", group_id="g"),
        replace(trace(*[FOUR] * 14), recording_id="b", voice="y", group_id="g"),
        replace(trace(*[FOUR] * 14), recording_id="c", voice="y"),
    ]
    even = Same((0.0, 0.5, *(0.0,) * 9, 0.5))
    entries = evaluate(recordings, [Subject(even)], D, [TOOL], Control())
    places = {(e.where, e.action, e.column, e.value): e for e in entries}
    assert set(places) == {
        (where, None, column, value)
        for where in (TICKS, VETO)
        for column, value in ((None, None), ("voice", "x"), ("voice", "y"))
    } | {(VETO, "book", None, None)}
    whole = places[VETO, "book", None, None]
    assert (whole.recordings, whole.clusters, whole.scores.n) == (3, 2, 3)
    assert places[TICKS, None, "voice", "y"].scores.n == 28
    about = {
        "traces": "t",
        "recordings": 3,
        "tick_us": 1.0,
        "single_tick_us": 2.0,
        "hardware": "this",
    }
    write_quality(tmp_path, entries, about)
    document = json.loads((tmp_path / "quality.json").read_text())
    assert document["schema"] == "quality/v1"
    assert len(document["entries"]) == len(entries)
    first = document["entries"][0]["scores"]["superseded"]["reliability"][0]
    assert set(first) == {"low", "high", "n", "mean", "share"}
    assert "| same |" in (tmp_path / "quality.md").read_text()
    assert "<svg" in (tmp_path / "reliability.svg").read_text()


def test_noisy_copies_are_scored_beside_the_clean_ones_alone() -> None:
    clean = trace(*[THREE] * 5, *[FOUR] * 9)
    recordings = [
        replace(clean, recording_id="a", voice="x", group_id="g"),
        replace(clean, recording_id="a-10db", voice="x", group_id="g", noise="10 dB"),
        replace(clean, recording_id="a-20db", voice="x", group_id="g", noise="20 dB"),
        replace(clean, recording_id="b", voice="y", group_id="h"),
    ]
    even = Same((0.0, 0.5, *(0.0,) * 9, 0.5))
    entries = evaluate(recordings, [Subject(even)], D, [TOOL], Control())
    counts = {(e.where, e.action, e.column, e.value): e.recordings for e in entries}
    for where, action in ((TICKS, None), (VETO, None), (VETO, "book")):
        assert counts[where, action, None, None] == 2
    assert {value: n for (where, _, column, value), n in counts.items() if column == "noise"} == {
        "clean": 1,
        "10 dB": 1,
        "20 dB": 1,
    }
    assert counts[TICKS, None, "voice", "x"] == 1
    noisy = evaluate(recordings[1:3], [Subject(even)], D)
    assert {(e.column, e.value): e.recordings for e in noisy} == {
        (None, None): 2,
        ("noise", "10 dB"): 1,
        ("noise", "20 dB"): 1,
    }
