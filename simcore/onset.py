"""Where a speaker's first repair began, in the life of the call that was then under way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.recorder import VersionRecord
    from simcore.trace import Repair

OnsetPhase = Literal["before_launch", "before_deadline", "after_deadline"]


def onset_phase(repairs: Sequence[Repair], versions: Sequence[VersionRecord]) -> OnsetPhase | None:
    """The first onset's phase, None without a repair; `versions` are in order of commitment.

    The version in question is the last one committed before the onset. No such version, or one
    withdrawn whose deadline has passed: `before_launch`, nothing is under way. Else the onset comes
    up to the version's deadline, or after it.
    """
    if not repairs:
        return None
    onset = min(repair.onset_us for repair in repairs)
    for version in reversed(versions):
        if version.committed_us < onset:
            if onset <= version.deadline_us:
                return "before_deadline"
            return "before_launch" if version.outcome == "cancelled" else "after_deadline"
    return "before_launch"
