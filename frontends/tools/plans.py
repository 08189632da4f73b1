"""Plans in canonical form: two calls are equal where their fields, by type, mean the same.

Numbers lose their notation, dates and times become ISO, an enumerated value its declared spelling,
free text its case, punctuation, articles and spacing. An argument that equals its declared default
is left out. A reference to an earlier result (`$RESULT_0.products[0].product_id`) stays as it is.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import MissingError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from frontends.tools.catalog import Tool, Tools

_SIGNS: Final = str.maketrans("", "", "$€£%,")
_TRUTH: Final = {"true": True, "yes": True, "false": False, "no": False}
_ARTICLES: Final = re.compile(r"\b(?:a|an|the)\b")
_SPACES: Final = re.compile(r"_|(?<!\d)/|/(?!\d)")
# Kept where it stands between two digits: 12.5, 16:00.
_PUNCTUATION: Final = re.compile(r"(?<!\d)[.:]|[.:](?!\d)|[^\w\s.:/$€£%°+]")
_ROUNDS: Final = 4
_TIMES: Final = ("date", "day", "time", "datetime")
_NAME_PARTS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def canonical_plan(calls: Iterable[Mapping[str, Any]], tools: Tools) -> list[dict[str, Any]] | None:
    """Calls (`{"tool", "arguments"}`) in canonical form and in order; None where there are none."""
    return [
        {
            "tool": call["tool"],
            "arguments": _arguments(call["arguments"], tools.get(call["tool"])),
        }
        for call in calls
    ] or None


def misfits(calls: Iterable[Mapping[str, Any]], tools: Tools) -> list[str]:
    """Where calls do not fit the signatures of their tools, in words."""
    found = []
    for index, call in enumerate(calls):
        place = f"call {index}: "
        tool = tools.get(call["tool"])
        if tool is None:
            found.append(f"{place}unknown tool '{call['tool']}'{nearest(call['tool'], tools)}")
            continue
        for name, value in call["arguments"].items():
            if name not in tool.properties:
                hint = nearest(name, tool.properties)
                found.append(f"{place}'{tool.name}' has no argument '{name}'{hint}")
            elif value is not None and not _fits(value, tool.properties[name]):
                kind = tool.properties[name].get("type") or "one of its choices"
                found.append(f"{place}'{name}' of '{tool.name}' is {value!r}, which is no {kind}")
        found += [
            f"{place}'{tool.name}' lacks the argument '{name}'"
            for name in tool.required
            if name not in call["arguments"]
        ]
    return found


def is_reference(value: Any) -> bool:
    """Whether a value stands for a part of an earlier call's result."""
    return isinstance(value, str) and value.lstrip().startswith("$RESULT_")


def free_text(text: str) -> str:
    """Text without case, punctuation, articles and extra spaces.

    >>> free_text("The G-G-5, under $1,200.50!"), free_text("driver_license")
    ('gg5 under $1200.50', 'driver license')
    """
    plain = _SPACES.sub(" ", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(_ARTICLES.sub(" ", _PUNCTUATION.sub("", plain)).split())


def _arguments(arguments: Mapping[str, Any], tool: Tool | None) -> dict[str, Any]:
    schemas = tool.properties if tool is not None else {}
    made = {}
    for name, value in arguments.items():
        schema = schemas.get(name, {})
        made[name] = _canonical(value, schema, name)
        default = schema.get("default")
        if value is None or (
            default is not None and made[name] == _canonical(default, schema, name)
        ):
            del made[name]
    return made


def _canonical(value: Any, schema: Mapping[str, Any], name: str = "") -> Any:
    if is_reference(value):
        return value.strip().encode(errors="ignore").decode()
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        return {key: _canonical(item, fields.get(key, {}), key) for key, item in value.items()}
    if isinstance(value, list):
        return [_canonical(item, schema.get("items", {}), name) for item in value]
    # What punctuation hid may be a number or a date: a form is final when nothing changes it.
    for _ in range(_ROUNDS):
        before, value = value, _scalar(value, schema, name)
        if value == before:
            break
    return value


def _scalar(value: Any, schema: Mapping[str, Any], name: str) -> Any:
    kinds = _kinds(schema)
    if kinds & {"number", "integer"} or (not kinds and not isinstance(value, str)):
        return _number(value)
    plain = _text(value)
    if kinds == {"boolean"}:
        return _TRUTH.get(plain, plain)
    for choice in schema.get("enum", ()):
        if _text(choice) == plain:
            return choice
    return _moment(value if isinstance(value, str) else plain, schema, name) or plain


def _number(value: Any) -> Any:
    """A number without its notation; what is none as free text."""
    number = value
    if isinstance(value, str):
        try:
            number = float(value.translate(_SIGNS))
        except ValueError:
            return _text(value)
    if isinstance(number, float):
        if not isfinite(number):
            return _text(value)
        return int(number) if number.is_integer() else number
    return number


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return free_text(str(value))


def _moment(value: str, schema: Mapping[str, Any], name: str) -> str | None:
    """The ISO form of a date or time of day, None for another field or for words such as Friday."""
    parts = [part.lower() for part in _NAME_PARTS.findall(name)]
    timed = schema.get("format") in ("date", "time", "date-time")
    if not timed and not (parts and parts[-1] in _TIMES):
        return None
    try:
        from dateutil import parser
    except ImportError:
        raise MissingError(
            "comparing dates needs the package python-dateutil; "
            "install it with: pip install 'rassg-sim[gguf]'"
        ) from None
    text = " ".join(_ARTICLES.sub(" ", value.casefold()).split())
    # What the text leaves open comes from the default: only what agrees under both was said.
    try:
        one, other = (
            parser.parse(text, default=default, ignoretz=True)
            for default in (datetime(2000, 1, 1, 0, 0), datetime(2005, 2, 2, 1, 1))
        )
    except (ValueError, OverflowError):
        return None
    date = ""
    if (one.month, one.day) == (other.month, other.day):
        date = f"{one.year:04}-" if one.year == other.year else "--"
        date += f"{one.month:02}-{one.day:02}"
    time = ""
    if one.hour == other.hour:
        time = f"{one.hour:02}:{one.minute if one.minute == other.minute else 0:02}"
    return "T".join(filter(None, (date, time))) or None


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The JSON types that a schema allows, without null."""
    kind = schema.get("type")
    kinds = set(kind) if isinstance(kind, list) else {kind} if kind else set()
    for choice in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        kinds |= _kinds(choice)
    return kinds - {"null"}


def _fits(value: Any, schema: Mapping[str, Any]) -> bool:
    if is_reference(value):
        return True
    if "enum" in schema:
        return value in schema["enum"]
    kinds = _kinds(schema)
    if not kinds:
        return True
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int):
        return bool(kinds & {"integer", "number"})
    if isinstance(value, float):
        return "number" in kinds or ("integer" in kinds and value.is_integer())
    return (
        ("string" in kinds and isinstance(value, str))
        or ("array" in kinds and isinstance(value, list))
        or ("object" in kinds and isinstance(value, dict))
    )
