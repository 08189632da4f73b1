"""A stateful machine drives the ledger beside a plain model of calls."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from simcore.kernel import Kernel
from simcore.ledger import IllegalCommandError, Ledger
from simcore.tool import ToolProfile

KAPPA = 20
TOOL = ToolProfile("t", runtime_us=100, cancel_window_us=70)
VALUES = [f'{{"arguments":{{"v":{n}}},"tool":"t"}}' for n in range(3)]


@dataclass
class ModelCall:
    """A call as a list of closed versions and at most one open one."""

    argument: str
    start: int
    deadline: int
    state: str = "open"
    closed: list[str] = field(default_factory=list)


@dataclass
class Pending:
    at: int
    call: int
    kind: str
    argument: str | None


class LedgerMachine(RuleBasedStateMachine):
    """Many calls at once, with requests on their way while time passes."""

    def __init__(self) -> None:
        super().__init__()
        self.kernel = Kernel()
        self.ledger = Ledger(self.kernel, TOOL, KAPPA)
        self.calls: list[ModelCall] = []
        self.pending: list[Pending] = []
        self.held: int | None = None

    # The model

    def model_launch(self, argument: str, now: int) -> None:
        self.calls.append(ModelCall(argument, now, min(now + 70, now + 100)))
        self.held = len(self.calls) - 1

    def model_advance(self, until: int) -> None:
        """Every acknowledgement and deadline up to `until`, the acknowledgement first."""
        for now in range(self.kernel.now, until + 1):
            for request in [p for p in self.pending if p.at == now]:
                self.pending.remove(request)
                self.model_acknowledge(request, now)
            for call in self.calls:
                if call.state == "open" and call.deadline == now:
                    call.state = "executed"
                    call.closed.append("executed")

    def model_acknowledge(self, request: Pending, now: int) -> None:
        call = self.calls[request.call]
        in_time = call.state == "open"
        if request.kind == "update":
            assert request.argument is not None
            if in_time:
                call.closed.append("updated")
                call.argument = request.argument
                call.deadline = min(now + 70, max(now, call.start + 100))
            else:
                self.model_launch(request.argument, now)
            return
        if in_time:
            call.state = "cancelled"
            call.closed.append("cancelled")
            if self.held == request.call:
                self.held = None
        if request.argument is not None:
            self.model_launch(request.argument, now)

    # The rules

    @rule(step=st.sampled_from((0, 1, 19, 20, 21, 50, 69, 70, 71)))
    def pass_time(self, step: int) -> None:
        until = self.kernel.now + step
        self.model_advance(until)
        self.kernel.run(until=until + 0.5)  # SimPy excludes events at `until` itself
        self.kernel._now = until

    @rule(argument=st.sampled_from(VALUES))
    def launch(self, argument: str) -> None:
        self.ledger.launch(argument)
        self.model_launch(argument, self.kernel.now)

    @precondition(lambda self: self.calls)
    @rule(
        data=st.data(),
        kind=st.sampled_from(("update", "cancel", "restart")),
        argument=st.sampled_from(VALUES),
    )
    def request(self, data: st.DataObject, kind: str, argument: str) -> None:
        number = data.draw(st.integers(0, len(self.calls) - 1))
        call = self.calls[number]
        busy = any(p.call == number for p in self.pending)
        same = kind == "update" and argument == call.argument
        legal = call.state != "cancelled" and not busy and not same
        ask = {
            "update": lambda: self.ledger.update(argument, call=number),
            "cancel": lambda: self.ledger.cancel(number),
            "restart": lambda: self.ledger.restart(argument, number),
        }[kind]
        if not legal:
            with pytest.raises(IllegalCommandError):
                ask()
            return
        ask()
        given = None if kind == "cancel" else argument
        self.pending.append(Pending(self.kernel.now + KAPPA, number, kind, given))

    @invariant()
    def agrees(self) -> None:
        assert self.ledger.held == self.held
        assert len(self.ledger.current) == len(self.calls)
        for version, call in zip(self.ledger.current, self.calls, strict=True):
            state = version.outcome or "open"
            assert (version.argument, version.deadline_us, state) == (
                call.argument,
                call.deadline,
                call.state,
            )
        outcomes = sorted(outcome for call in self.calls for outcome in call.closed)
        assert sorted(str(version.outcome) for version in self.ledger.closed) == outcomes

    @invariant()
    def each_version_has_one_outcome(self) -> None:
        keys = [(version.call, version.version) for version in self.ledger.closed]
        assert len(keys) == len(set(keys))


TestLedger = LedgerMachine.TestCase
TestLedger.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)


def test_an_empty_argument_is_refused() -> None:
    ledger = Ledger(Kernel(), TOOL, KAPPA)
    with pytest.raises(IllegalCommandError, match="needs an argument"):
        ledger.launch("")
    with pytest.raises(IllegalCommandError, match="no call is active"):
        ledger.cancel()
