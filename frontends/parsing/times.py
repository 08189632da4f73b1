"""Times of day: "3pm", "3 p.m.", "three o'clock", "15:00" and "half past three" as HH:MM.

An hour from 1 to 12 that names no half of the day is taken between 7:00 and 18:59, when people
make appointments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HOUR = r"(?:2[0-3]|[01]?\d)"
_MINUTE = r"[0-5]\d"
_DAY = r"(?:am|pm|(?:in the|this) (?:morning|afternoon|evening)|at night|tonight)"
_BEFORE = r"(?:at|for|to|by|from|until|till|around|about|before|after|is|it|noon|than)"
_COUNTED = (
    r"(?:people|persons?|guests|adults|of|minutes?|hours?|days?|weeks?|times?|dollars?|percent|"
    r"\d|more|or)"
)
_PATTERNS = re.compile(
    rf"""
      \b(?P<clock>noon|midday|midnight)\b
    | \b(?P<part>half|quarter|{_MINUTE}|5)(?:\ minutes)?\ (?P<side>past|after|to|of|before)
      \ (?P<part_hour>1[0-2]|[1-9])\b(?:\ oclock)?(?:\ (?P<part_day>{_DAY})\b)?
    | \b(?P<hour>{_HOUR})[:.](?P<minute>{_MINUTE})\b(?:\ (?P<day>{_DAY})\b)?
    | \b(?P<run_hour>1[0-2]|[1-9])(?:\ oh?\ (?P<run_digit>\d)|\ ?(?P<run_minute>{_MINUTE}))
      \ (?P<run_day>{_DAY})\b
    | \b(?P<whole_hour>{_HOUR})(?:\ oclock\b(?:\ (?P<whole_day>{_DAY})\b)?|\ (?P<said_day>{_DAY})\b)
    | \b{_BEFORE}\ (?P<bare_hour>{_HOUR})
      (?:\ oh?\ (?P<bare_digit>\d)|\ (?P<bare_minute>{_MINUTE}))?\b(?!\ {_COUNTED}\b)
    """,
    re.VERBOSE,
)
_CLOCK = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}


def find_times(text: str) -> Iterator[tuple[str, int, int]]:
    """(HH:MM, start, end) of every time in a line of tokens whose numbers are digits.

    >>> [time for time, *_ in find_times("at 3 no at half past 4 in the afternoon")]
    ['15:00', '16:30']
    """
    for found in _PATTERNS.finditer(text):
        time = _value(found)
        if time is not None:
            yield time, found.start(), found.end()


def _value(found: re.Match[str]) -> str | None:
    part = found.groupdict()
    if part["clock"]:
        return _CLOCK[part["clock"]]
    if part["part"]:
        minutes = {"half": 30, "quarter": 15}.get(part["part"]) or int(part["part"])
        if part["side"] in ("to", "of", "before"):
            minutes = -minutes
        return _time(int(part["part_hour"]), minutes, part["part_day"])
    for kind in ("", "run_", "whole_", "bare_"):
        if part.get(f"{kind}hour"):
            minute = part.get(f"{kind}minute") or part.get(f"{kind}digit") or 0
            day = part.get(f"{kind}day") or part["said_day"]
            return _time(int(part[f"{kind}hour"]), int(minute), day)
    return None


def _time(hour: int, minute: int, day: str | None) -> str | None:
    """The 24-hour time; `minute` is negative for "quarter to"."""
    if day is not None and 1 <= hour <= 12:
        late = "am" not in day.split() and "morning" not in day
        if day == "at night" and hour % 12 < 5:
            late = False
        hour = hour % 12 + (12 if late else 0)
    elif day is None and 1 <= hour <= 6:
        hour += 12
    total = (hour * 60 + minute) % (24 * 60)
    return f"{total // 60:02}:{total % 60:02}"
