"""Per-cluster sums of trajectories, added up panel by panel: what every figure is a ratio of.

A panel is a frame with the columns of `trajectories.parquet` and every policy's trajectories on
some recordings. However many there are, the sums take the same memory.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from simcore.bootstrap import Ratio

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Order = NDArray[np.int64]

EVENTS: Final = (
    "commits",
    "updates",
    "late_updates",
    "cancels",
    "late_cancels",
    "duplicate_effects",
    "skipped_ticks",
)
_RATE: Final = (0.0, 1.0)


class Sums:
    """A total and a count per cluster, for clusters numbered as they appear."""

    def __init__(self, bounds: tuple[float, float] | None = None) -> None:
        self.bounds = bounds
        self.total = self.count = np.zeros(0)

    def add(self, clusters: NDArray[np.int64], values: pl.Series) -> None:
        """Add one value each for some clusters' numbers."""
        # numpy sums in row order, so the result does not depend on the number of threads
        weights = values.cast(pl.Float64).to_numpy()
        self.total = _sum(self.total, np.bincount(clusters, weights=weights))
        self.count = _sum(self.count, np.bincount(clusters))

    def ratio(self, order: Order) -> Ratio:
        """The sums in an order of all clusters, zero where none was added."""
        total, count = (_sum(np.zeros(len(order)), part) for part in (self.total, self.count))
        return Ratio(total[order], count[order], self.bounds)


def _sum(one: Floats, other: NDArray[np.float64] | NDArray[np.int64]) -> Floats:
    """Arrays added up, the shorter one as if zeros followed."""
    result = np.zeros(max(len(one), len(other)))
    result[: len(one)] = one
    result[: len(other)] += other
    return result


class Tally:
    """What one policy did on one set of trajectories."""

    def __init__(self) -> None:
        self._sums = Sums(_RATE), Sums(_RATE), Sums(), Sums()
        self.n = self.failures = self.unlabelled = 0
        self.events: Counter[str] = Counter(dict.fromkeys(EVENTS, 0))
        self.results: Counter[str] = Counter()
        self.onset_phases: Counter[str] = Counter()

    def add(self, rows: pl.DataFrame) -> None:
        """Add rows that have their clusters' numbers."""
        failed = rows["failure"].is_not_null()
        labelled = rows.filter(~failed & rows["stale"].is_not_null())
        succeeded = labelled.filter(pl.col("success"))
        stale, success, delay, cost = self._sums
        at = labelled["_cluster"].to_numpy()
        stale.add(at, labelled["stale"])
        success.add(at, labelled["success"])
        delay.add(succeeded["_cluster"].to_numpy(), succeeded["delay_s"])
        cost.add(at, labelled["cost"])
        self.n += len(rows)
        self.failures += int(failed.sum())
        self.unlabelled += len(rows) - int(failed.sum()) - len(labelled)
        self.events.update({name: int(rows[name].cast(pl.Int64).sum()) for name in EVENTS})
        self.results.update(rows["result"].drop_nulls().to_list())
        if "onset_phase" in rows.columns:
            self.onset_phases.update(rows["onset_phase"].drop_nulls().to_list())

    def ratios(self, order: Order) -> tuple[Ratio, ...]:
        """Stale rate, success rate, delay of the successes, cost."""
        return tuple(sums.ratio(order) for sums in self._sums)


class Pairs:
    """One policy minus another on the same trajectories.

    `removed` pairs are stale under the other alone, `added` under the one alone; `late` and
    `late_base` total the late updates of each, `same_launch` counts pairs launched at one instant.
    """

    def __init__(self) -> None:
        self._sums = Sums((-1.0, 1.0)), Sums(), Sums()
        self._stale_base = Sums()
        self.n = self.removed = self.added = 0
        self.late = self.late_base = self.same_launch = 0

    def add(self, pairs: pl.DataFrame) -> None:
        """Add rows of both, those of the other with names that end in `_base`."""
        both = pairs.filter(pl.col("success") & pl.col("success_base"))
        stale = pairs["stale"].cast(pl.Int64) - pairs["stale_base"].cast(pl.Int64)
        at = pairs["_cluster"].to_numpy()
        self._sums[0].add(at, stale)
        self._sums[1].add(both["_cluster"].to_numpy(), both["delay_s"] - both["delay_s_base"])
        self._sums[2].add(at, pairs["cost"] - pairs["cost_base"])
        self.n += len(pairs)
        self.removed += int((stale < 0).sum())
        self.added += int((stale > 0).sum())
        self._stale_base.add(at, pairs["stale_base"])
        if "first_commit_us" in pairs.columns:
            self.late += int(pairs["late_updates"].sum())
            self.late_base += int(pairs["late_updates_base"].sum())
            same = pairs["first_commit_us"].eq_missing(pairs["first_commit_us_base"])
            self.same_launch += int(same.sum())

    def removed_share(self, order: Order) -> Ratio:
        """The net share of the other's stale trajectories that are not stale under the one."""
        fewer, base = self._sums[0].ratio(order), self._stale_base.ratio(order)
        return Ratio(-fewer.total, base.total)

    def ratios(self, order: Order) -> tuple[Ratio, ...]:
        """Differences of stale rate, of delay where both succeed, of cost."""
        return tuple(sums.ratio(order) for sums in self._sums)


