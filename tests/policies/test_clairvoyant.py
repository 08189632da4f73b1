"""No single-call policy is cheaper than the clairvoyant one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.clairvoyant import Clairvoyant
from simcore.commands import Answer, Cancel, Launch, Restart, Update
from simcore.drivers.ticks import UnsettledError
from simcore.policy import TickPolicy, View
from simcore.registry import policy_factory
from simcore.testing import controls, profiles, recordings
from simcore.testing.strategies import CHECKPOINT
from simcore.tool import ToolProfile
from simcore.trace import Arrival, Recording, canonical
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from simcore.scenario import Control

RIVALS: list[tuple[str, dict[str, Any]]] = [
    ("eou", {}),
    ("local_agreement", {}),
    ("confidence", {"threshold": 0.9}),
    ("speculative", {}),
    ("rassg", {}),
    ("rassg", {"consensus": 1, "progress_reuse": False}),
    ("rassg", {"launch": "lookahead"}),
]


class Dice(TickPolicy):
    """Does anything that is legal, at random, with any argument that has arrived."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def decide(self, view: View) -> Answer:
        known = sorted({a.argument for a in view.arrivals if a.argument is not None})
        options: list[Answer] = [None, None, None]
        active = view.active
        if active is None:
            options += [Launch(argument) for argument in known]
        else:
            options += [Cancel(), *(Restart(argument) for argument in known)]
            for argument in known:
                if argument != active.argument:
                    options += [Update(argument), Update(argument, reuse=False)]
        return self.random.choice(options)


@given(recordings(), profiles(), controls(), st.integers())
@settings(max_examples=100, deadline=None)
def test_no_single_call_policy_is_cheaper(
    trace: Recording, tool: ToolProfile, control: Control, seed: int
) -> None:
    bound = simulate(trace, tool, Clairvoyant, control).cost
    rivals = [policy_factory(name, options) for name, options in RIVALS]
    rivals += [lambda number=number: Dice(seed + number) for number in range(20)]  # type: ignore
    for rival in rivals:
        try:
            cost = simulate(trace, tool, rival, control, CHECKPOINT).cost
        except UnsettledError:  # the dice may fall so that it goes on for ever
            continue
        if bound is None or cost is None:
            assert cost is bound is None
        else:
            assert bound <= cost + 1e-9


A, B = (canonical({"tool": "book", "arguments": {"time": time}}) for time in ("15:00", "16:00"))


def test_it_starts_early_with_a_wrong_value_to_reuse_the_progress() -> None:
    heard = ((960, None), (1_920, A), (2_880, A), (3_840, B))
    trace = Recording(
        "r",
        3_840_000,
        tuple(Arrival(at * 1000, at * 1000, "", 0.9, value, at == 3_840) for at, value in heard),
        labelled=True,
        target=B,
        origin_us=3_840_000,
    )
    tool = ToolProfile("t", runtime_us=3_000_000, cancel_window_us=2_500_000)
    result = simulate(trace, tool, Clairvoyant)
    # Launched at 1.93 s with the wrong value, it completes 3 s later with the right one.
    assert (result.first_commit_us, result.updates, result.stale) == (1_930_000, 1, False)
    assert result.delay_s == pytest.approx(4.93 - 3.84)


def test_a_target_that_never_arrives_is_not_tried() -> None:
    heard = (Arrival(0, 0, "", 0.9, A, True),)
    trace = Recording("r", 0, heard, labelled=True, target=B)
    result = simulate(trace, ToolProfile("t", 1_000, 1_000), Clairvoyant)
    assert (result.commits, result.cost) == (0, 5.0)
