"""RASSG as a SimPy user would script it: a process for each thing that goes on. A yardstick."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import simpy

from tests.benchmarks.common import Prepared, outcome_row, prepare

if TYPE_CHECKING:
    from collections.abc import Generator

    Process = Generator[simpy.Event, Any, None]

__all__ = ["prepare", "simulate"]

# At one instant: acknowledgements and arrivals, then ticks (plain timeouts have priority 1), then
# completions and deadlines.
BEFORE_TICKS, COMPLETION, DEADLINE = 0, 2, 3


class Instant(simpy.Event):
    """A timeout with a priority."""

    def __init__(self, env: simpy.Environment, at: int, priority: int) -> None:
        super().__init__(env)
        self._ok = True
        self._value = None
        env.schedule(self, priority, at - env.now)  # type: ignore[arg-type]


class Version:
    """One argument value in execution."""

    def __init__(self, inputs: Prepared, argument: str, start: int, committed: int) -> None:
        self.argument = argument
        self.start = start
        self.completion = max(committed, start + inputs.runtime)
        self.deadline = min(committed + inputs.window, self.completion)
        self.outcome: str | None = None
        self.completed: int | None = None


class Simulation:
    """One trajectory."""

    def __init__(self, inputs: Prepared) -> None:
        self.inputs = inputs
        self.env = simpy.Environment()
        self.heard: list[str | None] = []
        self.active: Version | None = None
        self.versions: list[Version] = []
        self.request: simpy.Process | None = None
        self.first_commit: int | None = None
        self.commits = self.updates = self.late_updates = self.cancels = self.late_cancels = 0
        self.skipped_ticks = 0

    def run(self) -> dict[str, Any]:
        self.env.process(self.recognizer())
        self.env.process(self.controller())
        self.env.run()
        held = self.active
        return outcome_row(
            self.inputs,
            executed=[v.argument for v in self.versions if v.outcome == "executed"],
            held=None if held is None else held.argument,
            completed=None if held is None else held.completed,
            first_commit=self.first_commit,
            commits=self.commits,
            updates=self.updates,
            late_updates=self.late_updates,
            cancels=self.cancels,
            late_cancels=self.late_cancels,
            skipped_ticks=self.skipped_ticks,
        )

    def recognizer(self) -> Process:
        for arrived_at, argument in self.inputs.arrivals:
            yield Instant(self.env, arrived_at, BEFORE_TICKS)
            self.heard.append(argument)

    def controller(self) -> Process:
        env, period = self.env, self.inputs.period
        tick = 0
        while True:
            yield env.timeout(tick - env.now)
            history = self.heard.copy()
            if self.request is not None and self.request.is_alive:
                yield self.request
            command, argument = self.decide(tick, history)
            if command == "wait" and len(history) == len(self.inputs.arrivals):
                return
            yield env.timeout(self.inputs.processing)
            if command == "commit":
                self.commits += 1
                if self.first_commit is None:
                    self.first_commit = int(env.now)
                self.launch(argument, int(env.now))
            elif command == "update":
                self.request = env.process(self.update(argument))
            elif command == "cancel":
                self.request = env.process(self.cancel())
            following = max(tick + period, -(-int(env.now) // period) * period)
            self.skipped_ticks += (following - tick) // period - 1
            tick = following

    def decide(self, tick: int, history: list[str | None]) -> tuple[str, str]:
        inputs, active = self.inputs, self.active
        candidate = history[-1] if history else None
        final = len(history) == len(inputs.arrivals)
        if candidate is None:
            return "wait", ""
        if active is None:
            agreed = len(history) >= 3 and candidate == history[-2] == history[-3]
            return ("commit" if final or agreed else "wait"), candidate
        if candidate != active.argument:
            return "update", candidate
        decision = int(self.env.now) + inputs.processing
        acknowledged = decision + inputs.kappa
        if not final and acknowledged <= active.deadline < acknowledged + inputs.period:
            index = bisect_right(inputs.forecast_at, tick) - 1
            if index >= 0:
                p_bad = inputs.p_bad[index]
                progress = min(inputs.runtime, max(0, decision - active.start)) / 1_000_000
                lost = inputs.cancel_cost + inputs.delay_price * progress * (1 - p_bad)
                if inputs.stale_cost * p_bad > lost:
                    return "cancel", candidate
        return "wait", candidate

    def launch(self, argument: str, start: int) -> None:
        version = Version(self.inputs, argument, start, int(self.env.now))
        self.versions.append(version)
        self.active = version
        self.env.process(self.complete(version))
        self.env.process(self.pass_deadline(version))

    def update(self, argument: str) -> Process:
        yield Instant(self.env, int(self.env.now) + self.inputs.kappa, BEFORE_TICKS)
        old, now = self.active, int(self.env.now)
        assert old is not None
        if old.outcome is None:
            old.outcome = "updated"
            self.updates += 1
            keeps = (old.argument, argument) in self.inputs.keeps_progress
            self.launch(argument, old.start if keeps else now)
        else:
            self.late_updates += 1
            self.commits += 1
            self.launch(argument, now)

    def cancel(self) -> Process:
        yield Instant(self.env, int(self.env.now) + self.inputs.kappa, BEFORE_TICKS)
        assert self.active is not None
        if self.active.outcome is None:
            self.active.outcome = "cancelled"
            self.cancels += 1
            self.active = None
        else:
            self.late_cancels += 1

    def complete(self, version: Version) -> Process:
        yield Instant(self.env, version.completion, COMPLETION)
        if version.outcome in (None, "executed"):
            version.completed = int(self.env.now)

    def pass_deadline(self, version: Version) -> Process:
        yield Instant(self.env, version.deadline, DEADLINE)
        if version.outcome is None:
            version.outcome = "executed"


def simulate(inputs: Prepared) -> dict[str, Any]:
    """The outcome row of one trajectory."""
    return Simulation(inputs).run()
