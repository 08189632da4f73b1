"""Two finished runs, trajectory by trajectory: what other recordings, tools or code changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from simcore.bootstrap import RESAMPLES
from simcore.errors import UsageError, nearest
from simcore.metrics import differences, summaries
from simcore.report.numbers import difference, number
from simcore.report.run_folder import TRAJECTORIES, read_scenario
from simcore.report.tables import grid_of, joined
from simcore.tally import collect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import polars as pl

    from simcore.metrics import PairedDifference, Scores
    from simcore.report.grid import Grid

KEYS: Final = ("policy", "recording_id", "action", "checkpoint", "replication")
"""What a trajectory of one run is found by in the other."""
_BASE: Final = "\0base"
_COUNTED: Final = ("commits", "updates", "cancels", "late_updates", "late_cancels")


@dataclass(frozen=True, slots=True)
class PolicyDiff:
    """A policy in both runs, over the trajectories that both have; `paired` is the second run's
    figures minus the first's."""

    policy: str
    base: Scores
    other: Scores
    paired: PairedDifference


@dataclass(frozen=True, slots=True)
class RunDiff:
    """`alone`: trajectories of the first and of the second run without a partner, `changed`: the
    keys of the scenarios that are not equal."""

    policies: tuple[PolicyDiff, ...]
    changed: tuple[str, ...]
    alone: tuple[int, int]


def diff_runs(
    base: Path, other: Path, where: Mapping[str, str], *, resamples: int = RESAMPLES
) -> RunDiff:
    """Pair the trajectories of two run folders that have equal `KEYS`.

    `where`: columns of `trajectories.parquet` and the value that is looked at. Intervals are 95 %,
    from resampling groups of recordings. Raises ``UsageError`` for a folder that holds no run, for
    a column that is not there, and where nothing pairs.
    """
    settings = [read_scenario(folder, "resolved") for folder in (base, other)]
    frames = [_frame(folder, where) for folder in (base, other)]
    first, second = (frame["policy"].unique(maintain_order=True).to_list() for frame in frames)
    found, paired = [], 0
    for label in first:
        one, two = (frame.filter(policy=label) for frame in frames)
        one, two = _with_partner(one, two), _with_partner(two, one)
        if len(one):
            paired += len(one)
            found.append(_policy(label, one, two, settings[0]["seed"], resamples))
    if not found:
        raise UsageError(
            f"no trajectory of {base} has a partner in {other}: the policies are "
            f"{', '.join(first) or 'none'} there and {', '.join(second) or 'none'} here"
        )
    keys = dict.fromkeys(key for setting in settings for key in setting)
    changed = tuple(key for key in keys if settings[0].get(key) != settings[1].get(key))
    return RunDiff(tuple(found), changed, (len(frames[0]) - paired, len(frames[1]) - paired))


def grids(found: RunDiff) -> list[Grid]:
    """Both runs' figures side by side, their differences, and what the policies did."""
    policies = {"policy": [each.policy for each in found.policies]}
    scores = {
        "stale %": _both(found, lambda scores: number(scores.stale_rate.value, 2, 100)),
        "delay s": _both(found, lambda scores: number(scores.delay_s.value)),
        "cost": _both(found, lambda scores: number(scores.cost.value)),
        "success %": _both(found, lambda scores: number(scores.success_rate.value, 1, 100)),
    }
    paired = [each.paired for each in found.policies]
    changes = {
        "stale, points": joined([difference(each.stale_rate, 2, 100) for each in paired]),
        "removed / added": [f"{each.stale_removed} / {each.stale_added}" for each in paired],
        "delay s": joined([difference(each.delay_s) for each in paired]),
        "cost": joined([difference(each.cost) for each in paired]),
        "pairs": [str(each.pairs) for each in paired],
    }
    events = {
        name.replace("_", " "): _both(found, partial(_per_hundred, name)) for name in _COUNTED
    }
    return [
        grid_of("From the first run to the second", policies | scores),
        grid_of("The second minus the first (* order, = tie, ? not resolved)", policies | changes),
        grid_of("Events in a hundred trajectories", policies | events),
    ]


def notes(found: RunDiff) -> Iterator[str]:
    """What a reader must know besides, a line each."""
    if found.changed:
        yield f"not the same in both scenarios: {', '.join(found.changed)}"
    for name, count in zip(("first", "second"), found.alone, strict=True):
        if count:
            yield f"{count} trajectories of the {name} run have no partner and are left out"


def _with_partner(rows: pl.DataFrame, others: pl.DataFrame) -> pl.DataFrame:
    return rows.join(others, on=KEYS, how="semi", nulls_equal=True, maintain_order="left")


def _policy(
    label: str, one: pl.DataFrame, two: pl.DataFrame, seed: int, resamples: int
) -> PolicyDiff:
    import polars as pl

    panel = pl.concat([one.with_columns(policy=pl.lit(_BASE)), two], how="vertical_relaxed")
    collected = collect(panel, (), lambda labels: [(label, _BASE)])
    base, other = summaries(collected, seed=seed, resamples=resamples)
    (paired,) = differences(collected, seed=seed, resamples=resamples)
    return PolicyDiff(label, base.scores, other.scores, paired)


def _frame(folder: Path, where: Mapping[str, str]) -> pl.DataFrame:
    import polars as pl

    path = folder / TRAJECTORIES
    if not path.is_file():
        raise UsageError(f"the run in {folder} has lost its {TRAJECTORIES}")
    rows = pl.scan_parquet(path)
    columns = rows.collect_schema().names()
    for column, value in where.items():
        if column not in columns:
            raise UsageError(f"{path} has no column '{column}'{nearest(column, columns)}")
        rows = rows.filter(pl.col(column).cast(pl.String) == value)
    return rows.collect()


def _per_hundred(event: str, scores: Scores) -> str:
    return number(scores.events[event] / scores.n, 1, 100)


def _both(found: RunDiff, figure: Callable[[Scores], str]) -> list[str]:
    return joined([(figure(each.base), "→", figure(each.other)) for each in found.policies])
