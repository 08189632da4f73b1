"""Asks a policy at each fact it subscribes to; its commands take effect then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.channel import Channel
from simcore.clock import NEVER, Priority
from simcore.commands import Launch, Note, Respond, Wake
from simcore.drivers.effect import apply, commands_of
from simcore.recorder import ARRIVAL, TIMER, LogRecord

if TYPE_CHECKING:
    from simcore.kernel import Kernel
    from simcore.ledger import Ledger
    from simcore.policy import Policy, View
    from simcore.scenario import ChannelSpec
    from simcore.trace import Recording


class ImmediateDriver:
    """Drives a policy that reacts to events: guards, task managers.

    `Wake(at)` sets a timer, published to this policy as a `timer` fact. The view's decision time
    is now. `launched` says which of the agent's calls (by id) started which call.
    """

    skipped_ticks = 0

    def __init__(
        self,
        kernel: Kernel,
        ledger: Ledger,
        policy: Policy,
        view: View,
        recording: Recording,
        channel: ChannelSpec,
    ) -> None:
        self._kernel, self._ledger, self._policy, self._view = kernel, ledger, policy, view
        self._recording = recording
        self.channel = Channel(kernel, channel)
        self.launched: dict[str, int] = {}
        self.channel.defers = getattr(policy, "defers_interruptions", False)
        view.blocking = self.channel.blocking
        kernel.subscribe(ARRIVAL, self._observe)
        for topic in policy.subscribes:
            kernel.subscribe(topic, self._ask)

    def _observe(self, fact: LogRecord) -> None:
        assert fact.detail is not None
        view, arrival = self._view, self._recording.arrivals[fact.detail]
        view.news = 1
        view.arrivals = (*view.arrivals, arrival)
        view.candidate, view.final = arrival.argument, arrival.is_final
        view.agreement = self._recording.agreement_at[fact.detail]

    def _ask(self, fact: Any) -> None:
        if self.channel.undone(fact):
            return
        view = self._view
        view.tick_us = view.decision_us = self._kernel.now
        view.active = self._ledger.active
        for command in commands_of(self._policy.on(fact, view)):
            if isinstance(command, Wake):
                if command.at < NEVER:
                    at = max(command.at, self._kernel.now)
                    self._kernel.at(at, Priority.DECISION, self._timer)
            elif isinstance(command, Respond):
                self.channel.respond(command)
            elif isinstance(command, Note):
                self.channel.note(command)
            else:
                if isinstance(command, Launch) and command.id is not None:
                    self.launched[command.id] = len(self._ledger.current)
                apply(command, self._ledger, True)

    def _timer(self, _: Any) -> None:
        self._ask(LogRecord(self._kernel.now, TIMER))
