"""Why RASSG's stale executions were not prevented: what was known when they still could have been.

Every stale trajectory of it is run again, and looked at when its first wrong version that executed
could be cancelled for the last time.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from simcore.report.grid import Grid
from simcore.report.numbers import number
from simcore.report.sections import Section
from simcore.report.study import MAIN_SUBSET, OURS
from simcore.timeline.again import Again

if TYPE_CHECKING:
    from collections.abc import Iterable

    import polars as pl

    from simcore.recorder import VersionRecord
    from simcore.scenario import Control, Scenario
    from simcore.trace import Recording

REASONS: Final = {
    "recognizer": "nobody corrected anything: the value was misheard",
    "early": "the correction had not begun",
    "unheard": "it had begun, and nothing of it was recognized",
    "kept": "part of it was recognized, and the forecast let the call pass",
    "replaced": "another value was recognized, but not often enough to replace the first",
}
_EDITING: Final = {"seen": "phrase of training", "unseen": "new phrase", "none": "no phrase"}


def reason(recording: Recording, version: VersionRecord, control: Control) -> str:
    """Which of `REASONS` holds at the last tick from which the version can be cancelled in time."""
    if not recording.repairs:
        return "recognizer"
    latest = version.deadline_us - control.acknowledgement_us - control.processing_us
    tick = latest // control.period_us * control.period_us
    onset = min(repair.onset_us for repair in recording.repairs)
    if tick < onset:
        return "early"
    known = [a for a in recording.arrivals if a.arrived_at_us <= tick and a.prefix_end_us > onset]
    if not known:
        return "unheard"
    others = {arrival.argument for arrival in known} - {version.argument, None}
    return "replaced" if others else "kept"


def remaining_stale(panels: Iterable[pl.DataFrame], scenario: Scenario) -> list[Section]:
    """One section; none where `rassg` was not run on recordings of the main subset."""
    import polars as pl

    labels = {spec.label for spec in scenario.policies}
    recordings = {
        r.recording_id: r
        for r in scenario.recordings
        if r.subset == MAIN_SUBSET and r.noise is None
    }
    if OURS not in labels or not recordings:
        return []
    again = Again(scenario, OURS)
    ran: Counter[str] = Counter()
    found: Counter[tuple[str, str]] = Counter()
    for panel in panels:
        rows = panel.filter(
            (pl.col("policy") == OURS) & pl.col("recording_id").is_in(list(recordings))
        )
        ran.update(_editing(recordings[name]) for name in rows["recording_id"])
        for row in rows.filter("stale").iter_rows(named=True):
            recording = recordings[row["recording_id"]]
            version = _first_stale(again, row)
            found[reason(recording, version, scenario.control), _editing(recording)] += 1
    return [_section(ran, found)] if found else []


def _first_stale(again: Again, row: dict[str, Any]) -> VersionRecord:
    target = again.recording(row).target
    return next(
        version
        for version in again.trajectory(row).versions
        if version.outcome == "executed" and version.argument != target
    )


def _editing(recording: Recording) -> str:
    return (recording.editing or "none") if recording.repairs else "stable"


def _section(ran: Counter[str], found: Counter[tuple[str, str]]) -> Section:
    kinds = [kind for kind in _EDITING if ran[kind]]
    total = ran.total()

    def share(count: int, of: int) -> str:
        return number(count / of, 2, 100) if of else number(None)

    rows = []
    for name, says in REASONS.items():
        by_kind = [share(found[name, kind], ran[kind]) for kind in kinds]
        every = sum(found[name, kind] for kind in ran)
        rows.append((says, share(every, total), *by_kind))
    sums = [share(sum(found[name, kind] for name in REASONS), ran[kind]) for kind in kinds]
    rows.append(("all", share(found.total(), total), *sums))
    text = [
        f"Each stale execution of {OURS}, looked at when the wrong call could be cancelled for the "
        "last time; in % of all trajectories, and of the corrected ones by how the correction is "
        "announced: with an editing phrase that training knows, with one of which it knows no "
        "word, or with none. Before anything of a correction is recognized no forecast can know "
        "of it; where part of it was, a better one could have."
    ]
    heads = ("when it was last possible to cancel", "all", *(_EDITING[kind] for kind in kinds))
    return Section("Which stale executions remain, and why", text, [Grid("", heads, rows)])
