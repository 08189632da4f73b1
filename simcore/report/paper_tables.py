"""Tables 1 and 2 beside the paper's figures, and what stands behind them, as report sections."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import TYPE_CHECKING, Any, Final

from simcore.metrics import PHASES, PolicySummary
from simcore.report.charts import risk_delay_plane, score_bars
from simcore.report.checks import checks
from simcore.report.grid import Grid
from simcore.report.numbers import MARKS, NONE, number, signed, signed_span, span
from simcore.report.sections import Picture, Section
from simcore.report.study import (
    EDITS_S,
    GAPS_S,
    MAIN_SUBSET,
    OURS,
    TABLE_1,
    TABLE_2,
    bin_names,
    weighted,
)
from simcore.report.tables import figures, grid_of, joined, paired_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simcore.metrics import Difference, Scores
    from simcore.report.study import Study
    from simcore.tally import Collected

PREVALENCES: Final = (0.5, 0.1, 0.02)
_DIMENSIONS: Final = {
    "action": "By action",
    "voice": "By voice",
    "editing": "By editing phrase (of corrected recordings: seen in training, unseen, none)",
    "variant": "By variant",
}


def by_construction(study: Study) -> str:
    """What the reader must know before any figure: which part of the outcome was chosen."""
    scenario = study.scenario
    variants = next(iter(study.main.policies.values()))["variant"]
    counts = {value: tally.n for value, tally in variants.items()}
    corrected = number(counts.get("corrected", 0) / sum(counts.values()), 0, 100)
    return (
        f"By construction: the {study.recordings} main recordings (subset {MAIN_SUBSET}, of "
        f"{len(scenario.recordings)} in all) were made so that the question is open when it "
        f"matters. {corrected} % of them are corrected, the correction is announced 1.0 to 3.5 s "
        "after the first value could be heard, the new value comes at least 2.0 s later, and the "
        "utterance "
        "goes on for 3 s or more. So that share of the launches that do not wait meets a "
        "correction, and there is time to cancel: it is what the eager policies' stale rate comes "
        "to, and no discovery. What was left open: when each policy launches, "
        "whether it hears the correction coming before the deadline, what it pays in delay and "
        "cancellations, and how often the final recognition is wrong. The recordings, voices, "
        "tools and the recognizer's timing are not the paper's, so the structure is compared and "
        "not the absolute values. Intervals are 95 %, from resampling whole groups of recordings "
        f"that share audio; the forecasts are those of {', '.join(scenario.checkpoints) or 'none'}."
    )


def sections(study: Study) -> list[Section]:
    """Everything in reading order."""
    parts = [
        Section("", [by_construction(study)]),
        _structure(study),
        _table_1(study),
        _table_2(study),
        *_controls(study),
        *_matched(study),
        *_final_parse(study),
        *_breakdowns(study),
        *_onsets(study),
        *_sweep(study),
        *_prevalence(study),
    ]
    return [part for part in parts if part.grids or not part.heading]


def paper_figures() -> dict[str, dict[str, Any]]:
    """The paper's figures by label."""
    text = resources.files("simcore.report").joinpath("paper.toml").read_text("utf-8")
    return tomllib.loads(text)


def _structure(study: Study) -> Section:
    rows = [(check.answer, check.claim, check.found) for check in checks(study)]
    text = (
        "Each claim is held against a paired difference and its interval: yes where the whole "
        "interval agrees, no where none of it does, else unresolved. A declared tie stands unless "
        "the interval refutes it."
    )
    grid = Grid("", ("there", "claim", "found [95 %]"), rows, left=3)
    return Section("Is the paper's structure there?", [text], [grid] if rows else [])


