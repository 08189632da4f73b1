"""Systems on the same scripts: how long the answer takes, and what it costs in calls and errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from frontends.agents.generate import scripts
from simcore.agent.program import lower_bound_us
from simcore.agent.script import from_row
from simcore.agent.simulation import play
from simcore.bootstrap import Ratio
from simcore.clock import seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from frontends.agents.recipe import Recipe
    from simcore.agent.script import Script
    from simcore.registry import PolicyFactory

    Options = Mapping[str, Any]

SYSTEMS: Final[Mapping[str, Options]] = {
    "sequential": {"system": "sequential"},
    "asynchronous": {"system": "asynchronous"},
    "speculative": {},
    "speculative, repeats ignored": {"ignore_repeats": True},
    "speculative, writes not held": {"hold_writes": False},
}
"""The paper's three systems, one with a remedy of ours, and one without the paper's buffer."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """One system on some scripts; arrays of shape (scripts,), times in seconds.

    `answer_s`: from the final query to the answer; `bound_s`: the least that any system needs.
    """

    answer_s: np.ndarray[Any, np.dtype[np.float64]]
    bound_s: np.ndarray[Any, np.dtype[np.float64]]
    right: np.ndarray[Any, np.dtype[np.float64]]
    wrong_effects: np.ndarray[Any, np.dtype[np.float64]]
    runs: np.ndarray[Any, np.dtype[np.float64]]
    wasted: np.ndarray[Any, np.dtype[np.float64]]

    def mean(self, name: str, bounds: tuple[float, float] | None = None) -> Ratio:
        """The mean of one of the arrays over the scripts."""
        values = getattr(self, name)
        return Ratio(values, np.ones_like(values), bounds)

    def speed_up(self, base: Measured) -> Ratio:
        """How many times as long `base` takes, by the means."""
        return Ratio(base.answer_s, self.answer_s)


def drawn(recipe: Recipe, count: int, seed: int) -> list[Script]:
    """Scripts of a recipe, ready to be played."""
    return [from_row(row) for row in scripts(recipe, count, seed)]


def measure(
    found: Iterable[Script], managers: PolicyFactory, options: Options, seed: int
) -> Measured:
    """Play scripts under the task manager with some options."""
    factory = managers.adapted(options)
    rows = []
    for script in found:
        played = play(script, factory(), seed=seed)  # type: ignore[arg-type]  # a TaskManager
        rows.append(
            (
                played.answer_s,
                seconds(lower_bound_us(script)),
                played.right,
                played.wrong_effects,
                played.runs,
                played.wasted,
            )
        )
    return Measured(*np.array(rows, dtype=float).T)
