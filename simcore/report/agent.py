"""What a run with an agent's calls is judged by: benefit and harm, and replays beside recordings.

A guard that always cancels never commits what nobody wants; so what it costs those who want their
call stands in the same table.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl

from simcore.bootstrap import intervals
from simcore.metrics import Estimate
from simcore.report.numbers import NONE, fraction, number, span
from simcore.report.tables import grid_of, joined
from simcore.tally import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from simcore.report.grid import Grid
    from simcore.report.summary import Summary
    from simcore.trace import Recording

_RATES: Final = ("unwanted_commit", "stale", "double_booking", "wanted_lost")
_MEANS: Final = (
    "added_delay_s",
    "stop_to_decision_s",
    "replies_cut",
    "notes",
    "duplicates_suppressed",
    "cost",
)
_EVERYTHING: Final = ""


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """One policy on the sessions of one subset, or on all of them (None).

    `figures` are estimates by column: rates of the trajectories that have the column (unwanted
    commits, after a stop began, only where the user said stop; stale ones, which the user does not
    want in the end; wanted calls lost only where one was wanted), else means.
    `failures` counts the failure kinds.
    """

    policy: str
    subset: str | None
    n: int
    figures: Mapping[str, Estimate]
    failures: Mapping[str, int]


class Replayed(NamedTuple):
    """A replayed session, with what really happened (`observed`)."""

    recording_id: str
    row: Mapping[str, Any]
    observed: Mapping[str, Any]


class AgentTally:
    """Adds up panels; those without an agent's calls have nothing to add."""

    def __init__(self, recordings: Iterable[Recording]) -> None:
        observed = ((r.recording_id, json.loads(r.observed)) for r in recordings if r.observed)
        self._observed = {name: what for name, what in observed if isinstance(what, dict)}
        self._replayed: list[Replayed] = []
        self._clusters: dict[str, int] = {}
        self._counts: dict[tuple[str, str], _Counts] = {}

    def add(self, panel: pl.DataFrame) -> None:
        """Add a panel: every policy's trajectories on some recordings."""
        if "decision" not in panel.columns:
            return
        rows = panel.filter(pl.col("failure").is_null() & pl.col("replies_cut").is_not_null())
        for (policy, subset), part in rows.partition_by("policy", "subset", as_dict=True).items():
            for place in {_EVERYTHING, subset or _EVERYTHING}:
                counts = self._counts.setdefault((str(policy), str(place)), _Counts())
                counts.add(part, self._clusters)
        for row in rows.iter_rows(named=True) if self._observed else ():
            name = row["recording_id"]
            if name in self._observed:
                self._replayed.append(Replayed(name, row, self._observed[name]))

    def figures(
        self, policies: Sequence[str], *, seed: int, resamples: int
    ) -> tuple[AgentFigures, ...]:
        """Each policy on everything, and then on each subset if there are several."""
        subsets = sorted({subset for _, subset in self._counts if subset != _EVERYTHING})
        places = [_EVERYTHING, *(subsets if len(subsets) > 1 else ())]
        keys = [(p, s) for s in places for p in policies if (p, s) in self._counts]
        order = np.array([self._clusters[name] for name in sorted(self._clusters)], np.int64)
        ratios = [s.ratio(order) for key in keys for s in self._counts[key].sums.values()]
        spans = iter(intervals(ratios, seed=seed, resamples=resamples))
        found = []
        for policy, subset in keys:
            counts, figures = self._counts[policy, subset], {}
            for name, sums in counts.sums.items():
                ratio = sums.ratio(order)
                total = int(ratio.total.sum()) if name in _RATES else None
                n = int(ratio.count.sum())
                figures[name] = Estimate(ratio.value, n, next(spans), total)
            found.append(
                AgentFigures(policy, subset or None, counts.n, figures, dict(counts.failures))
            )
        return tuple(found)

    @property
    def replayed(self) -> tuple[Replayed, ...]:
        """The trajectories of recordings that say what really happened."""
        return tuple(self._replayed)


class _Counts:
    def __init__(self) -> None:
        self.sums = {name: Sums((0.0, 1.0)) for name in _RATES} | {n: Sums() for n in _MEANS}
        self.failures: Counter[str] = Counter()
        self.n = 0

    def add(self, rows: pl.DataFrame, clusters: dict[str, int]) -> None:
        self.n += len(rows)
        self.failures.update(rows["failure_kind"].drop_nulls().to_list())
        names = rows.select(pl.coalesce("group_id", "recording_id")).to_series().to_list()
        at = np.array([clusters.setdefault(name, len(clusters)) for name in names], np.int64)
        for name, sums in self.sums.items():
            known = rows[name].is_not_null()
            sums.add(at[known.to_numpy()], rows[name].filter(known))


