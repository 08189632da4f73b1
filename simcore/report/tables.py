"""The tables of a run, for a terminal, a pipe and Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcore.bootstrap import MIN_CLUSTERS
from simcore.metrics import EVENTS
from simcore.report.grid import Grid
from simcore.report.numbers import NONE, difference, fraction, number, span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from rich.console import Console

    from simcore.metrics import PairedDifference, PolicySummary, Scores
    from simcore.report.speech import SpeechFigures
    from simcore.report.summary import Summary


def policy_table(summaries: Sequence[PolicySummary]) -> Grid:
    """Risk, delay and cost of each policy, with 95 % intervals and counts."""
    columns = {
        "policy": [summary.policy for summary in summaries],
        **figures([summary.scores for summary in summaries]),
    }
    return grid_of("Stale executions, delay of the successes, realized cost", columns)


def event_table(summaries: Sequence[PolicySummary]) -> Grid:
    """How often each policy did what, over all its trajectories."""
    did = ("commits", "updates", "(late)", "cancels", "(late)", "duplicates", "skipped ticks")
    rows = [
        (
            summary.policy,
            str(summary.scores.n),
            str(summary.scores.success_rate.count),
            *(str(summary.scores.events[name]) for name in EVENTS),
        )
        for summary in summaries
    ]
    return Grid("Events", ("policy", "n", "successes", *did), rows)


def paired_table(differences: Sequence[PairedDifference]) -> Grid:
    """Each policy minus the baseline on the same trajectories."""
    columns = {
        "policy": [found.policy for found in differences],
        "stale, points": joined([difference(found.stale_rate, 2, 100) for found in differences]),
        "delay s": joined([difference(found.delay_s, 3) for found in differences]),
        "cost": joined([difference(found.cost, 3) for found in differences]),
        "pairs": [str(found.pairs) for found in differences],
    }
    baselines = " and ".join(sorted({found.baseline for found in differences}))
    return grid_of(f"Paired differences from {baselines} (* order, = tie, ? not resolved)", columns)


def speech_table(figures: Sequence[SpeechFigures]) -> Grid:
    """Delays from the end of the waveform and of speech; what wrong final parses explain."""
    columns = {
        "policy": [found.policy for found in figures],
        "delay s [95 %]": joined(
            [(number(f.delay_s.value), span(f.delay_s.interval)) for f in figures]
        ),
        "done before": [f"{f.clipped}/{f.delay_s.n}" for f in figures],
        "from speech end s [95 %]": joined(
            [(number(f.speech_delay_s.value), span(f.speech_delay_s.interval)) for f in figures]
        ),
        "done before it": [f"{f.speech_clipped}/{f.speech_delay_s.n}" for f in figures],
        "stale with a wrong final parse": [f"{f.stale_wrong}/{f.stale}" for f in figures],
        "these under EOU too": [
            NONE if f.stale_eou is None else f"{f.stale_eou}/{f.stale_wrong}" for f in figures
        ],
    }
    title = "Delay from the end of the waveform and of speech; done before either counts as 0"
    return grid_of(title, columns)


def breakdowns(summaries: Sequence[PolicySummary]) -> dict[str, Grid]:
    """Per dimension in which trajectories differ, each policy's figures at each of its values."""
    grids = {}
    for dimension in dict.fromkeys(name for summary in summaries for name in summary.by):
        parts = [(s.policy, part) for s in summaries for part in s.by.get(dimension, ())]
        values = list(dict.fromkeys(part.value for _, part in parts))
        parts.sort(key=lambda labelled: values.index(labelled[1].value))
        columns = {
            dimension.replace("_", " "): [part.value or NONE for _, part in parts],
            "policy": [policy for policy, _ in parts],
            **figures([part.scores for _, part in parts]),
        }
        grids[dimension] = grid_of("", columns, left=2)
    return grids


def messages(summary: Summary) -> Iterator[tuple[bool, str]]:
    """What a reader must not miss, a line each, and whether it is bad news."""
    for failure in summary.failures:
        yield (
            True,
            f"{failure.count} of {failure.policy}'s trajectories failed: {failure.reason}; "
            f"first: {failure.example}, seed {summary.seed}",
        )
    for policy in summary.policies:
        if policy.scores.unlabelled:
            yield (
                False,
                f"{policy.policy}: {policy.scores.unlabelled} of {policy.scores.n} trajectories "
                "are unlabelled and left out of every rate",
            )
    clusters = max((policy.scores.clusters for policy in summary.policies), default=0)
    if 0 < clusters < MIN_CLUSTERS:
        yield (
            False,
            f"intervals need {MIN_CLUSTERS} groups of recordings, here are {clusters}; "
            "those shown are exact bounds",
        )
    for gate in summary.gates:
        yield not gate.passed, str(gate)


def headline(summary: Summary) -> str:
    """What was run, in one line."""
    trajectories = sum(policy.scores.n for policy in summary.policies)
    return (
        f"{summary.scenario}: {_count(trajectories, 'trajectory', 'trajectories')}, "
        f"{_count(len(summary.policies), 'policy', 'policies')}, "
        f"{_count(summary.recordings, 'recording')}, {_count(summary.actions, 'action')}, "
        f"seed {summary.seed}"
    )


def print_summary(console: Console, summary: Summary) -> None:
    """Tables for a terminal; the same as plain aligned text where the output is piped."""
    from simcore.report.agent import agent_grids  # it builds on the tables here

    grids = [policy_table(summary.policies), event_table(summary.policies)]
    if summary.differences:
        grids.append(paired_table(summary.differences))
    grids += agent_grids(summary).values()
    notes = list(messages(summary))
    if not console.is_terminal:
        parts = [headline(summary), *grids, "\n".join(text for _, text in notes)]
        console.file.write("\n\n".join(filter(None, map(str, parts))) + "\n")
        return
    console.print(headline(summary), markup=False, highlight=False)
    for grid in grids:
        console.print()
        console.print(grid)
    if notes:
        console.print()
    for bad, text in notes:
        console.print(text, style="red" if bad else None, markup=False, highlight=False)


def figures(scores: Sequence[Scores]) -> dict[str, list[str]]:
    """Columns with the figures of one set of trajectories a row."""
    stale = [s.stale_rate for s in scores]
    delay = [s.delay_s for s in scores]
    success = [number(s.success_rate.value, 1, 100) for s in scores]
    return {
        "stale % [95 %]": joined(
            [(number(e.value, 2, 100), span(e.interval, 2, 100)) for e in stale]
        ),
        "count": [fraction(e) for e in stale],
        "delay s [95 %]": joined([(number(e.value), span(e.interval)) for e in delay]),
        "success": [text if text == NONE else f"{text} %" for text in success],
        "cost [95 %]": joined([(number(s.cost.value), span(s.cost.interval)) for s in scores]),
    }


def grid_of(title: str, columns: Mapping[str, Sequence[str]], left: int = 1) -> Grid:
    """A grid from its columns."""
    return Grid(title, tuple(columns), list(zip(*columns.values(), strict=True)), left)


def joined(cells: Sequence[Sequence[str]]) -> list[str]:
    """The parts of each cell, such as a figure and its interval, in one column, each aligned."""
    widths = [max((len(part) for part in parts), default=0) for parts in zip(*cells, strict=True)]
    return [" ".join(map(str.rjust, cell, widths)) for cell in cells]


def _count(n: int, one: str, many: str | None = None) -> str:
    return f"{n} {one if n == 1 else many or one + 's'}"
