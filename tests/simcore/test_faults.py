"""Faults: their distributions, their rules in a scenario, and the same luck for everybody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from simcore.errors import InputErrors
from simcore.experiment import run
from simcore.faults import Distribution, Faults, attempts, reordered
from simcore.files.scenarios import load_scenario
from simcore.registry import policy_factory
from simcore.streams import stream
from simcore.tool import ToolProfile
from simcore.trace import AgentEvent, Recording, canonical
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from pathlib import Path

CALL = AgentEvent(1_000_000, "tool_call", "call-1", "book", canonical({"slot": "a"}))
TOOL = ToolProfile("book", 2_000_000, 0, boundary="explicit")


@pytest.mark.parametrize(
    "distribution",
    [
        Distribution("constant", 3.0),
        Distribution("uniform", 1.0, 4.0),
        Distribution("exponential", 2.0),
        Distribution("lognormal", 2.0, 5.0),
    ],
    ids=lambda d: d.kind,
)
def test_the_mean_is_what_is_drawn_on_average(distribution: Distribution) -> None:
    random = np.random.default_rng(1)
    drawn = [distribution.draw(random) for _ in range(20_000)]
    assert np.mean(drawn) == pytest.approx(distribution.mean, rel=0.03)
    if distribution.kind == "lognormal":
        assert np.quantile(drawn, 0.95) == pytest.approx(5.0, rel=0.05)


def test_attempts_end_with_an_answer_or_in_doubt() -> None:
    random = np.random.default_rng(1)
    always = Faults(tool_failure=1.0, retries=2, backoff_us=10)
    assert attempts(always, 100, random) == (attempts(always, 100, random))
    failed = attempts(always, 100, random)
    assert (failed.duration_us, failed.answer, failed.effects) == (320, "failed", 0)
    lost = Faults(timeout=1.0, timeout_landed=1.0, timeout_after_us=50, retries=1, backoff_us=10)
    unknown = attempts(lost, 100, random)
    assert (unknown.duration_us, unknown.answer, unknown.effects) == (110, "unknown", 2)


def test_a_commit_that_times_out_may_have_landed_twice() -> None:
    trace = Recording("s", 9_000_000, events=(CALL,), labelled=True, target=None)
    landed = Faults(timeout=1.0, timeout_landed=1.0, retries=1)

    def play(faults: Faults | None) -> Any:
        return simulate(trace, TOOL, policy_factory("at_once"), faults=faults)

    assert play(None).duplicate_effects == 0
    # The preparation times out too, and a job that cannot be prepared has no effect.
    assert play(landed).result == "right_abstention"
    some = [
        simulate(
            trace, TOOL, policy_factory("at_once"), faults=Faults(timeout=0.5, retries=1), seed=seed
        )
        for seed in range(60)
    ]
    assert any(result.duplicate_effects for result in some)
    assert {result.trouble for result in some} >= {None, "duplicate_effect"}


def test_a_refused_cancellation_of_a_tool_with_a_deadline_is_a_zombie() -> None:
    scenario = load_scenario("restaurant_booking")
    trace = next(r for r in scenario.recordings if r.recording_id == "late-corrected")
    rassg = policy_factory("rassg")
    tool = scenario.actions[0]

    def play(faults: Faults | None) -> Any:
        return simulate(trace, tool, rassg, scenario.control, "by-hand", faults=faults)

    assert (play(None).stale, play(None).trouble) == (False, None)
    refused = play(Faults(cancel_refused=1.0))
    assert (refused.stale, refused.trouble) == (True, "zombie_commit")
    # An acknowledgement that never comes hides the cancellation until the deadline, no longer.
    lost = play(Faults(ack_lost=1.0, ack_timeout_us=300_000))
    assert (lost.stale, lost.cancels > 0) == (False, True)


def test_capacity_makes_calls_wait_for_each_other() -> None:
    second = AgentEvent(1_100_000, "tool_call", "call-2", "book", canonical({"slot": "b"}))
    trace = Recording("s", 9_000_000, events=(CALL, second))

    def ends(faults: Faults | None) -> list[int]:
        versions = simulate(trace, TOOL, policy_factory("at_once"), faults=faults).versions
        return [version.deadline_us for version in versions]

    assert ends(None) == [3_000_000, 3_100_000]
    assert ends(Faults(capacity=1)) == [3_000_000, 5_000_000]
    assert ends(Faults(capacity=2)) == ends(None)


def test_events_overtake_each_other_but_not_what_is_final() -> None:
    trace = load_scenario("restaurant_booking").recordings[0]
    late = Faults(reorder=0.5, reorder_delay=Distribution("uniform", 0, 3_000_000))
    mixed = reordered(trace, late, stream(2, "reorder"))
    assert mixed.arrivals[-1] == trace.arrivals[-1]
    assert sorted(a.text for a in mixed.arrivals) == sorted(a.text for a in trace.arrivals)
    assert [a.prefix_end_us for a in mixed.arrivals] != [a.prefix_end_us for a in trace.arrivals]
    assert list(mixed.arrived_us) == sorted(mixed.arrived_us)


def test_policies_see_what_is_expected_and_never_what_is_drawn() -> None:
    seen: list[tuple[int, int]] = []

    class Watching(type(policy_factory("confidence")())):  # type: ignore[misc]
        def decide(self, view: Any) -> Any:
            if view.active is not None and view.active.outcome is None:
                version = view.active
                seen.append((view.acknowledgement_us, version.completion_us - version.start_us))
            return super().decide(view)

    scenario = load_scenario("restaurant_booking")
    faults = Faults(
        acknowledgement=Distribution("uniform", 0, 1_000_000),
        runtime=Distribution("exponential", 1.0),
    )
    for seed in range(5):
        simulate(scenario.recordings[0], scenario.actions[0], Watching(), faults=faults, seed=seed)
    assert set(seen) == {(500_000, scenario.actions[0].runtime_us)}


SCENARIO = """
schema: scenario/v1
name: s
traces:
  - recording_id: r
    audio_end_us: 9000000
    events:
      - {at_us: 1, type: input_transcript, text: book}
      - {at_us: 2, type: tool_call, id: call-1, name: book, args: {}}
