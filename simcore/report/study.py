"""The sums that the paper's tables are made of, along everything by which they split a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from simcore.bootstrap import RESAMPLES, Ratio, intervals
from simcore.metrics import difference, differences, scores
from simcore.scenario import PolicySpec
from simcore.tally import Collected, Tally, collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import polars as pl

    from simcore.metrics import Difference, PairedDifference, Scores
    from simcore.scenario import Scenario
    from simcore.trace import Recording

OURS: Final = "rassg"
MAIN_SUBSET: Final = "prospective"
TABLE_1: Final = (
    "eou",
    "local_agreement",
    "confidence",
    "stream_rag",
    "speculative",
    OURS,
    "clairvoyant",
)
TABLE_2: Final = (
    OURS,
    "rassg-no-cancel",
    "no-reuse",
    "consensus-1",
    "consensus-2",
    "consensus-4",
    "lookahead",
)
CONTROL: Final = "forecast: "
PERMUTED: Final = "-permuted"

BY_STALE: Final = ("eou", OURS, "confidence", "local_agreement")
"""The paper's order from few stale executions to many; the three eager ones are a tie."""

TIES: Final = (
    ("stream_rag", "local_agreement"),
    ("speculative", "local_agreement"),
)
BY_DELAY: Final = ("speculative", OURS, "local_agreement", "stream_rag", "confidence", "eou")
CONSENSUS: Final = ("consensus-1", "consensus-2", OURS, "consensus-4")

GAPS_S: Final = (0.0, 1.0, 2.0, 3.5, 6.0)
EDITS_S: Final = (0.0, 1.0, 2.0, 3.0)
"""Lower ends of the bins; the last ones are open."""


def with_controls(scenario: Scenario) -> Scenario:
    """The scenario with RASSG once more for every forecast that the traces carry beside its own.

    Without RASSG itself there is nothing to hold them against, and none is added.

    Permuted forecasts (`NAME-permuted`) of the scenario's own checkpoints make one row.
    """
    if not any(spec.label == OURS for spec in scenario.policies):
        return scenario
    found: dict[str, None] = {}
    for name in (forecast.checkpoint for forecast in scenario.recordings[0].forecasts):
        if all(recording.forecast(name) is not None for recording in scenario.recordings):
            found[name] = None
    rows: dict[str, list[str]] = {}
    for name in found:
        if name in scenario.checkpoints:
            continue
        if name.removesuffix(PERMUTED) in scenario.checkpoints:
            rows.setdefault("permuted", []).append(name)
        elif not name.endswith(PERMUTED):
            rows[name] = [name]
    added = tuple(
        PolicySpec(OURS, CONTROL + name, checkpoints=tuple(names)) for name, names in rows.items()
    )
    resolved = dict(scenario.resolved) | {"controls": rows}
    return replace(scenario, policies=(*scenario.policies, *added), resolved=resolved)


@dataclass(frozen=True, slots=True)
class Study:
    """Sums of the main recordings and of others, and what figures are made of them.

    `main`: the prospective recordings, or all where no recording says that it is one. `everything`:
    all subsets. Both are without copies to which noise was added; those are `noisy`, beside the
    clean recordings of their groups.
    """

    scenario: Scenario
    main: Collected
    everything: Collected
    noisy: Collected
    recordings: int
    seed: int
    resamples: int

    def labels(self, wanted: Sequence[str]) -> list[str]:
        """Those of the wanted policies that were run."""
        return [label for label in wanted if label in self.main.policies]

    @property
    def controls(self) -> list[str]:
        """The rows of the forecast controls."""
        return [label for label in self.main.policies if label.startswith(CONTROL)]

    def values(self, dimension: str, found: Collected | None = None) -> list[str | None]:
        """The values of a dimension, in the order of their names, None last."""
        parts = (found or self.main).policies.values()
        seen = {value for along in parts for value in along.get(dimension, {})}
        return sorted(seen, key=lambda value: (value is None, value or ""))

    def scores(self, tallies: Sequence[Tally], found: Collected | None = None) -> list[Scores]:
        """Figures with their intervals."""
        order = (found or self.main).order
        ratios = [tally.ratios(order) for tally in tallies]
        return scores(ratios, tallies, self.seed, self.resamples)

    def whole(self, labels: Sequence[str]) -> list[Scores]:
        """Each policy's figures over the main recordings."""
        return self.scores([self.main.policies[label][None][None] for label in labels])

    def differences(
        self, pairs: Iterable[tuple[str, str]], ties: Iterable[tuple[str, str]] = ()
    ) -> dict[tuple[str, str], PairedDifference]:
        """Paired differences over the main recordings; pairs that were not run are left out."""
        chosen = {pair: self.main.pairs[pair] for pair in pairs if pair in self.main.pairs}
        found = differences(
            replace(self.main, pairs=chosen),
            seed=self.seed,
            resamples=self.resamples,
            ties=[frozenset(pair) for pair in ties],
        )
        return dict(zip(chosen, found, strict=True))

    def spread(self, ratios: Sequence[Ratio]) -> list[Difference]:
        """Ratios with their intervals, as differences from zero."""
        spans = intervals(ratios, seed=self.seed, resamples=self.resamples)
        return [difference(ratio, span) for ratio, span in zip(ratios, spans, strict=True)]


