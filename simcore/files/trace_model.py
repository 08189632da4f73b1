"""`trace/v1` as it stands in a file: names, types and ranges of every value on its own.

What relates values to each other is in `simcore.files.trace_checks`. An argument is validated and
becomes its canonical text here.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from simcore.clock import NEVER
from simcore.errors import nearest
from simcore.scenario import Behavior, Scheduling
from simcore.settings import TOOL_KEYS
from simcore.trace import canonical

SCHEMA = "trace/v1"
_CALL_KEYS = ("tool", "arguments")

_CALL_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"tool": {"type": "string", "minLength": 1}, "arguments": {"type": "object"}},
    "required": ["tool", "arguments"],
    "additionalProperties": False,
}
_ARGUMENT_SCHEMA: dict[str, Any] = {
    "description": "one call, or a plan: a list of calls",
    "anyOf": [_CALL_SCHEMA, {"type": "array", "items": _CALL_SCHEMA, "minItems": 1}],
}
_OPTIONAL_SCHEMA: dict[str, Any] = {
    **_ARGUMENT_SCHEMA,
    "anyOf": [*_ARGUMENT_SCHEMA["anyOf"], {"type": "null"}],
}


def _check_call(call: Any) -> None:
    if not isinstance(call, dict):
        raise ValueError(f"a call is an object with 'tool' and 'arguments', not {call!r}")
    for key in call:
        if key not in ("tool", "arguments"):
            raise ValueError(f"unknown key {key!r} in a call{nearest(str(key), _CALL_KEYS)}")
    for key in _CALL_KEYS:
        if key not in call:
            raise ValueError(f"a call needs the key '{key}'")
    if not isinstance(call["tool"], str) or not call["tool"]:
        raise ValueError(f"'tool' is a name, not {call['tool']!r}")
    if not isinstance(call["arguments"], dict):
        raise ValueError(f"'arguments' is an object, not {call['arguments']!r}")


def _text(value: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a surrogate pair, which is no character") from None
    return value


def _json_text(value: Any) -> str | None:
    try:
        text = canonical(value)
        return None if text is None else _text(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"cannot be written as JSON: {error}") from None


def _argument(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, list):
        if not value:
            raise ValueError("a plan is a non-empty list of calls; write null for no call")
        for call in value:
            _check_call(call)
    else:
        _check_call(value)
    return _json_text(value)


_SETTINGS: dict[str, type | tuple[type, ...]] = {
    "tool": dict,
    "policies": dict,
    "behavior": str,
    "scheduling": str,
    "interruption_us": int,
    "agent": dict,
}
_CHOICES = {"behavior": get_args(Behavior), "scheduling": get_args(Scheduling)}


def _settings(value: Any) -> str | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ValueError(f"'settings' is an object, not {value!r}")
    for key, inner in value.items():
        if key not in _SETTINGS:
            raise ValueError(f"unknown setting '{key}'{nearest(str(key), _SETTINGS)}")
        if not isinstance(inner, _SETTINGS[key]) or isinstance(inner, bool):
            raise ValueError(f"the setting '{key}' cannot be {inner!r}")
        if inner not in _CHOICES.get(key, (inner,)):
            raise ValueError(f"'{key}' cannot be '{inner}'{nearest(str(inner), _CHOICES[key])}")
    for key, inner in value.get("tool", {}).items():
        if key not in TOOL_KEYS:
            raise ValueError(f"unknown setting 'tool.{key}'{nearest(str(key), TOOL_KEYS)}")
        if key.endswith("_us") and (type(inner) is not int or inner < 0):
            raise ValueError(f"'tool.{key}' is a whole number of microseconds, not {inner!r}")
    if "agent" in value:
        from simcore.files.script_model import check_row

        check_row(value["agent"])
    for key, inner in value.get("policies", {}).items():
        if not isinstance(inner, dict):
            raise ValueError(f"'policies.{key}' is an object of options, not {inner!r}")
    return _json_text(value)


Time = Annotated[int, Field(ge=0, le=NEVER)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Text = Annotated[str, AfterValidator(_text)]
Name = Annotated[Text, Field(min_length=1)]
CallOrPlan = Annotated[str, BeforeValidator(_argument), WithJsonSchema(_ARGUMENT_SCHEMA)]
OptionalCallOrPlan = Annotated[
    str | None, BeforeValidator(_argument), WithJsonSchema(_OPTIONAL_SCHEMA)
]
JsonText = Annotated[str | None, BeforeValidator(_json_text), WithJsonSchema({})]
Settings = Annotated[
    str | None,
    BeforeValidator(_settings),
    WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "null"}]}),
]

LoggedType = Literal[
    "activity_start",
    "activity_end",
    "input_transcript",
    "tool_call",
    "tool_response",
    "interrupted",
    "user_audio_start",
    "user_audio_end",
    "agent_audio_start",
    "agent_audio_end",
]
"""What the log of a live agent holds."""
EventType = Literal[LoggedType, "query_update", "final_query"]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


class ArrivalRow(_Row):
    prefix_end_us: Time
    arrived_at_us: Time
    text: Text = ""
    confidence: Share | None = None
    argument: OptionalCallOrPlan = None
    is_final: bool = False
    service_us: Time | None = None
    pause_us: Time = 0


class RepairRow(_Row):
    onset_us: Time
    resolved_us: Time | None = None
    kind: Text


class ValueRow(_Row):
    argument: CallOrPlan
    available_us: Time


class EventRow(_Row):
    at_us: Time
    type: EventType
    id: Text | None = None
    name: Text | None = None
    args: JsonText = None
    text: Text | None = None
    label: Text | None = None


class ForecastRow(_Row):
    checkpoint: Name
    at_us: list[Time]
    p_bad: list[Share]
    masses: list[Annotated[list[Share], Field(min_length=12, max_length=12)]] | None = None


class RecordingRow(_Row):
    # A row of another version fails here before anything else is judged by the wrong rules.
    schema_: Literal["trace/v1"] = Field("trace/v1", alias="schema")
    recording_id: Name
    corpus: Text | None = None
    split: Text | None = None
    group_id: Text | None = None
    pair_id: Text | None = None
    variant: Text | None = None
    subset: Text | None = None
    voice: Text | None = None
    domain: Text | None = None
    carrier_id: Text | None = None
    edit_id: Text | None = None
    editing: Literal["seen", "unseen", "none"] | None = None
    spoken: Text | None = None
    noise: Text | None = None
    audio_end_us: Time
    origin_us: Time | None = None
    target: OptionalCallOrPlan = None
    branch_us: Time | None = None
    values: list[ValueRow] = []
    repairs: list[RepairRow] = []
    arrivals: list[ArrivalRow] = []
    events: list[EventRow] = []
    forecasts: list[ForecastRow] = []
    settings: Settings = None
    observed: JsonText = None


SCALARS = tuple(
    name
    for name in RecordingRow.model_fields
    if name not in ("schema_", "target", "values", "repairs", "arrivals", "events", "forecasts")
    and name not in ("settings", "observed")
)
"""The columns that a scenario's `where` can filter on."""
