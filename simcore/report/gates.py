"""Bounds on a policy's figures that decide a run's exit code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simcore.errors import UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simcore.metrics import PolicySummary, Scores
    from simcore.scenario import Gate

METRICS: Final[Mapping[str, Callable[[Scores], float | None]]] = {
    "stale_rate": lambda scores: scores.stale_rate.value,
    "success_rate": lambda scores: scores.success_rate.value,
    "delay_s": lambda scores: scores.delay_s.value,
    "cost": lambda scores: scores.cost.value,
    "failures": lambda scores: scores.failures,
}


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate held against one policy. Without a value (nothing labelled) no gate passes."""

    metric: str
    policy: str
    value: float | None
    minimum: float | None
    maximum: float | None

    @property
    def passed(self) -> bool:
        """Whether the value lies within the bounds, both included."""
        return (
            self.value is not None
            and (self.minimum is None or self.value >= self.minimum)
            and (self.maximum is None or self.value <= self.maximum)
        )

    @property
    def bound(self) -> str:
        """What is asked for: "stale_rate <= 0.05"."""
        low = "" if self.minimum is None else f"{self.minimum:g} <= "
        high = "" if self.maximum is None else f" <= {self.maximum:g}"
        return f"{low}{self.metric}{high}"

    def __str__(self) -> str:
        """One line with the verdict, what was asked for and what was found."""
        verdict = "passed" if self.passed else "failed"
        found = "nothing to measure" if self.value is None else f"is {self.value:.6g}"
        return f"gate {verdict}: {self.policy}: {self.bound}, {found}"


def check_gates(summaries: Sequence[PolicySummary], gates: Sequence[Gate]) -> list[GateResult]:
    """One result per gate and policy that it names (every policy where it names none).

    Raises ``UsageError`` for an unknown metric or policy.
    """
    labels = [summary.policy for summary in summaries]
    results = []
    for gate in gates:
        if gate.metric not in METRICS:
            hint = nearest(gate.metric, METRICS)
            raise UsageError(f"a gate has the unknown metric '{gate.metric}'{hint}")
        if gate.policy is not None and gate.policy not in labels:
            hint = nearest(gate.policy, labels)
            raise UsageError(f"a gate names the unknown policy '{gate.policy}'{hint}")
        results += [
            GateResult(
                gate.metric,
                summary.policy,
                METRICS[gate.metric](summary.scores),
                gate.minimum,
                gate.maximum,
            )
            for summary in summaries
            if gate.policy in (None, summary.policy)
        ]
    return results
