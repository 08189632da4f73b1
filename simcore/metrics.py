"""From trajectories to what a policy is judged by: rates, delays, costs, and paired differences.

Takes a frame with the columns of `trajectories.parquet`. Failures and unlabelled trajectories are
counted and left out of every rate.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import polars as pl

from simcore.bootstrap import MIN_CLUSTERS, RESAMPLES, Interval, Ratio, intervals
from simcore.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from numpy.typing import NDArray

EVENTS: Final = (
    "commits",
    "updates",
    "late_updates",
    "cancels",
    "late_cancels",
    "duplicate_effects",
    "skipped_ticks",
)
DIMENSIONS: Final = ("checkpoint", "action", "subset", "variant")

Verdict = Literal["order", "tie", "unresolved"]


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over `n` trajectories (None without any); `count` is the numerator of a rate."""

    value: float | None
    n: int
    interval: Interval | None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Scores:
    """What one policy did on one set of trajectories.

    `stale_rate` and `success_rate` are shares of all labelled trajectories, `delay_s` (seconds) the
    mean over the policy's own successes, `cost` over all labelled ones. `events` and `results` are
    totals.
    """

    n: int
    failures: int
    unlabelled: int
    clusters: int
    stale_rate: Estimate
    success_rate: Estimate
    delay_s: Estimate
    cost: Estimate
    events: Mapping[str, int]
    results: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Slice:
    """The trajectories that share one value of a dimension."""

    value: str | None
    scores: Scores


@dataclass(frozen=True, slots=True)
class PolicySummary:
    """A policy over everything, and along each dimension in which its trajectories differ."""

    policy: str
    scores: Scores
    by: Mapping[str, tuple[Slice, ...]]

    def to_dict(self) -> dict[str, Any]:
        """JSON types alone, as in `summary.json`."""
        parts = {
            name: [{"value": part.value, **asdict(part.scores)} for part in parts]
            for name, parts in self.by.items()
        }
        plain: dict[str, Any] = _plain({"policy": self.policy, **asdict(self.scores), "by": parts})
        return plain


@dataclass(frozen=True, slots=True)
class Difference:
    """A mean difference over `n` pairs.

    `order`: the interval excludes 0. `tie`: 0 in every cluster, or declared a tie beforehand and
    not refuted. `unresolved`: neither.
    """

    value: float | None
    n: int
    interval: Interval | None
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """`policy` minus `baseline` on the same recordings, actions, replications and checkpoints.

    `stale_rate` and `cost` over all pairs that both have a score, `delay_s` over the pairs in which
    both succeed. `stale_removed` pairs are stale under the baseline alone, `stale_added` under the
    policy alone.
    """

    policy: str
    baseline: str
    pairs: int
    clusters: int
    stale_rate: Difference
    stale_removed: int
    stale_added: int
    delay_s: Difference
    cost: Difference

    def to_dict(self) -> dict[str, Any]:
        """JSON types alone, as in `summary.json`."""
        plain: dict[str, Any] = _plain(asdict(self))
        return plain


