"""Inline SVG that keeps its text size on every screen: horizontal positions are percentages."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Final

from simcore.report.numbers import number, span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.metrics import Estimate, PolicySummary, Scores

COLOURS: Final = 8
_HEIGHT: Final = 340
_NARROW: Final = 280
_LINE: Final = 16


def risk_delay_plane(summaries: Sequence[PolicySummary]) -> str:
    """Each policy's stale rate over the mean delay of its successes, with 95 % intervals."""
    placed = [
        (position, summary)
        for position, summary in enumerate(summaries)
        if summary.scores.stale_rate.value is not None and summary.scores.delay_s.value is not None
    ]
    if not placed:
        return '<p class="faint">No policy has both a stale rate and a delay.</p>'
    right = _ceiling([_top(summary.scores.delay_s) for _, summary in placed]) or 1.0
    top = _ceiling([100 * _top(summary.scores.stale_rate) for _, summary in placed]) or 1.0

    def x(seconds: float) -> str:
        return f"{100 * seconds / right:.2f}%"

    def y(share: float) -> float:
        return _HEIGHT * (1 - 100 * share / top)

    parts = []
    for tick in _ticks(top):
        at = _HEIGHT * (1 - tick / top)
        parts.append(f'<line class="grid" x1="0" x2="100%" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(
            f'<text class="axis" x="-8" y="{at + 4:.1f}" text-anchor="end">{tick:g}</text>'
        )
    parts.extend(
        f'<text class="axis" x="{x(tick)}" y="{_HEIGHT + 18}" text-anchor="middle">{tick:g}</text>'
        for tick in _ticks(right)
    )
    parts.append('<text class="axis" x="-40" y="-12">stale executions, %</text>')
    parts.append(
        f'<text class="axis" x="100%" y="{_HEIGHT + 36}" text-anchor="end">'
        "delay of the successes, s</text>"
    )
    parts.append(f'<text class="axis" x="6" y="{_HEIGHT - 8}">↙ better</text>')
    points = [
        (
            _NARROW * (summary.scores.delay_s.value or 0) / right,
            y(summary.scores.stale_rate.value or 0),
            summary.policy,
        )
        for _, summary in placed
    ]
    for (position, summary), (_, at, _), (left, height) in zip(
        placed, points, _label_places(points), strict=True
    ):
        stale, delay = summary.scores.stale_rate, summary.scores.delay_s
        centre = x(delay.value or 0)
        parts.append(f'<g class="c{position % COLOURS}"><title>{escape(_hint(summary))}</title>')
        if abs(height - at) > _LINE / 2:
            parts.append(
                f'<line class="leader" x1="{centre}" x2="{centre}" '
                f'y1="{at:.1f}" y2="{height:.1f}"/>'
            )
        if delay.interval is not None:
            parts.append(
                f'<line class="whisker" x1="{x(delay.interval.low)}" '
                f'x2="{x(delay.interval.high)}" y1="{at:.1f}" y2="{at:.1f}"/>'
            )
        if stale.interval is not None:
            parts.append(
                f'<line class="whisker" x1="{centre}" x2="{centre}" '
                f'y1="{y(stale.interval.low):.1f}" y2="{y(stale.interval.high):.1f}"/>'
            )
        parts.append(f'<circle cx="{centre}" cy="{at:.1f}" r="5"/>')
        shift, anchor = (-9, "end") if left else (9, "start")
        parts.append(
            f'<text x="{centre}" dx="{shift}" y="{height + 4:.1f}" text-anchor="{anchor}">'
            f"{escape(summary.policy)}</text></g>"
        )
    label = "Risk-delay plane: " + "; ".join(_hint(summary) for _, summary in placed)
    return (
        f'<figure class="plane"><svg role="img" aria-label="{escape(label)}">'
        f"{''.join(parts)}</svg></figure>"
    )


def score_bars(scores: Sequence[tuple[str, Scores]]) -> str:
    """Stale executions, delay and cost of each policy, a small chart each."""
    parts = (
        bars("Stale executions", [(name, s.stale_rate) for name, s in scores], " %", scale=100),
        bars("Delay of the successes", [(name, s.delay_s) for name, s in scores], " s"),
        bars("Cost", [(name, s.cost) for name, s in scores], ""),
    )
    return f'<div class="multiples">{"".join(parts)}</div>'