@dataclass(slots=True)
class Collected:
    """Sums of a run: per policy as a whole (dimension and value None) and along dimensions.

    `pairs` are keyed by policy and baseline, `paired` are the same along dimensions.
    """

    policies: dict[str, dict[str | None, dict[str | None, Tally]]] = field(default_factory=dict)
    pairs: dict[tuple[str, str], Pairs] = field(default_factory=dict)
    paired: dict[tuple[str, str], dict[str, dict[str | None, Pairs]]] = field(default_factory=dict)
    clusters: dict[str, int] = field(default_factory=dict)

    @property
    def order(self) -> Order:
        """The clusters' numbers in the order of their names, which no panel changes."""
        return np.array([self.clusters[name] for name in sorted(self.clusters)], dtype=np.int64)


def collect(
    trajectories: pl.DataFrame | Iterable[pl.DataFrame],
    dimensions: Sequence[str],
    pairs_of: Callable[[Sequence[str]], Sequence[tuple[str, str]]] = lambda labels: (),
    pair_dimensions: Sequence[str] = (),
) -> Collected:
    """The sums of all panels. `pairs_of` names (policy, baseline) pairs among the labels."""
    found = Collected()
    wanted: Sequence[tuple[str, str]] = ()
    panels = [trajectories] if isinstance(trajectories, pl.DataFrame) else trajectories
    for position, panel in enumerate(panels):
        numbered = _numbered(panel, found.clusters)
        policies = {
            str(policy): rows
            for (policy,), rows in numbered.partition_by(
                "policy", as_dict=True, maintain_order=True
            ).items()
        }
        if position == 0:
            wanted = pairs_of(list(policies))
        for policy, rows in policies.items():
            along = found.policies.setdefault(policy, {})
            _add(along.setdefault(None, {}), [(None, rows)])
            for dimension in dimensions:
                _add(along.setdefault(dimension, {}), _split(rows, dimension))
        scored = {
            policy: rows.filter(pl.col("failure").is_null() & pl.col("stale").is_not_null())
            for policy, rows in policies.items()
            if any(policy in pair for pair in wanted)
        }
        for policy, baseline in wanted:
            rows = _paired(scored[policy], scored[baseline])
            found.pairs.setdefault((policy, baseline), Pairs()).add(rows)
            along_pairs = found.paired.setdefault((policy, baseline), {})
            for dimension in pair_dimensions:
                for value, part in _split(rows, dimension):
                    parts = along_pairs.setdefault(dimension, {})
                    parts.setdefault(value, Pairs()).add(part)
    return found


def _add(parts: dict[str | None, Tally], values: Iterable[tuple[str | None, pl.DataFrame]]) -> None:
    for value, rows in values:
        parts.setdefault(value, Tally()).add(rows)


def _split(rows: pl.DataFrame, dimension: str) -> Iterator[tuple[str | None, pl.DataFrame]]:
    parts = rows.partition_by(dimension, as_dict=True, maintain_order=True)
    for (value,), part in parts.items():
        yield value, part


def _paired(scored: pl.DataFrame, base: pl.DataFrame) -> pl.DataFrame:
    """A row where both have a score; a null checkpoint meets every checkpoint of the other."""
    return scored.join(
        base,
        on=["recording_id", "action", "replication"],
        suffix="_base",
        nulls_equal=True,
        maintain_order="left_right",
    ).filter(
        pl.col("checkpoint").is_null()
        | pl.col("checkpoint_base").is_null()
        | (pl.col("checkpoint") == pl.col("checkpoint_base"))
    )


def _numbered(panel: pl.DataFrame, clusters: dict[str, int]) -> pl.DataFrame:
    """The panel with its clusters' numbers; names not met before get the next ones."""
    name = pl.coalesce(pl.col("group_id").cast(pl.String), pl.col("recording_id"))
    named = panel.with_columns(
        pl.col("success").cast(pl.Boolean),  # a column of nulls alone has no type
        _cluster=name,
    )
    for cluster in named["_cluster"].unique(maintain_order=True):
        clusters.setdefault(cluster, len(clusters))
    numbers = named["_cluster"].replace_strict(clusters, return_dtype=pl.Int64)
    return named.with_columns(numbers)
