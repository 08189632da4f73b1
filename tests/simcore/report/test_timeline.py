from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from policies.rassg import Rassg
from policies.stream_rag import StreamRag
from simcore.errors import UsageError
from simcore.recorder import LogRecord, VersionRecord
from simcore.timeline import perfetto, perfetto_run, save_timeline, timeline_chart
from simcore.timeline.perfetto import Lane
from simcore.timeline.story import requests, short_names, spans
from simcore.tool import ToolProfile
from simcore.trace import Arrival, Forecast, Recording, Repair, Value, canonical
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt


def book(time: str) -> str:
    text = canonical({"tool": "book", "arguments": {"time": time, "guests": 2}})
    assert text is not None
    return text


THREE, FOUR = book("15:00"), book("16:00")
PROFILE = ToolProfile("book", runtime_us=3_500_000, cancel_window_us=2_400_000)


def recording() -> Recording:
    """Says three, repairs it to four; the forecast sees it coming, though too late for an eager."""
    heard = [None, None, THREE, THREE, THREE, THREE, THREE, FOUR, FOUR, FOUR, FOUR, FOUR]
    ends = [min(960_000 * (i + 1), 11_300_000) for i in range(len(heard))]
    arrivals = tuple(
        Arrival(end, end + 310_000, f"words {i}", 0.9, argument, i == len(heard) - 1)
        for i, (end, argument) in enumerate(zip(ends, heard, strict=True))
    )
    at = tuple(range(0, 12_000_000, 320_000))
    p_bad = tuple(0.86 if 4_900_000 <= t < 8_600_000 else 0.1 for t in at)
    return Recording(
        "r1",
        11_300_000,
        arrivals,
        forecasts=(Forecast("gru-0", at, p_bad),),
        labelled=True,
        target=FOUR,
        origin_us=7_250_000,
        values=(Value(THREE, 2_600_000), Value(FOUR, 7_250_000)),
        repairs=(Repair(4_500_000, 7_250_000, "prospective"), Repair(9_000_000, None, "open")),
    )


def version(call: int, number: int, argument: str, c: int, outcome: Any) -> VersionRecord:
    return VersionRecord(call, number, argument, c, c, c + 2_400_000, c + 3_500_000, outcome)


VERSIONS = [
    version(1, 1, FOUR, 8_000_000, "executed"),
    version(1, 0, THREE, 7_000_000, "updated"),
    version(0, 0, THREE, 3_000_000, "cancelled"),
    version(2, 0, THREE, 9_000_000, "executed"),
]
LOG = [
    LogRecord(2_990_000, "tick"),
    LogRecord(3_000_000, "launched", 0, 0, THREE, 5_400_000),
    LogRecord(5_000_000, "cancel_requested", 0, 0, THREE),
    LogRecord(5_020_000, "cancelled", 0, 0, THREE),
    LogRecord(7_000_000, "launched", 1, 0, THREE, 9_400_000),
    LogRecord(7_980_000, "update_requested", 1, 0, THREE),
    LogRecord(8_000_000, "updated", 1, 1, FOUR, 10_400_000),
    LogRecord(9_000_000, "launched", 2, 0, THREE, 11_400_000),
    LogRecord(11_390_000, "cancel_requested", 2, 0, THREE),
    LogRecord(11_400_000, "irreversible", 2, 0, THREE),
    LogRecord(11_410_000, "late_cancel", 2, 0, THREE),
    LogRecord(11_500_000, "completed", 1, 1, FOUR),
]


def run(policy: Any, checkpoint: str | None) -> tuple[list[VersionRecord], list[LogRecord]]:
    found = simulate(recording(), PROFILE, policy, checkpoint=checkpoint, log=True)
    return list(found.versions), list(found.log)


STORIES = [(VERSIONS, LOG), run(Rassg, "gru-0"), run(StreamRag, None), ([], [])]


def test_a_version_ends_where_it_was_taken_back_or_at_its_deadline() -> None:
    found = spans(recording(), VERSIONS, LOG)
    assert [(s.call, s.version, s.begin_us, s.end_us, s.completion_us) for s in found] == [
        (0, 0, 3_000_000, 5_020_000, None),
        (1, 0, 7_000_000, 8_000_000, None),
        (1, 1, 8_000_000, 10_400_000, 11_500_000),
        (2, 0, 9_000_000, 11_400_000, 12_500_000),
    ]
    assert [s.stale for s in found] == [False, False, False, True]
    unlabelled = Recording("u", 12_000_000, recording().arrivals)
    assert {s.stale for s in spans(unlabelled, VERSIONS, LOG)} == {None}


