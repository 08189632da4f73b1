"""The serial controller: asks at control ticks, acts after its processing time.

A policy is asked at every tick unless it says, by `Wake`, that nothing can change before some
instant; the ticks in between are then never visited, with the same outcome.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any, Final

from simcore.clock import NEVER, Priority
from simcore.commands import Wake
from simcore.drivers.effect import apply, commands_of
from simcore.kernel import Recurrent
from simcore.recorder import TICK, LogRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.clock import Microseconds
    from simcore.commands import Answer
    from simcore.kernel import Kernel
    from simcore.ledger import Ledger
    from simcore.policy import TickPolicy, View
    from simcore.scenario import Control
    from simcore.trace import Recording


# As plain numbers: they are compared for every event.
_TICK: Final = int(Priority.TICK)
_DECISION: Final = int(Priority.DECISION)


class UnsettledError(Exception):
    """A policy still decides long after the final recognition: its rule has no end."""


def next_tick(tick: Microseconds, decision: Microseconds, control: Control) -> Microseconds:
    """The tick asked after the one at `tick`: the first later one that is not before `decision`."""
    period = control.period_us
    return max(tick // period + 1, -(-decision // period)) * period


def _hintless(decide: Callable[[View], Answer]) -> Callable[[View], Answer]:
    def asked_again(view: View) -> Answer:
        commands = commands_of(decide(view))
        return tuple(command for command in commands if not isinstance(command, Wake)) or None

    return asked_again


class TickDriver:
    """Drives one policy over one recording's arrivals."""

    __slots__ = (
        "_agreement_at",
        "_arrivals",
        "_change_at",
        "_decide",
        "_end_us",
        "_kernel",
        "_ledger",
        "_parallel",
        "_period_us",
        "_processing_us",
        "_seen",
        "_stride_us",
        "_times",
        "_told",
        "_view",
        "skipped_ticks",
    )

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        policy: TickPolicy,
        view: View,
        recording: Recording,
    ) -> None:
        control = view.control
        self._kernel = kernel
        self._ledger = ledger
        # A hint says when asking could change the answer, as long as nothing goes wrong.
        self._decide = _hintless(policy.decide) if ledger.surprises else policy.decide
        self._parallel = policy.parallel_calls
        self._view = view
        self._arrivals = arrivals = recording.arrivals
        self._period_us = period = control.period_us
        self._processing_us = control.processing_us
        # Where processing outlasts the period, only every stride-th tick can be asked.
        self._stride_us = max(1, -(-control.processing_us // period)) * period
        self._told = TICK in kernel.topics
        self._times = recording.arrived_us
        self._change_at = recording.change_at
        self._agreement_at = recording.agreement_at
        self._seen = 0
        self.skipped_ticks = 0
        if arrivals:
            self._end_us = self._times[-1] + control.horizon_us
            # The driver keeps no reference to the event, which refers to it: without cycles a
            # finished trajectory is freed at once, and the garbage collector has nothing to do.
            kernel.again(Recurrent(self._ask), self._asked_from(0, self._times[0]), _TICK)

    def _asked_from(self, tick: Microseconds, time: Microseconds) -> Microseconds:
        """The first tick at or after `time` among those asked from `tick` on, waiting at each."""
        stride = self._stride_us
        hops = -(-(time - tick) // stride)
        self.skipped_ticks += hops * (stride // self._period_us - 1)
        return tick + hops * stride

    def _ask(self, event: Any) -> None:
        # The hot path: what happens at every asked tick stands in one place, without calls.
        kernel, ledger, view, period = self._kernel, self._ledger, self._view, self._period_us
        tick = now = kernel._now
        if event._value is not None:
            event, tick = event._value
        elif ledger.outstanding_us > now:
            # Serial: ask again when the acknowledgement has arrived, for what this tick observed.
            kernel.at(ledger.outstanding_us, _TICK, self._ask, (event, tick))
            return
        if now > self._end_us:
            raise UnsettledError("a policy still decides long after the final recognition")

        arrivals, seen = self._arrivals, self._seen
        upto = bisect_right(self._times, tick, seen)
        view.news = upto - seen
        if upto > seen:
            self._seen = upto
            view.arrivals = arrivals[:upto]
            latest = arrivals[upto - 1]
            view.candidate = latest.argument
            view.final = latest.is_final
            view.agreement = self._agreement_at[upto - 1]
        view.tick_us = tick
        view.decision_us = decision = now + self._processing_us
        view.active = None if ledger.held is None else ledger.current[ledger.held]
        if self._told:
            kernel.publish(TICK, LogRecord(now, TICK, argument=view.candidate))

        answer = self._decide(view)
        wake: Wake | None = None
        if type(answer) is Wake:
            wake = answer
        elif answer:
            commands = answer if type(answer) is tuple else (answer,)
            if type(commands[-1]) is Wake:
                wake, commands = commands[-1], commands[:-1]
            if commands:
                kernel.at(decision, _DECISION, self._effect, commands)
        elif view.final and not ledger.undecided:
            return

        until = tick
        if wake is not None:
            until = NEVER
            if wake.at < NEVER:
                # A decision at `wake.at` comes from a tick one processing time earlier.
                until = wake.at - self._processing_us
            if upto < len(arrivals):
                news = self._change_at[upto] if wake.on_change else upto + wake.arrivals - 1
                coming = self._times[news] if news < len(arrivals) else self._times[-1]
                if coming < until:
                    until = coming
            if until == NEVER:
                return
        following = tick + period
        if following < decision:
            following = -(-decision // period) * period
            self.skipped_ticks += (following - tick) // period - 1
        if following < until:
            if self._stride_us == period:
                following = -(-until // period) * period
            else:
                following = self._asked_from(following, until)
        kernel.again(event, following, _TICK)

    def _effect(self, event: Any) -> None:
        for command in event._value:
            apply(command, self._ledger, self._parallel)
