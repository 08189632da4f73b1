"""The quality of several predictors on one set of traces: JSON, Markdown and a picture."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from predictors.opportunities import veto_ticks
from predictors.quality import label, scores
from simcore.files.atomic import write_atomic
from simcore.report.grid import Grid
from simcore.report.numbers import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from predictors.forecast import Predictor
    from predictors.quality import Against, Rows, Scores
    from simcore.clock import Microseconds
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Recording

SCHEMA: Final = "quality/v1"
TICKS: Final = "ticks"
VETO: Final = "veto"
SLICES: Final = ("subset", "editing", "voice")
"""Columns of a trace by whose values scores are split."""
NOISE: Final = "noise"


@dataclass(frozen=True, slots=True)
class Entry:
    """Scores of one predictor at some ticks.

    `where`: all ticks, or those at which a veto is decided (`predictors.opportunities`), there of
    one `action` or of all (None). `column` and `value` name the slice of recordings, None: all.
    `recordings` and `clusters` count where the ticks come from.
    """

    predictor: str
    calibrated: bool
    where: str
    action: str | None
    column: str | None
    value: str | None
    recordings: int
    clusters: int
    scores: Scores

    @property
    def name(self) -> str:
        return self.predictor if self.calibrated else f"{self.predictor}, uncalibrated"


@dataclass(frozen=True, slots=True)
class Subject:
    """A predictor to score; `calibrated` is False for a GRU before its calibrator."""

    predictor: Predictor
    calibrated: bool = True


def evaluate(
    recordings: Sequence[Recording],
    subjects: Sequence[Subject],
    period_us: Microseconds,
    actions: Sequence[ToolProfile] = (),
    control: Control | None = None,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> tuple[Entry, ...]:
    """Scores of every subject at all ticks and, with a control, at the actions' vetoes."""
    rows = label(recordings, period_us)
    places: list[tuple[str, str | None, NDArray[np.intp]]] = [
        (TICKS, None, np.arange(len(rows.at_us)))
    ]
    if control is not None:
        vetoes = []
        for done, action in enumerate(actions):
            progress("veto opportunities", done, len(actions))
            ticks = [
                (index, tick)
                for index, recording in enumerate(recordings)
                for tick in veto_ticks(recording, action, control)
            ]
            vetoes.append((VETO, action.name, rows.at(ticks)))
        places.append((VETO, None, np.concatenate([chosen for _, _, chosen in vetoes])))
        places += vetoes
    entries: list[Entry] = []
    for done, subject in enumerate(subjects):
        progress("scores", done, len(subjects))
        masses = rows.masses(subject.predictor, period_us)
        for where, name, chosen in places:
            for column, value, part in _slices(rows, chosen, split=name is None):
                found = scores(rows, masses, part)
                if found is not None:
                    indices = np.unique(rows.recording[part])
                    entries.append(
                        Entry(
                            subject.predictor.checkpoint,
                            subject.calibrated,
                            where,
                            name,
                            column,
                            value,
                            len(indices),
                            len({recordings[index].cluster for index in indices}),
                            found,
                        )
                    )
    return tuple(entries)


def _slices(
    rows: Rows, chosen: NDArray[np.intp], *, split: bool
) -> Iterator[tuple[str | None, str | None, NDArray[np.intp]]]:
    """All, and by column; copies to which noise was added only beside the clean ones they copy."""
    recordings = rows.recordings
    copied = {recording.cluster for recording in recordings if recording.noise is not None}
    clean = np.array([recording.noise is None for recording in recordings])
    whole = chosen[clean[rows.recording[chosen]]] if clean.any() else chosen
    yield None, None, whole
    if not split:
        return
    for column in SLICES:
        yield from _by_value(column, [getattr(each, column) for each in recordings], rows, whole)
    noises = [(r.noise or "clean") if r.cluster in copied else None for r in recordings]
    yield from _by_value(NOISE, noises, rows, chosen)


def _by_value(
    column: str, values: Sequence[str | None], rows: Rows, chosen: NDArray[np.intp]
) -> Iterator[tuple[str, str, NDArray[np.intp]]]:
    # A column with one value alone, and nothing left out, splits nothing.
    if len({*values}) < 2:
        return
    for value in sorted({value for value in values if value is not None}):
        own = np.array([other == value for other in values])
        yield column, value, chosen[own[rows.recording[chosen]]]


def overview(entries: Sequence[Entry], where: str, title: str) -> Grid:
    """Every predictor over all recordings, at all ticks or at the vetoes of all actions."""
    return Grid(title, _HEADERS, [_row(e.name, e.scores) for e in _whole(entries, where)])


_HEADERS: Final = (
    "predictor",
    "n",
    "NLL",
    *("superseded", "Brier", "AUROC", "ECE"),
    *("wrong", "Brier", "AUROC", "ECE"),
)


def _row(name: str, found: Scores) -> tuple[str, ...]:
    cells = [name, f"{found.n:,}", number(found.nll, 3)]
    for against in (found.superseded, found.wrong):
        cells += _against(against)
    return tuple(cells)


def _against(found: Against | None) -> list[str]:
    if found is None:
        return ["-"] * 4
    values = (found.brier, found.auroc, found.ece)
    return [f"{100 * found.share:.1f} %", *(number(value, 3) for value in values)]


def _whole(entries: Sequence[Entry], where: str) -> list[Entry]:
    return [e for e in entries if e.where == where and e.action is None and e.column is None]