def _table_1(study: Study) -> Section:
    labels = study.labels(TABLE_1)
    text = [
        "Prospective repairs. Stale: the share of all trajectories with at least one irreversible "
        "wrong call. Delay: of a policy's own successes, from when the final value could be heard. "
        "The clairvoyant policy knows the future and minimizes the cost; no policy with one call "
        "at a time can cost less."
    ]
    whole = study.whole(labels)
    named = [PolicySummary(name, found, {}) for name, found in zip(labels, whole, strict=True)]
    plane = Picture(risk_delay_plane(named), "Each policy's risk over its delay, with intervals:")
    return Section("Table 1: the policies", text, _with_paper(study, labels), [plane])


def _table_2(study: Study) -> Section:
    labels = study.labels(TABLE_2)
    text = [f"{OURS} with one thing changed, on the same recordings."]
    charts = Picture(score_bars(list(zip(labels, study.whole(labels), strict=True))))
    return Section("Table 2: the ablations", text, _with_paper(study, labels), [charts])


def _with_paper(study: Study, labels: Sequence[str]) -> list[Grid]:
    if not labels:
        return []
    paper = paper_figures()
    own = figures(study.whole(labels))
    columns = {
        "policy": labels,
        "stale % [95 %]": own["stale % [95 %]"],
        "paper": [number(paper.get(label, {}).get("stale")) for label in labels],
        "count": own["count"],
        "delay s [95 %]": own["delay s [95 %]"],
        "paper ": [number(paper.get(label, {}).get("delay"), 3) for label in labels],
        "success": own["success"],
        "cost [95 %]": own["cost [95 %]"],
    }
    return [grid_of("", columns), *_paired(study, labels)]


def _paired(study: Study, labels: Sequence[str]) -> list[Grid]:
    found = study.differences((label, OURS) for label in labels)
    return [paired_table(list(found.values()))] if found else []


def _controls(study: Study) -> Iterator[Section]:
    labels = [label for label in (OURS, *study.controls) if label in study.main.policies]
    if len(labels) < 2:
        return
    columns = {"forecast": labels, **figures(study.whole(labels))}
    grids = [grid_of("All prospective recordings", columns), *_paired(study, labels)]
    silent = [study.main.policies[label].get("editing", {}).get("none") for label in labels]
    known = [tally for tally in silent if tally is not None]
    if len(known) == len(labels):
        alone = {"forecast": labels, **figures(study.scores(known))}
        grids.append(grid_of("Only corrected recordings without an editing phrase", alone))
    text = [
        "Cancelling and launching again removes stale executions whatever the forecast says, at "
        "the price of delay. So a forecast has shown something only where it beats these in stale "
        "executions, delay and cost: always cancelling, the base rate, the forecasts of another "
        "recording (permuted), cue words, and simpler models. The oracle knows whether the value "
        "is right."
    ]
    charts = Picture(score_bars(list(zip(labels, study.whole(labels), strict=True))))
    yield Section("What is the forecast worth?", text, grids, [charts])


def _matched(study: Study) -> Iterator[Section]:
    pairs = study.main.pairs.get((OURS, "rassg-no-cancel"))
    if pairs is None or not pairs.n:
        return
    paper = paper_figures()["matched"]
    base = round(float(pairs.removed_share(study.main.order).count.sum()))
    (share,) = study.spread([pairs.removed_share(study.main.order)])
    rows = [
        ("pairs of trajectories", f"{pairs.n}", f"{paper['combinations']}"),
        ("first launch at the same instant", f"{pairs.same_launch}", NONE),
        ("stale without cancelling", f"{base}", NONE),
        ("stale removed by cancelling", f"{pairs.removed}", f"{paper['removed']}"),
        ("stale added by cancelling", f"{pairs.added}", f"{paper['added']}"),
        (
            "net share removed, %",
            f"{number(share.value, 1, 100)} {span(share.interval, 1, 100)}".rstrip(),
            NONE,
        ),
        ("late replacements without cancelling", f"{pairs.late_base}", f"{paper['late_without']}"),
        ("late replacements with cancelling", f"{pairs.late}", f"{paper['late_with']}"),
    ]
    text = [
        f"{OURS} and the same policy without cancelling launch by the same rule; the first launch "
        "of a pair is the same, so what differs is the cancelling and what follows from it."
    ]
    yield Section(
        "Matched launches: what cancelling does", text, [Grid("", ("", "here", "paper"), rows)]
    )


