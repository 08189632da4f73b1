"""The trajectories that the report draws are the ones that its rule names."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simcore import Scenario, load_scenario, run
from simcore.report.html import html
from simcore.report.summary import build_summary
from simcore.timeline.telling import telling_cases


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    loaded = load_scenario("tables", policies=["rassg", "rassg-no-cancel"])
    return replace(loaded, recordings=loaded.recordings[:20], actions=loaded.actions[:2])


def test_the_largest_difference_of_each_kind_is_drawn(scenario: Scenario) -> None:
    frame = run(scenario)
    (section,) = telling_cases([frame], scenario)
    ours, other = (
        {(r["recording_id"], r["action"]): r for r in frame.filter(policy=label).to_dicts()}
        for label in ("rassg", "rassg-no-cancel")
    )
    saved = [
        (other[key]["cost"] - row["cost"], key)
        for key, row in ours.items()
        if other[key]["stale"] and not row["stale"] and row["success"]
    ]
    assert saved
    _, (recording, action) = max(saved, key=lambda pair: pair[0])
    first = section.pictures[0]
    assert first.caption.startswith("Saved by the veto")
    assert f"{recording}, {action}" in first.markup
    alarms = [p for p in section.pictures if p.caption.startswith("A false alarm")]
    assert all("-stable, " in picture.markup for picture in alarms)
    page = html(build_summary(frame, scenario, resamples=20), [section])
    for foreign in ("http:", "https:", "src=", "<link", "@import", "url(", "<script"):
        assert foreign not in page


def test_without_the_control_there_is_nothing_to_tell(scenario: Scenario) -> None:
    alone = replace(scenario, policies=scenario.policies[:1])
    assert telling_cases([run(alone)], alone) == []
