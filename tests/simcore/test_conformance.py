"""The conformance kit passes the paper's policies and catches those that break a rule."""

from __future__ import annotations

from typing import Any

import pytest

from simcore.commands import UNTIL_ARRIVAL, Answer, Cancel, Launch, Wake
from simcore.policy import TickPolicy, View
from simcore.registry import policy_factory
from simcore.testing import check_policy
from tests.cases import tick_policies


@pytest.mark.parametrize("name", tick_policies())
def test_registered_policies_conform(name: str) -> None:
    check_policy(policy_factory(name), examples=20)


@pytest.mark.parametrize(
    "options",
    [{"launch": "lookahead"}, {"recommit": "arrival", "consensus": 1}, {"reactive_update": False}],
    ids=str,
)
def test_ablations_conform(options: dict[str, Any]) -> None:
    check_policy(policy_factory("rassg", options), examples=30)


class Eager(TickPolicy):
    """Launches whatever the candidate is."""

    def decide(self, view: View) -> Answer:
        return UNTIL_ARRIVAL if view.candidate is None else Launch(view.candidate)


class Moody(TickPolicy):
    """Remembers other trajectories."""

    asked = 0

    def decide(self, view: View) -> Answer:
        Moody.asked += 1
        if view.active or view.candidate is None or Moody.asked % 3:
            return None
        return Launch(view.candidate)


class Counting(TickPolicy):
    """Changes its answer with how often it was asked."""

    def __init__(self) -> None:
        self.asked = 0

    def decide(self, view: View) -> Answer:
        self.asked += 1
        if view.active or view.candidate is None or self.asked < 4:
            return None
        return Launch(view.candidate)


class Dozing(TickPolicy):
    """Says that nothing can change for a second, yet would launch earlier if asked."""

    def decide(self, view: View) -> Answer:
        if view.active or view.candidate is None:
            return UNTIL_ARRIVAL
        if view.tick_us // view.control.period_us % 2:
            return Launch(view.candidate)
        return UNTIL_ARRIVAL if view.final else Wake(view.decision_us + 5_000_000)


class Peeking(TickPolicy):
    """Reads when the last forecast will be made."""

    def decide(self, view: View) -> Answer:
        forecast = view._forecast
        assert forecast is not None
        if view.active or view.candidate is None:
            return UNTIL_ARRIVAL
        return Launch(view.candidate) if view.final or len(forecast.at_us) % 2 else None


class Restless(TickPolicy):
    """Cancels and launches for ever."""

    def decide(self, view: View) -> Answer:
        if view.candidate is None:
            return None
        if view.active is None:
            return Launch(view.candidate)
        return Cancel() if view.active.outcome is None else None


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        (Eager, "illegal answer"),
        (Moody, "not deterministic|not idempotent|Wake hint"),
        (Counting, "not idempotent|Wake hint"),
        (Dozing, "Wake hint hides"),
        (Peeking, "peeks"),
        (Restless, "illegal answer: a policy still decides"),
    ],
)
def test_a_broken_policy_is_caught(policy: type[TickPolicy], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_policy(policy, examples=200)
