"""What speculation is worth: three systems on the same scripts, and where it stops paying."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from frontends.agents.measure import SYSTEMS, drawn, measure
from frontends.agents.pictures import PAPER, growth, surface
from frontends.agents.recipe import RECIPES
from frontends.agents.sweeps import as_row, crossing, points, rows_by_y
from simcore.bootstrap import intervals
from simcore.files.atomic import write_atomic
from simcore.files.pictures import save_picture
from simcore.report.grid import Grid
from simcore.report.numbers import NONE, number, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from frontends.agents.sweeps import Point
    from simcore.progress import Progress
    from simcore.registry import PolicyFactory

_READING: Final = """\
Time runs from the final query's arrival to the answer's first token. *Bound*: the longest path of
tool times after the last needed word, as if tokens took no time. *Wasted*: calls started that the
answer does not use. *Wrong*: effects that nobody wanted. *Right*: the answer was made of the right
calls and all effects were right. Means over the same scripts, with 95 % bootstrap intervals.

What is by construction: nothing but speculation slips (repeats, missed corrections), and an agent
that waits hears the corrected query once. Think lengths, tool times and slip rates are ranges of
`frontends/agents/recipe.py`, fixed on the sequential agent alone; no speed-up was aimed at."""


def write_report(
    out: Path,
    managers: PolicyFactory,
    count: int,
    sweep: int,
    seed: int,
    progress: Progress,
) -> list[Path]:
    """Play, and write `report.md`, `points.json` and two pictures into a folder."""
    grids = []
    for done, recipe in enumerate(RECIPES.values(), start=1):
        grids.append(_comparison(recipe.workload, managers, count, seed))
        progress("workloads", done, len(RECIPES))
    found = list(points(managers, sweep, seed, progress))
    parts = ["# Speculative interaction", f"{count} scripts a workload, seed {seed}.", _READING]
    for grid in grids:
        parts += [f"## {grid.title}", grid.markdown()]
    parts += ["## Where speculation stops paying", _SLIPS, _breaking(found).markdown()]
    parts += ["## The source's speed-ups", _SURFACE, "![speed-up](surface.png)"]
    parts += [_source(found).markdown(), "## Growth", "![growth](growth.png)"]
    parts += [f"Sweeps: {sweep} scripts a point; every figure is in `points.json`."]
    save_picture(surface([p for p in found if p.sweep == "surface"]), out / "surface.png")
    save_picture(growth(found), out / "growth.png")
    rows = json.dumps([as_row(point) for point in found], indent=1)
    write_atomic(out / "points.json", f"{rows}\n".encode())
    write_atomic(out / "report.md", ("\n\n".join(parts) + "\n").encode())
    return [out / name for name in ("report.md", "surface.png", "growth.png", "points.json")]


def _comparison(workload: str, managers: PolicyFactory, count: int, seed: int) -> Grid:
    scripts = drawn(RECIPES[workload], count, seed)
    found = {name: measure(scripts, managers, o, seed) for name, o in SYSTEMS.items()}
    base = found["sequential"]
    ratios = [r for m in found.values() for r in (m.mean("answer_s"), m.speed_up(base))]
    spans = iter(intervals(ratios, seed=seed))
    rows = []
    for name, m in found.items():
        time, speed = m.mean("answer_s").value, m.speed_up(base).value
        wrong = int((m.wrong_effects > 0).sum())
        rows.append(
            (
                name,
                f"{number(time)} {span(next(spans))}",
                f"{number(speed)} {span(next(spans))}",
                number(float((m.answer_s - m.bound_s).mean())),
                number(float(m.wasted.sum() / m.runs.sum()), 1, 100),
                f"{wrong}/{count}",
                number(m.mean("right").value, 1, 100),
            )
        )
    heads = ("system", "time, s", "speed-up", "above bound, s", "wasted, %", "wrong", "right, %")
    return Grid(workload, heads, rows)


_SLIPS: Final = """\
Natural speech with other rates: `repeats` is how many calls are made again per update of the query,
at which the line through the points passes the time of the other system. A dash: at no rate up to
the largest tried; 0.00: not even without repeats."""

_SURFACE: Final = """\
Tool time is a factor on the recipe's; a point marks where a row passes one of the source's
figures, the table says at which share of the query. A dash: nowhere in that row."""


def _breaking(found: Sequence[Point]) -> Grid:
    rows = []
    for correction, row in rows_by_y([p for p in found if p.sweep == "slips"]).items():
        xs = [point.x for point in row]
        cells = [f"{100 * correction:.0f}", f"{row[0].speed_up:.2f}", f"{row[-1].speed_up:.2f}"]
        for other in ("asynchronous_s", "sequential_s"):
            for mine in ("speculative_s", "ignoring_s"):
                lead = [getattr(p, other) / getattr(p, mine) for p in row]
                cells.append(number(0.0 if lead[0] < 1 else crossing(xs, lead, 1.0)))
        rows.append(tuple(cells))
    most = max(point.x for point in found if point.sweep == "slips")
    heads = (
        "corrections, %",
        "speed-up, 0 repeats",
        f"{most:g} repeats",
        "even with asynchronous",
        "if ignored",
        "even with sequential",
        "if ignored",
    )
    return Grid("", heads, rows, left=0)


def _source(found: Sequence[Point]) -> Grid:
    rows = list(_passes(found))
    heads = ("workload", "source", *(f"tool time {y:g}" for y in _factors(found)))
    return Grid("", heads, rows, left=2)


def _factors(found: Sequence[Point]) -> list[float]:
    return list(dict.fromkeys(point.y for point in found if point.sweep == "surface"))


def _passes(found: Sequence[Point]) -> Iterator[tuple[str, ...]]:
    """By row of the surface, from which share of the query on the needed words come."""
    for workload, levels in PAPER.items():
        mine = [p for p in found if p.sweep == "surface" and p.workload == workload]
        for source, level in levels.items():
            cells = []
            for row in rows_by_y(mine).values():
                at = crossing([p.x for p in row], [p.speed_up for p in row], level)
                cells.append(NONE if at is None else f"{at:.2f}")
            yield (workload, source, *cells)
