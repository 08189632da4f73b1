"""The interpreter against small cases worked out on paper; their arithmetic is in the comments.

Unless a case says otherwise: D = 320 ms, P = 10 ms, kappa = 20 ms, l = 2 s, w = 1.6 s. Times below
are milliseconds.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.reference.interpreter import canonical, interpret

Json = dict[str, Any]


def us(milliseconds: float) -> int:
    return round(milliseconds * 1000)


def call(value: Any, tool: str = "book") -> Json:
    return {"tool": tool, "arguments": {"time": value}}


A, B, C = call("15:00"), call("16:00"), call("17:00")


def recording(*arrivals: tuple[Any, ...], bad: list[tuple[float, Any]] | None = None) -> Json:
    """Arrivals are (ms, argument[, confidence]); `bad` are (ms, p_bad or 12 masses)."""
    rows = [
        {
            "prefix_end_us": us(at),
            "arrived_at_us": us(at),
            "text": "",
            "confidence": rest[0] if rest else 1.0,
            "argument": argument,
            "is_final": False,
        }
        for at, argument, *rest in arrivals
    ]
    rows[-1]["is_final"] = True
    trace: Json = {"audio_end_us": rows[-1]["prefix_end_us"], "arrivals": rows}
    if bad is not None:
        masses = [p if isinstance(p, list) else [p, *[0] * 10, 1 - p] for _, p in bad]
        trace["forecasts"] = [
            {
                "checkpoint": "hand",
                "at_us": [us(at) for at, _ in bad],
                "p_bad": [1 - twelve[11] for twelve in masses],
                "masses": masses,
            }
        ]
    return trace


def profile(runtime: float = 2000, window: float = 1600, **costs: Any) -> Json:
    return {"runtime_us": us(runtime), "cancel_window_us": us(window), **costs}


def control(period: float = 320, processing: float = 10, kappa: float = 20, **rest: Any) -> Json:
    return {
        "period_us": us(period),
        "processing_us": us(processing),
        "acknowledgement_us": us(kappa),
        **rest,
    }


def play(
    trace: Json, policy: str, tool: Json | None = None, clock: Json | None = None, **options: Any
) -> Json:
    checkpoint = "hand" if "forecasts" in trace else None
    return interpret(trace, tool or profile(), clock or control(), policy, options, checkpoint)


def versions(row: Json) -> list[tuple[Any, ...]]:
    """(name of the argument, s, c, b in ms, outcome), to compare with the arithmetic."""
    names = {canonical(A): "A", canonical(B): "B", canonical(C): "C"}
    return [
        (names.get(argument, argument), s / 1000, c / 1000, b / 1000, outcome)
        for argument, s, c, b, outcome in row["versions"]
    ]


def test_eou_commits_after_the_final_flush() -> None:
    # A at 300 is not final: wait. Final at 1000, seen by tick 1280: c = s = 1290.
    # b = min(1290 + 1600, 1290 + 2000) = 2890, done at 3290, delay 3290 - 1000 = 2290.
    row = play({**recording((300, A), (1000, A)), "target": A}, "eou")
    assert versions(row) == [("A", 1290, 1290, 2890, "executed")]
    assert row["delay_s"] == 2.29
    assert row["cost"] == pytest.approx(0.3 * 2.29)
    assert (row["first_commit_us"], row["completed_us"]) == (1_290_000, 3_290_000)
    assert (row["commits"], row["skipped_ticks"], row["result"]) == (1, 0, "right")


@pytest.mark.parametrize(("window", "in_time"), [(660, True), (660.001, True), (659.999, False)])
def test_an_update_acknowledged_at_exactly_b_is_in_time(window: float, in_time: bool) -> None:
    # A seen at tick 320: c = 330, b = 330 + w. B seen at tick 960: d = 970, a = 990 = 330 + 660.
    # In time: s stays 330, b = min(990 + w, 2330) = 1650, done at 2330.
    # Late: A executed, B starts at 990, b = 990 + w, done at 2990.
    tool = profile(window=window)
    row = play({**recording((300, A), (960, B)), "target": B}, "rassg", tool, consensus=1)
    if in_time:
        assert versions(row) == [
            ("A", 330, 330, 330 + window, "updated"),
            ("B", 330, 990, 990 + window, "executed"),
        ]
        assert (row["updates"], row["late_updates"], row["commits"]) == (1, 0, 1)
        assert (row["stale"], row["delay_s"]) == (False, 1.37)  # 2330 - 960
    else:
        assert versions(row) == [
            ("A", 330, 330, 330 + window, "executed"),
            ("B", 990, 990, 990 + window, "executed"),
        ]
        assert (row["updates"], row["late_updates"], row["commits"]) == (0, 1, 2)
        assert (row["stale"], row["stale_versions"], row["delay_s"]) == (True, 1, 2.03)
        assert row["cost"] == pytest.approx(5 + 0.3 * 2.03)


@pytest.mark.parametrize(
    ("onset", "phase"),
    [
        (330, "before_launch"),  # A is committed at 330; at one instant the onset comes first
        (330.001, "before_deadline"),
        (990, "before_deadline"),  # b = 990 is the last instant before which A can be cancelled
        (991, "before_launch"),  # it was: nothing is under way until A is committed again at 1290
        (1300, "before_deadline"),
        (2000, "after_deadline"),  # b = 1290 + 660
        (None, None),
    ],
)
def test_where_the_first_onset_falls(onset: float | None, phase: str | None) -> None:
    # As in the first case of the veto below: A cancelled at 990, again from 1290 to b = 1950.
    trace = {**recording((300, A), (1500, A), bad=[(0, 1)]), "target": A}
    if onset is not None:
        later = {"onset_us": us(5000), "kind": "any"}
        trace["repairs"] = [later, {"onset_us": us(onset), "kind": "any"}]
    row = play(trace, "rassg", profile(window=660), consensus=1)
    assert [v[2:] for v in versions(row)] == [(330, 990, "cancelled"), (1290, 1950, "executed")]
    assert row["onset_phase"] == phase


def test_a_completed_call_bounds_the_window_and_still_counts_as_active() -> None:
    # l = 200: b = min(330 + 1600, 330 + 200) = 530, done at 530; B at tick 960 is late.
    row = play({**recording((300, A), (900, B)), "target": B}, "rassg", profile(200), consensus=1)
    assert versions(row) == [("A", 330, 330, 530, "executed"), ("B", 990, 990, 1190, "executed")]
    assert row["completed_us"] == 1_190_000


@pytest.mark.parametrize(("window", "cancelled_at"), [(660, 960), (659.999, 640)])
def test_the_veto_takes_the_last_decision_in_time(window: float, cancelled_at: float) -> None:
    # A: c = 330, b = 330 + w; p_bad = 1, so that the veto fires wherever it may.
    # b = 990: tick 640 has d = 650 and 650 + 320 + 20 = 990 is not > b: wait. Tick 960: 970 + 20 =
    # 990 <= b: cancel in time, at exactly b. b = 989.999: tick 640 is already the last.
    # Idle at the next tick, it commits A again: b = c + w. Final at 1500, seen by tick 1600.
    # First case: recommit at 1290, b = 1950. Second: recommit at 970, b = 1629.999, vetoed at tick
    # 1280 (1290 + 20 <= b < 1290 + 340 = 1630), recommit after the final flush at tick 1600.
    trace = {**recording((300, A), (1500, A), bad=[(0, 1)]), "target": A}
    row = play(trace, "rassg", profile(window=window), consensus=1)
    first, second, *rest = versions(row)
    assert first == ("A", 330, 330, 330 + window, "cancelled")
    assert second[2] == cancelled_at + 330
    assert [outcome for *_, outcome in (second, *rest)] == (
        ["executed"] if cancelled_at == 960 else ["cancelled", "executed"]
    )
    assert row["late_cancels"] == 0
    assert row["cancels"] == len(rest) + 1
    assert row["commits"] == len(rest) + 2


@pytest.mark.parametrize(
    ("stale_cost", "cancel_cost", "beta", "p_bad", "cancels"),
    [
        (1, 0.5, 0, 0.5, 0),  # 0.5 > 0.5 is false
        (1, 0.5, 0, 0.75, 1),  # 0.75 > 0.5
        (5, 2.25, 0.5, 0.5, 1),  # g = 970 - 330 = 640: 2.5 > 2.25 + 0.5 * 0.64 * 0.5 = 2.41
        (5, 2.35, 0.5, 0.5, 0),  # 2.5 > 2.51 is false
        (5, 2.35, 0.5, 1, 1),  # 5 > 2.35
    ],
)
def test_the_veto_weighs_risk_against_lost_progress(
    stale_cost: float, cancel_cost: float, beta: float, p_bad: float, cancels: int
) -> None:
    # b = 990 as above: the only decision that counts is tick 960 (final seen at tick 1280).
    tool = profile(window=660, stale_cost=stale_cost, cancel_cost=cancel_cost, delay_price=beta)
    trace = recording((300, A), (1200, A), bad=[(0, p_bad)])
    assert play(trace, "rassg", tool, consensus=1)["cancels"] == cancels
    assert play(trace, "rassg", tool, consensus=1, active_cancellation=False)["cancels"] == 0


def test_progress_is_at_most_the_runtime() -> None:
    # D = 320, P = kappa = 0, l = 320: A has c = 320, b = 640 = s + l. Tick 640: d = a = b, g = 320,
    # its largest value: a version that can still be cancelled in time is not past s + l.
    tool = profile(320, 5000, stale_cost=1, cancel_cost=0, delay_price=3.125)
    clock = control(processing=0, kappa=0)
    # 0.5 > 0 + 3.125 * 0.32 * 0.5 = 0.5 is false; with p = 0.51: 0.51 > 0.49
    even = recording((300, A), (900, A), bad=[(0, 0.5)])
    above = recording((300, A), (900, A), bad=[(0, 0.51)])
    assert play(even, "rassg", tool, clock, consensus=1)["cancels"] == 0
    assert play(above, "rassg", tool, clock, consensus=1)["cancels"] == 1


def test_a_forecast_made_at_the_tick_counts_and_a_later_one_does_not() -> None:
    tool = profile(window=660)  # the veto's decision is tick 960
    for at, cancels in ((960, 1), (960.001, 0)):
        trace = recording((300, A), (1200, A), bad=[(at, 1)])
        assert play(trace, "rassg", tool, consensus=1)["cancels"] == cancels


def test_agreement_counts_arrivals_and_not_ticks() -> None:
    # A at 300, 1000; B at 1300; A at 1900, 2200, 2500 (final 2900, empty).
    # consensus 2: tick 1280 (not yet B, which arrives at 1300): c = 1290.
    # consensus 3: A, A, A is complete at 2500: tick 2560: c = 2570. consensus 4: never, and the
    # final candidate is empty. Nothing else agrees three times.
    arrivals = [(300, A), (1000, A), (1300, B), (1900, A), (2200, A), (2500, A), (2900, None)]
    trace = {**recording(*arrivals), "target": A}
    assert play(trace, "local_agreement")["first_commit_us"] == 1_290_000
    assert play(trace, "rassg")["first_commit_us"] == 2_570_000
    row = play(trace, "rassg", consensus=4)
    assert (row["first_commit_us"], row["final_argument"], row["result"]) == (None, None, "none")
    assert (row["stale"], row["success"], row["delay_s"], row["cost"]) == (False, False, None, 5)


def test_an_empty_argument_breaks_agreement_and_never_updates() -> None:
    # Last three: A, empty, A: no agreement until the final flush, which is empty: nothing at all.
    row = play(recording((300, A), (600, None), (900, A), (1200, None)), "rassg")
    assert row["versions"] == []
    # consensus 1: A committed at 330 (b = 1930) outlives the empties; b passes after all decisions.
    trace = {**recording((300, A), (600, None), (900, None)), "target": A, "origin_us": us(3000)}
    row = play(trace, "rassg", consensus=1)
    assert versions(row) == [("A", 330, 330, 1930, "executed")]
    assert (row["result"], row["delay_s"], row["final_argument"]) == ("right", 0, canonical(A))


def test_confidence_waits_for_its_threshold_or_the_final_flush() -> None:
    # 0.94 at 300, 0.95 at 700 (tick 960: c = 970); null threshold or null confidence: final only,
    # at 1500, tick 1600: c = 1610.
    trace = recording((300, A, 0.94), (700, A, 0.95), (1500, A, 0.1))
    assert play(trace, "confidence")["first_commit_us"] == 970_000
    assert play(trace, "confidence", threshold=None)["first_commit_us"] == 1_610_000
    trace = recording((300, A, None), (1500, A, 0.1))
    assert play(trace, "confidence")["first_commit_us"] == 1_610_000


def test_a_b_a_executes_the_first_value_twice() -> None:
    # w = 100. A: tick 320, c = 330, b = 430. B: tick 960, a = 990 late: c = s = 990, b = 1090.
    # A again: tick 1600, a = 1630 late: c = s = 1630, b = 1730, done at 3630; origin 300.
    trace = {**recording((300, A), (900, B), (1500, A)), "target": A, "origin_us": us(300)}
    row = play(trace, "local_agreement", profile(window=100), consensus=1)
    assert versions(row) == [
        ("A", 330, 330, 430, "executed"),
        ("B", 990, 990, 1090, "executed"),
        ("A", 1630, 1630, 1730, "executed"),
    ]
    assert (row["stale_versions"], row["duplicate_effects"], row["result"]) == (1, 1, "right")
    assert (row["delay_s"], row["commits"], row["late_updates"]) == (3.33, 3, 2)


def test_progress_survives_only_where_it_can() -> None:
    # As in the update at b: timely update at a = 990. Reuse keeps s = 330, else s = 990.
    trace = recording((300, A), (960, B))
    other_tool = recording((300, A), (960, call("16:00", tool="pay")))
    plan = recording((300, [A, call(1)]), (960, [A, call(2)]))
    longer = recording((300, [A]), (960, [A, B]))
    number = recording((300, call(1)), (960, call(True)))
    only_day = profile(reusable_fields=["day"])

    def start(trace: Json, tool: Json, **options: Any) -> float:
        return float(versions(play(trace, "rassg", tool, consensus=1, **options))[1][1])

    assert start(trace, profile()) == 330
    assert start(trace, profile(), progress_reuse=False) == 990
    assert start(trace, profile(reusable_fields=["time", "day"])) == 330
    assert start(trace, only_day) == 990
    assert start(trace, profile(reusable_fields=[])) == 990
    assert start(other_tool, profile()) == 990
    assert start(plan, profile()) == 330
    assert start(longer, profile()) == 990
    assert start(number, only_day) == 990


def test_a_call_and_its_one_call_plan_are_different_arguments() -> None:
    # Different canonical text, so an Update; no field changes, so progress survives.
    row = play(recording((300, A), (960, [A])), "rassg", profile(reusable_fields=[]), consensus=1)
    assert [(s, outcome) for _, s, _, _, outcome in row["versions"]] == [
        (330_000, "updated"),
        (330_000, "executed"),
    ]


def test_a_change_of_mind_before_the_launch_is_no_update_and_reactive_update_can_be_off() -> None:
    # Both arrive before tick 320: one candidate, B.
    row = play(recording((100, A), (300, B), (900, B)), "rassg", consensus=1)
    assert versions(row) == [("B", 330, 330, 1930, "executed")]
    row = play(recording((300, A), (900, B)), "rassg", consensus=1, reactive_update=False)
    assert versions(row) == [("A", 330, 330, 1930, "executed")]


def test_stream_rag_selects_among_parallel_calls() -> None:
    # w = 700, l = 800. Tick 320 sees A (300), B (310): both c = 330, b = 1030.
    # Tick 1280 sees C (1000): c = 1290, b = 1990.
    # Final A (1300), tick 1600, d = 1610: launches A at 1610 (b = 2310), selects the first A, done
    # at 1130, delivered at 1610. B is irreversible. C (b = 1990 >= 1630) and the second A are
    # cancelled.
    trace = {**recording((300, A), (310, B), (1000, C), (1300, A)), "target": A}
    tool = profile(800, 700)
    row = play(trace, "stream_rag", tool)
    assert versions(row) == [
        ("A", 330, 330, 1030, "executed"),
        ("B", 330, 330, 1030, "executed"),
        ("C", 1290, 1290, 1990, "cancelled"),
        ("A", 1610, 1610, 2310, "cancelled"),
    ]
    assert (row["commits"], row["cancels"], row["late_cancels"]) == (4, 2, 0)
    assert (row["completed_us"], row["delay_s"], row["stale_versions"]) == (1_610_000, 0.31, 1)


@pytest.mark.parametrize(
    ("window", "outcome", "late"),
    [
        (1280, "executed", 1),  # b = 1610 = d: not irreversible at d, a = 1630 > b: late
        (1300, "cancelled", 0),  # b = 1630 = a: in time
        (1279.999, "executed", 0),  # irreversible before d: no cancel is requested
    ],
)
def test_stream_rag_cancels_what_is_not_irreversible(
    window: float, outcome: str, late: int
) -> None:
    # A at 300: c = 330, b = 330 + w. Final empty at 1300: tick 1600, d = 1610, a = 1630.
    trace = {**recording((300, A), (1300, None)), "target": A}
    row = play(trace, "stream_rag", profile(window=window))
    assert versions(row) == [("A", 330, 330, 330 + window, outcome)]
    assert row["late_cancels"] == late
    assert row["cancels"] == (outcome == "cancelled")
    assert (row["success"], row["result"], row["final_argument"]) == (False, "none", None)
    assert row["completed_us"] is None


def test_stream_rag_keeps_a_duplicate_that_is_too_late_to_cancel() -> None:
    # kappa = 700, w = 100: A c = 330, b = 430; final A at tick 960, d = 970: second A, b = 1070,
    # a = 1670 > b: late. The first is selected, done at 2330.
    trace = {**recording((300, A), (900, A)), "target": A}
    row = play(trace, "stream_rag", profile(window=100), control(kappa=700))
    assert (row["late_cancels"], row["duplicate_effects"]) == (1, 1)
    assert row["completed_us"] == 2_330_000
    assert row["cost"] == pytest.approx(0.5 + 0.3 * 1.43)


@pytest.mark.parametrize(("window", "in_time"), [(660, True), (659.999, False)])
def test_speculative_restarts_at_the_acknowledgement(window: float, in_time: bool) -> None:
    # A at tick 320, c = 330; B at tick 960: a = 990 = 330 + 660. B has c = s = 990 either way.
    trace = {**recording((300, A), (900, B)), "target": B}
    row = play(trace, "speculative", profile(window=window))
    assert versions(row) == [
        ("A", 330, 330, 330 + window, "cancelled" if in_time else "executed"),
        ("B", 990, 990, 990 + window, "executed"),
    ]
    assert (row["commits"], row["updates"], row["late_updates"]) == (2, 0, 0)
    assert (row["cancels"], row["late_cancels"]) == ((1, 0) if in_time else (0, 1))
    assert row["first_commit_us"] == 330_000
    assert row["cost"] == pytest.approx((0 if in_time else 5) + 0.5 + 0.3 * 2.09)


def test_targets_that_are_null_or_absent() -> None:
    trace = recording((300, A), (900, B))
    row = play({**trace, "target": None}, "speculative")
    assert (row["stale"], row["stale_versions"], row["success"]) == (True, 1, False)
    assert (row["result"], row["delay_s"], row["cost"]) == ("wrong", None, 5.5)
    row = play({**recording((300, None)), "target": None}, "speculative")
    assert (row["stale"], row["result"], row["cost"]) == (False, "right_abstention", 0)
    row = play(trace, "speculative")
    scored = ("stale", "stale_versions", "success", "delay_s", "result", "cost")
    assert [row[column] for column in scored] == [None] * 6
    assert row["completed_us"] == 2_990_000
    row = play({**trace, "target": A}, "speculative", profile(miss_cost=7))
    assert (row["result"], row["cost"]) == ("wrong", 5 + 0.5 + 7)


def test_zero_latencies_act_at_once() -> None:
    # D = 100, P = kappa = 0: A at 100 is seen at tick 100: c = 100. B at 200: a = 200, late for
    # w = 0 (b = 100), in time for w = 100 (b = 200).
    clock = control(100, 0, 0)
    for window, outcome in ((0, "executed"), (100, "updated")):
        trace = recording((100, A), (200, B))
        row = play(trace, "rassg", profile(window=window), clock, consensus=1)
        assert versions(row)[0] == ("A", 100, 100, 100 + window, outcome)
        assert versions(row)[1][2] == 200


def test_a_tick_waits_for_an_outstanding_acknowledgement() -> None:
    # kappa = 700. A: tick 320, c = 330, w = 1600, b = 1930. B (600): tick 640, d = 650, a = 1350.
    # Tick 960 (>= 650) waits until 1350, with arrivals up to 960 only: B, nothing to do; d = 1360.
    # Tick 1280 (< 1360) is skipped. Tick 1600 sees C (1000): d = 1610, a = 2310; b of B is
    # min(1350 + 1600, 2330) = 2330: in time. Tick 1920 waits until 2310, then all is done.
    row = play(
        recording((300, A), (600, B), (1000, C)), "rassg", None, control(kappa=700), consensus=1
    )
    assert versions(row) == [
        ("A", 330, 330, 1930, "updated"),
        ("B", 330, 1350, 2330, "updated"),
        ("C", 330, 2310, 2330, "executed"),
    ]
    assert row["skipped_ticks"] == 1


def test_an_acknowledgement_at_exactly_the_tick_has_been_received() -> None:
    # kappa = 310: B at tick 640, d = 650, a = 960. Tick 960 sees C (960) and decides at d = 970.
    row = play(
        recording((300, A), (600, B), (960, C)), "rassg", None, control(kappa=310), consensus=1
    )
    assert [committed for _, _, committed, _, _ in versions(row)] == [330, 960, 1280]
    assert row["skipped_ticks"] == 0


def test_processing_longer_than_the_period_skips_ticks() -> None:
    # P = 400: tick 0 has d = 400: 320 is skipped, tick 640 next (sees A, 300): c = 1040: 960 is
    # skipped, tick 1280 ends it (final at 900). Two skipped.
    row = play(recording((300, A), (900, A)), "rassg", None, control(processing=400), consensus=1)
    assert versions(row) == [("A", 1040, 1040, 2640, "executed")]
    assert row["skipped_ticks"] == 2


def test_recommitting_may_need_a_new_arrival() -> None:
    # w = 660, p_bad = 1: cancelled at tick 960 (see above). By tick: recommits at 1290.
    # By arrival: the next one comes at 1700, tick 1920: c = 1930; b = 2590: vetoed at tick 2560
    # (2570 + 20 <= 2590), final at 2700, tick 2880: c = 2890.
    trace = recording((300, A), (1700, A), (2700, A), bad=[(0, 1)])
    tool = profile(window=660)
    row = play(trace, "rassg", tool, consensus=1, recommit="arrival")
    assert [committed for _, _, committed, _, _ in versions(row)] == [330, 1930, 2890]
    row = play(trace, "rassg", tool, consensus=1)
    assert versions(row)[1][2] == 1290


def test_the_veto_after_the_final_flush_is_off_by_default_and_may_never_settle() -> None:
    # Final A at 300: c = 330, b = 990, the veto's tick is 960.
    tool = profile(window=660)
    trace = recording((300, A), bad=[(0, 1)])
    assert play(trace, "rassg", tool)["cancels"] == 0
    clock = control(horizon_us=us(5000))
    assert play(trace, "rassg", tool, clock, veto_after_final=True) == {"failure": "unsettled"}
    # A forecast that turns good at 1000: cancelled once, recommitted at 1290, b = 1950, settled.
    trace = recording((300, A), bad=[(0, 1), (1000, 0)])
    row = play(trace, "rassg", tool, clock, veto_after_final=True)
    assert [outcome for *_, outcome in versions(row)] == ["cancelled", "executed"]


def masses(**p: float) -> list[float]:
    """Twelve masses by name: k0..k8, beyond, terminal, none."""
    names = [f"k{k}" for k in range(9)] + ["beyond", "terminal", "none"]
    return [p.get(name, 0) for name in names]


@pytest.mark.parametrize(
    ("p", "launches"),
    [
        # b(330) = 330 + 660 = 990, minus kappa: 970. b(650) - kappa = 1290. Forecast at 0: interval
        # 3 (ends 960) is over in time, interval 4 (ends 1280) is late for c = 330, in time for 650.
        # beta * D * p_none = 0.3 * 0.32 * p_none = 0.096 p_none; stale 5.
        (masses(k3=0.5, none=0.5), True),  # R = R_wait = 0: 0 < 0.048
        (masses(k4=0.5, none=0.5), False),  # R = 0.5, R_wait = 0: 2.5
        (masses(k5=0.5, none=0.5), True),  # ends 1920: R = R_wait = 0.5
        (masses(beyond=0.5, none=0.5), True),  # waiting does not help
        (masses(k0=0.25, k1=0.5, terminal=0.25), False),  # R = R_wait = 0.5, p_none = 0: 0 < 0
        (masses(k1=1), False),  # nothing survives: 0 < 0
    ],
)
def test_lookahead_launches_where_waiting_does_not_pay(p: list[float], launches: bool) -> None:
    # The only tick before the final flush (at 600, seen by tick 640) that sees A is 320.
    trace = recording((300, A), (600, A), bad=[(0, p)])
    row = play(trace, "rassg", profile(window=660), launch="lookahead")
    assert row["first_commit_us"] == (330_000 if launches else 650_000)


@pytest.mark.parametrize(
    ("window", "at", "p", "launches"),
    [
        # Interval 3 of a forecast at 10 ends at 970 = b - kappa: not after it. At 20: 980 is.
        (660, 10, masses(k3=0.5, none=0.5), True),
        (660, 20, masses(k3=0.5, none=0.5), False),
        # w = 0: b(330) - kappa = 310, b(650) - kappa = 630. Interval 1 of a forecast at 320 ends at
        # 640, late for both, but R_wait leaves it out: 5 * (0.5 - 0) > 0.048.
        (0, 320, masses(k1=0.5, none=0.5), False),
    ],
)
def test_lookahead_counts_intervals_from_the_forecasts_own_time(
    window: float, at: float, p: list[float], launches: bool
) -> None:
    trace = recording((300, A), (600, A), bad=[(at, p)])
    row = play(trace, "rassg", profile(window=window), launch="lookahead")
    assert row["first_commit_us"] == (330_000 if launches else 650_000)


def test_lookahead_needs_a_forecast_before_the_final_flush() -> None:
    trace = recording((300, A), (600, A), bad=[(321, masses(none=1))])
    assert play(trace, "rassg", launch="lookahead")["first_commit_us"] == 650_000


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="eou has no option"):
        play(recording((300, A)), "eou", consensus=2)
