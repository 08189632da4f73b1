"""A report on speech says what its frontend decided, and counts from the end of speech too."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from simcore.metrics import EVENTS
from simcore.report.html import html
from simcore.report.markdown import markdown
from simcore.report.speech import final_parse
from simcore.report.summary import build_summary
from simcore.scenario import PolicySpec, Scenario
from simcore.trace import Arrival, Recording

POLICIES = (PolicySpec("eou", "at-end"), PolicySpec("rassg", "rassg"))


def recording(
    name: str, parsed: str | None, *, silence: int = 4_000_000, origin: int | None = None
) -> Recording:
    """10 s of audio; the target is "right"."""
    final = Arrival(10_000_000, 10_500_000, "", 0.5, parsed, True, pause_us=silence)
    return Recording(
        name, 10_000_000, (final,), labelled=True, target="right", origin_us=origin, group_id=name
    )


def row(policy: str, name: str, stale: bool, completed: int | None) -> dict[str, Any]:
    return {
        "recording_id": name,
        "group_id": name,
        "subset": None,
        "variant": None,
        "policy": policy,
        "action": "book",
        "checkpoint": None if policy == "at-end" else "gru",
        "replication": 0,
        "stale": stale,
        "stale_versions": int(stale),
        "success": completed is not None,
        "delay_s": None if completed is None else max(0, completed - 10_000_000) / 1e6,
        "completed_us": completed,
        "cost": 1.0,
        "result": "right" if completed is not None else "wrong",
        "failure": None,
        "error": None,
        **dict.fromkeys(EVENTS, 0),
    }


RECORDINGS = (
    recording("good", "right"),
    recording("good-too", "right"),
    recording("bad", "wrong"),
    recording("bad-too", "other"),
    recording("mute", None),
)
ROWS = [
    row("at-end", "good", False, 12_000_000),
    row("at-end", "good-too", False, 14_000_000),
    row("at-end", "bad", True, None),
    row("at-end", "bad-too", False, None),
    row("at-end", "mute", False, None),
    row("rassg", "good", True, 9_000_000),
    row("rassg", "good-too", False, 5_000_000),
    row("rassg", "bad", True, None),
    row("rassg", "bad-too", True, None),
    row("rassg", "mute", True, None),
]


def summary(rows: list[dict[str, Any]], recordings: tuple[Recording, ...], **options: Any) -> Any:
    scenario = Scenario("speech", recordings, (), POLICIES, seed=3, resolved={"name": "speech"})
    frame = pl.DataFrame(rows, infer_schema_length=None)
    panels = [frame.filter(pl.col("recording_id") == r.recording_id) for r in recordings]
    return build_summary(panels if options else frame, scenario, resamples=100)


@pytest.mark.parametrize("options", [{}, {"panels": True}])
def test_wrong_parses_and_both_origins_are_counted(options: dict[str, Any]) -> None:
    eou, rassg = summary(ROWS, RECORDINGS, **options).speech
    assert (rassg.policy, rassg.stale, rassg.stale_wrong, rassg.stale_eou) == ("rassg", 4, 2, 1)
    assert (eou.stale, eou.stale_wrong, eou.stale_eou) == (1, 1, 1)
    assert (rassg.delay_s.value, rassg.clipped, rassg.delay_s.n) == (0.0, 2, 2)
    assert (rassg.speech_delay_s.value, rassg.speech_clipped) == (1.5, 1)
    assert (eou.delay_s.value, eou.clipped) == (3.0, 0)
    assert eou.speech_delay_s.value == 7.0


def test_stale_rates_stand_beside_each_other_for_right_and_wrong_parses() -> None:
    found = summary(ROWS, RECORDINGS)
    parts = {p.value: p.scores.stale_rate for p in found.policies[1].by["final_parse"]}
    assert {value: (rate.count, rate.n) for value, rate in parts.items()} == {
        "right": (1, 2),
        "wrong": (2, 2),
        "empty": (1, 1),
    }
    for text in (markdown(found), html(found)):
        assert "By the final parse" in text
        assert "from speech end s" in text
        assert "2/4" in text


def test_speech_is_no_matter_where_another_origin_is_known() -> None:
    known = tuple(recording(r.recording_id, "right", origin=1) for r in RECORDINGS)
    silent = tuple(recording(r.recording_id, "right", silence=0) for r in RECORDINGS)
    for recordings in (known, silent):
        found = summary(ROWS, recordings)
        assert found.speech == ()
        assert "from speech end" not in markdown(found)


def test_without_an_eou_policy_its_share_is_unknown() -> None:
    scenario = Scenario("speech", RECORDINGS, (), POLICIES[1:], resolved={})
    frame = pl.DataFrame([r for r in ROWS if r["policy"] == "rassg"], infer_schema_length=None)
    (rassg,) = build_summary(frame, scenario, resamples=100).speech
    assert rassg.stale_eou is None


def test_an_unlabelled_recording_has_no_right_parse() -> None:
    final = Arrival(1, 2, "", None, "x", True)
    assert final_parse(Recording("r", 1, (final,))) is None
    assert final_parse(Recording("r", 1, (final,), labelled=True, target=None)) == "wrong"
