"""What can go wrong between an agent and its tools, as distributions drawn per trajectory.

Off by default. Draws come from one stream per source of randomness, keyed by the recording, the
action and the replication, never by the policy: all policies meet the same luck, their n-th call
the same runtime and their n-th request the same acknowledgement.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, log
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    import numpy as np

    from simcore.clock import Microseconds
    from simcore.trace import AgentEvent, Recording

Kind = Literal["constant", "uniform", "exponential", "lognormal"]
_Z95: Final = 1.6448536269514722
"""The 95th percentile of the standard normal distribution."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """A non-negative quantity. The parameters `a`, `b` by kind:

    constant (value), uniform (low, high), exponential (mean), lognormal (median, 95th percentile).
    """

    kind: Kind
    a: float
    b: float = 0.0

    def draw(self, random: np.random.Generator) -> float:
        """One value; every kind takes exactly one draw from the generator."""
        unit = random.random()
        if self.kind == "constant":
            return self.a
        if self.kind == "uniform":
            return self.a + (self.b - self.a) * unit
        if self.kind == "exponential":
            return -self.a * log(1.0 - unit)
        return self.a * exp(self._sigma * _normal_quantile(unit))

    @property
    def mean(self) -> float:
        """What is expected, and all that a policy knows of it."""
        if self.kind == "uniform":
            return (self.a + self.b) / 2
        if self.kind == "lognormal":
            return self.a * exp(self._sigma**2 / 2)
        return self.a

    @property
    def _sigma(self) -> float:
        return log(self.b / self.a) / _Z95


def _normal_quantile(unit: float) -> float:
    from statistics import NormalDist

    return NormalDist().inv_cdf(min(max(unit, 1e-12), 1 - 1e-12))


@dataclass(frozen=True, slots=True)
class Faults:
    """All faults of a scenario; probabilities are per request, per attempt or per event.

    - `acknowledgement`: its delay in microseconds instead of the controller's fixed one;
    - `ack_lost`: the tool acts, but its acknowledgement never arrives. After `ack_timeout_us` the
      controller goes on, and the outcome is unknown to it until the call's deadline;
    - `cancel_refused`: the tool answers a cancellation with no, and the call runs on;
    - `runtime`: a factor on the profile's runtime, for each attempt;
    - `tool_failure`: an attempt fails without an effect at the end of its runtime;
    - `timeout`: an attempt has no answer, given up after `timeout_after_us`; its effect has
      happened with probability `timeout_landed`;
    - `retries`: how often the tool's client tries again after either, `backoff_us` later;
    - `capacity`: how many calls the backend works on at a time, the others queue;
    - `reorder`: an agent's event, or a recognized prefix, arrives late by `reorder_delay`
      (microseconds); what is final, and what the user does, keeps its time.
    """

    acknowledgement: Distribution | None = None
    ack_lost: float = 0.0
    ack_timeout_us: Microseconds | None = None
    cancel_refused: float = 0.0
    runtime: Distribution | None = None
    tool_failure: float = 0.0
    timeout: float = 0.0
    timeout_landed: float = 0.5
    timeout_after_us: Microseconds = 10_000_000
    retries: int = 0
    backoff_us: Microseconds = 500_000
    capacity: int | None = None
    reorder: float = 0.0
    reorder_delay: Distribution = Distribution("uniform", 0, 500_000)

    def __post_init__(self) -> None:
        if self.ack_lost and self.ack_timeout_us is None:
            raise ValueError("where acknowledgements can be lost, 'ack_timeout' is required")


NO_FAULTS: Final = Faults()


@dataclass(frozen=True, slots=True)
class Attempts:
    """How a call's work goes: when it ends, what is answered, and how often it had its effect."""

    duration_us: Microseconds
    answer: Literal["ok", "failed", "unknown"]
    effects: int


def attempts(faults: Faults, runtime_us: Microseconds, random: np.random.Generator) -> Attempts:
    """Draw a call's work: attempts until one is answered, or no retries are left."""
    total = effects = 0
    unsure = False
    for attempt in range(faults.retries + 1):
        factor = 1.0 if faults.runtime is None else faults.runtime.draw(random)
        luck, landed = random.random(), random.random() < faults.timeout_landed
        if luck < faults.timeout:
            total += faults.timeout_after_us
            effects += landed
            unsure = True
        else:
            total += round(runtime_us * factor)
            if luck >= faults.timeout + faults.tool_failure:
                return Attempts(total, "ok", effects + 1)
        if attempt < faults.retries:
            total += faults.backoff_us
    # One attempt without an answer leaves the whole call without a sure one.
    return Attempts(total, "unknown" if unsure else "failed", effects)


_STAY: Final = (
    "user_audio_start",
    "user_audio_end",
    "agent_audio_start",
    "agent_audio_end",
)


def reordered(trace: Recording, faults: Faults, random: np.random.Generator) -> Recording:
    """The recording as it arrives where events overtake each other."""
    events: list[AgentEvent] = []
    for event in trace.events:
        late, delay = random.random() < faults.reorder, faults.reorder_delay.draw(random)
        if late and event.type not in _STAY:
            event = replace(event, at_us=event.at_us + round(delay))
        events.append(event)
    arrivals = []
    for arrival in trace.arrivals:
        late, delay = random.random() < faults.reorder, faults.reorder_delay.draw(random)
        if late and not arrival.is_final:
            at = min(arrival.arrived_at_us + round(delay), trace.arrivals[-1].arrived_at_us)
            arrival = replace(arrival, arrived_at_us=at)
        arrivals.append(arrival)
    return replace(
        trace,
        events=tuple(sorted(events, key=lambda event: event.at_us)),
        arrivals=tuple(sorted(arrivals, key=lambda arrival: arrival.arrived_at_us)),
    )