def agent_tables(figures: Sequence[AgentFigures]) -> dict[str, Grid]:
    """Benefit and harm by policy; by subset; and the failure kinds."""
    whole = [found for found in figures if found.subset is None]
    parts = [found for found in figures if found.subset is not None]
    tables = {
        "Calls of an agent": grid_of(
            "What nobody wanted and what was wanted; means a session",
            {"policy": [f.policy for f in whole], **_benefit(whole), **_harm(whole)},
        )
    }
    if parts:
        tables["Calls by what the user does"] = grid_of(
            "The same by subset",
            {
                "subset": [f.subset or NONE for f in parts],
                "policy": [f.policy for f in parts],
                **_benefit(parts, short=True),
                **_harm(parts, short=True),
            },
            left=2,
        )
    kinds = sorted({kind for found in whole for kind in found.failures})
    if kinds:
        tables["What went wrong"] = grid_of(
            "Trajectories by their failure kind",
            {
                "policy": [f.policy for f in whole],
                "n": [str(f.n) for f in whole],
                **{
                    kind.replace("_", " "): [str(f.failures.get(kind, 0)) for f in whole]
                    for kind in kinds
                },
            },
        )
    return tables


def _rate(figures: Sequence[AgentFigures], name: str) -> list[str]:
    found = [f.figures[name] for f in figures]
    return joined([(number(e.value, 1, 100), span(e.interval, 1, 100)) for e in found])


def _mean(figures: Sequence[AgentFigures], name: str, digits: int = 2) -> list[str]:
    found = [f.figures[name] for f in figures]
    return joined([(number(e.value, digits), span(e.interval, digits)) for e in found])


def _benefit(figures: Sequence[AgentFigures], *, short: bool = False) -> dict[str, list[str]]:
    columns = {
        "unwanted % [95 %]": _rate(figures, "unwanted_commit"),
        "count": [fraction(f.figures["unwanted_commit"]) for f in figures],
        "stale %": [number(f.figures["stale"].value, 1, 100) for f in figures],
        "double %": [number(f.figures["double_booking"].value, 1, 100) for f in figures],
    }
    if not short:
        columns["suppressed"] = [number(f.figures["duplicates_suppressed"].value) for f in figures]
        columns["stop to decision s"] = [
            number(f.figures["stop_to_decision_s"].value) for f in figures
        ]
    return columns


def _harm(figures: Sequence[AgentFigures], *, short: bool = False) -> dict[str, list[str]]:
    columns = {
        "lost % [95 %]": _rate(figures, "wanted_lost"),
        "lost": [fraction(f.figures["wanted_lost"]) for f in figures],
        "added delay s [95 %]": _mean(figures, "added_delay_s"),
        "cut": [number(f.figures["replies_cut"].value) for f in figures],
    }
    if not short:
        columns["notes"] = [number(f.figures["notes"].value) for f in figures]
        columns["cost [95 %]"] = _mean(figures, "cost")
    return columns


def agent_grids(summary: Summary) -> dict[str, Grid]:
    """The tables of a run with an agent's calls, by their headings; none without."""
    tables = agent_tables(summary.agent) if summary.agent else {}
    if summary.replayed:
        tables["Recorded beside replayed"] = recorded_table(summary.replayed)
    return tables


def recorded_table(replayed: Sequence[Replayed]) -> Grid:
    """Recorded beside replayed, "recorded / replayed" where they are not one and the same.

    A claim is what the agent really said first and last, held against the replayed ledger.
    """
    rows = [_beside(found) for found in replayed]
    headers = list(rows[0]) if rows else []
    columns = {name: [row[name] for row in rows] for name in headers}
    return grid_of("Recorded / replayed, one figure where both agree", columns)


def _beside(found: Replayed) -> dict[str, str]:
    row, observed = found.row, found.observed
    services = observed.get("service") or []
    commits = sum(event.get("what") == "committed" for event in services)
    booked = row["decision"] == "commit"
    decided_ms = None if row["decision_us"] is None else row["decision_us"] / 1000
    cells = {
        "session": found.recording_id,
        "policy": str(row["policy"]),
        "decision": _both(observed.get("decision"), row["decision"]),
        "at ms": f"{observed.get('decision_ms', NONE)} / {number(decided_ms, 0)}",
        "stop to decision ms": (
            f"{observed.get('stop_to_decision_ms', NONE)} / "
            f"{number(row['stop_to_decision_s'], 0, 1000)}"
        ),
        "commits": _both(commits, row["commits"] - row["cancels"]),
        "unwanted": _both(observed.get("unwanted_commit"), row["unwanted_commit"]),
        "double": _both(observed.get("double_booking"), row["double_booking"]),
        "suppressed": _both(observed.get("duplicates_suppressed"), row["duplicates_suppressed"]),
        "answers": _both(len(observed.get("tool_responses") or []), row["responses"]),
        "notes": _both(len(observed.get("status_notes_ms") or []), row["notes"]),
    }
    for which in ("first", "last"):
        claim = observed.get(f"{which}_claim")
        recorded = observed.get(f"{which}_claim_consistent")
        mine = None if claim is None else (claim == "booked") is booked
        cells[f"{which} claim true"] = _both(recorded, mine)
    return cells


def _both(recorded: Any, replayed: Any) -> str:
    one, other = _word(recorded), _word(replayed)
    return one if one == other else f"{one} / {other}"


def _word(value: Any) -> str:
    if value is None:
        return NONE
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
