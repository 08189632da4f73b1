"""Recorded Gemini Live tool-call sessions: JSON Lines, one session a line, times in milliseconds.

What a client received, in order, with how its guard and its service were set up. What then happened
(`observed`) is kept for the report to stand beside a replay.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from simcore.errors import InputError, InputErrors, nearest
from simcore.files.faults import explain, path_text
from simcore.files.trace_model import LoggedType
from simcore.scenario import Behavior
from simcore.trace import AgentEvent, Recording, canonical

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from simcore.files.faults import Location
    from simcore.tool import ToolProfile

Milliseconds = Annotated[int, Field(ge=0, le=10**9)]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class EventRow(_Row):
    t_ms: Milliseconds
    type: LoggedType
    id: str | None = None
    name: str | None = None
    args: Any = None
    text: str | None = None
    label: str | None = None


class GuardRow(_Row):
    hold: bool
    dedupe: bool
    status_note: bool
    abandon: bool


class GuardConfigRow(_Row):
    grace_ms: Milliseconds
    transcript_timeout_ms: Milliseconds
    on_timeout: Literal["cancel", "commit"]
    dedupe_window_ms: Milliseconds


class ServiceRow(_Row):
    prepare_ms: Milliseconds
    commit_ms: Milliseconds = 0


class SessionRow(_Row):
    session: Annotated[str, Field(min_length=1)]
    scenario: str | None = None
    behavior: Behavior
    guard: GuardRow
    guard_config: GuardConfigRow
    service: ServiceRow
    events: Annotated[list[EventRow], Field(min_length=1)]
    end_ms: Milliseconds | None = None
    observed: Any = None


def gemini_live(path: Path, tools: Sequence[ToolProfile] | None = None) -> tuple[Recording, ...]:
    """Recorded Gemini Live sessions, as the public gemini-live-commit-guard tables give them.

    `tools` is a catalogue: a call of a tool that it lacks is a fault. Raises `InputErrors` with
    every fault of the file.
    """
    recordings, faults = [], []
    seen: dict[str, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        session, found = _session(line, tools)
        if session is not None and (first := seen.setdefault(session.session, number)) != number:
            message = f"'{session.session}' is the session of line {first} too"
            found.append((("session",), message))
        faults += [
            InputError(
                message,
                file=str(path),
                place=", ".join(filter(None, (f"line {number}", path_text(place)))),
            )
            for place, message in found
        ]
        if session is not None and not found:
            recordings.append(_recording(session))
    if not recordings and not faults:
        faults.append(InputError("is empty: it holds no sessions", file=str(path)))
    if faults:
        raise InputErrors(faults)
    return tuple(recordings)


def _session(
    line: bytes, tools: Sequence[ToolProfile] | None
) -> tuple[SessionRow | None, list[tuple[Location, str]]]:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        return None, [((), f"is no JSON, or is cut short: {error}")]
    if not isinstance(row, dict):
        return None, [((), f"a session is an object, not {type(row).__name__}")]
    try:
        session = SessionRow.model_validate(row)
    except ValidationError as error:
        return None, explain(error, SessionRow)
    return session, list(_broken(session, tools))


def _broken(
    session: SessionRow, tools: Sequence[ToolProfile] | None
) -> Iterator[tuple[Location, str]]:
    """What does not hold between a session's events."""
    called: set[str] = set()
    before, transcribed = 0, False
    for index, event in enumerate(session.events):
        at: Location = ("events", index)
        if event.t_ms < before:
            yield (*at, "t_ms"), f"the clock goes back, from {before} to {event.t_ms} ms"
        before = max(before, event.t_ms)
        if session.end_ms is not None and event.t_ms > session.end_ms:
            what = "a call" if event.type == "tool_call" else f"'{event.type}'"
            yield (*at, "t_ms"), f"{what} after the end of the session at {session.end_ms} ms"
        if event.type == "input_transcript":
            transcribed = True
            if not (event.text or "").strip():
                yield (*at, "text"), "the transcript is missing"
        if event.type in ("tool_call", "tool_response") and not event.id:
            yield (*at, "id"), f"a {event.type} needs an 'id'"
            continue
        assert event.id is not None or event.type not in ("tool_call", "tool_response")
        if event.type == "tool_response" and event.id not in called:
            yield (*at, "id"), f"a response to '{event.id}', which was never called"
        if event.type != "tool_call":
            continue
        if event.id in called:
            yield (*at, "id"), f"a second call of the id '{event.id}'"
        called.add(event.id or "")
        if not transcribed:
            yield at, f"the transcript that led to '{event.id}' is missing: none comes before it"
        yield from _faulty_call(event, at, tools)


def _faulty_call(
    event: EventRow, at: Location, tools: Sequence[ToolProfile] | None
) -> Iterator[tuple[Location, str]]:
    if not event.name:
        yield (*at, "name"), "a tool_call needs a 'name'"
    elif tools is not None and event.name not in (known := [tool.name for tool in tools]):
        yield (*at, "name"), f"the catalogue has no tool '{event.name}'{nearest(event.name, known)}"
    try:
        _arguments(event)
    except ValueError as error:
        yield (*at, "args"), str(error)


def _arguments(event: EventRow) -> Any:
    args = event.args
    if isinstance(args, str):
        try:
            args = json.loads(args)
        except ValueError:
            raise ValueError(f"the arguments are no JSON: {event.args!r}") from None
    if args is not None and not isinstance(args, dict):
        raise ValueError(f"the arguments are no JSON object: {event.args!r}")
    return args


def _recording(session: SessionRow) -> Recording:
    last = max(event.t_ms for event in session.events)
    guard, config = session.guard, session.guard_config
    stopped = any(e.type == "user_audio_start" and e.label == "stop" for e in session.events)
    settings = {
        "behavior": session.behavior,
        "tool": {
            "runtime_us": session.service.prepare_ms * 1_000,
            "commit_us": session.service.commit_ms * 1_000,
        },
        "policies": {
            "commit_guard": {
                **guard.model_dump(),
                "grace": f"{config.grace_ms} ms",
                "transcript_timeout": f"{config.transcript_timeout_ms} ms",
                "on_timeout": config.on_timeout,
                "dedupe_window": f"{config.dedupe_window_ms} ms",
            }
        },
    }
    return Recording(
        recording_id=session.session,
        corpus="gemini-live",
        subset=session.scenario,
        variant=_variant(guard),
        audio_end_us=(last if session.end_ms is None else session.end_ms) * 1_000,
        events=tuple(
            AgentEvent(
                event.t_ms * 1_000,
                event.type,
                event.id,
                event.name,
                canonical(_arguments(event)),
                event.text,
                event.label,
            )
            for event in session.events
        ),
        # Who says stop last wants no call; what the others want is not recorded.
        labelled=stopped,
        settings=canonical(settings),
        observed=canonical(session.observed),
    )


def _variant(guard: GuardRow) -> str:
    """Which parts of the guard were on, in short."""
    off = [name for name, on in guard.model_dump().items() if not on]
    if not off:
        return "guard on"
    return "guard off" if len(off) == 4 else "without " + ", ".join(off)
