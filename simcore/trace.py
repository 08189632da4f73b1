"""One recording as policies and scorers know it: immutable, times in microseconds.

Files become these objects in `simcore.files.traces`. An *argument* here is the canonical JSON text
of one call or of a plan (sorted keys, no spaces), or None where nothing was parsed; equal text
means an equal argument.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from simcore.clock import Microseconds

Argument = str


def canonical(argument: Any) -> Argument | None:
    """The canonical text of a call, of a plan (a list of calls) or of None.

    >>> canonical({"tool": "book", "arguments": {"time": "16:00"}})
    '{"arguments":{"time":"16:00"},"tool":"book"}'
    """
    if argument is None:
        return None
    return _CANONICAL.encode(argument)


_CANONICAL = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A recognized prefix: what had been said by `prefix_end_us`, known from `arrived_at_us` on.

    `confidence` is None where the recognizer gave none.
    """

    prefix_end_us: Microseconds
    arrived_at_us: Microseconds
    text: str
    confidence: float | None
    argument: Argument | None
    is_final: bool
    service_us: Microseconds | None = None
    pause_us: Microseconds = 0


@dataclass(frozen=True, slots=True)
class Repair:
    """An annotated self-repair: from its onset until the new value has been said."""

    onset_us: Microseconds
    resolved_us: Microseconds | None
    kind: str


@dataclass(frozen=True, slots=True)
class Value:
    """A value that the speaker said, and when it had been heard in full."""

    argument: Argument
    available_us: Microseconds


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """An event of a live agent or its channel; `args` is canonical JSON text."""

    at_us: Microseconds
    type: str
    id: str | None = None
    name: str | None = None
    args: str | None = None
    text: str | None = None
    label: str | None = None


INTERVAL_ENDS_US: Final[tuple[Microseconds, ...]] = (
    320_000,
    640_000,
    960_000,
    1_280_000,
    1_920_000,
    2_560_000,
    3_200_000,
    4_800_000,
)
"""tau_1..tau_8 after a forecast was made: interval k is (tau_{k-1}, tau_k], with tau_0 = 0."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """A step function of time: what one checkpoint predicts about the current argument version.

    `masses[i]` holds the 12 outcomes (p_0, p_1..p_8, p_>, p_T, p_none), calibrated, where given.
    """

    checkpoint: str
    at_us: tuple[Microseconds, ...]
    p_bad: tuple[float, ...]
    masses: tuple[tuple[float, ...], ...] | None = None

    def index(self, time: Microseconds) -> int:
        """The position of the latest forecast at or before `time`, -1 if there is none yet."""
        return bisect_right(self.at_us, time) - 1


@dataclass(frozen=True, slots=True)
class Recording:
    """One line of a `trace/v1` file.

    What follows `events` is known offline only: for labels and scoring, never for a policy.
    `labelled` is False where the file gives no target; a labelled `target` of None means that no
    call is right. `editing` says of a repair whether its editing phrase is `seen` in training,
    `unseen` or `none`; `spoken` is what was said, `noise` what was added to it.
    """

    recording_id: str
    audio_end_us: Microseconds
    arrivals: tuple[Arrival, ...] = ()
    events: tuple[AgentEvent, ...] = ()
    forecasts: tuple[Forecast, ...] = ()
    labelled: bool = False
    target: Argument | None = None
    origin_us: Microseconds | None = None
    values: tuple[Value, ...] = ()
    repairs: tuple[Repair, ...] = ()
    branch_us: Microseconds | None = None
    corpus: str | None = None
    split: str | None = None
    group_id: str | None = None
    pair_id: str | None = None
    variant: str | None = None
    subset: str | None = None
    voice: str | None = None
    domain: str | None = None
    carrier_id: str | None = None
    edit_id: str | None = None
    editing: str | None = None
    spoken: str | None = None
    noise: str | None = None
    settings: str | None = None
    observed: str | None = None
    arrived_us: tuple[Microseconds, ...] = field(init=False, repr=False, compare=False)
    change_at: tuple[int, ...] = field(init=False, repr=False, compare=False)
    agreement_at: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Derive what every trajectory over this recording would look up again.

        `arrived_us` are the arrivals' times; `change_at[i]` is, after i arrivals, the index of the
        next one that changes the candidate or is the last; `agreement_at[i]` is how many arrivals
        in a row up to the i-th carry its argument, 0 where that is empty.
        """
        arrivals = self.arrivals
        changes = list(range(len(arrivals)))
        for index in range(len(arrivals) - 2, -1, -1):
            candidate = arrivals[index - 1].argument if index else None
            if arrivals[index].argument == candidate:
                changes[index] = changes[index + 1]
        object.__setattr__(self, "arrived_us", tuple(a.arrived_at_us for a in arrivals))
        object.__setattr__(self, "change_at", tuple(changes))
        agreement: list[int] = []
        for index, arrival in enumerate(arrivals):
            same = index > 0 and arrival.argument == arrivals[index - 1].argument
            run = agreement[-1] + 1 if same else 1
            agreement.append(run if arrival.argument is not None else 0)
        object.__setattr__(self, "agreement_at", tuple(agreement))

    @property
    def delay_origin_us(self) -> Microseconds:
        """Where the delay starts: `origin_us`, else the end of the audio."""
        return self.audio_end_us if self.origin_us is None else self.origin_us

    @property
    def cluster(self) -> str:
        """The recordings that share audio share it: `group_id`, else the recording itself."""
        return self.recording_id if self.group_id is None else self.group_id

    def forecast(self, checkpoint: str) -> Forecast | None:
        """The forecast of one checkpoint, None where this recording has none."""
        for forecast in self.forecasts:
            if forecast.checkpoint == checkpoint:
                return forecast
        return None
