"""What holds for every trajectory of every policy; each function raises `AssertionError`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from simcore import recorder as topic

if TYPE_CHECKING:
    from simcore.tool import ToolProfile
    from simcore.trace import Recording
    from simcore.trajectory import Trajectory


def check_trajectory(result: Trajectory, recording: Recording, profile: ToolProfile) -> None:
    """All invariants below, on a result of `simulate(..., log=True)`."""
    check_outcomes(result)
    check_deadlines(result, profile)
    check_acknowledgements(result)
    check_time(result)
    check_score(result, recording)


def check_outcomes(result: Trajectory) -> None:
    """Every version has exactly one outcome, and the counters count them."""
    versions = [(version.call, version.version) for version in result.versions]
    assert len(versions) == len(set(versions)), "a version has two outcomes"
    counted = Counter(version.outcome for version in result.versions)
    assert set(counted) <= {"executed", "updated", "cancelled"}, "a version has no outcome"
    assert counted["updated"] == result.updates
    assert counted["cancelled"] == result.cancels
    assert len({call for call, _ in versions}) == result.commits


def check_deadlines(result: Trajectory, profile: ToolProfile) -> None:
    """Eq. 1 holds for every version, and no pipeline starts after its commitment."""
    for version in result.versions:
        start, committed = version.start_us, version.committed_us
        assert start <= committed, f"{version} started after it was committed"
        assert version.deadline_us == profile.deadline(committed, start), f"{version} breaks Eq. 1"


def check_acknowledgements(result: Trajectory) -> None:
    """What is updated or cancelled is acknowledged by its deadline and never irreversible.

    What is irreversible was not, and became so at its deadline, once.
    """
    deadlines = {(v.call, v.version): v.deadline_us for v in result.versions}
    ends: dict[tuple[int | None, int | None], int] = {}
    for record in result.log:
        key = (record.call, record.version)
        if record.kind in (topic.CANCELLED, topic.IRREVERSIBLE):
            assert key not in ends, f"{record} ended before"
            ends[key] = record.at_us
        elif record.kind == topic.UPDATED and record.version is not None:
            earlier = (record.call, record.version - 1)
            assert earlier not in ends, f"{record} updates what has ended"
            ends[earlier] = record.at_us
    for version in result.versions:
        end = ends[version.call, version.version]
        if version.outcome == "executed":
            assert end == version.deadline_us
        else:
            assert end <= deadlines[version.call, version.version], f"{version} ended late"


def check_time(result: Trajectory) -> None:
    """The clock never goes back."""
    times = [record.at_us for record in result.log]
    assert times == sorted(times), "time went back"


def check_score(result: Trajectory, recording: Recording) -> None:
    """Every wrong version that outlived its deadline is counted, once; success holds the target."""
    executed = [v.argument for v in result.versions if v.outcome == "executed"]
    if not recording.labelled:
        scores = (result.stale, result.success, result.cost, result.result)
        assert scores == (None,) * 4, "an unlabelled recording has a score"
        return
    wrong = sum(argument != recording.target for argument in executed)
    assert result.stale_versions == wrong
    assert result.stale == (wrong > 0)
    assert (result.delay_s is not None) == result.success
    if result.success:
        assert result.final_argument == recording.target
        assert recording.target in executed, "a success without an effect"
