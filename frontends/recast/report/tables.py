"""The report's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from frontends.recast.report.figures import of, quantiles
from frontends.recast.report.prefixes import OUTCOMES
from simcore.report.grid import Grid
from simcore.report.numbers import NONE, number, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontends.recast.report.figures import Part, Rate
    from frontends.recast.report.packs import Pack

ALL: Final = "all"
_ENDS: Final = (0.5, 0.95, 1.0)
_MICROSECOND: Final = 1e-6
_COUNTS: Final = ("groups", "pairs", "audio, min")
_KINDS: Final = {"voice": "voices", "carrier": "carriers", "edit": "editing phrases"}
_DISTANCES: Final = {
    "gap_s": "value to onset, s",
    "resolve_s": "onset to new value, s",
    "tail_s": "new value to end, s",
}


def pack_table(whole: Sequence[Part]) -> Grid:
    """What each pack holds, and all together."""
    rows = [
        (
            part.pack or ALL,
            str(len(part.rows)),
            *_counts(part.rows),
            str(int(part.rows["arrivals"].sum())),
            *(str(part.rows[name].drop_nulls().n_unique()) for name in _KINDS),
        )
        for part in whole
    ]
    return Grid("", ("pack", "recordings", *_COUNTS, "prefixes", *_KINDS.values()), rows)


def mix_table(parts: Sequence[Part], dimension: str) -> Grid:
    """How many recordings have each value of a dimension, and its share of every pack.

    By noise only of all packs: copies with noise may be packs of their own.
    """
    cut = [
        part
        for part in parts
        if part.dimension == dimension and (dimension != "noise" or part.pack is None)
    ]
    sizes = {(part.pack, part.value): len(part.rows) for part in cut}
    totals: dict[str | None, int] = {}
    for (pack, _), size in sizes.items():
        totals[pack] = totals.get(pack, 0) + size
    rows = [
        (
            str(part.value),
            *_counts(part.rows),
            *(_share(sizes.get((pack, part.value), 0), total) for pack, total in totals.items()),
        )
        for part in cut
        if part.pack is None
    ]
    packs = (pack or "recordings" for pack in totals)
    return Grid("", (dimension, *_COUNTS, *packs), rows)


def quality_table(parts: Sequence[Part], prefixes: pl.DataFrame, head: str) -> Grid:
    """The rates of some parts, and the median service time."""
    spoken = any(part.rates["wer"].n for part in parts)
    rows = []
    for part in parts:
        rates = part.rates
        service = quantiles(of(prefixes, part)["service_s"], (0.5,))
        rows.append(
            (
                part.value or part.pack or ALL,
                str(len(part.rows)),
                *([_percent(rates["wer"], 2)] if spoken else []),
                _percent(rates["final"]),
                _fraction(rates["final"]),
                _percent(rates["prefix"]),
                _percent(rates["fair"]),
                _percent(rates["churn"], 2),
                number(service[0] if service else None),
            )
        )
    headers = (
        head,
        "recordings",
        *(["WER % [95 %]"] if spoken else []),
        "final parse right % [95 %]",
        "count",
        "prefixes right % [95 %]",
        "right or early % [95 %]",
        "churn % [95 %]",
        "service s",
    )
    return Grid("", headers, rows)


def outcome_table(parts: Sequence[Part], head: str) -> Grid:
    """What the parses of the prefixes before the final one are, in shares."""
    rows = []
    for part in parts:
        n = part.rates["prefix"].n
        shares = (int(part.rows[name].sum()) for name in OUTCOMES)
        cells = (number(count / n, 1, 100) if n else NONE for count in shares)
        rows.append((part.value or part.pack or ALL, str(n), *cells))
    return Grid("", (head, "prefixes", *(f"{name} %" for name in OUTCOMES)), rows)


def distance_table(repairs: pl.DataFrame, head: str) -> Grid:
    """Medians, and the range of the middle 90 %, of a repair's distances."""
    rows = []
    counts = repairs.group_by(head).len().sort("len", head, descending=[True, False])
    for value, count in counts.iter_rows():
        part = repairs.filter(pl.col(head) == value)
        rows.append((value, str(count), *(_spread(part[name]) for name in _DISTANCES)))
    return Grid("", (head, "repairs", *_DISTANCES.values()), rows)


def timing_table(packs: Sequence[Pack], prefixes: pl.DataFrame) -> Grid:
    """Service times and how far behind the speech an arrival is, in seconds."""
    rows = []
    for pack in packs:
        own = prefixes.filter(pl.col("pack") == pack.name)
        rows.append(
            (
                pack.name,
                str(len(own)),
                *(number(end) for end in quantiles(own["service_s"], _ENDS) or (None,) * 3),
                *(number(end) for end in quantiles(own["lag_s"], _ENDS) or (None,) * 3),
                *_load(own),
                pack.service_scale or NONE,
            )
        )
    ends = ("median", "p95", "max")
    times = (f"{what} s, {end}" for what in ("service", "behind") for end in ends)
    last = ("waited %", "decoder busy %", "service scale")
    return Grid("", ("pack", "prefixes", *times, *last), rows)


def _load(prefixes: pl.DataFrame) -> tuple[str, str]:
    """The share of arrivals that waited for the decoder, and of the audio's time it worked."""
    known = prefixes.drop_nulls("service_s")
    service, lag = (known[name].to_numpy() for name in ("service_s", "lag_s"))
    audio = float(known.filter("final")["end_s"].sum())
    if not audio:
        return NONE, NONE
    waited = float((lag > service + _MICROSECOND / 2).mean())
    return number(waited, 1, 100), number(float(service.sum()) / audio, 1, 100)


def _counts(rows: pl.DataFrame) -> tuple[str, ...]:
    return (
        str(rows["cluster"].n_unique()),
        str(rows["pair"].drop_nulls().n_unique()),
        number(float(rows["audio_s"].sum()) / 60, 1),
    )


def _percent(rate: Rate, digits: int = 1) -> str:
    return f"{number(rate.value, digits, 100)} {span(rate.interval, digits, 100)}".rstrip()


def _fraction(rate: Rate) -> str:
    return f"{rate.count}/{rate.n}" if rate.n else NONE


def _share(count: int, total: int) -> str:
    return f"{count} ({number(count / total, 1, 100)} %)" if count else NONE


def _spread(values: pl.Series) -> str:
    found = quantiles(values, (0.05, 0.5, 0.95))
    return NONE if found is None else f"{found[1]:.2f} [{found[0]:.2f}, {found[2]:.2f}]"
