"""The report's pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from frontends.agents.sweeps import crossing, rows_by_y

if TYPE_CHECKING:
    from collections.abc import Sequence

    from frontends.agents.sweeps import Point

PAPER: Final = {
    "chains": {"1.3x, cloud": 1.3, "1.6x, 3B at least": 1.6, "2.2x, 3B at most": 2.2},
    "dags": {"1.7x, cloud": 1.7, "1.6x, 3B at least": 1.6, "2.2x, 3B at most": 2.2},
}
"""The source's speed-ups: in the cloud on search alone and on several tools, and the range of two
3B models on both."""
_MARKS: Final = ("#b5588a", "#cf7a2a", "#2f7d6b")
_LINES: Final = ("#3b7db8", "#cf7a2a", "#2f7d6b")


def surface(found: Sequence[Point]) -> Any:
    """The speed-up by how late the words come and how slow the tools are, the source's marked."""
    import altair as alt

    panels = []
    for workload, levels in PAPER.items():
        mine = [point for point in found if point.workload == workload]
        cells: list[dict[str, Any]] = [
            {"x": f"{point.x:g}", "y": f"{point.y:g}", "speed_up": point.speed_up} for point in mine
        ]
        xs = list(dict.fromkeys(cell["x"] for cell in cells))
        ys = list(dict.fromkeys(cell["y"] for cell in cells))[::-1]
        axes: dict[str, Any] = {
            "x": alt.X("x:O", sort=xs, title="first needed word, share of the query").axis(
                labelAngle=0
            ),
            "y": alt.Y("y:O", sort=ys, title="tool time, factor"),
        }
        base = alt.Chart(_data(cells)).encode(**axes)
        colour = alt.Color("speed_up:Q", title="speed-up").scale(scheme="blues", domainMin=1)
        figures = base.mark_text(fontSize=11, dy=-6).encode(
            text=alt.Text("speed_up:Q", format=".2f"),
            color=alt.condition("datum.speed_up > 4", alt.value("white"), alt.value("black")),
        )
        layers: list[Any] = [alt.layer(base.mark_rect().encode(color=colour), figures)]
        marks = _marks(mine, levels, len(ys))
        if marks:
            layers.append(
                alt.Chart(_data(marks))
                .mark_point(filled=True, size=90, stroke="white", opacity=1)
                .encode(
                    x=alt.X("px:Q").scale(domain=[0, len(xs)]).axis(None),
                    y=alt.Y("py:Q").scale(domain=[0, len(ys)], reverse=True).axis(None),
                    color=alt.Color("source:N", title="as in the source").scale(
                        domain=list(levels), range=list(_MARKS)
                    ),
                )
            )
        panels.append(
            alt.layer(
                *layers, title=workload, width=46 * len(xs), height=46 * len(ys)
            ).resolve_scale(x="independent", y="independent", color="independent")
        )
    return alt.hconcat(*panels).resolve_scale(color="independent")


def _marks(found: Sequence[Point], levels: dict[str, float], height: int) -> list[dict[str, Any]]:
    """Where a row of cells passes a speed-up of the source, in cells from the upper left."""
    marks = []
    for place, row in enumerate(rows_by_y(found).values()):
        for source, level in levels.items():
            speeds = [point.speed_up for point in row]
            at = crossing([index + 0.5 for index in range(len(row))], speeds, level)
            if at is not None:
                marks.append({"px": at, "py": height - place - 0.25, "source": source})
    return marks


def growth(found: Sequence[Point]) -> Any:
    """The speed-up by tool time, number of calls, speech length, and repeated calls."""
    import altair as alt

    rows = [
        {
            "x": point.y,
            "speed_up": point.speed_up,
            "line": point.workload,
            "of": "tool time, factor",
        }
        for point in found
        if point.sweep == "surface" and point.x == 0.2
    ]
    titles = {"calls": "calls", "words": "speech length, factor"}
    rows += [
        {"x": p.x, "speed_up": p.speed_up, "line": p.workload, "of": titles[p.sweep]}
        for p in found
        if p.sweep in titles
    ]
    panels = [
        _lines([row for row in rows if row["of"] == title], title, "workload")
        for title in ("tool time, factor", "calls", "speech length, factor")
    ]
    slips = [
        {"x": p.x, "speed_up": p.speed_up, "line": f"{p.y:g}", "of": "slips"}
        for p in found
        if p.sweep == "slips"
    ]
    panels.append(_lines(slips, "repeated calls an update", "corrections a call"))
    one = alt.hconcat(*panels[:3]).resolve_scale(color="shared")
    return alt.vconcat(one, panels[3]).resolve_scale(color="independent")


def _data(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _lines(rows: list[dict[str, Any]], title: str, legend: str) -> Any:
    import altair as alt

    lines = list(dict.fromkeys(row["line"] for row in rows))
    colours = [*_LINES, "#7f68c4"][: len(lines)]
    data = alt.Chart(_data(rows), width=200, height=170)
    rule = alt.Chart(_data([{"y": 1}])).mark_rule(strokeDash=[4, 3], color="#888")
    return rule.encode(y="y:Q") + data.mark_line(point=True).encode(
        x=alt.X("x:Q", title=title),
        y=alt.Y("speed_up:Q", title="speed-up").scale(zero=True),
        color=alt.Color("line:N", title=legend).scale(domain=lines, range=colours),
    )