def bars(
    title: str,
    rows: Sequence[tuple[str, Estimate]],
    unit: str,
    *,
    scale: float = 1,
) -> str:
    """One bar per policy from zero, with its interval."""
    top = max((scale * _top(estimate) for _, estimate in rows), default=0) or 1.0
    parts = [f"<h3>{escape(title)}</h3>"]
    for position, (policy, estimate) in enumerate(rows):
        figure = number(estimate.value, 2, scale)
        figure += f"{unit} {span(estimate.interval, 2, scale)}" if estimate.n else ""
        drawn = ""
        if estimate.value is not None:
            width = max(0.0, 100 * scale * estimate.value / top)
            drawn = f'<rect width="{width:.2f}%" height="10"/>'
        if estimate.interval is not None:
            low, high = (
                100 * scale * end / top for end in (estimate.interval.low, estimate.interval.high)
            )
            drawn += (
                f'<line class="whisker" x1="{max(0.0, low):.2f}%" x2="{high:.2f}%" y1="5" y2="5"/>'
            )
        parts.append(
            f'<div class="bar c{position % COLOURS}"><div><span>{escape(policy)}</span>'
            f"<span>{figure.strip()}</span></div><svg aria-hidden='true'>{drawn}</svg></div>"
        )
    return f"<section>{''.join(parts)}</section>"


def reliability(curves: Sequence[tuple[str, Sequence[tuple[float, float, int]]]]) -> str:
    """How often an event came over how likely it was called, a small square chart a forecast.

    A curve is (mean forecast, share, number of cases) by bin; a dot's area grows with the cases.
    """
    charts = []
    for position, (name, points) in enumerate(curves):
        most = max((n for *_, n in points), default=1)
        drawn = ['<line class="grid" x1="0" y1="100%" x2="100%" y2="0"/>']
        for mean, share, n in points:
            radius = 2 + 7 * math.sqrt(n / most)
            drawn.append(
                f'<circle cx="{100 * mean:.1f}%" cy="{100 * (1 - share):.1f}%" r="{radius:.1f}">'
                f"<title>called {mean:.2f}, came {share:.2f}, {n} cases</title></circle>"
            )
        label = f"Reliability of {name}: " + "; ".join(f"{m:.2f} {s:.2f}" for m, s, _ in points)
        charts.append(
            f'<figure class="square c{position % COLOURS}"><figcaption>{escape(name)}</figcaption>'
            f'<svg role="img" aria-label="{escape(label)}">{"".join(drawn)}</svg></figure>'
        )
    return f'<div class="squares">{"".join(charts)}</div>'


def _hint(summary: PolicySummary) -> str:
    stale, delay = summary.scores.stale_rate, summary.scores.delay_s
    return (
        f"{summary.policy}: {number(stale.value, 2, 100)} % {span(stale.interval, 2, 100)} stale, "
        f"{number(delay.value)} s {span(delay.interval)}"
    )


def _top(estimate: Estimate) -> float:
    ends = [estimate.value] if estimate.interval is None else [estimate.interval.high]
    return max((end for end in ends if end is not None), default=0.0)


def _ceiling(values: Sequence[float]) -> float:
    """A little above the largest, so that its label has room."""
    return 1.12 * max(values, default=0.0)


def _ticks(top: float) -> list[float]:
    """Round numbers from zero, five or so."""
    rough = top / 5
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    return [step * k for k in range(int(top / step + 1e-9) + 1)]


def _label_places(points: Sequence[tuple[float, float, str]]) -> list[tuple[bool, float]]:
    """Per point: whether its label stands to the left, and the label's height.

    Labels that would cover another label or a point on a narrow screen are pushed up.
    """
    taken = [(across - 4, across + 4, height) for across, height, _ in points]
    places: dict[int, tuple[bool, float]] = {}
    # from below and from the right, so that a leader passes left of the labels it rises beside
    for index in sorted(
        range(len(points)), key=lambda i: (-(points[i][1] // _LINE), -points[i][0])
    ):
        across, height, text = points[index]
        width = 7.2 * len(text) + 9
        left = across + width > _NARROW + 20
        start, end = (across - width, across - 5) if left else (across + 5, across + width)
        for low, high, at in sorted(taken, key=lambda box: -box[2]):
            if start < high and low < end and abs(at - height) < _LINE:
                height = at - _LINE
        taken.append((start, end, height))
        places[index] = (left, height)
    return [places[index] for index in range(len(points))]
