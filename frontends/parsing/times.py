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
_HOUR_12 = r"(?:1[0-2]|[1-9])"
_MINUTE = r"[0-5]\d"
_DAY = r"(?:am|pm|(?:in\ the|this)\ (?:morning|afternoon|evening)|at\ night|tonight)"
_BEFORE = "at|for|to|by|from|until|till|around|about|before|after|is|it"
_COUNTED = "people|persons?|guests|adults|of|minutes?|hours?|days?|weeks?|times?|percent|more"
_TIMES = re.compile(
    rf"""
    \b(?P<before>(?:{_BEFORE})\ )?(?P<time>
      (?P<clock>noon|midday|midnight)\b
    | (?P<part>half|quarter|{_MINUTE}|5)(?:\ minutes)?\ (?P<side>past|after|to|of|before)
      \ (?P<part_hour>{_HOUR_12})\b(?:\ oclock)?(?:\ (?P<part_day>{_DAY})\b)?
    | (?P<full_hour>{_HOUR})[:.](?P<full_minute>{_MINUTE})\b(?:\ (?P<full_day>{_DAY})\b)?
    | (?P<run_hour>{_HOUR_12})(?:\ oh?\ (?P<run_digit>\d)|\ ?(?P<run_minute>{_MINUTE}))
      \ (?P<run_day>{_DAY})\b
    | (?P<hour>{_HOUR})\ (?:oclock\b(?:\ (?P<clock_day>{_DAY})\b)?|(?P<day>{_DAY})\b)
    | (?(before)(?P<bare_hour>{_HOUR})
      (?:\ oh?\ (?P<bare_digit>\d)|\ (?P<bare_minute>{_MINUTE}))?\b(?!\ (?:{_COUNTED}|\d)\b)
      | (?!))
    )
    """,
    re.VERBOSE,
)
_CLOCK = {"noon": "12:00", "midday": "12:00", "midnight": "00:00"}


def find_times(text: str) -> Iterator[tuple[str, int, int]]:
    """(HH:MM, start, end) of every time in a line of tokens whose numbers are digits.

    >>> [time for time, *_ in find_times("at 3 no at half past 4 in the afternoon")]
    ['15:00', '16:30']
    """
    for found in _TIMES.finditer(text):
        yield _value(found), *found.span("time")


def _value(found: re.Match[str]) -> str:
    part = {name: text for name, text in found.groupdict().items() if text}
    if "clock" in part:
        return _CLOCK[part["clock"]]
    day = next((part[name] for name in part if name.endswith("day")), None)
    hour = next(part[name] for name in part if name.endswith("hour"))
    if "part" in part:
        minute = {"half": 30, "quarter": 15}.get(part["part"]) or int(part["part"])
        return _time(hour, minute if part["side"] in ("past", "after") else -minute, day)
    minutes = (part[name] for name in part if name.endswith(("minute", "digit")))
    return _time(hour, int(next(minutes, 0)), day)


def _time(said: str, minute: int, day: str | None) -> str:
    """The 24-hour time; `minute` is negative for "quarter to", "03:15" is on the 24-hour clock."""
    hour = int(said)
    if day is not None and 1 <= hour <= 12:
        late = "am" not in day.split() and "morning" not in day
        if day == "at night" and hour % 12 < 5:
            late = False
        hour = hour % 12 + (12 if late else 0)
    elif 1 <= hour <= 6 and not said.startswith("0"):
        hour += 12
    total = (hour * 60 + minute) % (24 * 60)
    return f"{total // 60:02}:{total % 60:02}"