def test_requests_know_whether_they_came_in_time() -> None:
    assert [(r.kind, r.call, r.acknowledged_us - r.at_us, r.in_time) for r in requests(LOG)] == [
        ("cancel", 0, 20_000, True),
        ("update", 1, 20_000, True),
        ("cancel", 2, 20_000, False),
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([THREE, FOUR], ["15:00", "16:00"]),
        ([THREE], ["2 15:00"]),
        ([canonical({"tool": "list", "arguments": {}})], ["list"]),
        ([canonical({"tool": t, "arguments": {}}) for t in ("on", "off")], ["on", "off"]),
        (
            [canonical([{"tool": "get", "arguments": {"id": i}}, {"tool": "pay"}]) for i in (1, 2)],
            ["1", "2"],
        ),
        ([book("x" * 50)], ["2 " + "x" * 29 + "…"]),
        ([], []),
    ],
)
def test_short_names_tell_arguments_apart(arguments: list[str], expected: list[str]) -> None:
    assert list(short_names(arguments).values()) == expected


@pytest.mark.parametrize("story", STORIES)
def test_perfetto_events_are_well_formed(
    story: tuple[list[VersionRecord], list[LogRecord]],
) -> None:
    one = perfetto(recording(), *story, checkpoint="gru-0")
    two = perfetto_run([Lane("a", recording(), *story), Lane("b", recording(), *story, "gru-0")])
    assert json.loads(json.dumps(two)) == two
    assert {event["pid"] for event in two["traceEvents"]} == {1, 2}
    events = one["traceEvents"]
    named = {(e["pid"], e["tid"]) for e in events if e["ph"] == "M"}
    slices: dict[int, list[tuple[int, int]]] = {}
    for event in events:
        assert isinstance(event["name"], str)
        assert all(isinstance(event[key], int) for key in ("ts", "pid", "tid"))
        assert event["ts"] >= 0
        assert (event["pid"], event["tid"]) in named
        assert event["ph"] in {"M", "X", "i", "C"}
        if event["ph"] == "X":
            assert event["dur"] >= 0
            slices.setdefault(event["tid"], []).append((event["ts"], event["ts"] + event["dur"]))
    assert sum(event["ph"] == "C" for event in events) == len(recording().forecasts[0].at_us)
    for track in slices.values():
        for start, end in track:
            for low, high in track:
                assert not start < low < end < high, "slices of a track are apart or nested"


def test_perfetto_tells_what_became_of_each_version() -> None:
    events = perfetto(recording(), VERSIONS, LOG)["traceEvents"]
    names = [event["name"] for event in events]
    assert "15:00 irreversible, stale" in names
    assert "16:00 irreversible" in names
    assert "cancel call 2 (late)" in names
    assert "final: 16:00" in names


@cache
def picture(story: int, checkpoint: str | None = None) -> alt.VConcatChart:
    return timeline_chart(
        recording(), PROFILE, *STORIES[story], title="A, B <c>", checkpoint=checkpoint
    )


def words(chart: alt.VConcatChart) -> list[str]:
    """Every text that a picture writes."""
    return [row["text"] for rows in chart.datasets.values() for row in rows if "text" in row]


@pytest.mark.parametrize("story", STORIES)
def test_lanes_share_one_time_axis(story: tuple[list[VersionRecord], list[LogRecord]]) -> None:
    spec = picture(STORIES.index(story), "gru-0").to_dict(validate=False)
    calls = len({v.call for v in story[0]})
    assert len(spec["vconcat"]) == 4 + calls
    domains = {
        tuple(layer["encoding"]["x"]["scale"]["domain"])
        for lane in spec["vconcat"]
        for layer in lane["layer"]
    }
    ((start, end),) = domains
    last = max([11.61, *((v.completion_us / 1e6) for v in story[0] if v.outcome == "executed")])
    assert start == 0
    assert end >= last


def test_a_picture_says_what_happened() -> None:
    told = words(picture(0))
    for word in ("says 15:00", "says 16:00", "final", "stale", "right", "cancelled", "late cancel"):
        assert word in told
    assert told.count("start") == 3
    assert told.count("repair") == 2
    assert "p(bad)" not in told


def test_the_veto_stands_at_its_last_chance() -> None:
    assert [v.outcome for v in STORIES[1][0]] == ["cancelled", "updated", "executed"]
    compared = [word for word in words(picture(1, "gru-0")) if " > " in word or " ≤ " in word]
    # g = 7.69 - 5.45 s at the decision: (0.5 + 0.3 g) / (5 + 0.3 g) = 0.21
    assert compared[0] == "0.86 > 0.21"
    assert len(compared) == 2
    assert compared[1].startswith("0.10 ≤")


def test_pictures_are_written_whole(tmp_path: Path) -> None:
    chart = picture(0)
    for name in ("one.png", "two.SVG"):
        save_timeline(chart, tmp_path / name, scale=0.5)
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    assert "says 15:00" in (tmp_path / "two.SVG").read_text()
    with pytest.raises(UsageError, match=r"end it in \.png or \.svg"):
        save_timeline(chart, tmp_path / "three.gif")
    with pytest.raises(UsageError, match="cannot write"):
        save_timeline(chart, tmp_path / "one.png" / "four.svg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.png", "two.SVG"]


def test_a_bare_recording_has_a_picture() -> None:
    bare = Recording("bare", 1_000_000, (Arrival(1_000_000, 1_200_000, "", 0.0, None, True),))
    assert "final" in words(timeline_chart(bare, PROFILE, [], [], title="bare"))
