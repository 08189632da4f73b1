"""A lane of a picture: shapes in seconds across and pixels down, drawn by altair."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simcore.clock import seconds

if TYPE_CHECKING:
    import altair as alt

    from simcore.clock import Microseconds

WIDTH: Final = 860
INK: Final = "#2b3036"
FAINT: Final = "#8a929a"
PALE: Final = "#e4e7ea"
_LETTER: Final = 6.4


@dataclass(slots=True)
class Lane:
    """Collects shapes; times are microseconds, heights pixels from the lane's top.

    The name stands at `middle`, half the height if it is not given.
    """

    name: str
    height: int
    middle: float | None = None
    bars: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)
    marks: list[dict[str, Any]] = field(default_factory=list)
    words: list[dict[str, Any]] = field(default_factory=list)

    def bar(
        self,
        start: Microseconds,
        end: Microseconds,
        top: float,
        bottom: float,
        colour: str,
        opacity: float = 1,
    ) -> None:
        """A filled rectangle."""
        self.bars.append(_box(start, end, top, bottom, colour) | {"opacity": opacity})

    def line(
        self,
        start: Microseconds,
        end: Microseconds,
        top: float,
        bottom: float,
        colour: str = FAINT,
        width: float = 1,
        dash: bool = False,
    ) -> None:
        """A straight line from (start, top) to (end, bottom)."""
        dashes = [3, 3] if dash else [1, 0]
        box = _box(start, end, top, bottom, colour)
        self.lines.append(box | {"width": width, "dash": dashes})

    def mark(
        self,
        at: Microseconds,
        height: float,
        colour: str,
        shape: str = "circle",
        size: float = 60,
        hollow: bool = False,
    ) -> None:
        """A point."""
        fill = "white" if hollow else colour
        place = {"x": seconds(at), "y": height, "colour": colour, "fill": fill}
        self.marks.append(place | {"shape": shape, "size": size})

    def text(
        self,
        at: Microseconds,
        height: float,
        words: str,
        colour: str = INK,
        align: str = "center",
        shift: float = 0,
        bold: bool = False,
    ) -> None:
        """Words, `shift` pixels to the right of their time."""
        place = {"x": seconds(at), "y": height, "text": words, "colour": colour}
        self.words.append(place | {"align": align, "shift": shift, "bold": bold})

    def chart(
        self, end_s: float, data: dict[str, list[dict[str, Any]]], *, axis: bool
    ) -> alt.LayerChart:
        """The lane over 0 to `end_s` seconds, with figures on its time axis if `axis`.

        Its rows go to `data` under names of their own: altair copies what is in a chart many times.
        """
        import altair as alt

        ticks = alt.Axis(
            labels=axis,
            labelFlush=False,
            format="d",
            tickMinStep=1,
            title="seconds" if axis else None,
            titleFontWeight="normal",
            gridColor=PALE,
            gridOpacity=0.7,
        )
        x = alt.X("x:Q", scale=alt.Scale(domain=[0, end_s], nice=False), axis=ticks)
        y = alt.Y("y:Q", scale=alt.Scale(domain=[self.height, 0], nice=False), axis=None)
        colour = alt.Color("colour:N", scale=None, legend=None)

        def base(rows: list[dict[str, Any]]) -> alt.Chart:
            name = f"rows-{len(data)}"
            data[name] = rows
            return alt.Chart(alt.NamedData(name=name)).encode(x=x, y=y)

        drawn = [
            base(self.bars)
            .mark_rect()
            .encode(x2="x2", y2="y2", color=colour, opacity=alt.Opacity("opacity:Q", scale=None)),
            base(self.lines)
            .mark_rule()
            .encode(
                x2="x2",
                y2="y2",
                color=colour,
                strokeWidth=alt.StrokeWidth("width:Q", scale=None),
                strokeDash=alt.StrokeDash("dash:N", scale=None),
            ),
            base(self.marks)
            .mark_point(strokeWidth=1.5, opacity=1)
            .encode(
                stroke=alt.Stroke("colour:N", scale=None),
                fill=alt.Fill("fill:N", scale=None),
                shape=alt.Shape("shape:N", scale=None),
                size=alt.Size("size:Q", scale=None),
            ),
        ]
        name = {"x": 0, "y": self.middle or self.height / 2, "text": self.name, "colour": FAINT}
        pixel = end_s / WIDTH
        styles: dict[tuple[str, bool], list[dict[str, Any]]] = {}
        for word in [*self.words, name | {"align": "right", "shift": -22, "bold": False}]:
            place = {"x": word["x"] + word["shift"] * pixel}
            row = {key: word[key] for key in ("y", "text", "colour")} | place
            styles.setdefault((word["align"], word["bold"]), []).append(row)
        for (align, bold), rows in styles.items():
            mark = base(rows).mark_text(
                align=align,  # type: ignore[arg-type]
                fontSize=11,
                fontWeight="bold" if bold else "normal",
                baseline="middle",
            )
            drawn.append(mark.encode(text="text:N", color=colour))
        return alt.LayerChart(layer=drawn, width=WIDTH, height=self.height)


class Rows:
    """Puts words that would overlap on different heights."""

    def __init__(self, end_s: float) -> None:
        self._pixels = WIDTH / end_s
        self._taken: list[float] = []

    def level(self, at: Microseconds, words: str) -> int:
        """0 for the first row that has room for centred words; times must not decrease."""
        centre, half = seconds(at) * self._pixels, len(words) * _LETTER / 2
        for level, end in enumerate(self._taken):
            if centre - half > end:
                self._taken[level] = centre + half
                return level
        self._taken.append(centre + half)
        return len(self._taken) - 1


def fits(words: str, start: Microseconds, end: Microseconds, end_s: float) -> bool:
    """Whether words have room between two times."""
    return len(words) * _LETTER + 10 < seconds(end - start) * WIDTH / end_s


def _box(
    start: Microseconds, end: Microseconds, top: float, bottom: float, colour: str
) -> dict[str, Any]:
    x, x2 = seconds(start), seconds(end)
    return {"x": x, "x2": x2, "y": top, "y2": bottom, "colour": colour}
