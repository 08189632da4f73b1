"""Amounts of money: "$250", "250 bucks" and "two hundred fifty dollars" alike."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CURRENCY = {
    "$": "USD",
    "dollar": "USD",
    "dollars": "USD",
    "buck": "USD",
    "bucks": "USD",
    "usd": "USD",
    "€": "EUR",
    "euro": "EUR",
    "euros": "EUR",
    "eur": "EUR",
    "£": "GBP",
    "pound": "GBP",
    "pounds": "GBP",
    "gbp": "GBP",
}
_SCALE = {"k": 1_000, "grand": 1_000}
_NUMBER = r"\d+(?:\.\d+)?"
_NAMES = "|".join(name for name in _CURRENCY if name.isalpha())
_PATTERN = re.compile(
    rf"(?P<sign>[$€£]) (?P<signed>{_NUMBER})(?: (?P<signed_scale>{'|'.join(_SCALE)})\b)?"
    rf"|\b(?P<number>{_NUMBER})(?: (?P<scale>{'|'.join(_SCALE)}))? (?P<name>{_NAMES})\b"
    r"(?:(?: and)? (?P<cents>\d{1,2}) cents?\b)?"
)


def find_amounts(text: str) -> Iterator[tuple[str, str, int, int]]:
    """(amount with two decimals, currency, start, end) of every amount in a line of tokens.

    >>> [found[:2] for found in find_amounts("send $ 1200 no 85 euros and 50 cents")]
    [('1200.00', 'USD'), ('85.50', 'EUR')]
    """
    for found in _PATTERN.finditer(text):
        number = Decimal(found["signed"] or found["number"])
        number *= _SCALE.get(found["signed_scale"] or found["scale"], 1)
        number += Decimal(found["cents"] or 0) / 100
        yield f"{number:.2f}", _CURRENCY[found["sign"] or found["name"]], *found.span()
