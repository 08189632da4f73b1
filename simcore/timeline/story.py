"""What a trajectory's log and versions say, in the terms of a picture."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from simcore.recorder import (
    CANCEL_REQUESTED,
    CANCELLED,
    LATE_CANCEL,
    LATE_UPDATE,
    UPDATE_REQUESTED,
    UPDATED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simcore.clock import Microseconds
    from simcore.recorder import LogRecord, VersionRecord
    from simcore.trace import Argument, Recording

_LONGEST: Final = 32
_REQUESTS: Final = {UPDATE_REQUESTED: "update", CANCEL_REQUESTED: "cancel"}
_ANSWERS: Final = {
    UPDATED: ("update", True),
    LATE_UPDATE: ("update", False),
    CANCELLED: ("cancel", True),
    LATE_CANCEL: ("cancel", False),
}


class Span(NamedTuple):
    """A version's life: revocable from `begin_us` to `end_us`, then running to `completion_us`.

    `completion_us` is None where the version was taken back; `stale` None without a target.
    """

    call: int
    version: int
    argument: Argument
    begin_us: Microseconds
    end_us: Microseconds
    deadline_us: Microseconds
    completion_us: Microseconds | None
    outcome: str
    stale: bool | None


class Request(NamedTuple):
    """An update or a cancellation, until the tool acknowledged it."""

    kind: str
    call: int
    at_us: Microseconds
    acknowledged_us: Microseconds
    in_time: bool


def spans(
    recording: Recording, versions: Iterable[VersionRecord], log: Sequence[LogRecord]
) -> list[Span]:
    """The versions in the order of their calls, each ending where the log says."""
    ordered = sorted(versions, key=lambda version: (version.call, version.version))
    successor = {(v.call, v.version - 1): v.committed_us for v in ordered}
    taken_back = {record.call: record.at_us for record in log if record.kind == CANCELLED}
    found = []
    for version in ordered:
        executed = version.outcome == "executed"
        end = version.deadline_us
        if version.outcome == "updated":
            end = successor.get((version.call, version.version), end)
        elif version.outcome == "cancelled":
            end = taken_back.get(version.call, end)
        stale = executed and version.argument != recording.target if recording.labelled else None
        found.append(
            Span(
                version.call,
                version.version,
                version.argument,
                version.committed_us,
                end,
                version.deadline_us,
                version.completion_us if executed else None,
                version.outcome or "open",
                stale,
            )
        )
    return found


def requests(log: Iterable[LogRecord]) -> list[Request]:
    """Every request that was answered, in the order of the answers."""
    waiting: dict[tuple[str, int | None], Microseconds] = {}
    found = []
    for record in log:
        if record.kind in _REQUESTS:
            waiting[_REQUESTS[record.kind], record.call] = record.at_us
        elif record.kind in _ANSWERS:
            kind, in_time = _ANSWERS[record.kind]
            asked = waiting.pop((kind, record.call), record.at_us)
            found.append(Request(kind, record.call or 0, asked, record.at_us, in_time))
    return found


def horizon(recording: Recording, found: Iterable[Span], log: Iterable[LogRecord]) -> Microseconds:
    """When everything is over: audio, recognition, calls and their deadlines, the log."""
    ends = [recording.audio_end_us, *(arrival.arrived_at_us for arrival in recording.arrivals)]
    ends += [span.completion_us or span.deadline_us for span in found]
    return max(ends + [record.at_us for record in log])


def arguments(recording: Recording, versions: Iterable[VersionRecord]) -> list[Argument]:
    """Every argument said, recognized or called, in the order of appearance."""
    seen = [arrival.argument for arrival in recording.arrivals]
    seen += [version.argument for version in versions]
    seen += [value.argument for value in recording.values]
    return list(dict.fromkeys(argument for argument in seen if argument))


def short_names(found: Sequence[Argument]) -> dict[Argument, str]:
    """Arguments as people would tell them apart: what is the same in all of them is left out.

    >>> short_names(['{"arguments":{"n":2,"time":"15:00"},"tool":"book"}',
    ...     '{"arguments":{"n":2,"time":"16:00"},"tool":"book"}']).values()
    dict_values(['15:00', '16:00'])
    """
    plans = {argument: json.loads(argument) for argument in found}
    calls = {a: plan if isinstance(plan, list) else [plan] for a, plan in plans.items()}
    pairs = {
        argument: [
            (name, json.dumps(value, sort_keys=True))
            for call in plan
            for name, value in (("", call["tool"]), *call.get("arguments", {}).items())
        ]
        for argument, plan in calls.items()
    }
    common = set.intersection(*map(set, pairs.values())) if len(found) > 1 else set()
    names = {}
    for argument, fields in pairs.items():
        told = [value.strip('"') for name, value in fields if (name, value) not in common]
        if len(found) == 1 and len(told) > 1:
            told = told[1:]
        text = " ".join(told) or "()"
        names[argument] = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    return names
