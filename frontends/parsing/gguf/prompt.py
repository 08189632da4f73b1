"""What the model is told: the tools, one a line, then the transcript so far."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from frontends.tools.catalog import Tool, Tools

INSTRUCTIONS: Final = """\
Turn the words of a user into calls of the tools below. Answer with a JSON list of calls, each \
{"tool": name, "arguments": {...}}, with values taken from the user's words; [] if nothing has \
been asked for yet. The words come from a speech recognizer: they may break off or be misheard. If \
the user corrects something, what is said last counts. A value that only the result of an earlier \
call tells is written as a reference: "$RESULT_0.items[0].id" is of the call at position 0.

Tools ("?" marks an argument that may be left out):
"""

TRANSCRIPT: Final = "\n\nUser:\n"


def message(tools: Tools, transcript: str) -> str:
    """The one message of the conversation. The transcript is its end, so that all before it, the
    expensive part, is the same for every prefix."""
    return INSTRUCTIONS + "\n".join(map(_line, tools.values())) + TRANSCRIPT + transcript


def _line(tool: Tool) -> str:
    arguments = ", ".join(
        f"{name}{'' if name in tool.required else '?'}: {_type(schema)}"
        for name, schema in tool.properties.items()
    )
    notes = "".join(
        f"\n    {name}: {text}"
        for name, schema in tool.properties.items()
        if (text := schema.get("description"))
    )
    return f"- {tool.name}({arguments}): {tool.description}{notes}"


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
    if choices := schema.get("anyOf") or schema.get("oneOf"):
        return "|".join(_type(choice) for choice in choices)
    kind = schema.get("type", "string")
    if kind == "array":
        return f"[{_type(schema.get('items', {}))}]"
    if kind == "object" and schema.get("properties"):
        fields = (f"{name}: {_type(field)}" for name, field in schema["properties"].items())
        return "{" + ", ".join(fields) + "}"
    return "|".join(kind) if isinstance(kind, list) else str(kind)
