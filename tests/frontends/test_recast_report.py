"""What `simcore recast report` says of recordings whose figures are known."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from frontends.recast.report import packs as packs_module
from frontends.recast.report.command import report_command
from frontends.recast.report.figures import Part, parts
from frontends.recast.report.frames import (
    prefix_frame,
    recording_frame,
    repair_frame,
    value_frame,
)
from frontends.recast.report.markdown import markdown
from frontends.recast.report.packs import Pack, recast_packs
from frontends.recast.report.prefixes import judge, meant
from frontends.recast.report.tables import timing_table
from frontends.recast.report.words import plain_words, word_errors
from frontends.recast.report.write import report
from simcore.errors import InputError, InputErrors, MissingError, UsageError
from simcore.files.traces import write_traces
from simcore.testing import recordings
from simcore.trace import Arrival, Recording, Repair, Value, canonical

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SECOND = 1_000_000


def call(time: str, tool: str = "book", **others: str) -> str:
    text = canonical({"tool": tool, "arguments": {"time": time, **others}})
    assert text is not None
    return text


THREE, FOUR, FIVE = call("15:00"), call("16:00"), call("17:00")


def heard(
    arguments: Sequence[str | None],
    values: Sequence[tuple[str, float]] = (),
    repairs: Sequence[tuple[float, float | None]] = (),
    **fields: Any,
) -> Recording:
    """A recording with a prefix a second, each decoded in 0.4 s."""
    last = len(arguments)
    given: dict[str, Any] = {"labelled": True, "target": values[-1][0] if values else None}
    return Recording(
        recording_id=fields.pop("recording_id", "r"),
        audio_end_us=last * SECOND,
        arrivals=tuple(
            Arrival(
                prefix_end_us=end * SECOND,
                arrived_at_us=end * SECOND + 400_000,
                text=fields.get("text", "book it for three p.m."),
                confidence=0.9,
                argument=argument,
                is_final=end == last,
                service_us=400_000,
            )
            for end, argument in enumerate(arguments, start=1)
        ),
        values=tuple(Value(argument, round(at * SECOND)) for argument, at in values),
        repairs=tuple(
            Repair(round(onset * SECOND), None if end is None else round(end * SECOND), "any")
            for onset, end in repairs
        ),
        **given | {key: value for key, value in fields.items() if key != "text"},
    )


def outcomes(recording: Recording) -> list[str]:
    return [judgement.outcome for judgement in judge(recording)]


def wrong_changes(recording: Recording) -> list[bool]:
    return [judgement.wrong_change for judgement in judge(recording)]


def test_a_prefix_is_held_against_the_value_that_had_been_said_last() -> None:
    recording = heard(
        [None, THREE, THREE, None, FIVE, THREE, FOUR, FOUR],
        [(THREE, 1.5), (FOUR, 5.0)],
        [(3.5, 5.0)],
    )
    assert outcomes(recording) == [
        *("right", "right", "right", "missing", "wrong", "behind", "right", "right")
    ]
    assert wrong_changes(recording) == [False, False, False, True, True, True, False, False]


def test_only_a_change_is_churn() -> None:
    recording = heard([FIVE, FIVE, THREE, None, None], [(THREE, 0.5)])
    assert wrong_changes(recording) == [True, False, False, True, False]


def test_a_value_heard_before_its_annotated_end_is_early_and_no_wrong_change() -> None:
    recording = heard([THREE, THREE, FOUR, FOUR], [(THREE, 1.5), (FOUR, 3.5)], [(2.0, 3.5)])
    assert outcomes(recording) == ["early", "right", "early", "right"]
    assert not any(wrong_changes(recording))


def test_a_value_available_at_the_end_of_the_prefix_is_meant_by_then() -> None:
    assert outcomes(heard([None, THREE], [(THREE, 1.0)])) == ["missing", "right"]


@pytest.mark.parametrize(("end", "meant_in"), [(3.5, 3), (None, 1)])
def test_after_an_abandonment_nothing_is_right(end: float | None, meant_in: int) -> None:
    said = heard([THREE] * 4, [(THREE, 0.5)], [(1.5, end)], target=None)
    assert outcomes(said) == ["right"] * meant_in + ["behind"] * (4 - meant_in)
    obeyed = heard([THREE] * meant_in + [None] * (4 - meant_in))
    assert outcomes(replace(said, arrivals=obeyed.arrivals)) == ["right"] * 4


def test_another_field_or_tool_is_another_value_and_the_old_one_can_come_back() -> None:
    more, other = call("15:00", guests="5"), call("15:00", tool="cancel")
    recording = heard([THREE, THREE, more, other], [(THREE, 0.5), (more, 1.5), (other, 3.5)])
    assert outcomes(recording) == ["right", "behind", "right", "right"]
    again = heard([THREE, FOUR, THREE], [(THREE, 0.5), (FOUR, 1.5), (THREE, 2.5)])
    assert outcomes(again) == ["right"] * 3
    assert outcomes(replace(again, arrivals=heard([THREE] * 3).arrivals))[1] == "behind"


ARGUMENTS = st.sampled_from([None, THREE, FOUR, FIVE])


@given(
    st.lists(ARGUMENTS, min_size=1, max_size=8),
    st.lists(st.tuples(st.sampled_from([THREE, FOUR, FIVE]), st.floats(0, 9)), max_size=3),
)
def test_right_is_the_latest_value_and_what_is_meant_is_never_churn(
    arguments: list[str | None], said: list[tuple[str, float]]
) -> None:
    said.sort(key=lambda value: value[1])
    recording = heard(arguments, said)
    steps = meant(recording)
    for arrival, outcome in zip(recording.arrivals, outcomes(recording), strict=True):
        latest = None
        for value in recording.values:
            if value.available_us <= arrival.prefix_end_us:
                latest = value.argument
        assert (outcome == "right") == (arrival.argument == latest)
    perfect = [
        [step.argument for step in steps if step.since_us <= arrival.prefix_end_us][-1]
        for arrival in recording.arrivals
    ]
    judged = judge(replace(recording, arrivals=heard(perfect).arrivals))
    assert all(j.outcome == "right" and not j.wrong_change for j in judged)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at three p.m.", "At 3 PM,"),
        ("eight fifteen in the evening", "8.15 in the evening"),
        ("seven oh five a.m.", "7:05 AM"),
        ("ten thirty", "1030"),
        ("three o'clock", "3:00"),
        ("sixteen hundred dollars", "$1,600"),
        ("one dollar", "$1"),
        ("forty euros and no more", "€40 and no more"),
        ("Hmm, on second thought", "on second thought"),
    ],
)
def test_one_thing_said_counts_the_same_however_it_is_written(one: str, other: str) -> None:
    assert plain_words(one) == plain_words(other)


def test_word_errors_are_counted_in_the_words_spoken() -> None:
    assert word_errors("pay Anna fifty dollars today", "pay Hanna $50") == (2, 5)
    assert word_errors("pay Anna", "") == (2, 2)
    assert word_errors("um", "thank you") == (2, 0)


def test_without_jiwer_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jiwer", None)
    with pytest.raises(MissingError, match=r"rassg-sim\[speech\]"):
        word_errors("three", "three")


WORDS = st.lists(
    st.sampled_from(["book", "a", "table", "at", "three", "no", "wait", "$", "40", "p.m.", "7:05"])
)


@given(WORDS, WORDS)
def test_word_errors_are_a_distance(said: list[str], got: list[str]) -> None:
    spoken, text = " ".join(said), " ".join(got)
    errors, words = word_errors(spoken, text)
    assert words == len(plain_words(spoken))
    assert (errors == 0) == (plain_words(spoken) == plain_words(text))
    assert errors >= abs(words - len(plain_words(text)))


NOISY = ["recast/noisy-20db", "recast/noisy-10db"]
SPOKEN = "Book it for three p.m."


def corpus() -> tuple[Pack, Pack]:
    """Eight pairs of stable ordinary and corrected early recordings; one more, and with noise."""
    common: dict[str, Any] = {"domain": "time", "spoken": SPOKEN, "voice": "a"}
    train = []
    for index in range(8):
        pair = {**common, "group_id": f"g{index}", "pair_id": f"p{index}"}
        stable = heard(
            [None, THREE, THREE, THREE],
            [(THREE, 1.5)],
            recording_id=f"stable-{index}",
            variant="stable",
            subset="ordinary",
            **pair,
        )
        corrected = heard(
            [None, THREE, FIVE if index == 0 else THREE, FOUR],
            [(THREE, 1.5), (FOUR, 3.5)],
            [(2.5, 3.5)],
            recording_id=f"corrected-{index}",
            variant="corrected",
            subset="early",
            editing="seen" if index % 2 else "none",
            **pair,
        )
        train += [stable, corrected]
    missed: dict[str, Any] = {"values": [(THREE, 1.5)], "subset": "early", "group_id": "copied"}
    test = [
        heard([None] * 3, recording_id="clean", **missed),
        heard([FOUR] * 3, recording_id="loud", noise="10 dB", **missed),
    ]
    return (
        Pack("x/train", tuple(train), "0" * 64, {"service_scale": 0.5}),
        Pack("x/test", tuple(test), "1" * 64, None),
    )


def part(found: Sequence[Part], *key: str | None) -> Part:
    (only,) = (p for p in found if (p.pack, p.dimension, p.value) == key)
    return only


def test_rates_are_of_sums_and_noise_stands_alone() -> None:
    found = parts(recording_frame(corpus()), resamples=200)
    train = part(found, "x/train", None, None).rates
    assert (train["wer"].count, train["wer"].n) == (0, 16 * 5)
    assert train["wer"].value == 0
    assert train["wer"].interval is None
    assert (train["final"].count, train["final"].n) == (16, 16)
    assert train["final"].interval is not None
    assert train["final"].interval.kind == "exact"
    assert (train["prefix"].count, train["prefix"].n) == (47, 48)
    assert (train["churn"].count, train["churn"].n) == (1, 64)
    assert train["churn"].interval is not None
    assert train["churn"].interval.low == 0 < train["churn"].interval.high < 0.1
    everything = part(found, None, None, None)
    assert len(everything.rows) == 17
    assert everything.rates["final"].count == 16
    loud = part(found, None, "noise", "10 dB")
    assert len(loud.rows) == 1
    assert loud.rates["final"].value == 0
    assert part(found, None, "noise", "clean").rows["recording"].to_list() == ["clean"]
    assert part(found, None, "editing", "no phrase").rates["prefix"].count == 11
    early = part(found, "x/train", "subset", "early").rates
    assert (early["prefix"].count, early["prefix"].n) == (23, 24)


def test_a_pack_of_noise_alone_is_judged_as_any() -> None:
    train, _ = corpus()
    loud = replace(train, recordings=tuple(replace(r, noise="20 dB") for r in train.recordings))
    assert len(part(parts(recording_frame([loud])), None, None, None).rows) == 16


def test_what_the_annotations_do_not_say_is_not_judged() -> None:
    unlabelled = heard([THREE], labelled=False, recording_id="u")
    bare = heard([THREE, FOUR], target=FOUR, recording_id="b")
    found = parts(recording_frame([Pack("x/y", (unlabelled, bare), "", None)]))[0].rates
    assert (found["final"].count, found["final"].n) == (1, 1)
    assert found["prefix"].value is found["churn"].value is found["wer"].value is None


def test_a_pair_needs_both_variants() -> None:
    train, _ = corpus()
    frame = recording_frame([replace(train, recordings=train.recordings[:3])])
    assert frame["pair"].to_list() == ["p0", "p0", None]


def test_distances_are_from_the_annotations() -> None:
    twice = heard([None] * 9, [(THREE, 1.0), (FOUR, 4.0), (FIVE, 7.0)], [(2.5, 4.0), (4.5, 7.0)])
    left = heard([None] * 4, [(THREE, 2.0)], [(1.5, None)], target=None)
    frame = repair_frame([Pack("x/y", (twice, replace(left, recording_id="left")), "", None)])
    assert frame["gap_s"].to_list() == [1.5, 0.5, -0.5]
    assert frame["resolve_s"].to_list() == [1.5, 2.5, None]
    assert frame["tail_s"].to_list() == [None, 2.0, None]


def test_a_value_is_followed_until_the_next_repair() -> None:
    recording = heard([None, THREE, THREE, FOUR], [(THREE, 1.5), (FOUR, 3.5)], [(2.5, 3.5)])
    frame = value_frame([Pack("x/y", (recording,), "", None)])
    first = frame.filter(value=1)
    assert first["since_s"].to_list() == [-0.5, 0.5]
    assert first["heard"].to_list() == [False, True]
    assert frame.filter(value=2)["heard"].to_list() == [False, False, False, True]


def test_waiting_for_the_decoder_is_told_from_its_work() -> None:
    late = heard([None, THREE], [(THREE, 1.5)])
    waiting = replace(late.arrivals[1], arrived_at_us=2_900_000)
    pack = Pack("x/y", (replace(late, arrivals=(late.arrivals[0], waiting)),), "", None)
    grid = timing_table([pack], prefix_frame([pack]))
    row = dict(zip(grid.headers, grid.rows[0], strict=True))
    assert row["service s, max"] == "0.40"
    assert row["behind s, max"] == "0.90"
    assert row["waited %"] == "50.0"
    assert row["decoder busy %"] == "40.0"


@settings(max_examples=20, deadline=None)
@given(st.lists(recordings(), min_size=1, max_size=3, unique_by=lambda recording: recording.target))
def test_any_recordings_can_be_reported(some: list[Recording]) -> None:
    packs = [Pack("x/y", tuple(some), "", None)]
    cut = parts(recording_frame(packs), resamples=50)
    text = markdown(packs, cut, prefix_frame(packs), repair_frame(packs), ())
    assert f"- {len(some)} recordings in" in text


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("x")
    for pack in corpus():
        name = folder / pack.name.partition("/")[2]
        write_traces(name.with_suffix(".parquet"), pack.recordings, provenance=pack.provenance)
    report([folder / "train.parquet", folder / "test.parquet"], folder / "out")
    return folder


def test_the_report_and_its_pictures_lie_beside_each_other(written: Path) -> None:
    text = (written / "out" / "report.md").read_text(encoding="utf-8")
    assert "- 17 recordings in 9 groups" in text
    assert "The final parse is right in 16 of 17 recordings: 94.1 %" in text
    assert "all of 2 recordings have no text of what was said" in text
    assert "Recordings with added noise count by noise alone" in text
    for name in ("subsets", "quality", "prefixes", "distances", "timing"):
        assert f"({name}.svg)" in text
        assert (written / "out" / f"{name}.svg").read_bytes().startswith(b"<svg")
        assert (written / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_packs_give_the_same_bytes(written: Path) -> None:
    before = {path.name: path.read_bytes() for path in (written / "out").iterdir()}
    report([written / "train.parquet", written / "test.parquet"], written / "again")
    assert {path.name: path.read_bytes() for path in (written / "again").iterdir()} == before


def test_mistakes_are_said_before_anything_is_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(InputError, match="unknown trace pack 'recast/tset'; did you mean"):
        report(["recast/tset"], out)
    with pytest.raises(UsageError, match="two packs are called 'recast/test'"):
        report(["recast/test", "recast/test"], out)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputErrors, match="line 1"):
        report([broken], out)
    with pytest.raises(UsageError, match="is a file, not a folder"):
        report(["recast/test"], broken)
    assert not out.exists()


def test_the_command_takes_the_recast_packs_that_are_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(packs_module, "pack_names", lambda: ["guard/sessions"])
    with pytest.raises(UsageError, match="no recast pack here"):
        recast_packs()
    monkeypatch.setattr(packs_module, "pack_names", lambda: ["recast/test", "recast/train"])
    assert recast_packs() == (
        ["recast/train", "recast/test"],
        ["recast/dev-selection", "recast/dev-calibration", *NOISY],
    )
    asked: list[Any] = []
    monkeypatch.setattr(
        "frontends.recast.report.write.report", lambda *given: asked.append(given) or tmp_path
    )
    app = typer.Typer()
    app.command()(report_command)
    result = CliRunner().invoke(app, ["--out", str(tmp_path)])
    assert result.exit_code == 0
    assert asked == [(["recast/train", "recast/test"], tmp_path)]
    assert "not here, so not in the report: recast/dev-selection" in result.output
