"""Chrome trace events, which ui.perfetto.dev opens: a process a trajectory, a thread a track.

Format: the JSON object form of Chrome's Trace Event Format; times are microseconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simcore.recorder import IRREVERSIBLE, LAUNCHED, SELECTED, TICK
from simcore.timeline.story import arguments, requests, short_names, spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from simcore.clock import Microseconds
    from simcore.recorder import LogRecord, VersionRecord
    from simcore.trace import Recording

_SPEECH: Final = 1
_ARRIVALS: Final = 2
_CONTROLLER: Final = 3
_CALLS: Final = 10

Event = dict[str, Any]


class Lane(NamedTuple):
    """One trajectory of a run's trace; `name` heads its tracks."""

    name: str
    recording: Recording
    versions: Sequence[VersionRecord]
    log: Sequence[LogRecord]
    checkpoint: str | None = None


def perfetto(
    recording: Recording,
    versions: Sequence[VersionRecord],
    log: Sequence[LogRecord],
    *,
    name: str | None = None,
    checkpoint: str | None = None,
) -> dict[str, Any]:
    """The trace of one trajectory, ready for JSON."""
    return perfetto_run(
        [Lane(name or recording.recording_id, recording, versions, log, checkpoint)]
    )


def perfetto_run(lanes: Iterable[Lane]) -> dict[str, Any]:
    """The trace of several trajectories, one process each, in their order."""
    events: list[Event] = []
    for pid, lane in enumerate(lanes, start=1):
        events += _process(pid, lane)
    return {"traceEvents": events, "displayTimeUnit": "ms"}


def _process(pid: int, lane: Lane) -> list[Event]:
    recording = lane.recording
    names = short_names(arguments(recording, lane.versions))
    events = [_meta(pid, 0, "process_name", lane.name)]
    events.append(_meta(pid, _SPEECH, "thread_name", "speech"))
    events.append(_meta(pid, _ARRIVALS, "thread_name", "recognition"))
    events.append(_meta(pid, _CONTROLLER, "thread_name", "controller"))

    events.append(_span(pid, _SPEECH, "audio", 0, recording.audio_end_us))
    for repair in recording.repairs:
        end = recording.audio_end_us if repair.resolved_us is None else repair.resolved_us
        events.append(_span(pid, _SPEECH, "repair", repair.onset_us, end, kind=repair.kind))
    events += [
        _instant(pid, _SPEECH, f"said {names[value.argument]}", value.available_us)
        for value in recording.values
    ]
    for arrival in recording.arrivals:
        heard = names[arrival.argument] if arrival.argument else "nothing"
        events.append(
            _instant(
                pid,
                _ARRIVALS,
                f"final: {heard}" if arrival.is_final else heard,
                arrival.arrived_at_us,
                text=arrival.text,
                confidence=arrival.confidence,
                prefix_end_us=arrival.prefix_end_us,
                argument=arrival.argument,
            )
        )

    for record in lane.log:
        if record.kind in (TICK, LAUNCHED, SELECTED, IRREVERSIBLE):
            told = f" {names[record.argument]}" if record.argument in names else ""
            thread = _CONTROLLER if record.call is None else _CALLS + record.call
            events.append(_instant(pid, thread, record.kind + told, record.at_us))
    for request in requests(lane.log):
        asked = f"{request.kind} call {request.call} ({'in time' if request.in_time else 'late'})"
        events.append(_span(pid, _CONTROLLER, asked, request.at_us, request.acknowledged_us))

    found = spans(recording, lane.versions, lane.log)
    for call in sorted({span.call for span in found}):
        events.append(_meta(pid, _CALLS + call, "thread_name", f"call {call}"))
    for span in found:
        thread, value = _CALLS + span.call, names[span.argument]
        facts = {"argument": span.argument, "outcome": span.outcome, "stale": span.stale}
        revocable = f"{value} revocable"
        events.append(_span(pid, thread, revocable, span.begin_us, span.end_us, **facts))
        if span.completion_us is not None:
            rest = f"{value} irreversible{', stale' if span.stale else ''}"
            events.append(_span(pid, thread, rest, span.end_us, span.completion_us, **facts))
    forecast = recording.forecast(lane.checkpoint) if lane.checkpoint else None
    if forecast is not None:
        events += [
            {"name": "p_bad", "ph": "C", "ts": at, "pid": pid, "tid": 0, "args": {"p_bad": p}}
            for at, p in zip(forecast.at_us, forecast.p_bad, strict=True)
        ]
    return events


def _meta(pid: int, tid: int, kind: str, name: str) -> Event:
    return {"name": kind, "ph": "M", "ts": 0, "pid": pid, "tid": tid, "args": {"name": name}}


def _instant(pid: int, tid: int, name: str, at: Microseconds, **args: Any) -> Event:
    return {"name": name, "ph": "i", "s": "t", "ts": at, "pid": pid, "tid": tid, "args": args}


def _span(
    pid: int, tid: int, name: str, start: Microseconds, end: Microseconds, **args: Any
) -> Event:
    event = {"name": name, "ph": "X", "ts": start, "dur": end - start, "pid": pid, "tid": tid}
    return event | {"args": args}
