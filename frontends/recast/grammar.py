"""What can be said (`grammar.toml`), and the values of the four domains with what they mean.

Carriers, tails and false alarms of the test are disjoint from the source's, and half of its editing
phrases share no word with any of the source's.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from random import Random

Domain = Literal["time", "amount", "location", "contact"]
Side = Literal["source", "test"]

DOMAINS: Final[tuple[Domain, ...]] = ("time", "amount", "location", "contact")
TOOLS: Final[dict[Domain, str]] = {
    "time": "book",
    "amount": "transfer",
    "location": "navigate",
    "contact": "contact",
}
"""What a carrier calls that names no tool of its own."""
VOICES: Final[dict[Side, tuple[str, ...]]] = {
    "source": ("af_heart", "am_fenrir", "bm_george", "af_bella", "am_puck", "bf_isabella"),
    "test": ("am_michael", "bf_emma"),
}
GRAMMAR: Final = Path(__file__).with_name("grammar.toml")


@dataclass(frozen=True, slots=True)
class Carrier:
    """A request around a value; one of two fields says `other` too, and corrects that."""

    id: str
    opening: str
    filler: str
    again: str
    restart: str = ""
    tool: str = ""
    other: str = ""
    field: Domain | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """A phrase that announces a repair; `seen`: its words occur among the source's."""

    id: str
    text: str
    seen: bool = True


@dataclass(frozen=True, slots=True)
class Switch:
    """Asks for another tool with the value that was said."""

    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Grammar:
    """What the speakers of one side say."""

    carriers: dict[Domain, tuple[Carrier, ...]]
    two: dict[Domain, tuple[Carrier, ...]]
    switch: dict[Domain, tuple[Switch, ...]]
    edits: tuple[Edit, ...]
    abandon: tuple[Edit, ...]
    cues: tuple[str, ...]
    fillers: tuple[str, ...]
    tails: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Spoken:
    """A value as it is said, and the fields of a call that it fills."""

    text: str
    fields: dict[str, str]


@lru_cache
def load_grammar(side: Side) -> Grammar:
    """The grammar of the source (training and development) or of the test."""
    table = _document()[side]
    return Grammar(
        carriers={name: _carriers(side, name, table[name]["carriers"]) for name in DOMAINS},
        two={name: _carriers(f"{side}-two", name, table[name]["two"]) for name in DOMAINS},
        switch={name: tuple(Switch(**row) for row in table[name]["switch"]) for name in DOMAINS},
        edits=_edits(table["edits"]),
        abandon=_edits(table["abandon"]),
        cues=tuple(table["false_alarms"]["cue"]),
        fillers=tuple(table["false_alarms"]["filler"]),
        tails=tuple(table["tails"]),
    )


def _carriers(side: str, domain: Domain, rows: list[dict[str, Any]]) -> tuple[Carrier, ...]:
    return tuple(
        Carrier(id=f"{side}-{domain}-{number}", **row) for number, row in enumerate(rows, start=1)
    )


def _edits(table: dict[str, Any]) -> tuple[Edit, ...]:
    """Of a table in halves, a seen phrase and an unseen one in turn."""
    if "seen" not in table:
        return tuple(Edit(name, text) for name, text in table.items())
    halves = (
        [Edit(name, text, half == "seen") for name, text in table[half].items()] for half in table
    )
    return tuple(edit for pair in zip(*halves, strict=True) for edit in pair)


@lru_cache
def _document() -> dict[str, Any]:
    return tomllib.loads(GRAMMAR.read_text(encoding="utf-8"))


_HOURS: Final = (
    *("twelve", "one", "two", "three", "four", "five"),
    *("six", "seven", "eight", "nine", "ten", "eleven"),
)
_MINUTES: Final = {
    0: "",
    15: " fifteen",
    20: " twenty",
    30: " thirty",
    40: " forty",
    45: " forty five",
}
_AMOUNTS: Final = (*range(15, 100, 5), *range(100, 1000, 50), *range(1000, 2600, 100))


def draw_value(domain: Domain, rng: Random) -> Spoken:
    """A value of the domain, in one of its spoken styles."""
    match domain:
        case "time":
            return _draw_time(rng)
        case "amount":
            amount = rng.choice(_AMOUNTS)
            return Spoken(f"{amount} dollars", {"amount": f"{amount}.00", "currency": "USD"})
        case "location":
            place = rng.choice(_document()["values"]["places"])
            return Spoken(place, {"location": place.removeprefix("the ").lower()})
        case "contact":
            name = rng.choice(_document()["values"]["names"])
            return Spoken(name, {"contact": name.lower()})


def _draw_time(rng: Random) -> Spoken:
    hour, minute = rng.randrange(7, 22), rng.choice(tuple(_MINUTES))
    name = _HOURS[hour % 12]
    half = "a.m." if hour < 12 else "p.m."
    part = "in the morning" if hour < 12 else "in the afternoon" if hour < 17 else "in the evening"
    styles = [f"{name}{_MINUTES[minute]} {half}", f"{name}{_MINUTES[minute]} {part}"]
    if minute == 30:
        styles.append(f"half past {name} {part}")
    if minute == 15:
        styles.append(f"quarter past {name} {part}")
    return Spoken(rng.choice(styles), {"time": f"{hour:02}:{minute:02}"})
