"""The report's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from frontends.recast.report.figures import quantiles
from frontends.recast.report.frames import DIMENSIONS
from frontends.recast.report.prefixes import OUTCOMES
from simcore.timeline.lanes import FAINT, INK, PALE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt

    from frontends.recast.report.figures import Part

    Rows = list[dict[str, Any]]

_ERRORS: Final = {
    "wer": ("word errors, %", False),
    "final": ("final parse wrong, %", True),
    "fair": ("prefixes neither right nor early, %", True),
    "churn": ("churn, %", False),
}
"""Rates as errors: their titles, and which stand for their complement."""
DISTANCES: Final = {
    "gap_s": "value to onset, s",
    "resolve_s": "onset to new value, s",
    "tail_s": "new value to end, s",
}
_PACKS: Final = ("#3b7db8", "#cf7a2a", "#2f7d6b", "#b5588a", "#7f68c4", "#8c7a2f")
_OUTCOMES: Final = ("#2f7d6b", "#a3cdc1", "#d5d9dd", "#e5a663", "#c0392b")
_ROW: Final = 19
_MARKS: Final = (0, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
_AROUND_S: Final = (-2.0, 4.0)
_BIN_S: Final = 0.5
_FEWEST: Final = 20
"""Prefixes that a point of a curve needs."""


def mix_chart(parts: Sequence[Part]) -> Any:
    """The share of each subset in every pack, side by side."""
    import altair as alt

    totals = {part.pack: len(part.rows) for part in parts if part.dimension is None}
    packs: list[str | None] = [pack for pack in totals if pack is not None] or [None]
    rows = [
        {
            "pack": _name(part.pack),
            "subset": part.value,
            "share": 100 * len(part.rows) / totals[part.pack],
        }
        for part in parts
        if part.dimension == "subset" and part.pack in packs
    ]
    names = list(map(_name, packs))
    return (
        alt.Chart(_data(rows), width=520, height=alt.Step(8))
        .mark_bar(size=7)
        .encode(
            x=alt.X("share:Q", title="share of the pack's recordings, %"),
            y=alt.Y("subset:N", sort=_values(parts, "subset"), title=None),
            yOffset=alt.YOffset("pack:N", sort=names),
            color=_colour("pack:N", names, _PACKS, len(names) > 1),
        )
    )


def quality_chart(parts: Sequence[Part]) -> Any:
    """Every rate of errors with its interval, by every dimension in which recordings differ."""
    import altair as alt

    mine = [part for part in parts if part.pack is None]
    blocks = {" ": [part for part in mine if part.dimension is None]}
    for dimension in DIMENSIONS:
        cut = [part for part in mine if part.dimension == dimension]
        if len(cut) > 1:
            blocks[dimension] = cut
    columns: list[Any] = []
    for name, (title, _) in _ERRORS.items():
        rows = [
            {"block": block, **point}
            for block, cut in blocks.items()
            for point in _points(cut, name)
        ]
        if not rows:
            continue
        top = max(1, *(row["high"] for row in rows))
        x: dict[str, Any] = {
            "scale": alt.Scale(type="sqrt", domain=[0, top], nice=False),
            "axis": alt.Axis(title=title, values=_marks(top), labelExpr="datum.value"),
        }
        axis = None if columns else alt.Axis(title=None, domain=False)
        base = alt.Chart(width=175, height=alt.Step(_ROW)).encode(
            y=alt.Y("value:N", sort=[row["value"] for row in rows], axis=axis)
        )
        whisker = base.mark_rule(color=_PACKS[0]).encode(x=alt.X("low:Q", **x), x2="high:Q")
        dot = base.mark_circle(size=45, color=_PACKS[0], opacity=1)
        header = alt.Header(title=None, labels=not columns)
        columns.append(
            alt.layer(whisker, dot.encode(x=alt.X("error:Q", **x)))
            .facet(
                data=_data(rows),
                row=alt.Row("block:N", sort=list(blocks), header=header),
                spacing=6,
            )
            .resolve_scale(y="independent")
        )
    return alt.hconcat(*columns, spacing=14)


def outcome_chart(parts: Sequence[Part]) -> Any:
    """What the parses of the prefixes before the final one are, by subset."""
    import altair as alt

    cut = [part for part in parts if part.pack is None and part.dimension == "subset"]
    rows = [
        {
            "subset": part.value,
            "outcome": name,
            "share": 100 * part.rows[name].sum() / part.rates["prefix"].n,
            "place": place,
        }
        for part in cut
        if part.rates["prefix"].n
        for place, name in enumerate(OUTCOMES)
    ]
    return (
        alt.Chart(_data(rows), width=520, height=alt.Step(_ROW))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of prefixes, %", scale=alt.Scale(domain=[0, 100])),
            y=alt.Y("subset:N", sort=_values(parts, "subset"), title=None),
            color=_colour("outcome:N", OUTCOMES, _OUTCOMES),
            order="place:Q",
        )
    )


def hearing_chart(values: pl.DataFrame) -> Any:
    """The share of prefixes that parse to a value, by the time since it had been said.

    None where too few prefixes are about as far from it.
    """
    import altair as alt

    first, later = "first value", "later value"
    found = (
        values.filter(pl.col("since_s").is_between(*_AROUND_S, closed="left"))
        .with_columns(
            said=pl.when(pl.col("value") == 1).then(pl.lit(first)).otherwise(pl.lit(later)),
            middle=(pl.col("since_s") / _BIN_S).floor() * _BIN_S + _BIN_S / 2,
        )
        .group_by("said", "middle")
        .agg(pl.len().alias("n"), share=100 * pl.col("heard").mean())
        .filter(pl.col("n") >= _FEWEST)
        .sort("said", "middle")
    )
    if found.is_empty():
        return None
    names = found["said"].unique(maintain_order=True).to_list()
    lines = (
        alt.Chart(_data(found.to_dicts()), width=520, height=200)
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "middle:Q",
                title="from the annotated end of the value to the end of the prefix, s",
                scale=alt.Scale(domain=_AROUND_S),
            ),
            y=alt.Y("share:Q", title="prefixes that parse to it, %"),
            color=_colour("said:N", names, _PACKS),
        )
    )
    said = alt.Chart(_data([{"at": 0}])).mark_rule(color=FAINT, strokeDash=[3, 3]).encode(x="at:Q")
    return said + lines


def distance_chart(repairs: pl.DataFrame) -> Any:
    """A repair's distances by subset: the middle 90 %, the middle half, the median."""
    import altair as alt

    order = repairs["subset"].value_counts().sort("count", "subset", descending=[True, False])
    subsets = order["subset"].to_list()
    panels: list[Any] = []
    for column, title in DISTANCES.items():
        rows = [
            {"subset": subset, **dict(zip(("low", "q1", "mid", "q3", "high"), found, strict=True))}
            for subset in subsets
            if (found := _spread(repairs.filter(pl.col("subset") == subset)[column])) is not None
        ]
        axis = alt.Axis(title=None) if not panels else None
        base = alt.Chart(_data(rows), width=210, height=alt.Step(_ROW)).encode(
            y=alt.Y("subset:N", scale=alt.Scale(domain=subsets), axis=axis)
        )
        x: dict[str, Any] = {"title": title, "scale": alt.Scale(zero=True)}
        panels.append(
            base.mark_rule(color=_PACKS[0]).encode(x=alt.X("low:Q", **x), x2="high:Q")
            + base.mark_bar(color=_PACKS[0], size=8).encode(x=alt.X("q1:Q", **x), x2="q3:Q")
            + base.mark_tick(color="white", thickness=2, size=8).encode(x=alt.X("mid:Q", **x))
        )
    return alt.hconcat(*panels, spacing=14)


