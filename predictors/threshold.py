"""The confidence threshold, chosen on development recordings by what it costs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simcore.experiment import run
from simcore.report.grid import Grid
from simcore.report.numbers import number
from simcore.scenario import PolicySpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.scenario import Scenario

SCHEMA: Final = "threshold/v1"
USUAL: Final = 0.95
GRID: Final = tuple(round(0.5 + 0.01 * step, 2) for step in range(51))
NEVER: Final = None
"""No launch before the final flush."""


@dataclass(frozen=True, slots=True)
class Point:
    """Means over `n` labelled trajectories; `delay_s` over those that succeeded."""

    threshold: float | None
    n: int
    stale_rate: float
    success_rate: float
    delay_s: float | None
    cost: float


def curve(scenario: Scenario, thresholds: Sequence[float | None] = (*GRID, NEVER)) -> list[Point]:
    """The `confidence` policy on a scenario's recordings and actions, threshold by threshold."""
    points = []
    for threshold in thresholds:
        spec = PolicySpec("confidence", "confidence", {"threshold": threshold})
        frame = run(replace(scenario, policies=(spec,), gates=())).drop_nulls("cost")
        delay = frame["delay_s"].drop_nulls()
        points.append(
            Point(
                threshold,
                len(frame),
                _mean(frame["stale"]),
                _mean(frame["success"]),
                _mean(delay) if len(delay) else None,
                _mean(frame["cost"]),
            )
        )
    return points


def best(points: Sequence[Point]) -> Point:
    """The lowest mean realized cost; the higher threshold of a tie."""
    return min(reversed(points), key=lambda point: point.cost)


def document(scenario: Scenario, traces: str, points: Sequence[Point]) -> dict[str, Any]:
    """The curve as JSON, with the choice and the usual threshold."""
    usual = next(point for point in points if point.threshold == USUAL)
    return {
        "schema": SCHEMA,
        "traces": traces,
        "recordings": len(scenario.recordings),
        "actions": [action.name for action in scenario.actions],
        "chosen": asdict(best(points)),
        "usual": asdict(usual),
        "curve": [asdict(point) for point in points],
    }


def table(points: Sequence[Point]) -> Grid:
    """The curve as text; the choice and the usual threshold are marked."""
    chosen = best(points)
    rows = [
        (
            "never" if point.threshold is None else f"{point.threshold:.2f}",
            "lowest cost" if point == chosen else "usual" if point.threshold == USUAL else "",
            f"{100 * point.stale_rate:.2f}",
            f"{100 * point.success_rate:.1f}",
            number(point.delay_s),
            number(point.cost, 3),
        )
        for point in points
    ]
    headers = ("threshold", "", "stale %", "success %", "delay s", "cost")
    return Grid("The confidence threshold by mean realized cost", headers, rows, left=2)


def _mean(values: Any) -> float:
    return float(values.mean())
