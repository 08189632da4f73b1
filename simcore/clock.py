"""Time is an integer number of microseconds, from the start of a recording's audio.

Equality at a deadline decides outcomes, so floats (30 x 0.32 is not 9.6) never enter the engine.
People write and read durations at the edges, as "320 ms", "1.6 s" or a number of seconds.
"""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from enum import IntEnum
from typing import Final

Microseconds = int

NEVER: Final[Microseconds] = 1 << 62
"""Later than any instant of a simulation (more than 146,000 years)."""

_UNITS: Final = {"us": 1, "µs": 1, "ms": 1_000, "s": 1_000_000, "min": 60_000_000}
_DURATION: Final = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([^\s\d]*)\s*")


class Priority(IntEnum):
    """The order of events at one instant; the lower comes first."""

    ACKNOWLEDGEMENT = 1
    SOURCE = 2
    DECISION = 3
    TICK = 4
    COMPLETION = 5
    DEADLINE = 6


def parse_duration(value: str | float) -> Microseconds:
    """Whole microseconds of a duration: "320 ms", "1.6 s" or a number of seconds.

    Raises ``ValueError`` for an unknown unit, a negative or non-finite duration, and one that is
    not a whole number of microseconds.

    >>> parse_duration("320 ms"), parse_duration(1.6)
    (320000, 1600000)
    """
    if isinstance(value, bool):
        raise ValueError("a duration is a number of seconds or text such as '320 ms'")
    if isinstance(value, str):
        match = _DURATION.fullmatch(value)
        if match is None:
            raise ValueError(f"'{value}' is no duration; write '320 ms', '1.6 s' or seconds")
        unit = match[2] or "s"
        if unit not in _UNITS:
            known = ", ".join(name for name in _UNITS if name.isascii())
            raise ValueError(f"'{value}' has the unknown unit '{unit}'; known are {known}")
        amount, scale = Decimal(match[1]), _UNITS[unit]
    else:
        try:
            amount, scale = Decimal(repr(value)), _UNITS["s"]
        except InvalidOperation:
            raise ValueError("a duration is a number of seconds or text such as '320 ms'") from None
        if not amount.is_finite() or amount < 0:
            raise ValueError(f"a duration is finite and not negative, this is {value}")
    microseconds = amount * scale
    if microseconds != microseconds.to_integral_value():
        raise ValueError(f"'{value}' is not a whole number of microseconds")
    return int(microseconds)


def format_duration(microseconds: Microseconds) -> str:
    """The shortest exact text that `parse_duration` reads back.

    >>> format_duration(1_600_000), format_duration(320_000), format_duration(15)
    ('1.6 s', '320 ms', '15 us')
    """
    if microseconds and microseconds % 100_000 == 0 and microseconds >= 1_000_000:
        whole, tenth = divmod(microseconds // 100_000, 10)
        return f"{whole}.{tenth} s" if tenth else f"{whole} s"
    if microseconds % 1_000 == 0:
        return f"{microseconds // 1_000} ms"
    return f"{microseconds} us"


def seconds(microseconds: Microseconds) -> float:
    """Seconds as a float, for prices and reports; never fed back into the clock."""
    return microseconds / 1_000_000
