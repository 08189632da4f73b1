"""What the text shows about the current version."""

from __future__ import annotations

import pytest

from predictors.cues import State, state
from simcore.trace import Arrival


def cue(*spoken: tuple[str, str | None]) -> bool:
    """Whether the last of these (text, argument) shows a cue about the version then current."""
    known = [
        Arrival(i, i * 960_000, text, None, argument, False)
        for i, (text, argument) in enumerate(spoken, start=1)
    ]
    now = state(known, len(spoken) * 960_000)
    assert now is not None
    return now.cue


def test_before_the_first_argument_there_is_no_state() -> None:
    assert state([], 0) is None
    assert state([Arrival(1, 2, "no wait", None, None, False)], 5) is None


def test_age_counts_from_the_versions_first_arrival() -> None:
    known = [
        Arrival(1, 100, "at 3", None, "A", False),
        Arrival(2, 300, "at 3", None, None, False),
        Arrival(3, 500, "at 3", None, "A", True),
    ]
    assert state(known[:2], 310) == State(210, cue=False, final=False)
    assert state(known, 510) == State(410, cue=False, final=True)


@pytest.mark.parametrize(
    ("spoken", "expected"),
    [
        ([("Book it at 3 PM.", "A")], False),
        ([("book it at 3 pm", "A"), ("Book it at 3 pm. No, wait...", "A")], True),
        ([("book it at 3 pm", "A"), ("book it at 3 pm, I mean for", "A")], True),
        # The words must stand alone, and the phrase whole.
        ([("at noon", "A"), ("at noon, I know", "A")], False),
        ([("at 3", "A"), ("at 3, what I meaningfully", "A")], False),
        # A phrase that is there when the version begins led to it, unless nothing follows it.
        ([("at 3 no wait at 4", "B")], False),
        ([("at 3 no wait", "A")], True),
        ([("at 3 no wait", "A"), ("at 3 no wait for me to", "A")], True),
        # The change of argument answers it; another phrase is about the new version.
        ([("at 3", "A"), ("at 3 sorry", "A"), ("at 3 sorry 4", "B")], False),
        ([("at 3 sorry 4", "B"), ("at 3 sorry 4 actually", "B")], True),
        # An empty argument changes nothing.
        ([("at 3", "A"), ("at 3 that's not right", None)], True),
        ([("at 3", "A"), ("at 3 that’s wrong", None)], True),
    ],
)
def test_cue(spoken: list[tuple[str, str | None]], expected: bool) -> None:
    assert cue(*spoken) is expected
