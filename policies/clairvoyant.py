"""The bound: the cheapest that any single-call policy can do, knowing the future.

It uses only arguments that have arrived, at the controller's own decision times. Exact, by dynamic
programming over (tick, outstanding acknowledgement, call state).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from simcore.clock import Microseconds, seconds
from simcore.commands import UNTIL_CHANGE, Cancel, Command, Launch, Restart, Update, Wake
from simcore.drivers.ticks import next_tick
from simcore.policy import TickPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcore.commands import Answer
    from simcore.policy import View
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Argument, Recording


class _State(NamedTuple):
    """What matters at an ask: idle (no argument), or a call with a wrong argument.

    `acknowledged_us` is when the last request is acknowledged, -1 for none; `deadline_us` is -1
    once the call has executed. A call with the right argument needs no state: leaving it alone is
    best, since nothing makes it complete earlier.
    """

    tick_us: Microseconds
    acknowledged_us: Microseconds
    argument: Argument | None
    start_us: Microseconds
    deadline_us: Microseconds


class _Edge(NamedTuple):
    """One option at a state: its price, and the state after it (None: nothing more to decide)."""

    cost: float
    command: Command | None
    after: _State | None


@dataclass(kw_only=True)
class Clairvoyant(TickPolicy):
    """Minimizes the realized cost over waiting, launching, updating, cancelling and restarting."""

    sees_future: ClassVar[bool] = True
    _plan: dict[Microseconds, Command] = field(default_factory=dict, init=False, repr=False)
    _view: View | None = field(default=None, init=False, repr=False)

    @property
    def reads_forecast(self) -> bool:
        return False

    def reset(self, view: View) -> None:
        self._view = view

    def foresee(self, recording: Recording) -> None:
        assert self._view is not None
        arguments = {arrival.argument for arrival in recording.arrivals}
        if recording.target is not None and recording.target in arguments:
            search = _Search(recording, recording.target, self._view.profile, self._view.control)
            self._plan = search.cheapest()

    def decide(self, view: View) -> Answer:
        planned = self._plan.get(view.tick_us)
        if planned is not None:
            return planned
        later = [tick for tick in self._plan if tick > view.tick_us]
        return Wake(min(later) + view.control.processing_us) if later else UNTIL_CHANGE


class _Search:
    def __init__(
        self, recording: Recording, target: Argument, profile: ToolProfile, control: Control
    ) -> None:
        self._arrivals = recording.arrivals
        self._origin_us = recording.delay_origin_us
        self._target = target
        self._profile = profile
        self._control = control

    def cheapest(self) -> dict[Microseconds, Command]:
        """The commands of a cheapest course, by the tick at which they are given."""
        start = _State(0, -1, None, 0, 0)
        edges: dict[_State, list[_Edge]] = {}
        order: list[_State] = []
        waiting = [(start.tick_us, 0, start)]
        pushed = 0
        while waiting:
            # Ticks grow along every edge, so in their order a state precedes those after it.
            *_, state = heappop(waiting)
            if state in edges:
                continue
            order.append(state)
            edges[state] = list(self._options(state))
            for edge in edges[state]:
                if edge.after is not None and edge.after not in edges:
                    pushed += 1
                    heappush(waiting, (edge.after.tick_us, pushed, edge.after))
        value: dict[_State, float] = {}
        best: dict[_State, _Edge] = {}
        for state in reversed(order):
            best[state] = min(
                edges[state],
                key=lambda edge: edge.cost + (0 if edge.after is None else value[edge.after]),
            )
            after = best[state].after
            value[state] = best[state].cost + (0 if after is None else value[after])
        plan: dict[Microseconds, Command] = {}
        here: _State | None = start
        while here is not None:
            edge = best[here]
            if edge.command is not None:
                plan[here.tick_us] = edge.command
            here = edge.after
        return plan

    def _options(self, state: _State) -> Iterator[_Edge]:
        control, profile = self._control, self._profile
        tick, deadline = state.tick_us, state.deadline_us
        decision = max(tick, state.acknowledged_us) + control.processing_us
        following = next_tick(tick, decision, control)
        arrived = [arrival for arrival in self._arrivals if arrival.arrived_at_us <= tick]
        known = dict.fromkeys(a.argument for a in arrived if a.argument is not None)
        final = bool(arrived) and arrived[-1].is_final
        if final:
            # Nothing more will arrive: another wrong argument can only cost.
            known = {self._target: None}
        argument = state.argument
        if argument is None:
            if final:
                yield _Edge(profile.price_of_missing, None, None)
            else:
                yield _Edge(0, None, state._replace(tick_us=following, acknowledged_us=-1))
            for value in known:
                yield self._running(Launch(value), 0, value, decision, decision, -1, following)
            return

        acknowledged = decision + control.acknowledgement_us
        executed = deadline < 0
        in_time = not executed and acknowledged <= deadline
        stale = 0 if executed else profile.stale_cost
        if final and (executed or deadline < following):
            yield _Edge(stale + profile.price_of_missing, None, None)
        else:
            passed = not executed and deadline < following
            after = state._replace(
                tick_us=following, acknowledged_us=-1, deadline_us=-1 if passed else deadline
            )
            yield _Edge(stale if passed else 0, None, after)
        for value in known:
            if value == argument:
                continue
            if not in_time:
                yield self._running(
                    Update(value), stale, value, acknowledged, acknowledged, acknowledged, following
                )
                continue
            starts = {True: state.start_us, False: acknowledged}
            if not profile.keeps_progress(argument, value):
                del starts[True]
            for reuse, start in starts.items():
                yield self._running(
                    Update(value, reuse), 0, value, start, acknowledged, acknowledged, following
                )
        if in_time:
            price = profile.cancel_cost
            yield _Edge(price, Cancel(), _State(following, acknowledged, None, 0, 0))
            if not final:
                yield self._running(
                    Restart(argument),
                    price,
                    argument,
                    acknowledged,
                    acknowledged,
                    acknowledged,
                    following,
                )

    def _running(
        self,
        command: Command,
        cost: float,
        argument: Argument,
        start: Microseconds,
        committed: Microseconds,
        acknowledged: Microseconds,
        following: Microseconds,
    ) -> _Edge:
        """The edge to a call that runs with `argument`, and the price of having got there."""
        profile = self._profile
        if argument == self._target:
            late = max(0, profile.completion(committed, start) - self._origin_us)
            return _Edge(cost + profile.delay_price * seconds(late), command, None)
        deadline = profile.deadline(committed, start)
        # A deadline that has passed when the policy is next asked has been paid for.
        if deadline < max(following, acknowledged):
            cost, deadline = cost + profile.stale_cost, -1
        return _Edge(cost, command, _State(following, acknowledged, argument, start, deadline))
