"""A frozen, picklable description of an experiment; read from YAML in `simcore.files`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.clock import Microseconds
    from simcore.faults import Faults
    from simcore.tool import ToolProfile
    from simcore.trace import Recording


@dataclass(frozen=True, slots=True)
class Control:
    """The controller's timing, in microseconds.

    A control tick every `period_us`; a decision takes effect `processing_us` after its tick (or
    after the acknowledgement that the tick had to wait for); tools acknowledge updates and
    cancellations after `acknowledgement_us`. `queueing` says how the one decoder orders prefixes.
    A policy that still decides `horizon_us` after the final recognition has failed ("unsettled").
    """

    period_us: Microseconds = 320_000
    processing_us: Microseconds = 10_000
    acknowledgement_us: Microseconds = 20_000
    queueing: Literal["fifo", "latest"] = "fifo"
    horizon_us: Microseconds = 600_000_000


Behavior = Literal["BLOCKING", "NON_BLOCKING"]
Scheduling = Literal["SILENT", "WHEN_IDLE", "INTERRUPT"]


@dataclass(frozen=True, slots=True)
class ChannelSpec:
    """The agent's side of calls; a note that cuts a reply is followed by an `interrupted` event
    `interruption_us` later."""

    behavior: Behavior = "NON_BLOCKING"
    scheduling: Scheduling = "WHEN_IDLE"
    interruption_us: Microseconds = 50_000


@dataclass(frozen=True, slots=True)
class PolicySpec:
    """A policy by its registered name (or `file.py:Class`), with its options.

    `checkpoints` take the place of the scenario's, None keeps those.
    """

    name: str
    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    checkpoints: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Gate:
    """A bound on a metric of one policy's summary; `policy` is a label, None means every policy."""

    metric: str
    policy: str | None = None
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Scenario:
    """Policies x actions x checkpoints x replications over recordings.

    `faults` and `channel` are None where the file says nothing of them.

    `resolved` is the scenario as read, after includes and overrides, with defaults filled in (JSON
    types only): it goes into `summary.json`, and its digest identifies the run.
    """

    name: str
    recordings: tuple[Recording, ...]
    actions: tuple[ToolProfile, ...]
    policies: tuple[PolicySpec, ...]
    control: Control = Control()
    checkpoints: tuple[str, ...] = ()
    replications: int = 1
    seed: int = 0
    gates: tuple[Gate, ...] = ()
    faults: Faults | None = None
    channel: ChannelSpec | None = None
    resolved: Mapping[str, Any] = field(default_factory=dict)