def timing_chart(prefixes: pl.DataFrame) -> Any:
    """The shares of prefixes decoded, and arrived, within so many seconds, by pack."""
    import altair as alt

    packs = prefixes["pack"].unique(maintain_order=True).to_list()
    levels = [step / 200 for step in range(200)]
    panels: list[Any] = []
    titles = {"service_s": "service time, s", "lag_s": "from the prefix' end to its arrival, s"}
    for column, title in titles.items():
        rows = [
            {"pack": pack, "share": 100 * level, "at": at}
            for pack in packs
            if (found := quantiles(prefixes.filter(pl.col("pack") == pack)[column], levels))
            for level, at in zip(levels, found, strict=True)
        ]
        panels.append(
            alt.Chart(_data(rows), width=300, height=200)
            .mark_line()
            .encode(
                x=alt.X("at:Q", title=title),
                y=alt.Y("share:Q", title="prefixes within, %" if not panels else None),
                color=_colour("pack:N", packs, _PACKS),
            )
        )
    return alt.hconcat(*panels)


def styled(chart: Any) -> Any:
    """The chart on white, with the house's faint axes."""
    return (
        chart.properties(background="white", padding=12)
        .configure_view(stroke=None)
        .configure_axis(
            gridColor=PALE,
            domainColor=FAINT,
            tickColor=FAINT,
            labelColor=INK,
            labelFlush=False,
            titleColor=INK,
            titleFontWeight="normal",
        )
        .configure_legend(labelColor=INK, titleColor=INK)
    )


def _marks(top: float) -> list[float]:
    """Labels of a square-root axis, far enough from each other."""
    found: list[float] = []
    for mark in _MARKS:
        if mark <= top and (not found or mark**0.5 - found[-1] ** 0.5 >= 0.13 * top**0.5):
            found.append(mark)
    return found


def _points(parts: Sequence[Part], name: str) -> Iterator[dict[str, Any]]:
    complement = _ERRORS[name][1]
    for part in parts:
        rate = part.rates[name]
        if rate.value is None:
            continue
        ends = (rate.interval.low, rate.interval.high) if rate.interval else (rate.value,) * 2
        low, error, high = sorted(
            100 * (1 - share if complement else share) for share in (ends[0], rate.value, ends[1])
        )
        name_and_n = f"{part.value or 'all'} ({len(part.rows)})"
        yield {"value": name_and_n, "error": error, "low": low, "high": high}


def _values(parts: Sequence[Part], dimension: str) -> list[str]:
    """The dimension's values, the most frequent first."""
    return [
        part.value
        for part in parts
        if part.pack is None and part.dimension == dimension and part.value is not None
    ]


def _spread(values: pl.Series) -> list[float] | None:
    return quantiles(values, (0.05, 0.25, 0.5, 0.75, 0.95))


def _name(pack: str | None) -> str:
    return pack or "all"


def _data(rows: Rows) -> alt.Data:
    """As CSV: Altair copies and checks a chart often, a text at no cost."""
    import altair as alt

    text = pl.DataFrame(rows).write_csv()
    data: alt.Data = alt.Data(values=text, format=alt.CsvDataFormat(type="csv"))  # type: ignore[no-untyped-call]
    return data


def _colour(field: str, names: Sequence[str], colours: Sequence[str], legend: bool = True) -> Any:
    import altair as alt

    used = [colours[place % len(colours)] for place in range(len(names))]
    return alt.Color(
        field,
        scale=alt.Scale(domain=list(names), range=used),
        legend=alt.Legend(title=None, orient="top") if legend else None,
    )
