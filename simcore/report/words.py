"""What the figures mean, for a reader who has seen none of this before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcore.report.numbers import number, span
from simcore.report.tables import headline

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simcore.metrics import Estimate
    from simcore.report.summary import Summary

TITLE: Final = "When may a voice agent start a tool call?"

QUESTION: Final = (
    "A voice agent hears a request while it is being spoken. Starting the tool call early saves "
    "time, but the speaker may still change a value, and past a deadline the call cannot be taken "
    "back. A policy decides when to start, update or cancel the call. Every policy below saw the "
    "same recordings, tools and clock."
)

TERMS: Final[Mapping[str, str]] = {
    "stale execution": "a call became irreversible with a value that the speaker did not mean in "
    "the end; the rate is the share of all trajectories with at least one",
    "delay": "from the moment the final value could be heard until the right call completed, "
    "averaged over the policy's own successes",
    "success": "at the end the agent holds the right call",
    "cost": "stale executions, cancellations, waiting, and requests missed, at the tool's prices",
    "interval": "95 %, from resampling whole groups of recordings that share audio; with the same "
    "outcome in all of them, the exact bound on a group that differs",
    "final parse": "what the last recognition means: the target (right), another call, or nothing",
    "trajectory": "one recording, one action, one policy and one forecast checkpoint",
}

DIMENSIONS: Final[Mapping[str, str]] = {
    "action": "By action",
    "checkpoint": "By forecast checkpoint",
    "subset": "By subset of recordings",
    "variant": "By variant of the recording",
    "final_parse": "By the final parse",
}


def findings(summary: Summary) -> Iterator[str]:
    """What stands out, in sentences made from the figures alone."""
    yield headline(summary) + "."
    yield from _lowest(summary, "Fewest stale executions", "stale_rate", " %", 100)
    yield from _lowest(summary, "Shortest delay", "delay_s", " s")
    yield from _lowest(summary, "Lowest cost", "cost")


def _lowest(
    summary: Summary, what: str, field: str, unit: str = "", scale: float = 1
) -> Iterator[str]:
    found: dict[str, Estimate] = {p.policy: getattr(p.scores, field) for p in summary.policies}
    values = {policy: e.value for policy, e in found.items() if e.value is not None}
    if len(values) < 2:
        return
    least = min(values.values())
    best = [policy for policy, value in values.items() if value == least]
    interval = span(found[best[0]].interval, 2, scale)
    yield (
        f"{what}: {', '.join(best)} with {number(least, 2, scale)}{unit} {interval}".rstrip() + "."
    )
