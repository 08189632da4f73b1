"""What the yardsticks share: inputs parsed once, outside the timed loop, and the outcome row."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any, NamedTuple

Json = dict[str, Any]


class Prepared(NamedTuple):
    """One trajectory's inputs; times in microseconds, arguments as canonical text."""

    arrivals: list[tuple[int, str | None]]
    forecast_at: list[int]
    p_bad: list[float]
    labelled: bool
    target: str | None
    origin: int
    runtime: int
    window: int
    stale_cost: float
    cancel_cost: float
    delay_price: float
    miss_cost: float
    keeps_progress: set[tuple[str, str]]
    period: int
    processing: int
    kappa: int


def prepare(trace: Json, tool: Json, control: Json, checkpoint: str | None) -> Prepared:
    """Parse a `trace/v1` object, a tool profile and a clock."""
    forecasts = {row["checkpoint"]: row for row in trace.get("forecasts", ())}
    forecast = {"at_us": [], "p_bad": []} if checkpoint is None else forecasts[checkpoint]
    stale_cost = tool.get("stale_cost", 5.0)
    miss_cost = tool.get("miss_cost")
    origin = trace.get("origin_us")
    arrivals = [(row["arrived_at_us"], canonical(row["argument"])) for row in trace["arrivals"]]
    arguments = {argument for _, argument in arrivals if argument is not None}
    return Prepared(
        arrivals=arrivals,
        forecast_at=forecast["at_us"],
        p_bad=forecast["p_bad"],
        labelled="target" in trace,
        target=canonical(trace.get("target")),
        origin=trace["audio_end_us"] if origin is None else origin,
        runtime=tool["runtime_us"],
        window=tool["cancel_window_us"],
        stale_cost=stale_cost,
        cancel_cost=tool.get("cancel_cost", 0.5),
        delay_price=tool.get("delay_price", 0.3),
        miss_cost=stale_cost if miss_cost is None else miss_cost,
        keeps_progress={
            pair
            for pair in permutations(arguments, 2)
            if _keeps_progress(*pair, tool.get("reusable_fields"))
        },
        period=control["period_us"],
        processing=control["processing_us"],
        kappa=control["acknowledgement_us"],
    )


def canonical(argument: Any) -> str | None:
    """Equal text means an equal argument."""
    if argument is None:
        return None
    return json.dumps(argument, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def _keeps_progress(old: str, new: str, reusable: list[str] | None) -> bool:
    before, after = _calls(old), _calls(new)
    if [call["tool"] for call in before] != [call["tool"] for call in after]:
        return False
    changed = {
        name
        for one, other in zip(before, after, strict=True)
        for name, _ in _fields(one) ^ _fields(other)
    }
    return reusable is None or changed <= set(reusable)


def _calls(argument: str) -> list[Json]:
    calls = json.loads(argument)
    return calls if isinstance(calls, list) else [calls]


def _fields(call: Json) -> set[tuple[str, str]]:
    return {(name, json.dumps(value, sort_keys=True)) for name, value in call["arguments"].items()}


def outcome_row(
    inputs: Prepared,
    executed: list[str],
    held: str | None,
    completed: int | None,
    first_commit: int | None,
    commits: int,
    updates: int,
    late_updates: int,
    cancels: int,
    late_cancels: int,
    skipped_ticks: int,
) -> Json:
    """The outcome columns of a run folder's row."""
    target = inputs.target
    stale = stale_versions = success = delay = result = cost = None
    if inputs.labelled:
        stale_versions = len(executed) - executed.count(target) if target else len(executed)
        stale = stale_versions > 0
        success = held is not None and held == target
        cost = inputs.stale_cost * stale_versions + inputs.cancel_cost * (cancels + late_cancels)
        if success and completed is not None:
            delay = max(0, completed - inputs.origin) / 1_000_000
            cost += inputs.delay_price * delay
            result = "right"
        elif target is None:
            result = "wrong" if executed else "right_abstention"
        else:
            cost += inputs.miss_cost
            result = "none" if held is None else "wrong"
    return {
        "stale": stale,
        "stale_versions": stale_versions,
        "success": success,
        "delay_s": delay,
        "first_commit_us": first_commit,
        "completed_us": completed,
        "commits": commits,
        "updates": updates,
        "late_updates": late_updates,
        "cancels": cancels,
        "late_cancels": late_cancels,
        "skipped_ticks": skipped_ticks,
        "final_argument": held,
        "result": result,
        "duplicate_effects": len(executed) - len(set(executed)),
        "cost": cost,
    }


def synthetic_case() -> tuple[Json, Json, Json, str]:
    """A 12 s recording: 13 arrivals, one correction, forecasts every 320 ms that see it coming."""

    def book(time: str) -> Json:
        return {"tool": "book", "arguments": {"time": time}}

    arguments = [None, None, *[book("15:00")] * 6, *[book("16:00")] * 5]
    ends = [*range(960_000, 12_000_000, 960_000), 12_000_000]
    arrivals = [
        {
            "prefix_end_us": end,
            "arrived_at_us": end + 168_000 + 7_000 * index,
            "text": "",
            "confidence": 0.9,
            "argument": argument,
            "is_final": index == len(ends) - 1,
        }
        for index, (end, argument) in enumerate(zip(ends, arguments, strict=True))
    ]
    at = list(range(3_200_000, 12_320_000, 320_000))
    trace = {
        "schema": "trace/v1",
        "recording_id": "synthetic",
        "audio_end_us": 12_000_000,
        "origin_us": 8_400_000,
        "target": book("16:00"),
        "arrivals": arrivals,
        "forecasts": [
            {
                "checkpoint": "hazard",
                "at_us": at,
                "p_bad": [0.9 if 6_000_000 <= time < 9_000_000 else 0.15 for time in at],
            }
        ],
    }
    tool = {"runtime_us": 2_000_000, "cancel_window_us": 1_600_000}
    control = {"period_us": 320_000, "processing_us": 10_000, "acknowledgement_us": 20_000}
    return trace, tool, control, "hazard"
