"""The picture of one trajectory: speech, recognition, controller, calls and forecast."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from simcore.clock import seconds
from simcore.recorder import LAUNCHED, SELECTED, TICK
from simcore.scenario import Control
from simcore.timeline.lanes import FAINT, INK, PALE, Lane, Rows, fits
from simcore.timeline.story import arguments, horizon, requests, short_names, spans

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import altair as alt

    from simcore.clock import Microseconds
    from simcore.recorder import LogRecord, VersionRecord
    from simcore.timeline.story import Request, Span
    from simcore.tool import ToolProfile
    from simcore.trace import Argument, Forecast, Recording

_TARGET: Final = "#2f7d6b"
_OTHERS: Final = ("#cf7a2a", "#7f68c4", "#3b7db8", "#b5588a", "#8c7a2f")
_SHAPES: Final = {"update": "diamond", "cancel": "M-1,-1L1,1M1,-1L-1,1"}
_BAD: Final = "#c0392b"
_REPAIR: Final = "#f0c9a8"
_ROW: Final = 26
_LINE: Final = 13
_KEY: Final = "Calls: full colour while revocable, a line at the deadline, pale while they run on."
_DEFAULT: Final = Control()


def timeline_chart(
    recording: Recording,
    profile: ToolProfile,
    versions: Sequence[VersionRecord],
    log: Sequence[LogRecord],
    *,
    title: str,
    checkpoint: str | None = None,
    control: Control = _DEFAULT,
) -> alt.VConcatChart:
    """Lanes over one time axis; with a checkpoint, its forecast is the last.

    The target is green; every other value has its own colour. `control` places the last chance to
    cancel a version, at which the veto holds the forecast against the costs.
    """
    import altair as alt

    found = spans(recording, versions, log)
    end_s = 1.02 * seconds(horizon(recording, found, log))
    known = arguments(recording, versions)
    names, colours = short_names(known), _colours(recording, known)
    lanes = [
        _speech(recording, names, colours),
        _recognition(recording, names, colours, end_s),
        _controller(log, colours, end_s),
        *_calls(found, names, colours, end_s),
    ]
    forecast = None if checkpoint is None else recording.forecast(checkpoint)
    if forecast is not None:
        end_us = horizon(recording, found, log)
        lanes.append(_forecast(forecast, profile, versions, found, log, control, end_us))
    heard = next((arrival.text.strip() for arrival in recording.arrivals if arrival.is_final), "")
    data: dict[str, list[dict[str, Any]]] = {}
    drawn = [lane.chart(end_s, data, axis=lane is lanes[-1]) for lane in lanes]
    picture: alt.VConcatChart = (
        alt.vconcat(*drawn, spacing=0, bounds="flush")
        .properties(
            title=alt.TitleParams(
                title,
                subtitle=[*wrap(f"“{heard}”", 140), _KEY] if heard else [_KEY],
                anchor="start",
                color=INK,
                subtitleColor=FAINT,
                fontSize=15,
                subtitleFontSize=12,
                offset=10,
            ),
            background="white",
            padding={"left": 90, "right": 80, "top": 14, "bottom": 40},
        )
        .configure_view(stroke=None)
        .configure_axis(domain=False, ticks=False, labelColor=FAINT, titleColor=FAINT)
    )
    picture.datasets = data
    return picture


def _colours(recording: Recording, known: Sequence[Argument]) -> dict[Argument, str]:
    others = [argument for argument in known if argument != recording.target]
    colours = {argument: _OTHERS[i % len(_OTHERS)] for i, argument in enumerate(others)}
    if recording.target is not None:
        colours[recording.target] = _TARGET
    return colours


def _speech(
    recording: Recording, names: Mapping[Argument, str], colours: Mapping[Argument, str]
) -> Lane:
    lane = Lane("speech", 56)
    lane.bar(0, recording.audio_end_us, 22, 36, PALE)
    lane.text(recording.audio_end_us, 46, "end of speech", FAINT, "right")
    for repair in recording.repairs:
        end = recording.audio_end_us if repair.resolved_us is None else repair.resolved_us
        lane.bar(repair.onset_us, end, 22, 36, _REPAIR)
        lane.text(repair.onset_us, 46, "repair", FAINT, "left")
    for value in recording.values:
        colour = colours[value.argument]
        lane.line(value.available_us, value.available_us, 17, 41, colour, 2)
        lane.text(
            value.available_us, 9, f"says {names[value.argument]}", colour, "right", bold=True
        )
    return lane


def _recognition(
    recording: Recording,
    names: Mapping[Argument, str],
    colours: Mapping[Argument, str],
    end_s: float,
) -> Lane:
    words: list[_Words] = []
    shown = None
    for arrival in recording.arrivals:
        argument = arrival.argument
        told = [names[argument]] if argument and argument != shown else []
        told += ["final"] if arrival.is_final else []
        if told:
            colour = colours[argument] if argument else FAINT
            words.append((arrival.arrived_at_us, " ".join(told), colour))
        shown = argument or shown
    above = _Labels(words, end_s)
    middle = above.height + 12
    lane = Lane("recognition", middle + 16, middle)
    above.write(lane, middle - 16, -1)
    for arrival in recording.arrivals:
        at, argument = arrival.arrived_at_us, arrival.argument
        lane.line(arrival.prefix_end_us, at, middle, middle)
        colour = FAINT if argument is None else colours[argument]
        lane.mark(at, middle, colour, hollow=argument is None)
    return lane


def _controller(log: Sequence[LogRecord], colours: Mapping[Argument, str], end_s: float) -> Lane:
    starts = [record for record in log if record.kind == LAUNCHED and record.argument]
    asked = requests(log)
    above = _Labels([(r.at_us, "start", colours[r.argument or ""]) for r in starts], end_s)
    words = [(r.at_us, r.kind if r.in_time else f"late {r.kind}", _answer(r)) for r in asked]
    words += [(r.at_us, "select", INK) for r in log if r.kind == SELECTED]
    below = _Labels(sorted(words), end_s)
    middle = above.height + 18
    lane = Lane("controller", middle + below.height + 22, middle)
    above.write(lane, middle - 22, -1)
    below.write(lane, middle + 22, 1)
    for record in log:
        if record.kind == TICK:
            lane.line(record.at_us, record.at_us, middle - 2, middle + 2)
        elif record.kind == SELECTED:
            lane.mark(record.at_us, middle + 7, INK, "square", 40)
    for record in starts:
        lane.mark(record.at_us, middle - 7, colours[record.argument or ""], "triangle-right", 80)
    for request in asked:
        asks, answers, colour = request.at_us, request.acknowledged_us, _answer(request)
        lane.line(asks, answers, middle + 7, middle + 7, colour, 2)
        lane.line(answers, answers, middle + 1, middle + 13, colour, 1.5)
        lane.mark(asks, middle + 7, colour, _SHAPES[request.kind], 40)
    return lane


def _answer(request: Request) -> str:
    return INK if request.in_time else _BAD


def _calls(
    found: Sequence[Span],
    names: Mapping[Argument, str],
    colours: Mapping[Argument, str],
    end_s: float,
) -> list[Lane]:
    lanes: dict[int, Lane] = {}
    for span in found:
        lane = lanes.setdefault(span.call, Lane(f"call {span.call}", _ROW))
        colour = colours[span.argument]
        lane.bar(span.begin_us, span.end_us, 4, 20, colour)
        name = names[span.argument]
        inside = fits(name, span.begin_us, span.end_us, end_s)
        if inside:
            lane.text(span.begin_us, 12, name, "white", "left", 6, bold=True)
        after = "" if inside else f"{name} "
        if span.completion_us is not None:
            lane.bar(span.end_us, span.completion_us, 4, 20, colour, 0.35)
            lane.line(span.end_us, span.end_us, 1, 23, INK, 2)
            word = {True: "stale", False: "right", None: "executed"}[span.stale]
            colour = _BAD if span.stale else colour
            lane.text(span.completion_us, 12, after + word, colour, "left", 6, bold=True)
        elif span.outcome == "cancelled":
            lane.line(span.end_us, span.deadline_us, 12, 12, dash=True)
            lane.line(span.deadline_us, span.deadline_us, 7, 17)
            lane.text(span.deadline_us, 12, f"{after}cancelled", FAINT, "left", 6)
    return list(lanes.values())


def _forecast(
    forecast: Forecast,
    profile: ToolProfile,
    versions: Sequence[VersionRecord],
    found: Sequence[Span],
    log: Sequence[LogRecord],
    control: Control,
    end_us: Microseconds,
) -> Lane:
    lane = Lane("p(bad)", 112, 64)

    def y(p: float) -> float:
        return 28 + 74 * (1 - p)

    def threshold(version: VersionRecord, at: Microseconds) -> float:
        progress = seconds(min(profile.runtime_us, max(0, at - version.start_us)))
        waste = profile.delay_price * progress
        whole = profile.stale_cost + waste
        return min(1.0, (profile.cancel_cost + waste) / whole) if whole else 1.0

    key = f"forecast {forecast.checkpoint}; dashed: a cancel pays above it; dot: the last chance"
    lane.text(0, 11, key, FAINT, "left")
    lane.text(0, y(1), "1", FAINT, "right", -10)
    lane.text(0, y(0), "0", FAINT, "right", -10)
    steps = [(at, p) for at, p in zip(forecast.at_us, forecast.p_bad, strict=True) if at < end_us]
    for (at, p), (then, _) in pairwise([*steps, (end_us, 0.0)]):
        lane.bar(at, then, y(p), y(0), FAINT, 0.16)
        lane.line(at, then, y(p), y(p), INK, 1.5)
    for (_, p), (at, q) in pairwise(steps):
        lane.line(at, at, y(p), y(q), INK, 1.5)

    by_number = {(version.call, version.version): version for version in versions}
    ticks = [record.at_us for record in log if record.kind == TICK]
    asked = {request.at_us: request.kind for request in requests(log)}
    reach = control.processing_us + control.acknowledgement_us
    for span in found:
        version = by_number[span.call, span.version]
        edges = [span.begin_us + (span.end_us - span.begin_us) * k // 3 for k in range(4)]
        for at, then in pairwise(edges):
            lane.line(
                at, then, y(threshold(version, at)), y(threshold(version, then)), _BAD, 1.5, True
            )
        latest = min(span.end_us, span.deadline_us - reach)
        chances = [at for at in ticks if span.begin_us <= at <= latest]
        index = forecast.index(chances[-1]) if chances else -1
        # where a later tick could still cancel, something else ended the version first
        if index < 0 or chances[-1] + control.period_us + reach <= span.deadline_us:
            continue
        decided = chances[-1] + control.processing_us
        if asked.get(decided) == "update":
            continue
        p, limit = forecast.p_bad[index], threshold(version, decided)
        vetoed = decided in asked
        lane.mark(chances[-1], y(p), _BAD if vetoed else INK, hollow=not vetoed)
        text = f"{p:.2f} {'>' if p > limit else '≤'} {limit:.2f}"
        lane.text(chances[-1], y(p) - 10, text, _BAD if vetoed else INK, "left", 4)
    return lane


_Words = tuple[int, str, str]


class _Labels:
    """Words over a lane's marks, in as many rows as it takes; the same words at once stand once."""

    def __init__(self, words: Sequence[_Words], end_s: float) -> None:
        rows = Rows(end_s)
        self._placed = []
        for (at, word, colour), times in Counter(words).items():
            text = word if times == 1 else f"{word} ×{times}"
            self._placed.append((at, text, colour, rows.level(at, text)))
        self.height = _LINE * (1 + max((level for *_, level in self._placed), default=0))

    def write(self, lane: Lane, first: float, direction: int) -> None:
        """The first row at height `first`, the others above (-1) or below (1) it."""
        for at, text, colour, level in self._placed:
            lane.text(at, first + direction * _LINE * level, text, colour)
