"""Tool files as agents have them: OpenAI style, plain JSON Schema, or Audio2Tool's registry."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from frontends.tools.signature import read_signature
from simcore.errors import InputError, InputErrors

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    Tools = Mapping[str, "Tool"]

_SCHEMA_KEYS: Final = ("parameters", "input_schema", "inputSchema")
_DEEPEST: Final = 16


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool with the JSON Schema of its arguments, references resolved."""

    name: str
    description: str
    properties: Mapping[str, Mapping[str, Any]]
    required: tuple[str, ...]


def read_tools(path: Path) -> Tools:
    """The tools of a file by name, in its order.

    JSON: a list of tools (or an object with the list under `tools`), each
    `{"name", "description", "parameters"}` (also `input_schema`, `inputSchema`), bare or within
    OpenAI's `{"type": "function", "function": ...}`. CSV: a registry with the columns `tool_name`,
    `signature`, `description` and, where there are any, `argument_defaults` and
    `argument_constraints`. Raises `InputErrors` with every fault.
    """
    if not path.is_file():
        raise InputErrors([InputError("there is no such tools file", file=str(path))])
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputErrors([InputError("is not UTF-8 text", file=str(path))]) from None
    items = _registry(text) if path.suffix == ".csv" else _json(text, path)
    tools: dict[str, Tool] = {}
    faults: list[InputError] = []
    for place, item in items:
        try:
            tool = _tool(item)
            if tool.name in tools:
                raise ValueError(f"a second tool of the name '{tool.name}'")
            tools[tool.name] = tool
        except ValueError as error:
            faults.append(InputError(str(error), file=str(path), place=place))
    if not tools and not faults:
        faults.append(InputError("is empty: it lists no tools", file=str(path)))
    if faults:
        raise InputErrors(faults)
    return tools


def _json(text: str, path: Path) -> Iterator[tuple[str, Any]]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputErrors(
            [InputError(f"is no JSON: {error.msg}", file=str(path), place=place)]
        ) from None
    if isinstance(document, dict) and "tools" in document:
        document = document["tools"]
    if not isinstance(document, list):
        raise InputErrors([InputError("tools are a JSON list", file=str(path))])
    for index, item in enumerate(document):
        yield f"tools[{index}]", item


def _registry(text: str) -> Iterator[tuple[str, Any]]:
    reader = csv.DictReader(text.splitlines())
    for row in reader:
        if (row.get("deprecated") or "").lower() != "true":
            yield f"line {reader.line_num}", read_signature(row)


def _tool(item: Any) -> Tool:
    if isinstance(item, str):
        raise ValueError(item)
    if isinstance(item, dict) and isinstance(item.get("function"), dict):
        item = item["function"]
    if not isinstance(item, dict):
        raise ValueError(f"a tool is an object, not {item!r}")
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise ValueError("a tool needs the key 'name'")
    schema: Any = next((item[key] for key in _SCHEMA_KEYS if key in item), {})
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise ValueError(f"the arguments of '{name}' are a JSON Schema object")
    schema = _resolved(schema, schema, 0)
    properties = schema.get("properties", {})
    if not isinstance(properties, dict) or not all(
        isinstance(value, dict) for value in properties.values()
    ):
        raise ValueError(f"the 'properties' of '{name}' map names to schemas")
    required = schema.get("required", [])
    unknown = [key for key in required if key not in properties]
    if unknown:
        raise ValueError(f"'{name}' requires '{unknown[0]}', which is none of its properties")
    return Tool(name, str(item.get("description") or ""), properties, tuple(required))


def _resolved(value: Any, root: Mapping[str, Any], depth: int) -> Any:
    """The schema with its local `$ref`s replaced by what they name."""
    if depth > _DEEPEST:
        raise ValueError(f"the schema is nested more than {_DEEPEST} deep, or refers to itself")
    if isinstance(value, list):
        return [_resolved(item, root, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if isinstance(name := value.get("$ref"), str):
        target: Any = root
        for part in name.removeprefix("#/").split("/"):
            target = target.get(part) if isinstance(target, dict) else None
        if target is None or not name.startswith("#/"):
            raise ValueError(f"the schema refers to '{name}', which is not in it")
        rest = {key: item for key, item in value.items() if key != "$ref"}
        return _resolved({**target, **rest}, root, depth + 1)
    return {key: _resolved(item, root, depth + 1) for key, item in value.items() if key != "$defs"}
