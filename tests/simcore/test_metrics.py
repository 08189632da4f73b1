from __future__ import annotations

import random
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simcore.bootstrap import Ratio, intervals, zero_bound
from simcore.errors import UsageError
from simcore.metrics import EVENTS, PairedDifference, paired_differences, summarize

RESAMPLES = 400


def row(policy: str, recording: str, **given: Any) -> dict[str, Any]:
    """A trajectory that succeeded after one second at the cost of the delay, but for `given`."""
    values: dict[str, Any] = {
        "recording_id": recording,
        "group_id": recording.split("-")[0],
        "subset": None,
        "variant": None,
        "policy": policy,
        "action": "book",
        "checkpoint": None,
        "replication": 0,
        "stale": False,
        "stale_versions": 0,
        "success": True,
        "delay_s": 1.0,
        "cost": 0.3,
        "result": "right",
        "failure": None,
    }
    return values | dict.fromkeys(EVENTS, 0) | given


def failed(policy: str, recording: str, failure: str) -> dict[str, Any]:
    scores = ("stale", "stale_versions", "success", "delay_s", "cost", "result", *EVENTS)
    return row(policy, recording, **dict.fromkeys(scores), failure=failure)


def unlabelled(policy: str, recording: str, **given: Any) -> dict[str, Any]:
    scores = ("stale", "stale_versions", "success", "delay_s", "cost", "result")
    return row(policy, recording, **(dict.fromkeys(scores) | given))


