"""What a policy is, and what it sees: the past, the tool's profile, and its own calls."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from simcore.recorder import TICK
from simcore.streams import stream

if TYPE_CHECKING:
    import numpy as np

    from simcore.clock import Microseconds
    from simcore.commands import Answer
    from simcore.ledger import Ledger
    from simcore.recorder import VersionRecord
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Argument, Arrival, Forecast, Recording


class View:
    """The present of one trajectory; alive, so copy what you want to keep (records are immutable).

    All times are microseconds since the audio's start.

    - `tick_us`: what is observed is what had arrived by then;
    - `decision_us`: when an answer given now takes effect (d); `next_decision_us`: when the next
      regular one would (d + period);
    - `acknowledgement_us`: the expected latency of an acknowledgement (kappa);
    - `arrivals`: recognized prefixes, oldest first; `news`: how many of them were not observed
      before, and `fresh`: those;
    - `candidate`: the latest arrival's argument or None; `final`: the final flush is observed;
    - `agreement`: how many arrivals in a row carry the candidate, 0 for none; ticks that look at
      the same recognition again add no evidence;
    - `active`: the current version of the call that is held, or None;
    - `profile`, `control`: the tool and the controller;
    - `blocking`: whether the agent waits for its calls, for policies that serve an agent.
    """

    __slots__ = (
        "_forecast",
        "_ledger",
        "_stream_key",
        "acknowledgement_us",
        "active",
        "agreement",
        "arrivals",
        "blocking",
        "candidate",
        "control",
        "decision_us",
        "final",
        "news",
        "profile",
        "tick_us",
    )

    def __init__(
        self,
        profile: ToolProfile,
        control: Control,
        ledger: Ledger,
        forecast: Forecast | None,
        stream_key: tuple[int, str, str, int],
    ) -> None:
        self.profile = profile
        self.control = control
        self.acknowledgement_us: Microseconds = control.acknowledgement_us
        self._ledger = ledger
        self._forecast = forecast
        self._stream_key = stream_key
        self.tick_us: Microseconds = 0
        self.decision_us: Microseconds = 0
        self.arrivals: tuple[Arrival, ...] = ()
        self.news = 0
        self.candidate: Argument | None = None
        self.active: VersionRecord | None = None
        self.final = False
        self.agreement = 0
        self.blocking = False

    @property
    def fresh(self) -> tuple[Arrival, ...]:
        return self.arrivals[len(self.arrivals) - self.news :]

    @property
    def next_decision_us(self) -> Microseconds:
        return self.decision_us + self.control.period_us

    @property
    def calls(self) -> tuple[VersionRecord, ...]:
        """The current version of every call ever launched, in order of launch."""
        return tuple(self._ledger.current)

    @property
    def p_bad(self) -> float | None:
        """The latest forecast of invalidity at or before the tick; None if there is none yet."""
        forecast = self._forecast
        if forecast is None:
            return None
        count = bisect_right(forecast.at_us, self.tick_us)
        return forecast.p_bad[count - 1] if count else None

    @property
    def masses(self) -> tuple[Microseconds, tuple[float, ...]] | None:
        """When the latest forecast was made, and its 12 masses (p_0, p_1..p_8, p_>, p_T, p_none).

        None if there is no forecast yet, or if it has p_bad alone.
        """
        forecast = self._forecast
        if forecast is None or forecast.masses is None:
            return None
        count = bisect_right(forecast.at_us, self.tick_us)
        return (forecast.at_us[count - 1], forecast.masses[count - 1]) if count else None

    def stream(self, source: str) -> np.random.Generator:
        """A fresh generator for one source of randomness; the same for every policy and worker."""
        return stream(*self._stream_key, source)


class Policy(Protocol):
    """A rule for tool calls; a fresh object for every trajectory.

    `subscribes` names the topics of the facts that it is asked about. `on` answers with commands:
    at a control tick they take effect at `view.decision_us`, at any other fact at once.
    """

    subscribes: ClassVar[tuple[str, ...]]

    def reset(self, view: View) -> None:
        """Called once, before anything happens."""

    def on(self, event: Any, view: View) -> Answer:
        """Called at every fact that the policy subscribes to."""


class TickPolicy:
    """Base of policies that answer one question: what to do at this control tick.

    `reads_forecast`: whether results depend on the checkpoint; where not, a policy runs once and
    sees no forecast. `needs_masses`: whether the 12 masses are needed, not only p_bad.
    `parallel_calls`: whether a launch may join a live call.
    """

    subscribes: ClassVar[tuple[str, ...]] = (TICK,)
    parallel_calls: ClassVar[bool] = False
    sees_future: ClassVar[bool] = False

    @property
    def reads_forecast(self) -> bool:
        return True

    @property
    def needs_masses(self) -> bool:
        return False

    def reset(self, view: View) -> None:
        """Nothing to prepare, by default."""

    def on(self, event: Any, view: View) -> Answer:
        return self.decide(view)

    def decide(self, view: View) -> Answer:
        """The answer at this tick; None waits for the next one."""
        raise NotImplementedError


class Foresight(Protocol):
    """A policy with `sees_future` is shown the whole recording, for bounds; never a real rule."""

    def foresee(self, recording: Recording) -> None:
        """Called once, after `reset`."""
