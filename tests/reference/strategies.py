"""Random trajectories whose instants often coincide: with ticks, decisions and deadlines.

One generator feeds two users: `cases()`, a hypothesis strategy that shrinks, and
`random_case(seed)`, which is much faster and repeats from its seed alone.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from hypothesis import strategies as st

from tests.reference.interpreter import POLICIES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Pick = Callable[[Sequence[Any]], Any]

Json = dict[str, Any]
T = TypeVar("T")

MS = 1_000
MIX = (*POLICIES, "rassg", "rassg", "rassg")
CHECKPOINT = "c-0"


class Case(NamedTuple):
    """The arguments of `interpret`."""

    trace: Json
    tool: Json
    control: Json
    policy: str
    options: Json
    checkpoint: str | None


def _call(value: Any, tool: str = "book", **more: Any) -> Json:
    return {"tool": tool, "arguments": {"time": value, **more}}


# Three values, mostly; then other fields, other tools, JSON numbers that Python holds equal, plans.
_ARGUMENTS: tuple[Any, ...] = (
    *(None, None, None),
    *([_call("15:00")] * 5),
    *([_call("16:00")] * 4),
    *([_call("17:00")] * 2),
    _call("15:00", day="mon"),
    _call("16:00", day="mon"),
    _call("15:00", tool="pay"),
    _call(1),
    _call(True),
    [_call("15:00"), _call("9", tool="pay")],
    [_call("16:00"), _call("9", tool="pay")],
    [_call("15:00")],
)
_FIELDS: tuple[Any, ...] = (None, None, None, ["time"], ["day"], [], ["day", "time"])
_JITTER = (0, 0, 0, 0, 0, 1, -1)
_LEAD = (0, 0, 0, 100 * MS, 900 * MS)


def cases(policies: Sequence[str] = MIX) -> st.SearchStrategy[Case]:
    """Trajectories of these policies under random traces, tools, clocks and options."""

    @st.composite
    def build(draw: st.DrawFn) -> Case:
        return _case(lambda options: draw(_sampled(options)), policies)

    return build()


def random_case(seed: int, policies: Sequence[str] = MIX) -> Case:
    """The same, drawn by a seeded generator."""
    return _case(random.Random(seed).choice, policies)


_strategies: dict[tuple[int, int], tuple[Sequence[Any], st.SearchStrategy[Any]]] = {}


def _sampled(options: Sequence[Any]) -> st.SearchStrategy[Any]:
    if isinstance(options, range):
        return st.integers(options.start, options.stop - 1)
    key = (id(options), len(options))
    if key not in _strategies or _strategies[key][0] is not options:
        _strategies[key] = (options, st.sampled_from(options))
    return _strategies[key][1]


_PERIODS = (320 * MS, 320 * MS, 320 * MS, 100 * MS, 10 * MS)
_PROCESSING = (10 * MS, 10 * MS, 0, 400 * MS)
_ACKNOWLEDGEMENTS = (20 * MS, 20 * MS, 0, 310 * MS, 350 * MS, 700 * MS)


def _case(pick: Pick, policies: Sequence[str]) -> Case:
    period = pick(_PERIODS)
    control = {
        "period_us": period,
        "processing_us": pick(_PROCESSING),
        "acknowledgement_us": pick(_ACKNOWLEDGEMENTS),
    }
    clock = _Clock(pick, control)
    tool = _tool(pick, clock)
    trace = _trace(pick, clock)
    policy = pick(policies)
    options = _options(pick, policy)
    if options.get("veto_after_final"):
        control["horizon_us"] = 4_000 * MS + 7  # off the grid: no tick falls on it
    return Case(trace, tool, control, policy, options, CHECKPOINT if "forecasts" in trace else None)


_GAPS = range(6)
_SPANS = range(12)


class _Clock:
    """Draws durations that make instants meet."""

    def __init__(self, pick: Pick, control: Json) -> None:
        self.pick = pick
        period, processing, kappa = control.values()
        # Some 320 ms even for short periods, so that recordings take about the same time.
        self.step: int = max(1, 320 * MS // period) * period
        self.offsets = (0, 0, 0, processing, kappa, processing + kappa, period, 10 * MS)
        self.span_offsets = (kappa, kappa, kappa, kappa, 0, 0, processing + kappa, 10 * MS)

    def gap(self) -> int:
        """Between arrivals: whole ticks, mostly, else just before, just after or at a decision."""
        steps: int = self.pick(_GAPS)
        return max(0, steps * self.step + self.offset())

    def span(self) -> int:
        """A runtime or a window.

        n ticks + kappa after a launch at d = t + P is where later acknowledgements come; n ticks
        after one that started at an acknowledgement.
        """
        steps: int = self.pick(_SPANS)
        offset: int = self.pick(self.span_offsets)
        return max(0, steps * self.step + offset + self.jitter())

    def offset(self) -> int:
        """What moves an instant off a tick."""
        offset: int = self.pick(self.offsets)
        return offset + self.jitter()

    def jitter(self) -> int:
        """A microsecond either way, now and then."""
        jitter: int = self.pick(_JITTER)
        return jitter


_STALE = (5, 5, 1, 0)
_CANCEL = (0.5, 0.5, 0, 2.5)
_PRICE = (0.3, 0.3, 0, 2)
_MISS = (None, None, 3)


def _tool(pick: Pick, clock: _Clock) -> Json:
    return {
        "runtime_us": clock.span(),
        "cancel_window_us": clock.span(),
        "stale_cost": pick(_STALE),
        "cancel_cost": pick(_CANCEL),
        "delay_price": pick(_PRICE),
        "miss_cost": pick(_MISS),
        "reusable_fields": pick(_FIELDS),
    }


_LENGTHS = range(1, 9)
_CONFIDENCES = (0.95, 0.95, 1.0, 0.94, 0.0, None)
_TARGETS = ("last", "last", "last", "earlier", "null", "unlabelled", "other")
_ORIGINS = ("absent", "zero", "half", "null")
_TWO = range(2)


def _trace(pick: Pick, clock: _Clock) -> Json:
    arrivals: list[Json] = []
    at = 0
    argument = None
    for index in range(pick(_LENGTHS)):
        at = max(at + clock.gap(), index)
        if index == 0 or pick(_TWO):  # else the argument before: agreement is worth having
            argument = pick(_ARGUMENTS)
        arrivals.append(
            {
                "prefix_end_us": index,
                "arrived_at_us": at,
                "text": "",
                "confidence": pick(_CONFIDENCES),
                "argument": argument,
                "is_final": False,
            }
        )
    final = arrivals[-1]
    final["is_final"] = True
    final["prefix_end_us"] = audio_end = max(final["prefix_end_us"], at - pick(_LEAD))
    trace: Json = {
        "schema": "trace/v1",
        "recording_id": "random",
        "audio_end_us": audio_end,
        "arrivals": arrivals,
    }
    target = pick(_TARGETS)
    if target == "last":
        trace["target"] = final["argument"]
    elif target == "earlier":
        trace["target"] = pick(arrivals)["argument"]
    elif target == "null":
        trace["target"] = None
    elif target == "other":
        trace["target"] = _call("23:00")
    origin = pick(_ORIGINS)
    if origin != "absent":
        trace["origin_us"] = {"zero": 0, "half": audio_end // 2, "null": None}[origin]
    if pick(_FORECASTS):
        trace["forecasts"] = [_forecast(pick, clock, at)]
    repairs = [
        {"onset_us": clock.gap() + clock.gap(), "kind": "any"} for _ in range(pick(_REPAIRS))
    ]
    if repairs:
        trace["repairs"] = repairs
    return trace


_REPAIRS = (0, 1, 1, 2)
_FORECASTS = (True, True, True, False)


def _forecast(pick: Pick, clock: _Clock, end: int) -> Json:
    times: list[int] = []
    masses: list[list[float]] = []
    at = max(0, clock.offset()) if pick(_TWO) else 0
    while at <= end + 2 * clock.step and len(times) < 12:
        times.append(at)
        masses.append(pick(_MASSES))
        at += clock.step * (1 + pick(_TWO)) + pick(_JITTER)
    return {
        "checkpoint": CHECKPOINT,
        "at_us": times,
        "p_bad": [1 - p[11] for p in masses],
        "masses": masses,
    }


def _twelve(**p: float) -> list[float]:
    names = ["k0", *(f"k{k}" for k in range(1, 9)), "beyond", "terminal", "none"]
    return [p.get(name, 0.0) for name in names]


# Exact in binary, and so is their renormalization without p_1: a tie is a tie in every order of
# summation.
_MASSES = (
    _twelve(none=1.0),
    _twelve(none=1.0),
    _twelve(k0=1.0),
    _twelve(k1=1.0),
    _twelve(k0=0.25, k1=0.5, none=0.25),
    _twelve(k1=0.75, k2=0.125, k6=0.0625, none=0.0625),
    _twelve(k2=0.25, k3=0.25, k4=0.125, k5=0.125, none=0.25),
    _twelve(k2=0.125, k4=0.125, k6=0.25, k7=0.25, k8=0.125, terminal=0.125),
    _twelve(k1=0.5, k8=0.125, beyond=0.125, terminal=0.125, none=0.125),
    _twelve(k3=0.5, none=0.5),
    _twelve(k4=0.03125, none=0.96875),
    _twelve(beyond=0.0625, none=0.9375),
)

_MOSTLY = (True, True, True, False)
_RARELY = (False, False, False, True)
_CONSENSUS = (3, 1, 1, 2, 4)
_THRESHOLDS = (0.95, 0.95, None, 1.0)
_LAUNCHES = ("agreement", "agreement", "lookahead")
_RECOMMITS = ("tick", "tick", "arrival")


def _options(pick: Pick, policy: str) -> Json:
    if policy in ("stream_rag", "speculative"):
        return {}
    options: Json = {"reactive_update": pick(_MOSTLY)}
    if policy == "local_agreement":
        options["consensus"] = pick(_CONSENSUS)
    elif policy == "confidence":
        options["threshold"] = pick(_THRESHOLDS)
    elif policy == "rassg":
        options |= {
            "consensus": pick(_CONSENSUS),
            "active_cancellation": pick(_MOSTLY),
            "progress_reuse": pick(_MOSTLY),
            "launch": pick(_LAUNCHES),
            "veto_after_final": pick(_RARELY),
            "recommit": pick(_RECOMMITS),
        }
    return options
