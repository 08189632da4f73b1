"""Small sessions in the format of the recorded ones, made by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

ALL_ON = {"hold": True, "dedupe": True, "status_note": True, "abandon": True}


def event(t_ms: int, kind: str, **rest: Any) -> dict[str, Any]:
    return {"t_ms": t_ms, "type": kind, **rest}


def call(t_ms: int, ident: str = "call-1", slot: str = "tomorrow 3pm") -> dict[str, Any]:
    return event(t_ms, "tool_call", id=ident, name="book_slot", args={"slot": slot})


def said(t_ms: int, text: str) -> dict[str, Any]:
    return event(t_ms, "input_transcript", text=text)


def session(*events: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """A session whose request was transcribed at 1 s, with these events after it."""
    guard = {name: changes.pop(name, on) for name, on in ALL_ON.items()}
    config = {
        "grace_ms": 1500,
        "transcript_timeout_ms": 3000,
        "on_timeout": "cancel",
        "dedupe_window_ms": 30000,
    }
    for name in config:
        config[name] = changes.pop(name, config[name])
    return {
        "session": "s/1",
        "behavior": "NON_BLOCKING",
        "guard": guard,
        "guard_config": config,
        "service": {"prepare_ms": 4000},
        "events": [said(1000, "Book me the 3:00 p.m. slot tomorrow, please."), *events],
        **changes,
    }


def write(path: Path, *sessions: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in sessions), "utf-8")
    return path
