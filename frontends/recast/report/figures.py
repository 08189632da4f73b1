"""Rates with 95 % intervals and quantiles, of all recordings and of those alike in one way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl

from frontends.recast.report.frames import DIMENSIONS, without_noise
from simcore.bootstrap import RESAMPLES, Ratio, intervals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simcore.bootstrap import Interval

RATES: Final = {
    "wer": ("errors", "words"),
    "final": ("final_right", "finals"),
    "prefix": ("right", "prefixes"),
    "fair": ("fair", "prefixes"),
    "churn": ("wrong_changes", "judged"),
}
"""Which columns of `recording_frame` a rate is the quotient of."""


@dataclass(frozen=True, slots=True)
class Rate:
    """A share: `count` of `n`; no `value` where there is nothing to count.

    Where all recordings agree, only a final parse, one a recording, has an exact bound.
    """

    count: int
    n: int
    value: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Part:
    """The recordings of one pack (None: of all) with one value of a dimension (None: all)."""

    pack: str | None
    dimension: str | None
    value: str | None
    rows: pl.DataFrame
    rates: Mapping[str, Rate]


def parts(
    recordings: pl.DataFrame, *, seed: int = 0, resamples: int = RESAMPLES
) -> tuple[Part, ...]:
    """All packs together and then, if there are several, each: whole, then by every dimension.

    Recordings with added noise count by noise alone, beside the clean ones of the same groups; but
    where no recording is clean, everywhere. One bootstrap over clusters (recordings that share
    audio) serves all rates.
    """
    numbered = recordings.with_columns(
        at=pl.col("cluster").rank("dense").cast(pl.Int64) - 1,
    )
    clusters = numbered["cluster"].n_unique()
    cut = [
        (pack, dimension, value, rows)
        for pack, scope in _scopes(numbered)
        for dimension, value, rows in _slices(scope)
    ]
    ratios = [_ratio(rows, name, clusters) for *_, rows in cut for name in RATES]
    found = iter(zip(ratios, intervals(ratios, seed=seed, resamples=resamples), strict=True))
    return tuple(Part(*key, rates={name: _rate(*next(found)) for name in RATES}) for key in cut)


def of(frame: pl.DataFrame, part: Part) -> pl.DataFrame:
    """The rows of another frame that belong to a part's recordings."""
    return frame.join(part.rows, on=["pack", "recording"], how="semi", maintain_order="left")


def quantiles(values: pl.Series, levels: Sequence[float]) -> list[float] | None:
    """Of the values that are not null, by linear interpolation; None without any."""
    known = values.drop_nulls().to_numpy()
    return [float(q) for q in np.quantile(known, levels)] if len(known) else None


def values_of(rows: pl.DataFrame, dimension: str) -> list[str]:
    """The values of a dimension, the most frequent first; of noise, the clean ones first."""
    counts = rows.group_by(dimension).len().sort("len", dimension, descending=[True, False])
    values: list[str] = counts[dimension].to_list()
    return sorted(values, reverse=True) if dimension == "noise" else values


def _scopes(rows: pl.DataFrame) -> list[tuple[str | None, pl.DataFrame]]:
    names = rows["pack"].unique(maintain_order=True).to_list()
    whole: list[tuple[str | None, pl.DataFrame]] = [(None, rows)]
    if len(names) == 1:
        return whole
    return whole + [(name, rows.filter(pl.col("pack") == name)) for name in names]


def _slices(rows: pl.DataFrame) -> list[tuple[str | None, str | None, pl.DataFrame]]:
    clean = without_noise(rows)
    found: list[tuple[str | None, str | None, pl.DataFrame]] = [(None, None, clean)]
    for dimension in DIMENSIONS:
        whole = _copied(rows) if dimension == "noise" else clean
        found += [
            (dimension, value, whole.filter(pl.col(dimension) == value))
            for value in values_of(whole, dimension)
        ]
    return found


def _copied(rows: pl.DataFrame) -> pl.DataFrame:
    """The groups that there are with different noise, all rows where there are none."""
    copied = rows.filter(pl.col("noise").n_unique().over("cluster") > 1)
    return rows if copied.is_empty() else copied


def _ratio(rows: pl.DataFrame, name: str, clusters: int) -> Ratio:
    at = rows["at"].to_numpy()
    total, count = (
        np.bincount(at, weights=rows[column].to_numpy(), minlength=clusters).astype(float)
        for column in RATES[name]
    )
    return Ratio(total, count, bounds=(0.0, 1.0) if name == "final" else None)


def _rate(ratio: Ratio, interval: Interval | None) -> Rate:
    if interval is not None and interval.low == interval.high:
        interval = None
    return Rate(int(ratio.total.sum()), int(ratio.count.sum()), ratio.value, interval)
