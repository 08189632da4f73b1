"""A `trace/v1` row to and from a `Recording`."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from simcore.errors import InputError, InputErrors
from simcore.files.faults import explain, path_text
from simcore.files.trace_checks import relations
from simcore.files.trace_model import SCALARS, SCHEMA, RecordingRow
from simcore.trace import AgentEvent, Arrival, Forecast, Recording, Repair, Value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.files.faults import Location


def recording_from_dict(row: Mapping[str, Any]) -> Recording:
    """The recording that a `trace/v1` mapping describes (times in whole microseconds).

    Raises ``InputErrors`` with every fault and its place within the row.

    >>> recording_from_dict({"recording_id": "r", "audio_end_us": 9, "arrivals": [
    ...     {"prefix_end_us": 9, "arrived_at_us": 9, "text": "hm", "confidence": 0.5,
    ...      "argument": None, "is_final": True}]}).labelled
    False
    """
    recording, faults = parse_row(row)
    if recording is None:
        raise InputErrors(InputError(text, place=path_text(place)) for place, text in faults)
    return recording


def parse_row(row: Any) -> tuple[Recording | None, list[tuple[Location, str]]]:
    """The recording, or None and every fault of the row with its location."""
    if not isinstance(row, dict):
        return None, [((), f"a recording is an object, not {type(row).__name__}")]
    version = row.get("schema", SCHEMA)
    if version != SCHEMA:
        return None, [(("schema",), f"this is {version}, rassg-sim reads {SCHEMA}")]
    faults: list[tuple[Location, str]] = []
    if not row.get("arrivals") and not row.get("events"):
        faults.append(((), "the recording has neither 'arrivals' nor 'events'"))
    try:
        model = RecordingRow.model_validate(row)
    except ValidationError as error:
        found = explain(error, RecordingRow)
        pruned = _without(row, [place for place, _ in found])
        return None, faults + found + list(relations(pruned))
    faults.extend(relations(row))
    return (None, faults) if faults else (_recording(model, labelled="target" in row), [])


def _without(row: dict[str, Any], places: list[Location]) -> dict[str, Any]:
    """A copy of the row with None, or an empty object, in place of what is wrong."""
    pruned = copy.deepcopy(row)
    for place in places:
        parent: Any = pruned
        for part in place[:-1]:
            parent = parent[part]
        key: Any = place[-1]
        if isinstance(parent, list):
            parent[key] = {} if len(place) == 2 else None
        else:
            parent.pop(key, None)
    return pruned


def _recording(row: RecordingRow, *, labelled: bool) -> Recording:
    return Recording(
        arrivals=tuple(
            Arrival(
                a.prefix_end_us,
                a.arrived_at_us,
                a.text,
                a.confidence,
                a.argument,
                a.is_final,
                a.service_us,
                a.pause_us,
            )
            for a in row.arrivals
        ),
        events=tuple(
            AgentEvent(e.at_us, e.type, e.id, e.name, e.args, e.text, e.label) for e in row.events
        ),
        forecasts=tuple(
            Forecast(
                f.checkpoint,
                tuple(f.at_us),
                tuple(f.p_bad),
                None if f.masses is None else tuple(map(tuple, f.masses)),
            )
            for f in row.forecasts
        ),
        labelled=labelled,
        target=row.target,
        values=tuple(Value(v.argument, v.available_us) for v in row.values),
        repairs=tuple(Repair(r.onset_us, r.resolved_us, r.kind) for r in row.repairs),
        settings=row.settings,
        observed=row.observed,
        **{name: getattr(row, name) for name in SCALARS},
    )


def recording_to_dict(recording: Recording) -> dict[str, Any]:
    """The `trace/v1` mapping of a recording; what is not known is left out."""
    row: dict[str, Any] = {"schema": SCHEMA}
    row |= {n: v for n in SCALARS if (v := getattr(recording, n)) is not None}
    if recording.labelled:
        row["target"] = _parsed(recording.target)
    lists = {
        "values": [
            {"argument": _parsed(v.argument), "available_us": v.available_us}
            for v in recording.values
        ],
        "repairs": [
            {"onset_us": r.onset_us, "resolved_us": r.resolved_us, "kind": r.kind}
            for r in recording.repairs
        ],
        "arrivals": [_arrival(a) for a in recording.arrivals],
        "events": [_event(e) for e in recording.events],
        "forecasts": [_forecast(f) for f in recording.forecasts],
    }
    row |= {name: items for name, items in lists.items() if items}
    for name in ("settings", "observed"):
        if (text := getattr(recording, name)) is not None:
            row[name] = _parsed(text)
    return row


def _parsed(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _arrival(arrival: Arrival) -> dict[str, Any]:
    row = {
        "prefix_end_us": arrival.prefix_end_us,
        "arrived_at_us": arrival.arrived_at_us,
        "text": arrival.text,
        "confidence": arrival.confidence,
        "argument": _parsed(arrival.argument),
        "is_final": arrival.is_final,
    }
    if arrival.service_us is not None:
        row["service_us"] = arrival.service_us
    return row | {"pause_us": arrival.pause_us}


def _event(event: AgentEvent) -> dict[str, Any]:
    row: dict[str, Any] = {"at_us": event.at_us, "type": event.type}
    for name in ("id", "name", "text", "label"):
        if (value := getattr(event, name)) is not None:
            row[name] = value
    if event.args is not None:
        row["args"] = _parsed(event.args)
    return row


def _forecast(forecast: Forecast) -> dict[str, Any]:
    row: dict[str, Any] = {
        "checkpoint": forecast.checkpoint,
        "at_us": list(forecast.at_us),
        "p_bad": list(forecast.p_bad),
    }
    if forecast.masses is not None:
        row["masses"] = [list(masses) for masses in forecast.masses]
    return row
