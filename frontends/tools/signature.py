"""A row of a tool registry, `name(argument: type = default)`, as a JSON Schema tool."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_CALL: Final = re.compile(r"\s*([\w.\-]+)\s*\((.*)\)\s*(?:->.*)?", re.S)
_TYPES: Final = {
    "int": "integer",
    "integer": "integer",
    "float": "number",
    "double": "number",
    "number": "number",
    "bool": "boolean",
    "boolean": "boolean",
}


def read_signature(row: Mapping[str, str | None]) -> dict[str, Any] | str:
    """The tool of a registry row, or what is wrong with the row.

    Types that are not numbers or booleans are text. An argument is required unless the signature,
    or the column `argument_defaults` (`key='value', ...`), gives it a default. What
    `argument_constraints` says is kept as words, in the description.

    >>> row = {"tool_name": "heat", "signature": "heat(to: int, zone='all')"}
    >>> read_signature(row)["parameters"]["properties"]
    {'to': {'type': 'integer'}, 'zone': {'type': 'string', 'default': 'all'}}
    """
    name, signature = row.get("tool_name"), row.get("signature")
    if not name or signature is None:
        return "a registry row needs the columns 'tool_name' and 'signature'"
    match = _CALL.fullmatch(signature)
    if match is None:
        return f"the signature of '{name}' is no call: {signature!r}"
    defaults = dict(_pair(part) for part in _parts(row.get("argument_defaults") or ""))
    properties: dict[str, dict[str, Any]] = {}
    for part in _parts(match[2]):
        head, given = _pair(part)
        argument, _, kind = head.partition(":")
        argument = argument.strip()
        schema: dict[str, Any] = {"type": _TYPES.get(kind.strip().lower(), "string")}
        default = given if given is not None else defaults.get(argument)
        if default is not None:
            schema["default"] = default
        properties[argument] = schema
    limits = row.get("argument_constraints")
    words = [row.get("description"), f"({limits})" if limits else None]
    return {
        "name": name,
        "description": " ".join(filter(None, words)),
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [key for key, schema in properties.items() if "default" not in schema],
        },
    }


def read_value(text: str) -> Any:
    """A Python literal, else the text as it stands."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _pair(part: str) -> tuple[str, Any]:
    name, equals, value = part.partition("=")
    return name.strip(), read_value(value.strip()) if equals else None


def _parts(text: str) -> list[str]:
    """Split at commas that are not within quotes or brackets."""
    parts, depth, quote, current = [], 0, "", ""
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        elif mark in "([{":
            depth += 1
        elif mark in ")]}":
            depth -= 1
        elif mark == "," and not depth:
            parts.append(current)
            current = ""
            continue
        current += mark
    return [part.strip() for part in [*parts, current] if part.strip()]
