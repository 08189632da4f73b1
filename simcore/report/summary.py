"""Everything that a finished run is reported from."""

from __future__ import annotations

import hashlib
import json
import platform
import subprocess
from dataclasses import asdict, dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from simcore.bootstrap import RESAMPLES
from simcore.metrics import DIMENSIONS, against, differences, summaries
from simcore.report.agent import AgentTally
from simcore.report.gates import check_gates
from simcore.report.speech import SpeechTally, with_final_parse
from simcore.tally import collect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import polars as pl

    from simcore.metrics import PairedDifference, PolicySummary
    from simcore.report.agent import AgentFigures, Replayed
    from simcore.report.gates import GateResult
    from simcore.report.speech import SpeechFigures
    from simcore.scenario import Scenario

SCHEMA: Final = "summary/v1"
TOOL: Final = "rassg-sim"
_PACKAGES: Final = ("simpy", "numpy", "polars", "pydantic")


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Trajectories of one policy that failed alike, and the first of them, to be repeated.

    `error` is what the first one said, None where the frame does not tell.
    """

    policy: str
    kind: str
    count: int
    recording_id: str
    action: str
    checkpoint: str | None
    replication: int
    error: str | None

    @property
    def reason(self) -> str:
        """The kind of failure, with the first error."""
        return f"{self.kind} ({self.error})" if self.error else self.kind

    @property
    def example(self) -> str:
        """Which trajectory fails, in words."""
        checkpoint = f", checkpoint {self.checkpoint}" if self.checkpoint else ""
        return (
            f"recording {self.recording_id}, action {self.action}{checkpoint}, "
            f"replication {self.replication}"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in figures; `resolved` and `as_given` are the scenario as run and as written."""

    scenario: str
    seed: int
    recordings: int
    actions: int
    policies: tuple[PolicySummary, ...]
    differences: tuple[PairedDifference, ...]
    gates: tuple[GateResult, ...]
    failures: tuple[FailureGroup, ...]
    resolved: Mapping[str, Any]
    as_given: Mapping[str, Any] | None
    git_revision: str | None
    packages: Mapping[str, str]
    speech: tuple[SpeechFigures, ...] = ()
    agent: tuple[AgentFigures, ...] = ()
    replayed: tuple[Replayed, ...] = ()

    @property
    def scenario_hash(self) -> str:
        """SHA-256 of the resolved scenario in canonical JSON."""
        text = json.dumps(self.resolved, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def passed(self) -> bool:
        """Whether all gates pass and no trajectory failed."""
        return not self.failures and all(gate.passed for gate in self.gates)

    def to_dict(self) -> dict[str, Any]:
        """The content of `summary.json`."""
        return {
            "schema": SCHEMA,
            "tool": {"name": TOOL, "version": self.packages[TOOL]},
            "scenario": {
                "name": self.scenario,
                "hash": self.scenario_hash,
                "as_given": self.as_given,
                "resolved": self.resolved,
            },
            "seed": self.seed,
            "git_revision": self.git_revision,
            "packages": dict(self.packages),
            "recordings": self.recordings,
            "actions": self.actions,
            "policies": [policy.to_dict() for policy in self.policies],
            "differences": [difference.to_dict() for difference in self.differences],
            "gates": [asdict(gate) | {"passed": gate.passed} for gate in self.gates],
            "failures": [asdict(failure) for failure in self.failures],
            "speech": [asdict(figures) for figures in self.speech],
            "agent": [asdict(figures) for figures in self.agent],
            "passed": self.passed,
        }


def build_summary(
    trajectories: pl.DataFrame | Iterable[pl.DataFrame],
    scenario: Scenario,
    *,
    as_given: Mapping[str, Any] | None = None,
    baseline: str | None = None,
    resamples: int = RESAMPLES,
) -> Summary:
    """Everything there is to say about the trajectories of a scenario.

    They come as a frame, or as frames of which each has every policy's on some recordings.
    `as_given` is what was asked for (file and overrides); `baseline` the label that the others are
    compared with, the first by default.
    """
    import polars as pl

    recordings: set[str] = set()
    actions: set[str] = set()
    failures: dict[tuple[str, str], FailureGroup] = {}
    at_end = next((spec.label for spec in scenario.policies if spec.name == "eou"), None)
    speech = SpeechTally(scenario.recordings, at_end)
    agent = AgentTally(scenario.recordings)

    def watched() -> Iterator[pl.DataFrame]:
        panels = [trajectories] if isinstance(trajectories, pl.DataFrame) else trajectories
        for panel in panels:
            recordings.update(panel["recording_id"].unique())
            actions.update(panel["action"].unique())
            _add_failures(panel, failures)
            parsed = with_final_parse(panel, scenario.recordings)
            speech.add(parsed)
            agent.add(panel)
            yield parsed

    found = collect(watched(), (*DIMENSIONS, "final_parse"), against(baseline))
    policies = summaries(found, seed=scenario.seed, resamples=resamples)
    labels = [policy.policy for policy in policies]
    return Summary(
        scenario=scenario.name,
        seed=scenario.seed,
        recordings=len(recordings),
        actions=len(actions),
        policies=policies,
        differences=differences(found, seed=scenario.seed, resamples=resamples),
        gates=tuple(check_gates(policies, scenario.gates)),
        failures=tuple(failures.values()),
        resolved=scenario.resolved,
        as_given=as_given,
        git_revision=_git_revision(),
        packages=_packages(),
        speech=speech.figures(labels, seed=scenario.seed, resamples=resamples),
        agent=agent.figures(labels, seed=scenario.seed, resamples=resamples),
        replayed=agent.replayed,
    )


def printable(text: str) -> str:
    """One line that a terminal and XML can hold.

    >>> printable("two\\nlines")
    'two?lines'
    """
    return "".join(mark if mark.isprintable() else "?" for mark in text)


def _add_failures(panel: pl.DataFrame, groups: dict[tuple[str, str], FailureGroup]) -> None:
    failed = panel.filter(panel["failure"].is_not_null())
    for (policy, kind), group in failed.group_by("policy", "failure", maintain_order=True):
        known = groups.get((policy, kind))
        if known is not None:
            groups[policy, kind] = replace(known, count=known.count + len(group))
            continue
        first = group.row(0, named=True)
        groups[policy, kind] = FailureGroup(
            policy=policy,
            kind=printable(kind),
            count=len(group),
            recording_id=first["recording_id"],
            action=first["action"],
            checkpoint=first["checkpoint"],
            replication=first["replication"],
            error=printable(first["error"]) if first.get("error") else None,
        )


def _git_revision() -> str | None:
    """The revision of the working directory, with "+" where files differ from it."""
    try:
        revision, status = (
            subprocess.run(
                ["git", *command], capture_output=True, text=True, check=True, timeout=10
            ).stdout.strip()
            for command in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return f"{revision}+" if status else revision


def _packages() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in (TOOL, *_PACKAGES):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found
