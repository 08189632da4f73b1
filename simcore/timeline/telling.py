"""A few trajectories that show what the figures are made of, chosen by rule, drawn as timelines."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simcore.report.sections import Picture, Section
from simcore.report.study import OURS
from simcore.timeline.again import Again
from simcore.timeline.picture import timeline_chart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import polars as pl

    from simcore.scenario import Scenario

CONTROL: Final = "rassg-no-cancel"


@dataclass(frozen=True, slots=True)
class Rule:
    """Which pair of trajectories with and without cancelling tells something.

    `where` selects by an expression over a row and, with the suffix `_base`, the one without
    cancelling; of those the one with the largest `by` is drawn, the first of equals.
    """

    title: str
    says: str
    where: pl.Expr
    by: pl.Expr


def telling_cases(panels: Iterable[pl.DataFrame], scenario: Scenario) -> list[Section]:
    """One section of up to three timelines; none where the two policies were not both run."""
    labels = {spec.label for spec in scenario.policies}
    if not {OURS, CONTROL} <= labels:
        return []
    rules = _rules()
    best: list[tuple[float, dict[str, Any]] | None] = [None] * len(rules)
    for panel in panels:
        pairs = _pairs(panel)
        for position, rule in enumerate(rules):
            some = pairs.filter(rule.where).with_columns(_by=rule.by)
            if some.height:
                row = some.row(int(some["_by"].arg_max() or 0), named=True)
                known = best[position]
                if known is None or row["_by"] > known[0]:
                    best[position] = row["_by"], row
    pictures = [
        Picture(_drawn(row, scenario), f"{rule.title}. {rule.says} {_told(row)}", wide=True)
        for rule, found in zip(rules, best, strict=True)
        if found is not None
        for row in [found[1]]
    ]
    text = [
        f"Chosen by rule among all pairs of trajectories under {OURS} and under {CONTROL}, the "
        "same policy without cancelling: the one in which cancelling saved most, the stale one "
        "that cost most, and the one without a correction in which cancelling cost most. Green is "
        "the value that the speaker meant in the end."
    ]
    return [Section("What the figures are made of: three trajectories", text, (), pictures)]


def _rules() -> list[Rule]:
    import polars as pl

    ours, other = pl.col("cost"), pl.col("cost_base")
    return [
        Rule(
            "Saved by the veto",
            "Without cancelling it is stale; cancelled in time, it is not.",
            pl.col("stale_base") & ~pl.col("stale") & pl.col("success"),
            other - ours,
        ),
        Rule(
            "Lost to a late repair",
            "The correction was understood only after the deadline.",
            pl.col("stale") & pl.col("success") & (pl.col("late_updates") > 0),
            ours,
        ),
        Rule(
            "A false alarm's price",
            "Nothing is corrected, and the call is cancelled all the same.",
            ~pl.col("stale") & ~pl.col("stale_base") & (pl.col("cancels") > 0)
            & pl.col("success") & pl.col("onset_phase").is_null(),
            ours - other,
        ),
    ]  # fmt: skip


def _pairs(panel: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    base = panel.filter(pl.col("policy") == CONTROL)
    key = ["recording_id", "action", "replication"]
    return panel.filter(pl.col("policy") == OURS).join(
        base, on=key, suffix="_base", maintain_order="left"
    )


def _told(row: dict[str, Any]) -> str:
    def told(suffix: str) -> str:
        delay = row[f"delay_s{suffix}"]
        waited = "never right" if delay is None else f"right after {delay:.2f} s"
        return f"{row[f'stale_versions{suffix}']} stale, {waited}, cost {row[f'cost{suffix}']:.2f}"

    return f"Here: {told('')}; without cancelling: {told('_base')}."


def _drawn(row: dict[str, Any], scenario: Scenario) -> str:
    again = Again(scenario, OURS)
    recording, action = again.recording(row), again.action(row)
    result = again.trajectory(row, log=True)
    chart = timeline_chart(
        recording,
        action,
        result.versions,
        result.log,
        title=f"{recording.recording_id}, {action.name}",
        checkpoint=row["checkpoint"],
        control=scenario.control,
    )
    drawing = io.StringIO()
    chart.save(drawing, format="svg")
    return "".join(_inline(drawing.getvalue()))


def _inline(svg: str) -> Iterator[str]:
    """An SVG inside of a page needs no name space, and its address would look like a link."""
    for piece in svg.splitlines():
        yield piece.replace(' xmlns="http://www.w3.org/2000/svg"', "").replace(
            ' xmlns:xlink="http://www.w3.org/1999/xlink"', ""
        )
