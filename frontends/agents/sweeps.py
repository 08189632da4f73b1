"""Where speculation pays: the speed-up by how late the words come, how slow tools are, and more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from frontends.agents.measure import SYSTEMS, drawn, measure
from frontends.agents.recipe import CHAINS, DAGS, SPEECH

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from frontends.agents.recipe import Recipe
    from simcore.progress import Progress
    from simcore.registry import PolicyFactory

EARLIEST: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
RUNTIMES: Final = (0.25, 0.5, 1.0, 2.0, 4.0)
CALLS: Final = (2, 3, 4, 6, 8)
WORDS: Final = (0.5, 1.0, 2.0, 3.0)
CORRECTIONS: Final = (0.0, 0.3, 0.6, 0.9)
REPEATS: Final = ((0.0, 0.0), (0.25, 0.5), (0.5, 0.5), (1.0, 0.5), (1.0, 0.75), (1.0, 0.875))
"""(repeat, again): 0 to 8 calls made again for every update of the query, on average."""


_COMPARED: Final = (
    "sequential",
    "speculative",
    "asynchronous",
    "speculative, repeats ignored",
)


@dataclass(frozen=True, slots=True)
class Point:
    """Mean seconds to the answer at one place of a sweep; of slips for all four systems."""

    sweep: str
    workload: str
    x: float
    y: float
    sequential_s: float
    speculative_s: float
    asynchronous_s: float | None = None
    ignoring_s: float | None = None

    @property
    def speed_up(self) -> float:
        """Of speculation, over the agent that waits."""
        return self.sequential_s / self.speculative_s


def points(managers: PolicyFactory, count: int, seed: int, progress: Progress) -> Iterator[Point]:
    """All points of all sweeps; every system plays the same scripts."""
    places = list(_places())
    for done, (sweep, x, y, recipe) in enumerate(places, start=1):
        found = drawn(recipe, count, seed)
        times = [
            float(measure(found, managers, SYSTEMS[name], seed).answer_s.mean())
            for name in (_COMPARED if sweep == "slips" else _COMPARED[:2])
        ]
        yield Point(sweep, recipe.workload, x, y, *times)
        progress("sweeps", done, len(places))


def _places() -> Iterator[tuple[str, float, float, Recipe]]:
    for recipe in (CHAINS, DAGS):
        for scale in RUNTIMES:
            for earliest in EARLIEST:
                changed = replace(recipe, earliest=earliest, runtime_scale=scale)
                yield "surface", earliest, scale, changed
        for calls in CALLS:
            yield "calls", calls, 0, replace(recipe, calls=(calls, calls))
        for words in WORDS:
            yield "words", words, 0, replace(recipe, words_scale=words)
    for correction in CORRECTIONS:
        for repeat, again in REPEATS:
            changed = replace(SPEECH, correction=correction, repeat=repeat, again=again)
            yield "slips", repeat / (1 - again), correction, changed


def crossing(xs: Sequence[float], values: Sequence[float], level: float) -> float | None:
    """The first x at which a line through points passes a level, None where it never does.

    >>> crossing([0, 1, 2], [3.0, 2.0, 1.0], 1.5)
    1.5
    """
    for (x, value), (after, later) in pairwise(zip(xs, values, strict=True)):
        if value != later and min(value, later) <= level <= max(value, later):
            return x + (after - x) * (level - value) / (later - value)
    return None


def rows_by_y(found: Sequence[Point]) -> dict[float, list[Point]]:
    """Points of one sweep and workload by their second coordinate."""
    rows: dict[float, list[Point]] = {}
    for point in found:
        rows.setdefault(point.y, []).append(point)
    return rows


def as_row(point: Point) -> dict[str, Any]:
    """A point as a chart and a file want it."""
    return {name: getattr(point, name) for name in Point.__slots__} | {"speed_up": point.speed_up}