def write_quality(folder: Path, entries: Sequence[Entry], about: dict[str, Any]) -> None:
    """Write `quality.json`, `quality.md` and `reliability.svg`; `about` goes into the JSON."""
    from simcore.files.pictures import save_picture

    rows = ",\n".join(json.dumps(_rounded(asdict(e)), allow_nan=False) for e in entries)
    head = json.dumps({"schema": SCHEMA, **about}, indent=1, allow_nan=False).removesuffix("\n}")
    text = f'{head},\n "entries": [\n{rows}\n]}}\n'
    write_atomic(folder / "quality.json", text.encode())
    write_atomic(folder / "quality.md", _markdown(entries, about).encode())
    save_picture(reliability_chart(entries), folder / "reliability.svg")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(inner) for inner in value]
    return round(value, 6) if isinstance(value, float) else value


def _markdown(entries: Sequence[Entry], about: dict[str, Any]) -> str:
    parts = [
        "# Quality of forecasts",
        f"{about['traces']}: {about['recordings']:,} recordings. `superseded`: the outcome is any "
        "but that the version stands and is right; `wrong`: the version differs from the target, "
        "whatever comes after. Their columns give the share of the label, then scores of p_bad. "
        "NLL in nats. The last chances to veto are those of RASSG's launches "
        "while nothing has been cancelled, of all actions together unless one is named.",
    ]
    for where, title in _PLACES:
        if not _whole(entries, where):
            continue
        parts += [f"## {title}", overview(entries, where, title).markdown()]
        if (slices := _by_slice(entries, where)).rows:
            parts += [f"### {title}, by kind of recording", slices.markdown()]
    if (actions := _by_action(entries)).rows:
        parts += ["### Last chances to veto, by action", actions.markdown()]
    parts += ["## Events by a horizon, all ticks", _by_horizon(entries).markdown()]
    parts += ["## Reliability", "![Reliability](reliability.svg)"]
    parts += [
        table.markdown() for where, title in _PLACES for table in _reliability(entries, where)
    ]
    parts += [
        f"From text to forecast: {about['tick_us']:.0f} us a tick with all recordings in one "
        f"batch, {about['single_tick_us']:.0f} us one by one, on {about['hardware']}."
    ]
    return "\n\n".join(parts) + "\n"


_PLACES: Final = ((TICKS, "All ticks"), (VETO, "Last chances to veto"))


def _by_slice(entries: Sequence[Entry], where: str) -> Grid:
    chosen = [e for e in entries if e.where == where and e.column is not None and e.calibrated]
    order = (*SLICES, NOISE)
    chosen.sort(key=lambda e: (order.index(e.column or ""), e.value or ""))
    rows = [(f"{e.column}: {e.value}", *_row(e.name, e.scores)) for e in chosen]
    return Grid("By slice", ("recordings", *_HEADERS), rows, left=2)


def _by_action(entries: Sequence[Entry]) -> Grid:
    chosen = [e for e in entries if e.action is not None and e.calibrated]
    order = {name: place for place, name in enumerate(dict.fromkeys(e.action for e in chosen))}
    chosen.sort(key=lambda e: order[e.action])
    rows = [(str(e.action), *_row(e.name, e.scores)) for e in chosen]
    return Grid("By action", ("action", *_HEADERS), rows, left=2)


def _by_horizon(entries: Sequence[Entry]) -> Grid:
    chosen = _whole(entries, TICKS)
    horizons = [h.until_us for h in chosen[0].scores.horizons]
    headers = ("predictor", "", *(f"{until / 1e6:g} s" for until in horizons))
    rows = []
    for e in chosen:
        found = e.scores.horizons
        rows.append((e.name, "Brier", *(number(h.brier, 3) for h in found)))
        rows.append(("", "AUROC", *(number(h.auroc, 3) for h in found)))
    rows.append(("share", "", *(f"{100 * h.share:.1f} %" for h in chosen[0].scores.horizons)))
    return Grid("By horizon", headers, rows, left=2)


def _reliability(entries: Sequence[Entry], where: str) -> Iterator[Grid]:
    title = dict(_PLACES)[where]
    for e in _whole(entries, where):
        if e.scores.superseded is not None and len(e.scores.superseded.reliability) > 1:
            rows = [
                (f"{b.low:.1f} to {b.high:.1f}", f"{b.n:,}", number(b.mean, 3), number(b.share, 3))
                for b in e.scores.superseded.reliability
            ]
            headers = (f"{e.name}, {title.lower()}", "n", "mean p_bad", "superseded")
            yield Grid("", headers, rows)


def reliability_chart(entries: Sequence[Entry]) -> Any:
    """How often versions were superseded, over p_bad; a dot's size is the bin's count."""
    import altair as alt

    points = [
        {
            "predictor": e.name,
            "at": title,
            "forecast": bin_.mean,
            "superseded": bin_.share,
            "ticks": bin_.n,
        }
        for where, title in _PLACES
        for e in _whole(entries, where)
        if e.scores.superseded is not None
        for bin_ in e.scores.superseded.reliability
    ]
    unit = alt.Scale(domain=[0, 1])
    base = alt.Chart(alt.InlineData(values=points))
    x = alt.X("forecast:Q", title="forecast p_bad", scale=unit)
    y = alt.Y("superseded:Q", title="share superseded", scale=unit)
    colour = alt.Color("predictor:N", title=None)
    lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour)
    dots = base.mark_circle(opacity=0.8).encode(
        x=x, y=y, color=colour, size=alt.Size("ticks:Q", legend=None)
    )
    diagonal = base.mark_line(color="#999", strokeDash=[4, 4]).encode(
        x=alt.X("forecast:Q", scale=unit), y=alt.Y("forecast:Q")
    )
    layers = alt.layer(diagonal, lines, dots).properties(width=300, height=300)
    return layers.facet(column=alt.Column("at:N", title=None, sort=[t for _, t in _PLACES]))
