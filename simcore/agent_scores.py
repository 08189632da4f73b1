"""What an agent's user got: the calls' effects held against what was said, and what was told.

What the user wants is read off `user_audio_start` labels: from a "stop" on nothing, from a
"request" on the call again. Policies hear the speech through the agent's channel alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from simcore.clock import seconds
from simcore.keys import business_key

if TYPE_CHECKING:
    from simcore.backend import Backend
    from simcore.channel import Channel
    from simcore.clock import Microseconds
    from simcore.tool import ToolProfile
    from simcore.trace import AgentEvent, Recording

FailureKind = Literal[
    "zombie_commit",
    "duplicate_effect",
    "stale_execution",
    "cancelled_needed_work",
    "missed_deadline",
    "false_status",
    "lost_result",
    "unanswered",
]
"""What went wrong in a trajectory; of several the first of this list."""

STOP = "stop"
REQUEST = "request"


class AgentScores(NamedTuple):
    """Columns that runs with an agent's calls add.

    - `decision`, `decision_us`: "commit" or "cancel" of the first call, and when;
      `stop_to_decision_s` from the start of the first stop, where it came before;
    - `unwanted_commit`: something was committed while the user wanted nothing; None without a stop;
    - `double_booking`: one business key had its effect twice;
    - `duplicates_suppressed`: calls that repeat an earlier one and started nothing;
    - `notes`, `responses`: how many were sent; `replies_cut`: by these, not by the user;
    - `added_delay_s`: from when the wanted call, executed at once, would have been committed;
    - `wanted_lost`: the wanted call never had its effect; both None where nothing is wanted.
    """

    decision: str | None
    decision_us: Microseconds | None
    stop_to_decision_s: float | None
    unwanted_commit: bool | None
    double_booking: bool
    duplicates_suppressed: int
    notes: int
    responses: int
    added_delay_s: float | None
    wanted_lost: bool | None
    replies_cut: int


def agent_scores(
    trace: Recording,
    action: ToolProfile,
    ledger: Backend,
    channel: Channel,
    launched: dict[str, int],
) -> AgentScores:
    """Score one settled trajectory."""
    stops = [e.at_us for e in trace.events if _starts(e, STOP)]
    wishes = [e.at_us for e in trace.events if _starts(e, REQUEST)]
    decided = ledger.decision(0) if ledger.current else None
    decision, decision_us = decided or (None, None)
    late = decision_us is not None and bool(stops) and decision_us >= stops[0]
    keys: dict[str, str] = {}
    suppressed = 0
    for ident, call in channel.asked.items():
        key = business_key(call.name or "", call.args, action.fields)
        suppressed += ident not in launched and key in keys.values()
        keys[ident] = key
    happened = [effect.argument for effect in ledger.effects]
    lost = delay = None
    if trace.target is not None:
        lost = trace.target not in happened
        wished = wishes[-1] if wishes else 0
        asked = [
            channel.asked[ident].at_us
            for ident, key in keys.items()
            if key == trace.target and channel.asked[ident].at_us >= wished
        ]
        started = {version.call: version.committed_us for version in reversed(ledger.closed)}
        done = [
            effect.at_us
            for effect in ledger.effects
            if effect.argument == trace.target and started[effect.call] >= wished
        ]
        if asked and done:
            delay = seconds(min(done) - min(asked) - action.runtime_us)
    return AgentScores(
        decision,
        decision_us,
        seconds(decision_us - stops[0]) if late and decision_us is not None else None,
        any(_unwanted(e.at_us, stops, wishes) for e in ledger.effects) if stops else None,
        len(happened) > len(set(happened)),
        suppressed,
        channel.notes,
        channel.responses,
        delay,
        lost,
        channel.replies_cut,
    )


def _starts(event: AgentEvent, label: str) -> bool:
    return event.type == "user_audio_start" and event.label == label


def _unwanted(at: Microseconds, stops: list[Microseconds], wishes: list[Microseconds]) -> bool:
    stop = max((s for s in stops if s <= at), default=None)
    return stop is not None and not any(stop < wish <= at for wish in wishes)


def agent_trouble(
    scores: AgentScores, ledger: Backend, channel: Channel, launched: dict[str, int]
) -> FailureKind | None:
    """The failure kind of an agent's trajectory."""
    if ledger.zombies():
        return "zombie_commit"
    if scores.double_booking or ledger.repeats:
        return "duplicate_effect"
    if scores.unwanted_commit:
        return "stale_execution"
    if scores.wanted_lost and not any(v.outcome == "failed" for v in ledger.closed):
        return "cancelled_needed_work"
    if ledger.late_cancels or ledger.late_updates:
        return "missed_deadline"
    heard: dict[int, str] = {}
    for told in channel.told:
        if told.call is not None and told.heard_us is not None:
            heard[told.call] = told.status
    for call, status in heard.items():
        executed = any(effect.call == call for effect in ledger.effects)
        if (status == "booked") is not executed and status not in ("unknown", "running"):
            return "false_status"
    for call in launched.values():
        if heard.get(call) in (None, "running") and call in {t.call for t in channel.told}:
            return "lost_result"
    return "unanswered" if channel.asked.keys() - channel.answered - channel.dead else None