actions: [{name: book, prepare: 2 s}]
policies: [at_once]
"""

BAD = {
    "ack_timeout": ("faults: {ack_lost: 0.1}", "'ack_timeout' is required"),
    "name": ("faults: {ack_lots: 0.1}", "unknown key 'ack_lots'; did you mean 'ack_lost'?"),
    "share": ("faults: {tool_failure: 2}", "2 is above 1"),
    "distribution": ("faults: {acknowledgement: {median: 1 s}}", "a distribution has the keys"),
    "order": ("faults: {acknowledgement: {low: 2 s, high: 1 s}}", "'high' is below 'low'"),
    "factor": ("faults: {runtime: {mean: -1}}", "a factor is a number above zero"),
    "capacity": ("faults: {capacity: 0}", "0 is below 1"),
    "channel": ("channel: {scheduling: WHEN_IDEL}", "did you mean 'WHEN_IDLE'?"),
}


@pytest.mark.parametrize("name", BAD)
def test_wrong_faults_are_named(tmp_path: Path, name: str) -> None:
    line, message = BAD[name]
    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO + line + "\n", "utf-8")
    with pytest.raises(InputErrors, match="line 12"):
        load_scenario(path)
    with pytest.raises(InputErrors) as caught:
        load_scenario(path)
    assert message in str(caught.value)


def test_faults_of_a_file_reach_the_rows_alike_for_every_policy(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    faults = "faults: {runtime: {median: 1, p95: 3}, acknowledgement: {mean: 50 ms}}\n"
    text = SCENARIO.replace("[at_once]", "[at_once, bolna]")
    path.write_text(text + faults + "seed: 3\nreplications: 4\n", "utf-8")
    frame = run(load_scenario(path))
    assert frame["failure"].is_null().all()
    one, other = (frame.filter(frame["policy"] == name) for name in ("at_once", "bolna"))
    times = one["decision_us"].to_list()
    assert len(set(times)) == 4, "every replication has luck of its own"
    assert other["decision_us"].to_list() == times
    path.write_text(text, "utf-8")
    assert run(load_scenario(path))["decision_us"].to_list() == [2_000_002] * 2


def test_a_tool_of_two_phases_is_for_those_who_commit(tmp_path: Path) -> None:
    from simcore.errors import UsageError

    path = tmp_path / "s.yaml"
    path.write_text(SCENARIO.replace("at_once", "eou"), "utf-8")
    with pytest.raises(UsageError, match="'book' has two phases"):
        run(load_scenario(path))
    path.write_text(SCENARIO.replace("prepare: 2 s", "prepare: 2 s, runtime: 1 s"), "utf-8")
    with pytest.raises(InputErrors, match="neither 'runtime' nor 'cancel_window'"):
        load_scenario(path)
