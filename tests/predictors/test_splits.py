"""Splits keep groups together; the threshold is the cheapest one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from predictors.splits import PARTS, split
from predictors.threshold import best, curve, document, table
from simcore import load_scenario
from simcore.errors import UsageError
from simcore.trace import Recording


def test_a_group_is_in_one_part_and_every_recording_too() -> None:
    recordings = [Recording(f"r{n}", 1, group_id=f"g{n // 2}") for n in range(80)]
    parts = split(recordings, seed=1)
    assert tuple(parts) == PARTS
    assert [len(part) for part in parts.values()] == [56, 12, 12]
    assert sorted(r.recording_id for part in parts.values() for r in part) == sorted(
        r.recording_id for r in recordings
    )
    groups = [{r.cluster for r in part} for part in parts.values()]
    assert not groups[0] & groups[1] | groups[0] & groups[2] | groups[1] & groups[2]
    assert parts == split(recordings, seed=1) != split(recordings, seed=2)


def test_too_few_groups() -> None:
    with pytest.raises(UsageError, match="2 groups are too few to split"):
        split([Recording("a", 1), Recording("b", 1)], seed=0)


def test_the_cheapest_threshold_is_chosen_beside_the_usual_one() -> None:
    scenario = load_scenario("recast_prospective", traces="recast/dev-selection")
    scenario = replace(scenario, recordings=scenario.recordings[:12], actions=scenario.actions[:1])
    points = curve(scenario, (0.0, 0.95, 0.96, None))
    assert [point.threshold for point in points] == [0.0, 0.95, 0.96, None]
    assert all(point.n == 12 for point in points)
    # Any confidence launches at the first candidate; never, only after the final flush.
    assert points[0].stale_rate >= points[1].stale_rate >= points[3].stale_rate
    assert (points[0].delay_s or 0) < (points[3].delay_s or 0)
    chosen = best(points)
    assert chosen.cost == min(point.cost for point in points)
    found = document(scenario, "recast/dev-selection", points)
    assert found["chosen"]["threshold"] == chosen.threshold
    assert found["usual"]["threshold"] == 0.95
    assert str(table(points)).count("lowest cost") == 1
