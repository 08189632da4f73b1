"""Experiments: the same rows on any executor, failures as rows, forecasts where they are read."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from typing import TYPE_CHECKING

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from polars.testing import assert_frame_equal

from simcore import Scenario, ToolProfile, load_scenario, run
from simcore.errors import UsageError
from simcore.experiment import BLOCK_SIZE, COLUMNS, blocks, log_block, size
from simcore.registry import policy_factory
from simcore.scenario import PolicySpec
from simcore.streams import stream
from simcore.testing import scenarios
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = '''
from simcore.commands import Launch, Cancel
from simcore.policy import TickPolicy


class Breaks(TickPolicy):
    """Fails on one recording, cheats on another."""

    def decide(self, view):
        if "late" in str(view.candidate):
            raise ZeroDivisionError("a fault\\nof the policy's own")
        return Launch(view.candidate) if view.candidate else None


class Draws(TickPolicy):
    """Launches by chance."""

    def reset(self, view):
        self.patience = view.stream("patience").integers(0, 20)

    def decide(self, view):
        self.patience -= 1
        ready = view.candidate and not view.active and (self.patience < 0 or view.final)
        return Launch(view.candidate) if ready else None
'''


@pytest.fixture
def scenario() -> Scenario:
    return load_scenario("restaurant_booking")


def test_rows_have_the_contract_columns_in_order(scenario: Scenario) -> None:
    frame = run(scenario)
    assert tuple(frame.columns) == COLUMNS
    assert frame["policy"].unique(maintain_order=True).to_list() == [
        spec.label for spec in scenario.policies
    ]
    assert frame.height == len(scenario.policies) * len(scenario.recordings)
    assert frame["failure"].null_count() == frame.height


def test_jobs_do_not_change_the_rows(scenario: Scenario) -> None:
    many = replace(
        scenario,
        recordings=tuple(
            replace(recording, recording_id=f"{recording.recording_id}-{copy}")
            for copy in range(100)
            for recording in scenario.recordings
        ),
    )
    assert len(list(blocks(many))) >= 2 * len(scenario.policies)
    many = replace(many, recordings=many.recordings[:3], replications=700)
    assert sum(block.size for block in blocks(many)) == size(many)
    assert all(block.size <= BLOCK_SIZE for block in blocks(many)), "a block holds so many"
    alone = run(many)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert_frame_equal(run(many, executor=pool), alone)


@given(scenarios())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_scenario_is_its_trajectories(scenario: Scenario) -> None:
    rows = run(scenario).to_dicts()
    for recording, row in zip(scenario.recordings, rows, strict=True):
        result = simulate(
            recording,
            scenario.actions[0],
            policy_factory("rassg"),
            scenario.control,
            scenario.checkpoints[0],
        )
        assert {name: row[name] for name in ("stale", "delay_s", "cost", "commits")} == {
            "stale": result.stale,
            "delay_s": result.delay_s,
            "cost": result.cost,
            "commits": result.commits,
        }


def test_a_policys_own_checkpoints_take_the_place_of_the_scenarios(scenario: Scenario) -> None:
    other = tuple(
        replace(r, forecasts=(*r.forecasts, replace(r.forecasts[0], checkpoint="other")))
        for r in scenario.recordings
    )
    specs = (PolicySpec("rassg", "rassg"), PolicySpec("rassg", "control", checkpoints=("other",)))
    frame = run(replace(scenario, recordings=other, policies=specs))
    pairs = set(frame.select("policy", "checkpoint").unique().iter_rows())
    assert pairs == {("rassg", "by-hand"), ("control", "other")}


def test_what_raises_is_a_row_with_its_seed(scenario: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(BROKEN)
    failing = PolicySpec(f"{file}:Breaks", "breaks")
    first, *rest = scenario.recordings
    late = replace(first.arrivals[-1], argument='{"arguments":{"time":"late"},"tool":"book"}')
    odd = replace(first, recording_id="odd", arrivals=(*first.arrivals[:-1], late))
    mixed = replace(
        scenario,
        recordings=(odd, *rest),
        policies=(failing, PolicySpec("eou", "eou")),
        seed=41,
    )
    with ThreadPoolExecutor(2) as pool:
        frame = run(mixed, executor=pool)
    failed = frame.filter(pl.col("failure").is_not_null())
    assert set(failed["policy"]) == {"breaks"}
    row = failed.row(0, named=True)
    assert row["failure"] in ("policy_error", "illegal_command")
    assert row["seed"] == 41
    assert row["stale"] is None
    assert "\n" not in row["error"]
    assert frame.filter(policy="eou")["failure"].null_count() == len(mixed.recordings)
    eou = [block for block in blocks(mixed) if block.spec.label == "eou"]
    assert sum(log_block(block).height for block in eou) > 0


def test_policies_that_read_no_forecast_run_once(scenario: Scenario) -> None:
    frame = run(scenario)
    readers = set(frame.filter(pl.col("checkpoint").is_not_null())["policy"])
    assert readers == {"rassg"}


def test_a_users_policy_sees_the_forecasts(scenario: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "wary.py"
    file.write_text(
        "from simcore.commands import Launch\n"
        "from simcore.policy import TickPolicy\n"
        "class Wary(TickPolicy):\n"
        "    def decide(self, view):\n"
        "        sure = view.p_bad is not None and view.p_bad < 0.2\n"
        "        ready = view.candidate and not view.active and (sure or view.final)\n"
        "        return Launch(view.candidate) if ready else None\n"
    )
    wary = replace(scenario, policies=(PolicySpec(f"{file}:Wary", "wary"),))
    frame = run(wary)
    assert frame["checkpoint"].to_list() == ["by-hand"] * len(scenario.recordings)
    last = {r.recording_id: r.arrivals[-1].arrived_at_us for r in scenario.recordings}
    assert any(row["first_commit_us"] < last[row["recording_id"]] for row in frame.to_dicts())


def test_a_checkpoint_that_a_recording_lacks_is_an_error(scenario: Scenario) -> None:
    with pytest.raises(UsageError, match="no forecasts of checkpoint 'nowhere'"):
        run(replace(scenario, checkpoints=("nowhere",)))
    lookahead = PolicySpec("rassg", "lookahead", {"launch": "lookahead"})
    with pytest.raises(UsageError, match="name a checkpoint"):
        run(replace(scenario, checkpoints=(), policies=(lookahead,)))


def test_random_numbers_are_common_to_all_policies(scenario: Scenario, tmp_path: Path) -> None:
    file = tmp_path / "draws.py"
    file.write_text(BROKEN)
    specs = tuple(PolicySpec(f"{file}:Draws", label) for label in ("one", "other"))
    drawing = replace(scenario, policies=specs, replications=4, actions=(scenario.actions[0],))
    frame = run(drawing)
    one, other = (frame.filter(policy=label).drop("policy") for label in ("one", "other"))
    assert_frame_equal(one, other)
    starts = one.group_by("recording_id").agg(pl.col("first_commit_us").n_unique())
    assert starts["first_commit_us"].max() > 1, "replications draw the same numbers"
    again = run(replace(drawing, seed=drawing.seed + 1))
    assert again["first_commit_us"].to_list() != frame["first_commit_us"].to_list()


def test_streams_differ_by_every_part_of_their_key() -> None:
    keys = [("r", "a", 0, "x"), ("r", "a", 1, "x"), ("r", "b", 0, "x"), ("ra", "", 0, "x")]
    drawn = {tuple(stream(seed, *key).integers(0, 1 << 30, 4)) for key in keys for seed in (0, 1)}
    assert len(drawn) == 2 * len(keys)
    assert (stream(3, "r").integers(0, 99, 9) == stream(3, "r").integers(0, 99, 9)).all()


def test_profiles_reject_nothing_that_the_engine_can_run() -> None:
    tool = ToolProfile("instant", runtime_us=0, cancel_window_us=0)
    assert tool.deadline(5, 5) == tool.completion(5, 5) == 5
