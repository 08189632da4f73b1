"""Features are functions of the past alone, and say what their names say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictors.features import BUCKETS, NAMES, features
from predictors.versions import ticks
from simcore.trace import Arrival, Recording
from tests.predictors.strategies import other_futures, recordings

D = 320_000


@given(recordings(), st.integers(0, 25), st.data())
@settings(max_examples=60, deadline=None)
def test_nothing_after_t_changes_the_features_up_to_t(
    recording: Recording, tick: int, data: st.DataObject
) -> None:
    time = tick * D
    other = data.draw(other_futures(recording, time))

    def known(of: Recording) -> dict[int, list[float]]:
        times = [at for at in ticks(of.arrivals, D) if at <= time]
        return dict(zip(times, features(of.arrivals, times).tolist(), strict=True))

    assert known(other) == known(recording)


@given(recordings())
@settings(max_examples=30, deadline=None)
def test_a_finite_row_for_every_tick(recording: Recording) -> None:
    times = ticks(recording.arrivals, D)
    rows = features(recording.arrivals, times)
    assert rows.shape == (len(times), len(NAMES))
    assert np.isfinite(rows).all()
    assert (np.abs(rows) < 100).all()


def at_last(*spoken: tuple[str, str | None], **arrival: int) -> dict[str, float]:
    """The features when the last of these (text, argument) has just arrived."""
    known = [
        Arrival(i * 960_000, i * 960_000 + 100_000, text, 0.9, argument, False, **arrival)
        for i, (text, argument) in enumerate(spoken, start=1)
    ]
    row = features(known, [known[-1].arrived_at_us])[0]
    return dict(zip(NAMES, row.tolist(), strict=True))


TABLE = ("Book a table for three.", "A")


def test_words_after_the_value_are_told_from_its_own() -> None:
    assert at_last(TABLE)["words after the value"] == 0
    # "3" for "three": what is spelled otherwise by now is no new word.
    later = at_last(TABLE, ("Book a table for 3 on the terrace", "A"))
    assert later["words after the value"] == pytest.approx(np.log1p(4), abs=1e-6)
    later = at_last(TABLE, ("Book a table for three on the terrace", "A"))
    assert later["words after the value"] == pytest.approx(np.log1p(3), abs=1e-6)


def test_starting_again_shows() -> None:
    calm = at_last(TABLE, ("Book a table for three. Near the window", "A"))
    again = at_last(TABLE, ("Book a table for three. Book a table", "A"))
    assert calm["repeated words"] == calm["begins like an earlier sentence"] == 0
    assert again["repeated words"] == again["repeated pairs of words"] == 1
    assert again["begins like an earlier sentence"] == again["longest repetition"] == 1


def test_breaking_off_shows() -> None:
    for text in ("Book a table for three. Book a t-", "Book a table for three, no..."):
        assert at_last(TABLE, (text, "A"))["breaks off"] == 1
        assert at_last(TABLE, (text, "A"))["ends a sentence"] == 0
    assert at_last(TABLE)["breaks off"] == 0
    assert at_last(TABLE)["ends a sentence"] == 1


def test_history_counts_versions_agreement_and_empties() -> None:
    row = at_last(("at 3", "A"), ("at 4", "B"), ("at", None), ("at 3", "A"), ("at 3", "A"))
    assert row["versions before"] == 2
    assert row["value said before"] == 1
    assert row["agreement"] == 2 / 4
    assert row["arrivals without argument"] == 1 / 4
    assert row["nothing new"] == 1


def test_the_newest_words_are_hashed_and_only_they() -> None:
    def text(*spoken: tuple[str, str | None]) -> list[float]:
        return list(at_last(*spoken).values())[-BUCKETS:]

    assert not any(text(TABLE))
    first = text(TABLE, ("Book a table for three and by the window please", "A"))
    second = text(TABLE, ("Book a table for three yes by the window please", "A"))
    other = text(TABLE, ("Book a table for three no wait", "A"))
    assert first == second != other
    assert np.linalg.norm(other) == pytest.approx(1)


def test_silence_goes_on_with_the_clock() -> None:
    known = [Arrival(960_000, 1_000_000, "at three", 0.9, "A", False, pause_us=500_000)]
    early, late = features(known, [1_000_000, 2_960_000])
    place = NAMES.index("silence")
    assert early[place] == pytest.approx(np.log1p(0.54), abs=1e-6)
    assert late[place] == pytest.approx(np.log1p(2.5), abs=1e-6)
