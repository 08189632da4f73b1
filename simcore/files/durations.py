"""Durations as people write them in YAML: "320 ms", or a number of seconds."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from simcore.clock import Microseconds, format_duration, parse_duration


def duration(value: Any) -> Microseconds:
    """Microseconds of a value in a file. Raises ``ValueError``."""
    if not isinstance(value, str | int | float):
        raise ValueError("a duration is a number of seconds or text such as '320 ms'")
    return parse_duration(value)


def _positive_duration(value: Any) -> Microseconds:
    microseconds = duration(value)
    if microseconds == 0:
        raise ValueError("must be longer than zero")
    return microseconds


def _schema(bound: str) -> WithJsonSchema:
    text = r"^\s*(\d+(\.\d+)?|\.\d+)\s*(us|µs|ms|s|min)?\s*$"
    return WithJsonSchema(
        {"anyOf": [{"type": "number", bound: 0}, {"type": "string", "pattern": text}]}
    )


Duration = Annotated[int, BeforeValidator(duration), _schema("minimum")]
PositiveDuration = Annotated[int, BeforeValidator(_positive_duration), _schema("exclusiveMinimum")]


def duration_field(default: Microseconds, description: str) -> Any:
    """A field whose schema shows the default as people write it, not in microseconds."""
    text = format_duration(default)
    return Field(default, description=description, json_schema_extra={"default": text})
