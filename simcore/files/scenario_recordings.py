"""The recordings that a scenario names: read, filtered, queued, and checked for checkpoints."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.trace_model import SCALARS
from simcore.files.traces import parse_recordings, read_traces, resolve_traces
from simcore.queueing import requeue

if TYPE_CHECKING:
    from pathlib import Path

    from simcore.files.scenario_model import ScenarioFile
    from simcore.files.yaml import Document
    from simcore.trace import Recording


def read_recordings(
    document: Document, traces: Any, base: Path, faults: list[InputError]
) -> tuple[tuple[Recording, ...], str | None]:
    """The recordings of `traces`, and the SHA-256 of the file or of the rows written inline."""
    if isinstance(traces, list):
        recordings, found = parse_recordings(enumerate(traces), "recording")
        faults += [document.fault(("traces", f.place, *f.where), f.message) for f in found]
        data = json.dumps(traces, sort_keys=True, default=str).encode()
        return recordings, sha256(data).hexdigest()
    try:
        path = resolve_traces(traces, base)
        return read_traces(path), sha256(path.read_bytes()).hexdigest()
    except InputErrors as error:
        faults += error.faults
    except InputError as error:
        faults.append(document.fault(("traces",), error.message))
    return (), None


def selected(
    document: Document,
    model: ScenarioFile,
    recordings: tuple[Recording, ...],
    faults: list[InputError],
) -> tuple[Recording, ...]:
    """The recordings that `where` keeps, with their arrivals queued as `control` says."""
    for column, wanted in model.where.items():
        place = ("where", column)
        if column not in SCALARS:
            hint = nearest(column, SCALARS)
            faults.append(document.fault(place, f"unknown trace column '{column}'{hint}"))
            continue
        values = wanted if isinstance(wanted, list) else [wanted]
        kept = tuple(r for r in recordings if getattr(r, column) in values)
        if recordings and not kept:
            there = {str(getattr(r, column)) for r in recordings}
            hint = nearest(", ".join(map(str, values)), there)
            faults.append(document.fault(place, f"no recording has {column} {wanted!r}{hint}"))
        recordings = kept
    if model.control.queueing == "latest":
        try:
            return tuple(requeue(recording, "latest") for recording in recordings)
        except InputError as error:
            message = f"{error.place}: {error.message}"
            faults.append(document.fault(("control", "queueing"), message))
    return recordings


def check_checkpoints(
    document: Document,
    model: ScenarioFile,
    recordings: tuple[Recording, ...],
    faults: list[InputError],
) -> None:
    """Every recording must carry a forecast of every checkpoint, also of a policy's own."""
    known = {f.checkpoint for recording in recordings for f in recording.forecasts}
    named: list[tuple[tuple[str | int, ...], list[str]]] = [(("checkpoints",), model.checkpoints)]
    named += [
        (("policies", index, "checkpoints"), part.checkpoints or [])
        for index, part in enumerate(model.policies)
    ]
    for place, names in named:
        for index, name in enumerate(names):
            at = (*place, index)
            lacking = [r.recording_id for r in recordings if r.forecast(name) is None]
            if name in names[:index]:
                faults.append(document.fault(at, f"the checkpoint '{name}' stands here twice"))
            elif name not in known:
                hint = nearest(name, known) or "; the recordings carry no forecasts"
                faults.append(document.fault(at, f"unknown checkpoint '{name}'{hint}"))
            elif lacking:
                message = (
                    f"the checkpoint '{name}' is missing in {len(lacking)} of {len(recordings)} "
                    f"recordings, first in '{lacking[0]}'"
                )
                faults.append(document.fault(at, message))
