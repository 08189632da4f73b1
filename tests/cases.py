"""From the plain interpreter's dict cases to the engine's objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simcore.drivers.ticks import UnsettledError
from simcore.experiment import SCORES
from simcore.files.trace_rows import recording_from_dict
from simcore.policy import TickPolicy
from simcore.registry import load, policy_factory, registered
from simcore.scenario import Control
from simcore.tool import ToolProfile
from simcore.trajectory import simulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.reference.strategies import Case


def tick_policies() -> list[str]:
    """The registered policies that decide on arguments, at ticks."""
    return [n for n in registered("policies") if issubclass(load("policies", n), TickPolicy)]


def profile_of(tool: Mapping[str, Any]) -> ToolProfile:
    """A tool profile of a dict with the interpreter's keys."""
    fields = tool["reusable_fields"]
    reusable = None if fields is None else frozenset(fields)
    return ToolProfile(name="action", **{**tool, "reusable_fields": reusable})


def engine_row(case: Case) -> dict[str, Any]:
    """What the engine makes of a case, in the interpreter's form."""
    try:
        result = simulate(
            recording_from_dict(case.trace),
            profile_of(case.tool),
            policy_factory(case.policy, case.options),
            Control(**case.control),
            case.checkpoint,
        )
    except UnsettledError:
        return {"failure": "unsettled"}
    row: dict[str, Any] = {name: getattr(result, name) for name in SCORES}
    row["versions"] = [
        (v.argument, v.start_us, v.committed_us, v.deadline_us, v.outcome) for v in result.versions
    ]
    return row
