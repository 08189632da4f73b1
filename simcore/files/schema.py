"""The JSON Schemas of scenarios and traces, for editors and other programs."""

from __future__ import annotations

from typing import Any, Literal

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: Literal["scenario", "trace"]) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a scenario, or of one line of a trace file.

    It knows names, types and ranges; what relates values to each other `simcore validate` checks.
    """
    from simcore.files.trace_model import RecordingRow

    recording = RecordingRow.model_json_schema()
    if kind == "trace":
        return {"$schema": _DIALECT} | recording | {"title": "trace/v1"}

    from simcore.files.scenario_model import ScenarioFile

    schema = ScenarioFile.model_json_schema()
    definitions = recording.pop("$defs") | {"RecordingRow": recording}
    properties = schema["properties"]
    properties["traces"] |= {
        "anyOf": [
            {"type": "string", "minLength": 1},
            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/RecordingRow"}},
        ]
    }
    properties["actions"] = {
        "description": "a list of actions, the name of a shipped set, or a YAML file",
        "anyOf": [{"type": "string", "minLength": 1}, properties["actions"]],
    }
    schema["$defs"] |= definitions
    return {"$schema": _DIALECT} | schema | {"title": "scenario/v1"}
