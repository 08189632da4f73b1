"""The serial controller: asks at control ticks, acts after its processing time.

A policy is asked at every tick unless it says, by `Wake`, that nothing can change before some
instant; the ticks in between are then never visited, with the same outcome.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.clock import NEVER, Priority
from simcore.commands import Wake
from simcore.drivers.effect import apply, commands_of
from simcore.recorder import TICK, LogRecord

if TYPE_CHECKING:
    from simcore.clock import Microseconds
    from simcore.commands import Answer, Command
    from simcore.kernel import Kernel
    from simcore.ledger import Ledger
    from simcore.policy import TickPolicy, View
    from simcore.scenario import Control
    from simcore.trace import Recording


class UnsettledError(Exception):
    """A policy still decides long after the final recognition: its rule has no end."""


def next_tick(tick: Microseconds, decision: Microseconds, control: Control) -> Microseconds:
    """The tick asked after the one at `tick`: the first later one that is not before `decision`."""
    period = control.period_us
    return max(tick // period + 1, -(-decision // period)) * period


class TickDriver:
    """Drives one policy over one recording's arrivals."""

    __slots__ = (
        "_arrivals",
        "_control",
        "_end_us",
        "_kernel",
        "_ledger",
        "_policy",
        "_stride",
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
        self._kernel = kernel
        self._ledger = ledger
        self._policy = policy
        self._view = view
        self._control = control = view.control
        self._arrivals = recording.arrivals
        # Where processing outlasts the period, only every stride-th tick can be asked.
        self._stride = max(1, -(-control.processing_us // control.period_us)) * control.period_us
        last = recording.arrivals[-1].arrived_at_us if recording.arrivals else 0
        self._end_us = last + control.horizon_us
        self.skipped_ticks = 0
        if recording.arrivals:
            kernel.at(0, Priority.TICK, self._tick)

    def _tick(self, event: Any) -> None:
        now = self._kernel.now
        self._view.tick_us = now
        outstanding = self._ledger.outstanding_us
        if outstanding > now:
            self._kernel.at(outstanding, Priority.TICK, self._ask)
        else:
            self._ask(event)

    def _ask(self, _: Any) -> None:
        kernel, view, control = self._kernel, self._view, self._control
        tick = view.tick_us
        if kernel.now > self._end_us:
            raise UnsettledError(
                f"still deciding {control.horizon_us // 1_000_000} s after the final recognition"
            )
        self._observe(tick)
        view.decision_us = decision = kernel.now + control.processing_us
        view.next_decision_us = decision + control.period_us
        if TICK in kernel.topics:
            kernel.publish(TICK, LogRecord(kernel.now, TICK, argument=view.candidate))
        commands, wake = self._split(self._policy.on(TICK, view))
        following = next_tick(tick, decision, control)
        skipped = (following - tick) // control.period_us - 1
        if commands:
            kernel.at(decision, Priority.DECISION, self._effect, commands)
        elif wake is None and view.final and not self._ledger.undecided:
            return
        if wake is not None:
            until = self._due(wake.at)
            if until == NEVER:
                return
            if until > following:
                hops = -(-(until - following) // self._stride)
                following += hops * self._stride
                skipped += hops * (self._stride // control.period_us - 1)
        self.skipped_ticks += skipped
        kernel.at(following, Priority.TICK, self._tick)

    def _observe(self, tick: Microseconds) -> None:
        view, arrivals = self._view, self._arrivals
        seen = upto = len(view.arrivals)
        while upto < len(arrivals) and arrivals[upto].arrived_at_us <= tick:
            upto += 1
        view.fresh = arrivals[seen:upto]
        if upto > seen:
            view.arrivals = arrivals[:upto]
            latest = arrivals[upto - 1]
            view.candidate = latest.argument
            view.final = latest.is_final

    @staticmethod
    def _split(answer: Answer) -> tuple[tuple[Command, ...], Wake | None]:
        """What to carry out, and the hint that stands alone or last."""
        if type(answer) is Wake:
            return (), answer
        commands = commands_of(answer)
        if commands and type(commands[-1]) is Wake:
            return commands[:-1], commands[-1]
        return commands, None

    def _due(self, at: Microseconds) -> Microseconds:
        """The earliest tick at which a policy that waits until `at` has something to decide."""
        seen = len(self._view.arrivals)
        news = self._arrivals[seen].arrived_at_us if seen < len(self._arrivals) else NEVER
        return min(news, NEVER if at >= NEVER else at - self._control.processing_us)

    def _effect(self, event: Any) -> None:
        for command in event._value:
            apply(command, self._ledger, parallel=self._policy.parallel_calls)
