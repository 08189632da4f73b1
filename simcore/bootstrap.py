"""95 % intervals of ratios of sums, from a bootstrap over clusters.

Trajectories of one cluster share audio, so whole clusters are drawn, never trajectories. One draw
serves every ratio asked for with the same seed and clusters, which pairs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RESAMPLES: Final = 10_000
LEVEL: Final = 0.95

MIN_CLUSTERS: Final = 6
"""Below six clusters not even one sign throughout is significant: 2 x 0.5^5 > 0.05."""

_CELLS: Final = 1 << 21
_RATIOS_AT_ONCE: Final = 256


@dataclass(frozen=True, slots=True)
class Interval:
    """A 95 % interval: percentiles of the resamples, or the exact bound where those do not vary."""

    low: float
    high: float
    kind: Literal["bootstrap", "exact"]


@dataclass(frozen=True, slots=True, eq=False)
class Ratio:
    """A mean kept as sums: `total` and `count`, both of shape (clusters,).

    `bounds` is the range that one observation can take, None where it has none.
    """

    total: Floats
    count: Floats
    bounds: tuple[float, float] | None = None

    @property
    def clusters(self) -> int:
        """How many clusters have an observation."""
        return int(np.count_nonzero(self.count))

    @property
    def value(self) -> float | None:
        """The mean over all observations, None without any."""
        count = float(self.count.sum())
        return float(self.total.sum()) / count if count else None


def zero_bound(clusters: int) -> float:
    """The exact one-sided 95 % bound on a share of which none of `clusters` showed a case.

    >>> round(zero_bound(600), 4)
    0.005
    """
    return float(1 - (1 - LEVEL) ** (1 / clusters))


def intervals(
    ratios: Sequence[Ratio], *, seed: int, resamples: int = RESAMPLES
) -> list[Interval | None]:
    """One interval per ratio; all ratios have the same clusters in the same order.

    Where every cluster has the same mean c (as with no event at all), resampling shows no spread.
    A bounded ratio then gets what the exact bound leaves: at most `zero_bound` of the clusters
    differ, by as much as the bounds allow. No observation, or fewer than `MIN_CLUSTERS` clusters
    that do vary, give None.
    """
    found: list[Interval | None] = [_exact(ratio) for ratio in ratios]
    drawn = [
        position
        for position, ratio in enumerate(ratios)
        if found[position] is None and ratio.clusters >= MIN_CLUSTERS
    ]
    for first in range(0, len(drawn), _RATIOS_AT_ONCE):
        lot = drawn[first : first + _RATIOS_AT_ONCE]
        for position, interval in zip(
            lot, _percentiles([ratios[i] for i in lot], seed, resamples), strict=True
        ):
            found[position] = interval
    return found


def _exact(ratio: Ratio) -> Interval | None:
    if ratio.bounds is None or not ratio.clusters:
        return None
    seen = ratio.count > 0
    means = ratio.total[seen] / ratio.count[seen]
    if np.any(means != means[0]):
        return None
    others, value = zero_bound(ratio.clusters), float(means[0])
    low, high = (value + others * (bound - value) for bound in ratio.bounds)
    return Interval(low, high, "exact")


def _percentiles(ratios: Sequence[Ratio], seed: int, resamples: int) -> Iterator[Interval]:
    totals = np.column_stack([ratio.total for ratio in ratios])
    counts = np.column_stack([ratio.count for ratio in ratios])
    means = np.empty((resamples, len(ratios)))
    row = 0
    with np.errstate(invalid="ignore", divide="ignore"):
        for weights in _weights(len(totals), seed, resamples):
            means[row : row + len(weights)] = (weights @ totals) / (weights @ counts)
            row += len(weights)
    tail = (1 - LEVEL) / 2
    for column in means.T:
        low, high = np.quantile(column[np.isfinite(column)], (tail, 1 - tail))
        yield Interval(float(low), float(high), "bootstrap")


def _weights(clusters: int, seed: int, resamples: int) -> Iterator[Floats]:
    """How often each cluster was drawn, in blocks of shape (resamples, clusters)."""
    key = (seed, int.from_bytes(b"bootstrap"))
    generator = np.random.default_rng(np.random.SeedSequence(key))
    block = max(1, _CELLS // clusters)
    for first in range(0, resamples, block):
        rows = min(block, resamples - first)
        drawn = generator.integers(clusters, size=(rows, clusters))
        drawn += np.arange(rows)[:, None] * clusters
        yield np.bincount(drawn.ravel(), minlength=rows * clusters).reshape(rows, -1).astype(float)
