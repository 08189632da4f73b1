"""What was known when a stale call could be cancelled for the last time."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simcore import Scenario, load_scenario, run
from simcore.recorder import VersionRecord
from simcore.scenario import Control
from simcore.timeline.remaining import REASONS, reason, remaining_stale
from simcore.trace import Arrival, Recording, Repair

THREE, FOUR = '{"arguments":{"time":"15:00"}}', '{"arguments":{"time":"16:00"}}'


def recording(*later: tuple[int, int, str | None], onset: int | None = 2_000_000) -> Recording:
    """Three from the first second on, then arrivals (end of the prefix, arrival, argument)."""
    arrivals = [Arrival(960_000, 1_000_000, "", None, THREE, is_final=False)]
    arrivals += [
        Arrival(end, at, "", None, argument, is_final=False) for end, at, argument in later
    ]
    arrivals.append(Arrival(9_000_000, 9_100_000, "", None, FOUR, is_final=True))
    repairs = () if onset is None else (Repair(onset, 6_000_000, "prospective"),)
    return Recording("r", 9_000_000, tuple(arrivals), labelled=True, target=FOUR, repairs=repairs)


def version(deadline_us: int) -> VersionRecord:
    return VersionRecord(0, 0, THREE, 1_290_000, 1_290_000, deadline_us, 9_000_000, "executed")


@pytest.mark.parametrize(
    ("heard", "deadline", "expected"),
    [
        # A cancel decided at tick t is acknowledged at t + 30 ms: the last tick is 3,200 or 2,880.
        (recording(), 3_230_000, "unheard"),
        (recording((2_880_000, 3_200_000, THREE)), 3_230_000, "kept"),
        (recording((2_880_000, 3_200_000, THREE)), 3_229_999, "unheard"),
        (recording((2_880_000, 3_200_000, None)), 3_230_000, "kept"),
        (recording((2_880_000, 3_200_000, FOUR)), 3_230_000, "replaced"),
        (recording((1_920_000, 3_200_000, FOUR)), 3_230_000, "unheard"),
        (recording((1_920_000, 1_990_000, THREE)), 1_990_000, "early"),
        (recording((1_920_000, 1_990_000, THREE), onset=None), 3_230_000, "recognizer"),
    ],
)
def test_the_reason_is_what_was_known_at_the_last_chance(
    heard: Recording, deadline: int, expected: str
) -> None:
    assert reason(heard, version(deadline), Control()) == expected


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    loaded = load_scenario("tables", policies=["eou", "rassg"])
    some = [r for r in loaded.recordings if r.subset == "prospective"][:80]
    return replace(loaded, recordings=tuple(some), actions=loaded.actions[:3])


def test_the_reasons_add_up_to_the_stale_rate(scenario: Scenario) -> None:
    frame = run(scenario)
    (section,) = remaining_stale([frame], scenario)
    *rows, last = section.grids[0].rows
    assert [row[0] for row in rows] == list(REASONS.values())
    ours = frame.filter(policy="rassg")
    assert float(last[1]) == pytest.approx(100 * ours["stale"].mean(), abs=0.01)  # type: ignore
    for column in range(1, len(last)):
        shares = [float(row[column]) for row in rows]
        assert sum(shares) == pytest.approx(float(last[column]), abs=0.03)
    assert float(last[1]) > 0


def test_without_the_policy_there_is_nothing_to_explain(scenario: Scenario) -> None:
    alone = replace(scenario, policies=scenario.policies[:1])
    assert remaining_stale([run(alone)], alone) == []
