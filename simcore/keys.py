"""Business keys: what makes two calls of a tool the same call, however their values are written.

"tomorrow 3pm", "tomorrow at 3 PM" and "tomorrow 15:00" are one slot. How a value is read is
declared by its field's type in the tool catalogue. Relative days count from one fixed day, so
that a key says "the day after the session's" and not when the session was.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import MissingError
from simcore.trace import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from simcore.tool import FieldType
    from simcore.trace import Argument

_SESSION_DAY: Final = datetime(2001, 1, 1)
_HALF_DAY: Final = re.compile(r"\b([ap])\.?\s?m\b\.?")
_SPACED_HALF: Final = re.compile(r"(\d)\s+([ap]m)\b")


@lru_cache(maxsize=1 << 14)
def business_key(
    tool: str, args: str | None, fields: tuple[tuple[str, FieldType], ...]
) -> Argument:
    """The canonical call of a tool's name and its arguments (JSON text), values by their types.

    Raises `MissingError` where dates are declared and the library that reads them is not installed.

    >>> business_key("book", '{"party": "2.0"}', (("party", "number"),))
    '{"arguments":{"party":"2"},"tool":"book"}'
    """
    arguments = json.loads(args) if args else {}
    if not isinstance(arguments, dict):
        arguments = {"": arguments}
    types = dict(fields)
    values = {
        name: _normal(value, types[name]) if name in types else value
        for name, value in arguments.items()
    }
    text = canonical({"tool": tool, "arguments": values})
    assert text is not None
    return text


@lru_cache(maxsize=1 << 14)
def revised(
    argument: Argument, said: str, fields: tuple[tuple[str, FieldType], ...]
) -> Argument | None:
    """The call with what `said` gives another value for; None where nothing differs.

    Only dates and times are found in speech. A time alone keeps the day, a day alone the time.
    """
    call = json.loads(argument)
    changed = False
    for name, kind in fields:
        before = value = call["arguments"].get(name)
        if kind not in _FORMATS or not isinstance(value, str) or not _CANONICAL.fullmatch(value):
            continue
        for found in _moments(said):
            value = _moved(value, found)
        changed = changed or value != before
        call["arguments"][name] = value
    return canonical(call) if changed else None


def mentions(said: str) -> bool:
    """Whether a date or a time is said."""
    return bool(_moments(said))


def _normal(value: Any, kind: FieldType) -> Any:
    if isinstance(value, dict | list) or value is None:
        return value
    text = " ".join(str(value).split()).casefold()
    return _READERS[kind](text) or text


def _number(text: str) -> str | None:
    try:
        number = Decimal(text.replace(",", "").lstrip("$€£"))
    except InvalidOperation:
        return None
    return f"{number.normalize():f}" if number.is_finite() else None


def _moment(kind: FieldType) -> Callable[[str], str | None]:
    def read(text: str) -> str | None:
        moment, timed = _parse(text)
        # Half understood, such as the day of "tomorrow at three", would make different slots equal.
        if moment is None or timed is not (kind != "date"):
            return None
        return moment.strftime(_FORMATS[kind])

    return read


_CANONICAL: Final = re.compile(r"(\d{4}-\d\d-\d\d)?\b ?(\d\d:\d\d)?")
_FORMATS: Final = {"date": "%Y-%m-%d", "time": "%H:%M", "datetime": "%Y-%m-%d %H:%M"}
_READERS: Final[dict[FieldType, Callable[[str], str | None]]] = {
    "text": lambda text: text,
    "number": _number,
    "date": _moment("date"),
    "time": _moment("time"),
    "datetime": _moment("datetime"),
}


@lru_cache(maxsize=1 << 14)
def _parse(text: str) -> tuple[datetime | None, bool]:
    """The moment that a text means, and whether it has a time of day."""
    data = _dates().DateDataParser(
        languages=["en"], settings={**_SETTINGS, "RETURN_TIME_AS_PERIOD": True}
    )
    found = data.get_date_data(_tidy(text))
    return found.date_obj, found.period == "time" or bool(re.search(r"\b00:00\b", text))


_SETTINGS: Final = {"RELATIVE_BASE": _SESSION_DAY, "PREFER_DATES_FROM": "future"}


@lru_cache(maxsize=1 << 14)
def _moments(said: str) -> tuple[tuple[datetime, bool, bool], ...]:
    """(moment, whether a day is said, whether a time is said) of every date in a sentence."""
    _dates()
    from dateparser.search import search_dates

    found = search_dates(_tidy(said), languages=["en"], settings=_SETTINGS) or ()
    moments = []
    for text, moment in found:
        timed = bool(re.search(r"\d\s?[ap]m\b|\d:\d\d|\bnoon\b|\bmidnight\b", text))
        # "may" and "a second" are words before they are dates.
        dated = bool(re.search(r"day\b|tomorrow|\d{4}-|\d(?:st|nd|rd|th)\b|\d/\d", text))
        if timed or dated:
            moments.append((moment, dated, timed))
    return tuple(moments)


def _moved(value: str, found: tuple[datetime, bool, bool]) -> str:
    """A canonical date or time with what was said of it put in."""
    moment, dated, timed = found
    day, _, clock = value.partition(" ") if "-" in value else ("", "", value)
    if dated and day:
        day = moment.strftime("%Y-%m-%d")
    if timed and clock:
        clock = moment.strftime("%H:%M")
    return " ".join(filter(None, (day, clock)))


def _tidy(text: str) -> str:
    """Lower case, "3 p.m." as "3pm"."""
    return _SPACED_HALF.sub(r"\1\2", _HALF_DAY.sub(r"\1m", text.lower()))


def _dates() -> Any:
    try:
        import dateparser.date
    except ImportError:
        raise MissingError(
            "fields that are dates or times need the package dateparser; "
            "install it with: pip install 'rassg-sim[agents]'"
        ) from None
    return dateparser.date