def build_study(
    panels: Iterable[pl.DataFrame], scenario: Scenario, *, resamples: int = RESAMPLES
) -> Study:
    """The study of a run; `panels` is gone through three times."""
    about = _about(scenario.recordings)
    clean = [r for r in scenario.recordings if r.noise is None]
    noisy = {r.cluster for r in scenario.recordings if r.noise is not None}
    main = {r.recording_id for r in clean if r.subset == MAIN_SUBSET}
    names = main or {r.recording_id for r in clean}
    copied = {r.recording_id for r in scenario.recordings if r.cluster in noisy}
    return Study(
        scenario,
        collect(
            _annotated(panels, about, names),
            ("checkpoint", "action", "voice", "editing", "variant", "final_parse"),
            _pairs,
            ("variant", "editing"),
        ),
        collect(
            _annotated(panels, about, {r.recording_id for r in clean}),
            ("subset",),
            _cell_pairs,
            ("cell",),
        ),
        collect(_annotated(panels, about, copied), ("noise",)),
        len(names),
        scenario.seed,
        resamples,
    )


def weighted(parts: Mapping[str | None, tuple[Ratio, ...]], share: float) -> tuple[Ratio, ...]:
    """Ratios as if corrected recordings were `share` of all; `parts` are by variant.

    >>> import numpy as np
    >>> one, none = (Ratio(np.array([k * 6.0]), np.array([6.0])) for k in (1, 0))
    >>> weighted({"corrected": (one,), "stable": (none,)}, 0.25)[0].value
    0.25
    """
    corrected, stable = parts["corrected"], parts["stable"]
    there = corrected[0].count.sum() / (corrected[0].count.sum() + stable[0].count.sum())
    up, down = share / there, (1 - share) / (1 - there)
    return tuple(
        Ratio(up * c.total + down * s.total, up * c.count + down * s.count, c.bounds)
        for c, s in zip(corrected, stable, strict=True)
    )


def _pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
    wanted = [(label, OURS) for label in labels if label != OURS]
    wanted += [(more, less) for less, more in pairwise(BY_STALE)]
    wanted += TIES
    wanted += [(more, less) for less, more in pairwise(BY_DELAY)]
    wanted += [(OURS, label) for label in labels if label != OURS]
    wanted += list(pairwise(CONSENSUS))
    return list(dict.fromkeys(p for p in wanted if p[0] in labels and p[1] in labels))


def _cell_pairs(labels: Sequence[str]) -> list[tuple[str, str]]:
    others = [label for label in ("local_agreement", "eou") if label in labels]
    return [(OURS, label) for label in others] if OURS in labels else []


def _about(recordings: Sequence[Recording]) -> pl.DataFrame:
    import polars as pl

    rows = [
        (r.recording_id, r.voice, r.editing, r.noise or "clean", _final_parse(r), _cell(r))
        for r in recordings
    ]
    names = ("recording_id", "voice", "editing", "noise", "final_parse", "cell")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _annotated(
    panels: Iterable[pl.DataFrame], about: pl.DataFrame, names: set[str]
) -> Iterator[pl.DataFrame]:
    import polars as pl

    # A control meets the checkpoint that it was permuted from, any other control all of them.
    source = pl.col("checkpoint").str.strip_suffix(PERMUTED)
    permuted = pl.col("checkpoint").str.ends_with(PERMUTED)
    control = pl.col("policy").str.starts_with(CONTROL)
    for panel in panels:
        some = panel.filter(pl.col("recording_id").is_in(list(names)))
        if some.height:
            some = some.with_columns(
                pl.when(control & permuted)
                .then(source)
                .when(~control)
                .then(pl.col("checkpoint"))
                .alias("checkpoint")
            )
            yield some.join(about, on="recording_id", how="left", maintain_order="left")


def _final_parse(recording: Recording) -> str | None:
    if not recording.labelled or not recording.arrivals:
        return None
    return "right" if recording.arrivals[-1].argument == recording.target else "wrong"


def _cell(recording: Recording) -> str | None:
    """The bins of a repair's gap and edit: first value heard to onset, onset to new value heard."""
    if not recording.repairs or not recording.values:
        return None
    repair = min(recording.repairs, key=lambda item: item.onset_us)
    if repair.resolved_us is None:
        return None
    gap = (repair.onset_us - recording.values[0].available_us) / 1e6
    edit = (repair.resolved_us - repair.onset_us) / 1e6
    return f"{_bin(gap, GAPS_S)}|{_bin(edit, EDITS_S)}"


def _bin(value: float, ends: Sequence[float]) -> int:
    return max((index for index, end in enumerate(ends) if value >= end), default=0)


def bin_names(ends: Sequence[float]) -> list[str]:
    """How bins are called: "1 to 2 s".

    >>> bin_names((0.0, 1.0, 3.5))
    ['below 1 s', '1 to 3.5 s', 'from 3.5 s']
    """
    inner = [f"{low:g} to {high:g} s" for low, high in pairwise(ends[1:])]
    return [f"below {ends[1]:g} s", *inner, f"from {ends[-1]:g} s"]