def _final_parse(study: Study) -> Iterator[Section]:
    labels = study.labels(TABLE_1)
    if len(study.values("final_parse")) < 2:
        return
    text = [
        "Where the final recognition itself gives a wrong call, no policy that trusts it can end "
        "right: the split tells the policy's errors from the recognizer's."
    ]
    grid = _matrix(study, labels, "final_parse", study.main)
    yield Section("By right and wrong final parse", text, [grid])


def _breakdowns(study: Study) -> Iterator[Section]:
    labels = study.labels(TABLE_1)
    text = ["Stale % [95 %], delay of the successes, cost."]
    for dimension, heading in _DIMENSIONS.items():
        if len(study.values(dimension)) > 1:
            yield Section(heading, text, [_matrix(study, labels, dimension, study.main)])
    readers = [
        label
        for label in study.labels(TABLE_2)
        if None not in study.main.policies[label]["checkpoint"]
    ]
    if len(study.scenario.checkpoints) > 1 and readers:
        grid = _matrix(study, readers, "checkpoint", study.main, study.scenario.checkpoints)
        yield Section("By forecast checkpoint", text, [grid])
    if len(study.values("subset", study.everything)) > 1:
        grid = _matrix(study, labels, "subset", study.everything)
        yield Section("By subset of recordings", [*text, "All recordings."], [grid])
    if study.noisy.policies:
        note = "Copies to which noise was added, beside the clean recordings of their groups."
        grid = _matrix(study, labels, "noise", study.noisy)
        yield Section("By added noise", [*text, note], [grid])


def _matrix(
    study: Study,
    labels: Sequence[str],
    dimension: str,
    found: Collected,
    wanted: Sequence[str | None] = (),
) -> Grid:
    """Values down, policies across."""
    values = wanted or study.values(dimension, found)
    places = [(value, label) for value in values for label in labels]
    tallies = {
        (value, label): tally
        for value, label in places
        if (tally := found.policies[label][dimension].get(value)) is not None
    }
    scored = dict(zip(tallies, study.scores(list(tallies.values()), found), strict=True))
    rows = [
        (value or NONE, *(_cell_text(scored.get((value, label))) for label in labels))
        for value in values
    ]
    return Grid("", (dimension.replace("_", " "), *labels), rows)


def _cell_text(found: Scores | None) -> str:
    if found is None or not found.stale_rate.n:
        return NONE
    stale = f"{number(found.stale_rate.value, 1, 100)} {span(found.stale_rate.interval, 1, 100)}"
    return f"{stale.rstrip()}; {number(found.delay_s.value)} s, {number(found.cost.value)}"


def _onsets(study: Study) -> Iterator[Section]:
    labels = study.labels((*TABLE_1, *TABLE_2[1:]))
    actions = study.values("action")

    def phases(label: str, action: str | None) -> str:
        along = study.main.policies[label]
        tally = along[None][None] if action is None else along["action"][action]
        total = sum(tally.onset_phases.values())
        if not total:
            return NONE
        return " / ".join(number(tally.onset_phases[p] / total, 1, 100) for p in PHASES)

    rows = [
        (label, phases(label, None), *(phases(label, action) for action in actions))
        for label in labels
    ]
    if all(row[1] == NONE for row in rows):
        return
    text = [
        "Of the corrected recordings, in %: the first onset came before the launch (or while "
        "nothing was under way) / before the deadline of the version then held / after it. Only "
        "the second kind leaves something for a forecast to save."
    ]
    names = [str(action) for action in actions]
    yield Section(
        "Where the correction began", text, [Grid("", ("policy", "all actions", *names), rows)]
    )


