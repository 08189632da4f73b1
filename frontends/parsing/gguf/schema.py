"""The JSON Schema that the model's answer is held to: a list of calls of these tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frontends.tools.catalog import Tool, Tools

LONGEST_TEXT: Final = 80
"""Characters of a text: without a bound a small model repeats itself to the end of its context."""

MOST_ITEMS: Final = 8


def plan_schema(tools: Tools, most_calls: int) -> dict[str, Any]:
    """Any plan of at most `most_calls` calls whose arguments have the declared names and types.

    Only what a grammar can hold the model to is taken over from the tools' own schemas.
    """
    calls = [_call(tool) for tool in tools.values()]
    return {"type": "array", "maxItems": most_calls, "items": {"anyOf": calls}}


def _call(tool: Tool) -> dict[str, Any]:
    return _object(
        {
            "tool": {"const": tool.name},
            "arguments": _object(
                {name: _value(schema) for name, schema in tool.properties.items()}, tool.required
            ),
        },
        ("tool", "arguments"),
    )


def _object(properties: Mapping[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _value(schema: Mapping[str, Any]) -> dict[str, Any]:
    for key in ("const", "enum"):
        if key in schema:
            return {key: schema[key]}
    kind = schema.get("type", "string")
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return {"anyOf": [_value(choice) for choice in choices]}
    if isinstance(kind, list):
        return {"anyOf": [_value({**schema, "type": one}) for one in kind]}
    if kind == "object":
        fields = {name: _value(field) for name, field in schema.get("properties", {}).items()}
        return _object(fields, tuple(schema.get("required", ())))
    if kind == "array":
        most = min(schema.get("maxItems", MOST_ITEMS), MOST_ITEMS)
        return {"type": "array", "items": _value(schema.get("items", {})), "maxItems": most}
    if kind == "string":
        most = min(schema.get("maxLength", LONGEST_TEXT), LONGEST_TEXT)
        return {"type": "string", "maxLength": most}
    return {"type": kind}
