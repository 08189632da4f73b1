"""`check_policy`: one call that says whether a policy keeps the rules of the house."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from simcore.clock import NEVER
from simcore.commands import UNTIL_ARRIVAL, Wake
from simcore.drivers.effect import commands_of
from simcore.drivers.ticks import UnsettledError
from simcore.ledger import IllegalCommandError
from simcore.policy import TickPolicy
from simcore.recorder import CANCEL_REQUESTED, LAUNCHED, SELECTED, UPDATE_REQUESTED
from simcore.testing.invariants import check_trajectory
from simcore.testing.strategies import CHECKPOINT, controls, profiles, recordings
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.clock import Microseconds
    from simcore.commands import Answer
    from simcore.policy import View
    from simcore.recorder import LogRecord
    from simcore.scenario import Control
    from simcore.tool import ToolProfile
    from simcore.trace import Recording
    from simcore.trajectory import Trajectory

_DECISIONS = (LAUNCHED, UPDATE_REQUESTED, CANCEL_REQUESTED, SELECTED)


def check_policy(
    make: Callable[[], TickPolicy], *, examples: int = 100, shrink: bool = False
) -> None:
    """Check a tick policy on random recordings, tools and controllers.

    `make` is the class or another factory. `shrink` looks for a smaller failing case, which takes
    minutes. Raises `AssertionError`, with the case, unless the policy

    - answers legally: commands that the state of its calls allows, and an end to its decisions;
    - is deterministic: the same trajectory gives the same result;
    - does not peek: changing what arrives later never changes an earlier decision;
    - is idempotent: asked twice at one tick, it answers the same;
    - gives honest hints: where it waits by `Wake`, asking it at every tick changes nothing;
    - keeps the invariants of `simcore.testing.check_trajectory`.
    """
    peeks = bool(getattr(make(), "sees_future", False))

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        report_multiple_bugs=False,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(recordings(), profiles(), controls(), st.data())
    def check(trace: Recording, tool: ToolProfile, control: Control, data: st.DataObject) -> None:
        def play(factory: Callable[[], TickPolicy], heard: Recording = trace) -> Trajectory:
            try:
                return simulate(heard, tool, factory, control, CHECKPOINT, log=True)
            except (IllegalCommandError, UnsettledError) as error:
                raise AssertionError(f"illegal answer: {error}") from error

        result = play(make)
        check_trajectory(result, trace, tool)
        assert play(make) == result, "not deterministic: the same trajectory came out differently"
        assert _outcome(play(lambda: _AskedTwice(make()))) == _outcome(result), "not idempotent"
        patient = play(lambda: _Impatient(make()))
        assert _outcome(patient) == _outcome(result), "a Wake hint hides a decision"
        if not peeks:
            # Cut where it can matter: at the policy's decisions, and just before an arrival.
            moments = {record.at_us for record in result.log if record.kind in _DECISIONS}
            moments |= {max(0, arrival.arrived_at_us - 1) for arrival in trace.arrivals}
            now = data.draw(st.sampled_from(sorted(moments)), label="now")
            other = data.draw(recordings(), label="another future")
            changed = play(make, _with_future(trace, other, now))
            assert _decisions(changed, now) == _decisions(result, now), (
                f"peeks: what arrives after {now} us changed a decision before"
            )

    check()


def _outcome(result: Trajectory) -> Trajectory:
    return result._replace(log=())


def _decisions(result: Trajectory, until: Microseconds) -> list[LogRecord]:
    return [r for r in result.log if r.kind in _DECISIONS and r.at_us <= until]


def _with_future(trace: Recording, other: Recording, now: Microseconds) -> Recording:
    """`trace` up to `now`, and then what arrives in `other`, moved behind it."""
    past = tuple(
        replace(arrival, is_final=False)
        for arrival in trace.arrivals
        if arrival.arrived_at_us <= now
    )
    if len(past) == len(trace.arrivals):
        return trace
    shift = now + 1
    future = tuple(
        replace(
            arrival,
            prefix_end_us=arrival.prefix_end_us + shift,
            arrived_at_us=arrival.arrived_at_us + shift,
        )
        for arrival in other.arrivals
    )
    known, unknown = trace.forecasts[0], other.forecasts[0]
    kept = known.index(now) + 1
    later = [at + shift for at in unknown.at_us]
    assert known.masses is not None
    assert unknown.masses is not None
    forecast = replace(
        known,
        at_us=(*known.at_us[:kept], *later),
        p_bad=(*known.p_bad[:kept], *unknown.p_bad),
        masses=(*known.masses[:kept], *unknown.masses),
    )
    return replace(
        trace,
        arrivals=past + future,
        forecasts=(forecast,),
        audio_end_us=max(trace.audio_end_us, future[-1].prefix_end_us),
        labelled=other.labelled,
        target=other.target,
    )


class _Wrapper(TickPolicy):
    """A policy in front of another one."""

    def __init__(self, inner: TickPolicy) -> None:
        self.inner = inner
        self.parallel_calls = inner.parallel_calls  # type: ignore[misc]  # per object here
        self.sees_future = inner.sees_future  # type: ignore[misc]

    def reset(self, view: View) -> None:
        self.inner.reset(view)

    def foresee(self, recording: Recording) -> None:
        self.inner.foresee(recording)  # type: ignore[attr-defined]

    def decide(self, view: View) -> Answer:
        return self.changed(view, self.inner.on)

    def changed(self, view: View, ask: Callable[[Any, View], Answer]) -> Answer:
        raise NotImplementedError


class _AskedTwice(_Wrapper):
    def changed(self, view: View, ask: Callable[[Any, View], Answer]) -> Answer:
        first, second = ask("tick", view), ask("tick", view)
        assert first == second, f"not idempotent: asked twice, it answered {first} and {second}"
        return second


class _Impatient(_Wrapper):
    """Asks at every tick, whatever the hint."""

    def changed(self, view: View, ask: Callable[[Any, View], Answer]) -> Answer:
        *commands, last = commands_of(ask("tick", view)) or (None,)
        if not isinstance(last, Wake):
            return tuple(c for c in (*commands, last) if c is not None) or None
        ended = last.at == NEVER and view.final
        again = UNTIL_ARRIVAL if ended else Wake(view.decision_us + 1)
        return (*commands, again)
