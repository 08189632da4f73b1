"""Pydantic's errors in plain English, with the place and the nearest valid name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from simcore.errors import nearest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

Location = tuple[int | str, ...]

_EXPECTED = {
    "int": "a whole number",
    "float": "a number",
    "string": "text",
    "bool": "true or false",
    "list": "a list",
    "dict": "a mapping",
    "model": "a mapping",
}


def path_text(location: Location) -> str:
    """A place within a document.

    >>> path_text(("arrivals", 2, "confidence"))
    'arrivals[2].confidence'
    """
    text = ""
    for part in location:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def known_keys(model: type[BaseModel], location: Location) -> list[str]:
    """The keys that ``model`` knows in the mapping at ``location``."""
    inner: Any = model
    for part in location:
        if isinstance(part, str):
            fields = {field.alias or name: field for name, field in inner.model_fields.items()}
            inner = _model_within(fields[part].annotation) if part in fields else None
        if inner is None:
            return []
    return [field.alias or name for name, field in inner.model_fields.items()]


def _model_within(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((m for m in map(_model_within, get_args(annotation)) if m), None)


def explain(error: ValidationError, model: type[BaseModel]) -> list[tuple[Location, str]]:
    """Where and what: every fault that pydantic found in a document of ``model``."""
    return [
        (details["loc"], _message(details, model)) for details in error.errors(include_url=False)
    ]


def _message(details: ErrorDetails, model: type[BaseModel]) -> str:
    kind, location, value = details["type"], details["loc"], details["input"]
    context = details.get("ctx", {})
    key = location[-1] if location else ""
    if kind == "extra_forbidden":
        return f"unknown key '{key}'{nearest(str(key), known_keys(model, location[:-1]))}"
    if kind == "missing":
        return f"the key '{key}' is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "greater_than_equal":
        bound = context["ge"]
        return f"{value} is negative" if bound == 0 else f"{value} is below {bound}"
    if kind == "greater_than":
        return f"{value} must be above {context['gt']}"
    if kind == "less_than_equal":
        return f"{value} is above {context['le']}"
    if kind == "finite_number":
        return f"{value} is not a finite number"
    if kind == "literal_error":
        return f"unknown value {_shown(value)}{_nearest_literal(value, context['expected'])}"
    if kind in ("too_short", "too_long"):
        if not context["actual_length"]:
            return "is empty; at least one entry is needed"
        wanted = context.get("min_length", context.get("max_length"))
        return f"has {context['actual_length']} entries instead of {wanted}"
    if kind == "string_too_short":
        return "is empty"
    unit = " of microseconds" if str(key).endswith("_us") or "at_us" in location else ""
    expected = _EXPECTED.get(kind.partition("_")[0])
    if expected is None:
        return f"{details['msg']}, not {_shown(value)}"
    return f"must be {expected}{unit if kind.startswith('int') else ''}, not {_shown(value)}"


def _nearest_literal(value: Any, expected: str) -> str:
    names = expected.replace(" or ", ", ").replace("'", "").split(", ")
    return nearest(str(value), names)


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