def summarize(
    frame: pl.DataFrame, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[PolicySummary, ...]:
    """One summary per policy, in the order of their first rows."""
    frame, clusters = _with_clusters(frame)
    drafts: list[tuple[str, str | None, str | None, _Draft]] = []
    for policy in _labels(frame):
        rows = frame.filter(pl.col("policy") == policy)
        drafts.append((policy, None, None, _Draft(rows, clusters)))
        for dimension in DIMENSIONS:
            values = rows[dimension].unique(maintain_order=True).to_list()
            if len(values) > 1:
                for value in values:
                    part = rows.filter(pl.col(dimension).eq_missing(pl.lit(value)))
                    drafts.append((policy, dimension, value, _Draft(part, clusters)))
    found = iter(
        intervals([r for *_, d in drafts for r in d.ratios], seed=seed, resamples=resamples)
    )
    whole: dict[str, Scores] = {}
    by: dict[str, dict[str, list[Slice]]] = {}
    for label, along, at, draft in drafts:
        scores = draft.scores(found)
        if along is None:
            whole[label], by[label] = scores, {}
        else:
            by[label].setdefault(along, []).append(Slice(at, scores))
    return tuple(
        PolicySummary(policy, scores, {name: tuple(s) for name, s in by[policy].items()})
        for policy, scores in whole.items()
    )


def paired_differences(
    frame: pl.DataFrame,
    *,
    baseline: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
    ties: Collection[frozenset[str]] = (),
) -> tuple[PairedDifference, ...]:
    """Every other policy against `baseline` (default: the first).

    A policy that ran once (checkpoint null) is paired to every checkpoint of the other. `ties` are
    pairs of labels declared to be ties before the run. Raises ``UsageError`` for a baseline that is
    not in the frame.
    """
    frame, clusters = _with_clusters(frame)
    labels = _labels(frame)
    if not labels:
        return ()
    first = labels[0] if baseline is None else baseline
    if first not in labels:
        raise UsageError(f"no policy '{first}' in these trajectories{nearest(first, labels)}")
    scored = frame.filter(pl.col("failure").is_null() & pl.col("stale").is_not_null())
    others = [label for label in labels if label != first]
    pairs = [_Pairs(scored, policy, first, clusters) for policy in others]
    found = iter(intervals([r for p in pairs for r in p.ratios], seed=seed, resamples=resamples))
    return tuple(
        pair.difference(found, declared_tie=frozenset((pair.policy, first)) in ties)
        for pair in pairs
    )


class _Draft:
    """Scores that wait for their intervals."""

    def __init__(self, rows: pl.DataFrame, clusters: int) -> None:
        failed = rows["failure"].is_not_null()
        labelled = rows.filter(~failed & rows["stale"].is_not_null())
        succeeded = labelled.filter(pl.col("success"))
        rate = (0.0, 1.0)
        self.ratios = (
            _ratio(labelled, labelled["stale"], clusters, rate),
            _ratio(labelled, labelled["success"], clusters, rate),
            _ratio(succeeded, succeeded["delay_s"], clusters),
            _ratio(labelled, labelled["cost"], clusters),
        )
        self.n, self.failures = len(rows), int(failed.sum())
        self.unlabelled = self.n - self.failures - len(labelled)
        self.events = {name: int(rows[name].cast(pl.Int64).sum()) for name in EVENTS}
        results = Counter(rows["result"].drop_nulls().to_list())
        self.results = {name: results[name] for name in sorted(results)}

    def scores(self, found: Iterator[Interval | None]) -> Scores:
        stale, success, delay, cost = (
            Estimate(
                value=ratio.value,
                n=int(ratio.count.sum()),
                interval=next(found),
                count=None if ratio.bounds is None else int(ratio.total.sum()),
            )
            for ratio in self.ratios
        )
        return Scores(
            n=self.n,
            failures=self.failures,
            unlabelled=self.unlabelled,
            clusters=self.ratios[0].clusters,
            stale_rate=stale,
            success_rate=success,
            delay_s=delay,
            cost=cost,
            events=self.events,
            results=self.results,
        )


class _Pairs:
    """Pairs of trajectories whose differences wait for their intervals."""

    def __init__(self, scored: pl.DataFrame, policy: str, baseline: str, clusters: int) -> None:
        self.policy, self.baseline = policy, baseline
        key = ["recording_id", "action", "replication"]
        pairs = (
            scored.filter(pl.col("policy") == policy)
            .join(
                scored.filter(pl.col("policy") == baseline),
                on=key,
                suffix="_base",
                nulls_equal=True,
                maintain_order="left_right",
            )
            .filter(
                pl.col("checkpoint").is_null()
                | pl.col("checkpoint_base").is_null()
                | (pl.col("checkpoint") == pl.col("checkpoint_base"))
            )
        )
        both = pairs.filter(pl.col("success") & pl.col("success_base"))
        stale = _floats(pairs["stale"]) - _floats(pairs["stale_base"])
        self.pairs = len(pairs)
        self.removed, self.added = int((stale < 0).sum()), int((stale > 0).sum())
        self.ratios = (
            _ratio(pairs, pl.Series(stale), clusters, (-1.0, 1.0)),
            _ratio(both, both["delay_s"] - both["delay_s_base"], clusters),
            _ratio(pairs, pairs["cost"] - pairs["cost_base"], clusters),
        )

    def difference(
        self, found: Iterator[Interval | None], *, declared_tie: bool
    ) -> PairedDifference:
        stale, delay, cost = (
            Difference(
                value=ratio.value,
                n=int(ratio.count.sum()),
                interval=interval,
                verdict=_verdict(ratio, interval, declared_tie),
            )
            for ratio in self.ratios
            for interval in [next(found)]
        )
        return PairedDifference(
            policy=self.policy,
            baseline=self.baseline,
            pairs=self.pairs,
            clusters=self.ratios[0].clusters,
            stale_rate=stale,
            stale_removed=self.removed,
            stale_added=self.added,
            delay_s=delay,
            cost=cost,
        )


def _verdict(ratio: Ratio, interval: Interval | None, declared_tie: bool) -> Verdict:
    if ratio.clusters and not ratio.total.any():
        return "tie"
    enough = ratio.clusters >= MIN_CLUSTERS
    if enough and interval is not None and not interval.low <= 0 <= interval.high:
        return "order"
    return "tie" if declared_tie and ratio.clusters else "unresolved"


def _with_clusters(frame: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """The frame with the number of each row's cluster, and how many clusters there are."""
    cluster = pl.coalesce(pl.col("group_id").cast(pl.String), pl.col("recording_id"))
    numbered = frame.with_columns(
        pl.col("success").cast(pl.Boolean),  # a column of nulls alone has no type
        _cluster=cluster.rank("dense").cast(pl.Int64) - 1,
    )
    return numbered, numbered["_cluster"].n_unique()


def _labels(frame: pl.DataFrame) -> list[str]:
    return frame["policy"].unique(maintain_order=True).to_list()


def _ratio(
    rows: pl.DataFrame, values: pl.Series, clusters: int, bounds: tuple[float, float] | None = None
) -> Ratio:
    # numpy sums in row order, so the result does not depend on the number of threads
    at = rows["_cluster"].to_numpy()
    return Ratio(
        total=np.bincount(at, weights=_floats(values), minlength=clusters).astype(float),
        count=np.bincount(at, minlength=clusters).astype(float),
        bounds=bounds,
    )


def _floats(values: pl.Series) -> NDArray[np.float64]:
    return values.cast(pl.Float64).to_numpy()


def _plain(value: Any) -> Any:
    """JSON types, floats to nine decimals."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value