def _sweep(study: Study) -> Iterator[Section]:
    found = study.everything
    grids = []
    for (_, other), along in found.paired.items():
        cells = {name: pairs for name, pairs in along.get("cell", {}).items() if name is not None}
        ratios = [pairs.ratios(found.order) for pairs in cells.values()]
        spread = iter(study.spread([ratio for three in ratios for ratio in three]))
        texts = {name: _contrast([next(spread) for _ in range(3)]) for name in cells}
        gaps = [
            (gap, row)
            for row, gap in enumerate(bin_names(GAPS_S))
            if any(f"{row}|{column}" in texts for column in range(len(EDITS_S)))
        ]
        rows = [
            (gap, *(texts.get(f"{row}|{column}", NONE) for column in range(len(EDITS_S))))
            for gap, row in gaps
        ]
        if rows:
            title = f"{OURS} minus {other}: stale points, delay (pairs); cost [95 %]"
            grids.append(Grid(title, ("gap \\ edit", *bin_names(EDITS_S)), rows))
    text = [
        "Corrected recordings of every subset by their gap (from when the first value could be "
        "heard to the correction's onset) and the length of the edit (from the onset until the "
        "new value could be heard). Negative is better. * the interval of the cost excludes 0."
    ]
    yield Section("Where the advantage begins and ends", text, grids)


def _contrast(found: Sequence[Difference]) -> str:
    stale, delay, cost = found
    mark = f" {MARKS[cost.verdict]}" if cost.verdict == "order" else ""
    return (
        f"{signed(stale.value, 1, 100)}, {signed(delay.value)} s ({stale.n}); "
        f"{signed(cost.value)} {signed_span(cost.interval)}{mark}"
    )


def _prevalence(study: Study) -> Iterator[Section]:
    labels = study.labels((*TABLE_1, "rassg-no-cancel", "consensus-1", "consensus-4"))
    labels = [
        label
        for label in labels
        if {"corrected", "stable"} <= set(study.main.policies[label]["variant"])
    ]
    if not labels:
        return
    order = study.main.order
    columns: dict[str, Sequence[str]] = {"policy": labels}
    for share in PREVALENCES:
        ratios = [
            weighted({v: t.ratios(order) for v, t in along["variant"].items()}, share)
            for along in (study.main.policies[label] for label in labels)
        ]
        figured = study.spread([ratio for four in ratios for ratio in (four[0], four[2], four[3])])
        stale, delay, cost = figured[::3], figured[1::3], figured[2::3]
        at = f"{100 * share:g} %"
        columns[f"stale % at {at}"] = [number(item.value, 2, 100) for item in stale]
        columns[f"delay s at {at}"] = [number(item.value) for item in delay]
        columns[f"cost at {at} [95 %]"] = joined(
            [(number(item.value), span(item.interval)) for item in cost]
        )
    text = [
        "Outside of this experiment far fewer requests are corrected. Here the recordings are "
        "weighted as if that share of them were: the rarer corrections are, the less a policy can "
        "gain by waiting for them."
    ]
    yield Section(
        "If corrections were rarer", text, [grid_of("", columns), *_rarer_pairs(study, labels)]
    )


def _rarer_pairs(study: Study, labels: Sequence[str]) -> list[Grid]:
    order = study.main.order
    others = [label for label in labels if (label, OURS) in study.main.paired]
    rows = []
    for label in others:
        along = study.main.paired[label, OURS]["variant"]
        if not {"corrected", "stable"} <= set(along):
            continue
        parts = {variant: pairs.ratios(order) for variant, pairs in along.items()}
        found = study.spread([weighted(parts, share)[2] for share in PREVALENCES])
        cells = (
            f"{signed(item.value)} {signed_span(item.interval)} {MARKS[item.verdict]}"
            for item in found
        )
        rows.append((label, *cells))
    if not rows:
        return []
    headers = ("policy", *(f"at {100 * share:g} %" for share in PREVALENCES))
    title = f"Paired differences of cost from {OURS} (* order, = tie, ? not resolved)"
    return [Grid(title, headers, rows)]