def frame(rows: list[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(rows, infer_schema_length=None)


def random_rows(seed: int, groups: int = 8, policies: str = "abc") -> list[dict[str, Any]]:
    pick = random.Random(seed)
    rows = []
    for policy in policies:
        checkpoints = [None] if policy == "a" else ["gru-0", "gru-1"]
        for group in range(groups):
            for recording in (f"g{group}-s", f"g{group}-c"):
                for action in ("book", "pay"):
                    for checkpoint in checkpoints:
                        place = {"action": action, "checkpoint": checkpoint}
                        variant = "stable" if recording.endswith("s") else "corrected"
                        place["variant"] = variant
                        kind = pick.random()
                        if kind < 0.1:
                            rows.append(failed(policy, recording, "ValueError") | place)
                        elif kind < 0.2:
                            rows.append(unlabelled(policy, recording, commits=1) | place)
                        else:
                            success = pick.random() < 0.7
                            given = {
                                "stale": pick.random() < 0.4,
                                "success": success,
                                "delay_s": pick.uniform(0, 9) if success else None,
                                "cost": pick.uniform(0, 9),
                                "result": "right" if success else "wrong",
                                **{name: pick.randrange(4) for name in EVENTS},
                            }
                            rows.append(row(policy, recording, **given) | place)
    return rows


def only(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [r for r in rows if all(r[name] == value for name, value in wanted.items())]


def mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None


@pytest.mark.parametrize("seed", range(3))
def test_every_figure_equals_its_recomputation_from_the_rows(seed: int) -> None:
    rows = random_rows(seed)
    for summary in summarize(frame(rows), resamples=RESAMPLES):
        mine = only(rows, policy=summary.policy)
        parts = [(mine, summary.scores)]
        for dimension, slices in summary.by.items():
            values = [part.value for part in slices]
            assert sorted(values) == sorted({r[dimension] for r in mine})
            parts += [(only(mine, **{dimension: part.value}), part.scores) for part in slices]
        assert len(parts) == (7 if summary.policy != "a" else 5)
        for part, scores in parts:
            labelled = [r for r in part if r["failure"] is None and r["stale"] is not None]
            won = [r for r in labelled if r["success"]]
            stale = [r for r in labelled if r["stale"]]
            assert scores.n == len(part)
            assert scores.failures == sum(r["failure"] is not None for r in part)
            assert scores.unlabelled == len(part) - scores.failures - len(labelled)
            assert scores.clusters == len({r["group_id"] for r in labelled})
            assert (scores.stale_rate.count, scores.stale_rate.n) == (len(stale), len(labelled))
            assert (scores.success_rate.count, scores.success_rate.n) == (len(won), len(labelled))
            assert scores.stale_rate.value == pytest.approx(len(stale) / len(labelled))
            assert scores.delay_s.n == len(won)
            assert scores.delay_s.value == pytest.approx(mean([r["delay_s"] for r in won]))
            assert scores.cost.value == pytest.approx(mean([r["cost"] for r in labelled]))
            for name in EVENTS:
                assert scores.events[name] == sum(r[name] or 0 for r in part)
            assert sum(scores.results.values()) == len(labelled)


@pytest.mark.parametrize("seed", range(3))
def test_pairs_equal_their_recomputation_and_null_checkpoints_meet_every_checkpoint(
    seed: int,
) -> None:
    rows = random_rows(seed)
    usable = [r for r in rows if r["failure"] is None and r["stale"] is not None]
    found = paired_differences(frame(rows), baseline="b", resamples=RESAMPLES)
    assert [(d.policy, d.baseline) for d in found] == [("a", "b"), ("c", "b")]
    for difference in found:
        pairs = [
            (mine, base)
            for mine in only(usable, policy=difference.policy)
            for base in only(usable, policy="b")
            if all(mine[k] == base[k] for k in ("recording_id", "action", "replication"))
            and (mine["checkpoint"] is None or mine["checkpoint"] == base["checkpoint"])
        ]
        assert difference.pairs == len(pairs) > 30
        assert difference.stale_added == sum(m["stale"] and not b["stale"] for m, b in pairs)
        assert difference.stale_removed == sum(b["stale"] and not m["stale"] for m, b in pairs)
        stale = mean([m["stale"] - b["stale"] for m, b in pairs])
        cost = mean([m["cost"] - b["cost"] for m, b in pairs])
        both = [(m, b) for m, b in pairs if m["success"] and b["success"]]
        assert difference.delay_s.n == len(both)
        delay = mean([m["delay_s"] - b["delay_s"] for m, b in both])
        assert difference.stale_rate.value == pytest.approx(stale)
        assert difference.delay_s.value == pytest.approx(delay)
        assert difference.cost.value == pytest.approx(cost)


def test_intervals_resample_clusters_and_are_the_same_for_the_same_seed() -> None:
    rows = random_rows(5, groups=12)
    table = frame(rows)
    once, again = (summarize(table, seed=3, resamples=RESAMPLES) for _ in range(2))
    assert [s.to_dict() for s in once] == [s.to_dict() for s in again]
    other = summarize(table, seed=4, resamples=RESAMPLES)
    assert once[0].scores.cost.interval != other[0].scores.cost.interval
    # twenty copies of every trajectory are no new evidence
    copies = frame(
        [r | {"replication": k, "recording_id": f"{r['recording_id']}-{k}"}
         for r in rows for k in range(20)]
    )  # fmt: skip
    wide, copied = (
        once[0].scores.cost,
        summarize(copies, seed=3, resamples=RESAMPLES)[0].scores.cost,
    )
    assert copied.interval is not None
    assert wide.interval is not None
    assert copied.n == 20 * wide.n
    assert copied.interval.low == pytest.approx(wide.interval.low)
    assert copied.interval.high == pytest.approx(wide.interval.high)


def test_policies_share_the_resampled_clusters() -> None:
    pick = random.Random(1)
    costs = [pick.uniform(0, 5) for _ in range(30)]
    rows = [row("a", f"g{i}", cost=c) for i, c in enumerate(costs)]
    rows += [row("b", f"g{i}", cost=c + 2) for i, c in enumerate(costs)]
    a, b = (s.scores.cost.interval for s in summarize(frame(rows), resamples=RESAMPLES))
    assert a is not None
    assert b is not None
    assert (b.low - a.low, b.high - a.high) == pytest.approx((2, 2))
    (difference,) = paired_differences(frame(rows), resamples=RESAMPLES)
    assert difference.cost.interval is not None
    assert difference.cost.interval.low == pytest.approx(2)
    assert difference.cost.interval.high == pytest.approx(2)


def test_intervals_cover_the_true_mean_about_95_times_in_100() -> None:
    generator = np.random.default_rng(0)
    hits, trials, clusters = 0, 300, 40
    for _ in range(trials):
        sizes = generator.integers(1, 6, size=clusters).astype(float)
        effects = generator.normal(3, 1, size=clusters)
        (interval,) = intervals([Ratio(effects * sizes, sizes)], seed=1, resamples=500)
        assert interval is not None
        hits += interval.low <= 3 <= interval.high
    assert 0.88 <= hits / trials <= 0.98


def test_zero_and_full_counts_get_the_exact_bound() -> None:
    rows = [row(p, f"g{i}", stale=p == "all") for p in ("none", "all") for i in range(600)]
    none, everything = (s.scores.stale_rate for s in summarize(frame(rows), resamples=10))
    bound = 1 - 0.05 ** (1 / 600)
    assert zero_bound(600) == pytest.approx(bound)
    assert none.interval is not None
    assert everything.interval is not None
    assert (none.interval.low, none.interval.high) == pytest.approx((0, bound))
    assert none.interval.high < 0.005
    assert (everything.interval.low, everything.interval.high) == pytest.approx((1 - bound, 1))
    assert none.interval.kind == everything.interval.kind == "exact"


def test_a_rate_that_is_the_same_in_every_cluster_has_no_zero_width_interval() -> None:
    rows = [row("a", f"g{i}-{v}", stale=v == "c") for i in range(600) for v in "sc"]
    rate = summarize(frame(rows), resamples=10)[0].scores.stale_rate
    assert rate.interval is not None
    assert rate.value == 0.5
    assert rate.interval.low < 0.5 < rate.interval.high
    assert rate.interval.high - rate.interval.low == pytest.approx(zero_bound(600))


def test_too_few_clusters_give_no_interval_and_no_order() -> None:
    rows = [row("a", f"g{i}", cost=i) for i in range(5)]
    rows += [row("b", f"g{i}", cost=i + 1.5 + i / 9) for i in range(5)]
    assert summarize(frame(rows))[0].scores.cost.interval is None
    (difference,) = paired_differences(frame(rows), resamples=RESAMPLES)
    assert difference.cost.interval is None
    assert difference.cost.verdict == "unresolved"


def verdicts(difference: PairedDifference) -> tuple[str, str, str]:
    return difference.stale_rate.verdict, difference.delay_s.verdict, difference.cost.verdict


def test_verdicts() -> None:
    pick = random.Random(2)
    rows = []
    for i in range(40):
        rows.append(row("base", f"g{i}", stale=True, cost=pick.uniform(0, 1)))
        rows.append(row("same", f"g{i}", stale=True, cost=rows[-1]["cost"]))
        rows.append(row("better", f"g{i}", stale=i < 8, delay_s=pick.gauss(1, 1), cost=-i - 1.0))
    same, better = paired_differences(frame(rows), resamples=RESAMPLES)
    assert verdicts(same) == ("tie", "tie", "tie")
    assert verdicts(better) == ("order", "unresolved", "order")
    assert better.stale_rate.value == pytest.approx(-0.8)
    assert (better.stale_removed, better.stale_added) == (32, 0)
    declared = frozenset(("base", "better"))
    _, better = paired_differences(frame(rows), resamples=RESAMPLES, ties=[declared])
    assert verdicts(better) == ("order", "tie", "order"), "a declared tie can be refuted"


def test_nothing_but_failures_or_unlabelled_has_no_scores() -> None:
    rows = [failed("a", f"g{i}", "ValueError") for i in range(3)]
    rows += [unlabelled("b", f"g{i}", commits=2) for i in range(3)]
    a, b = summarize(frame(rows))
    assert (a.scores.n, a.scores.failures, a.scores.unlabelled) == (3, 3, 0)
    assert (b.scores.n, b.scores.failures, b.scores.unlabelled) == (3, 0, 3)
    assert b.scores.events["commits"] == 6
    for scores in (a.scores, b.scores):
        assert scores.stale_rate.value is scores.delay_s.value is scores.cost.interval is None
        assert scores.stale_rate.n == scores.clusters == 0
    (difference,) = paired_differences(frame(rows))
    assert difference.pairs == 0
    assert verdicts(difference) == ("unresolved",) * 3


def test_no_trajectories_and_unknown_baseline() -> None:
    table = frame([row("rassg", "g0")])
    assert summarize(table.clear()) == ()
    assert paired_differences(table.clear()) == ()
    with pytest.raises(UsageError, match="did you mean 'rassg'"):
        paired_differences(table, baseline="rasg")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.floats(-9, 9), st.integers(1, 4)), min_size=6, max_size=20),
    st.integers(0, 2**40),
)
def test_an_interval_lies_within_the_cluster_means(
    clusters: list[tuple[float, int]], seed: int
) -> None:
    means, sizes = (np.array(column, float) for column in zip(*clusters, strict=True))
    (interval,) = intervals([Ratio(means * sizes, sizes)], seed=seed, resamples=50)
    assert interval is not None
    assert means.min() - 1e-9 <= interval.low <= interval.high <= means.max() + 1e-9
