"""How figures are written, the same in every output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simcore.bootstrap import Interval
    from simcore.metrics import Difference, Estimate, Verdict

NONE = "–"


def number(value: float | None, digits: int = 2, scale: float = 1) -> str:
    """A fixed number of digits, a dash for None.

    >>> number(0.0315, 2, 100), number(None)
    ('3.15', '–')
    """
    return NONE if value is None else f"{value * scale:.{digits}f}"


def signed(value: float | None, digits: int = 2, scale: float = 1) -> str:
    """As `number`, with its sign; zero has none.

    >>> signed(0.197), signed(-1e-9)
    ('+0.20', '0.00')
    """
    if value is None:
        return NONE
    text = f"{value * scale:+.{digits}f}"
    return text if float(text) else text.lstrip("+-")


def span(interval: Interval | None, digits: int = 2, scale: float = 1) -> str:
    """The ends of an interval: "[2.61, 3.74]"; nothing for None."""
    if interval is None:
        return ""
    return f"[{number(interval.low, digits, scale)}, {number(interval.high, digits, scale)}]"


def signed_span(interval: Interval | None, digits: int = 2, scale: float = 1) -> str:
    """As `span`, for a difference."""
    if interval is None:
        return ""
    return f"[{signed(interval.low, digits, scale)}, {signed(interval.high, digits, scale)}]"


def fraction(rate: Estimate) -> str:
    """The count behind a rate: "907/28800"."""
    return f"{rate.count}/{rate.n}" if rate.n else NONE


MARKS: Final[Mapping[Verdict, str]] = {"order": "*", "tie": "=", "unresolved": "?"}


def difference(found: Difference, digits: int = 2, scale: float = 1) -> tuple[str, str]:
    """A difference, and its interval with the mark of its verdict."""
    if found.value is None:
        return NONE, ""
    interval = signed_span(found.interval, digits, scale)
    return signed(found.value, digits, scale), f"{interval} {MARKS[found.verdict]}"
