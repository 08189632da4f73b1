"""From trajectories to what a policy is judged by: rates, delays, costs, and paired differences.

Takes a frame with the columns of `trajectories.parquet`. Failures and unlabelled trajectories are
counted and left out of every rate.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from simcore.bootstrap import MIN_CLUSTERS, RESAMPLES, Interval, Ratio, intervals
from simcore.errors import UsageError, nearest
from simcore.tally import EVENTS, Collected, Tally, collect

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import polars as pl

__all__ = ["EVENTS"]

PHASES: Final = ("before_launch", "before_deadline", "after_deadline")
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
    totals; `onset_phases` count where first repairs fell.
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
    onset_phases: Mapping[str, int]


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
    trajectories: pl.DataFrame | Iterable[pl.DataFrame],
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    dimensions: Sequence[str] = DIMENSIONS,
) -> tuple[PolicySummary, ...]:
    """One summary per policy, in the order of their first rows.

    Trajectories come as a frame, or as frames of which each has every policy's on some recordings.
    """
    return summaries(collect(trajectories, dimensions), seed=seed, resamples=resamples)


def summaries(
    found: Collected, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[PolicySummary, ...]:
    """The policies' figures with their intervals, from sums already taken."""
    keys = [
        (policy, along, at)
        for policy, parts in found.policies.items()
        for along, values in parts.items()
        if along is None or len(values) > 1
        for at in values
    ]
    drafts = [found.policies[policy][along][at] for policy, along, at in keys]
    order = found.order
    scored = scores([draft.ratios(order) for draft in drafts], drafts, seed, resamples)
    whole: dict[str, Scores] = {}
    by: dict[str, dict[str, list[Slice]]] = {}
    for (policy, along, at), figures in zip(keys, scored, strict=True):
        if along is None:
            whole[policy], by[policy] = figures, {}
        else:
            by[policy].setdefault(along, []).append(Slice(at, figures))
    return tuple(
        PolicySummary(policy, figures, {name: tuple(s) for name, s in by[policy].items()})
        for policy, figures in whole.items()
    )


def scores(
    ratios: Sequence[tuple[Ratio, ...]], counts: Sequence[Tally], seed: int, resamples: int
) -> list[Scores]:
    """Stale rate, success rate, delay and cost of each, with intervals of one bootstrap."""
    found = iter(
        intervals([ratio for four in ratios for ratio in four], seed=seed, resamples=resamples)
    )
    result = []
    for four, counted in zip(ratios, counts, strict=True):
        stale, success, delay, cost = (
            Estimate(
                value=ratio.value,
                n=int(ratio.count.sum()),
                interval=next(found),
                count=None if ratio.bounds is None else int(ratio.total.sum()),
            )
            for ratio in four
        )
        result.append(
            Scores(
                n=counted.n,
                failures=counted.failures,
                unlabelled=counted.unlabelled,
                clusters=four[0].clusters,
                stale_rate=stale,
                success_rate=success,
                delay_s=delay,
                cost=cost,
                events=dict(counted.events),
                results={name: counted.results[name] for name in sorted(counted.results)},
                onset_phases={name: counted.onset_phases[name] for name in PHASES}
                if counted.onset_phases
                else {},
            )
        )
    return result


def paired_differences(
    trajectories: pl.DataFrame | Iterable[pl.DataFrame],
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
    found = collect(trajectories, (), against(baseline))
    return differences(found, seed=seed, resamples=resamples, ties=ties)


def against(baseline: str | None) -> Callable[[Sequence[str]], list[tuple[str, str]]]:
    """Pairs of every other label with `baseline` (default: the first), for `collect`."""

    def pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
        if not labels:
            return []
        first = labels[0] if baseline is None else baseline
        if first not in labels:
            raise UsageError(f"no policy '{first}' in these trajectories{nearest(first, labels)}")
        return [(label, first) for label in labels if label != first]

    return pairs


def differences(
    found: Collected,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
    ties: Collection[frozenset[str]] = (),
) -> tuple[PairedDifference, ...]:
    """The pairs' differences with their intervals, from sums already taken."""
    order = found.order
    pairs = [(names, tally, tally.ratios(order)) for names, tally in found.pairs.items()]
    spans = iter(
        intervals([r for *_, three in pairs for r in three], seed=seed, resamples=resamples)
    )
    result = []
    for (policy, baseline), tally, three in pairs:
        tied = frozenset((policy, baseline)) in ties
        stale, delay, cost = (difference(ratio, next(spans), declared_tie=tied) for ratio in three)
        result.append(
            PairedDifference(
                policy=policy,
                baseline=baseline,
                pairs=tally.n,
                clusters=three[0].clusters,
                stale_rate=stale,
                stale_removed=tally.removed,
                stale_added=tally.added,
                delay_s=delay,
                cost=cost,
            )
        )
    return tuple(result)


def difference(
    ratio: Ratio, interval: Interval | None, *, declared_tie: bool = False
) -> Difference:
    """A mean of differences with its interval and what the two say."""
    verdict = _verdict(ratio, interval, declared_tie)
    return Difference(ratio.value, int(ratio.count.sum()), interval, verdict)


def _verdict(ratio: Ratio, interval: Interval | None, declared_tie: bool) -> Verdict:
    if ratio.clusters and not ratio.total.any():
        return "tie"
    enough = ratio.clusters >= MIN_CLUSTERS
    if enough and interval is not None and not interval.low <= 0 <= interval.high:
        return "order"
    return "tie" if declared_tie and ratio.clusters else "unresolved"


def _plain(value: Any) -> Any:
    """JSON types, floats to nine decimals."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return round(value, 9) if isinstance(value, float) else value
