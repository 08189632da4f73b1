"""The paper's tables: what stands in them is what the trajectories say."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import polars as pl
import pytest

from simcore import Scenario, load_scenario, run
from simcore.bootstrap import Interval
from simcore.metrics import Difference
from simcore.report.checks import Answer, _bounded, checks
from simcore.report.markdown import markdown
from simcore.report.paper_tables import sections
from simcore.report.study import Study, build_study, weighted, with_controls
from simcore.report.summary import build_summary

if TYPE_CHECKING:
    from simcore.trace import Recording

POLICIES = ["eou", "local_agreement", "rassg", "rassg-no-cancel", "consensus-2"]


@pytest.fixture(scope="module")
def scenario() -> Scenario:
    """Eight pairs of ReCAST under two actions; the one control is their own forecast's."""
    loaded = load_scenario("tables", policies=POLICIES, overrides=["checkpoints=[hazard]"])

    def with_three(index: int, recording: Recording) -> Recording:
        own = recording.forecast("hazard")
        assert own is not None
        stable = recording.variant == "stable"
        return replace(
            recording,
            editing=None if stable else ("none" if index % 4 == 1 else "seen"),
            forecasts=(
                own,
                replace(own, checkpoint="hazard-permuted"),
                replace(own, checkpoint="always", p_bad=(1.0,) * len(own.p_bad)),
            ),
        )

    recordings = tuple(with_three(*pair) for pair in enumerate(loaded.recordings[:16]))
    noisy = replace(recordings[1], recording_id="noisy", noise="10 dB")
    recordings = (*recordings, noisy)
    return with_controls(replace(loaded, recordings=recordings, actions=loaded.actions[:2]))


@pytest.fixture(scope="module")
def frame(scenario: Scenario) -> pl.DataFrame:
    return run(scenario)


@pytest.fixture(scope="module")
def clean(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("recording_id") != "noisy")


@pytest.fixture(scope="module")
def study(scenario: Scenario, frame: pl.DataFrame) -> Study:
    return build_study([frame], scenario, resamples=50)


def test_every_other_checkpoint_is_a_control(scenario: Scenario, frame: pl.DataFrame) -> None:
    labels = [spec.label for spec in scenario.policies]
    assert labels == [*POLICIES, "forecast: permuted", "forecast: always"]
    read = frame.filter(pl.col("policy").str.starts_with("forecast"))["checkpoint"].unique()
    assert set(read) == {"hazard-permuted", "always"}


def test_noisy_copies_stand_apart(study: Study, frame: pl.DataFrame) -> None:
    assert study.recordings == 16
    values = {value: tally.n for value, tally in study.noisy.policies["eou"]["noise"].items()}
    assert values == {"clean": 4, "10 dB": 2}
    assert any(part.heading == "By added noise" for part in sections(study))


def test_controls_are_paired_with_the_forecast(study: Study, clean: pl.DataFrame) -> None:
    pairs = study.main.pairs["forecast: permuted", "rassg"]
    assert pairs.n == clean.filter(policy="rassg").height
    assert (pairs.removed, pairs.added) == (0, 0), "these are the same forecasts"
    assert study.main.pairs["forecast: always", "rassg"].n == pairs.n


def test_matched_launches_are_counted_from_the_rows(study: Study, clean: pl.DataFrame) -> None:
    key = ["recording_id", "action", "replication"]
    ours, other = (
        {tuple(r[k] for k in key): r for r in clean.filter(policy=label).to_dicts()}
        for label in ("rassg", "rassg-no-cancel")
    )
    pairs = study.main.pairs["rassg", "rassg-no-cancel"]
    assert pairs.n == len(ours) == 32
    assert pairs.removed == sum(other[k]["stale"] and not ours[k]["stale"] for k in ours) > 0
    assert pairs.added == sum(ours[k]["stale"] and not other[k]["stale"] for k in ours)
    assert pairs.late == sum(row["late_updates"] for row in ours.values())
    assert pairs.late_base == sum(row["late_updates"] for row in other.values()) > pairs.late
    assert pairs.same_launch == pairs.n
    share = pairs.removed_share(study.main.order)
    assert share.value == (pairs.removed - pairs.added) / sum(r["stale"] for r in other.values())


def test_prevalence_weighs_the_variants(study: Study, clean: pl.DataFrame) -> None:
    parts = study.main.policies["local_agreement"]["variant"]
    ratios = weighted({v: t.ratios(study.main.order) for v, t in parts.items()}, 0.1)
    means = dict(
        clean.filter(policy="local_agreement").group_by("variant").agg(pl.col("cost").mean()).rows()
    )
    assert ratios[3].value == pytest.approx(0.1 * means["corrected"] + 0.9 * means["stable"])


def test_the_report_begins_with_what_is_by_construction_and_has_every_part(
    study: Study, scenario: Scenario, frame: pl.DataFrame, clean: pl.DataFrame
) -> None:
    parts = sections(study)
    text = markdown(build_summary(frame, scenario, resamples=20), parts)
    assert text.splitlines()[2].startswith("By construction:")
    headings = [part.heading for part in parts]
    for wanted in (
        "Table 1",
        "Table 2",
        "forecast worth",
        "Matched",
        "advantage",
        "rarer",
        "began",
    ):
        assert any(wanted in heading for heading in headings), wanted
    (table,) = (part.grids[0] for part in parts if part.heading.startswith("Table 1"))
    assert [row[0] for row in table.rows] == ["eou", "local_agreement", "rassg"]
    assert [row[2] for row in table.rows] == ["0.58", "50.00", "3.15"], "the paper's beside ours"
    silent = next(part for part in parts if "forecast worth" in part.heading).grids[-1]
    assert silent.title == "Only corrected recordings without an editing phrase"
    alone = clean.filter(
        pl.col("recording_id").is_in(
            [r.recording_id for r in scenario.recordings if r.editing == "none" and not r.noise]
        ),
        policy="rassg",
    )
    assert silent.rows[0][2] == f"{alone['stale'].sum()}/{alone.height}"


def test_checks_name_only_what_was_run(study: Study) -> None:
    claims = [check.claim for check in checks(study)]
    assert "rassg is faster than local_agreement" in claims
    assert not any("stream_rag" in claim for claim in claims)


@pytest.mark.parametrize(
    ("interval", "low", "strict", "answer"),
    [
        ((0.1, 0.3), 0.0, True, "yes"),
        ((-0.1, 0.3), 0.0, True, "unresolved"),
        ((-0.3, -0.1), 0.0, True, "no"),
        ((0.91, 0.97), 0.9, False, "yes"),
        ((0.85, 0.97), 0.9, False, "unresolved"),
        ((0.5, 0.7), 0.9, False, "no"),
        (None, 0.0, True, "unresolved"),
    ],
)
def test_a_claim_needs_the_whole_interval(
    interval: tuple[float, float] | None, low: float, strict: bool, answer: Answer
) -> None:
    span = None if interval is None else Interval(*interval, "bootstrap")
    clear = interval is not None and not interval[0] <= 0 <= interval[1]
    found = Difference(0.2, 9, span, "order" if clear else "unresolved")
    assert _bounded("", found, low=low, strict=strict).answer == answer
