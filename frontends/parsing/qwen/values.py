"""Values as a recognizer writes them, in whole and while they are still being said.

Those of ReCAST's lexicon, and others that nobody knows: a parser that copies needs no lexicon.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from frontends.parsing.qwen.phrases import Phrases, load_phrases
from frontends.recast.grammar import draw_value as draw_known

if TYPE_CHECKING:
    from random import Random

    from frontends.recast.grammar import Domain

MISHEARD: Final = 0.02
"""The share of known places and names that are misspelled; the call has the right spelling."""

_ONES: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    "nineteen",
)
_TENS: Final = (
    "",
    "",
    "twenty",
    "thirty",
    "forty",
    "fifty",
    "sixty",
    "seventy",
    "eighty",
    "ninety",
)
_HALVES: Final = (" {}.m.", " {}.m.", "{}m", "{}m", " {}m", "{}, M", "{} M", " {}.M.")
_SIGNS: Final = {"USD": ("$", "dollars"), "EUR": ("€", "euros"), "GBP": ("£", "pounds")}
_MINUTES: Final = (0, 0, 15, 20, 30, 40, 45)


@dataclass(frozen=True, slots=True)
class Value:
    """What is written for a value, what of it while it is being said, and the fields it fills.

    Places and names are spelled in `fields` as they are in `text`.
    """

    text: str
    partials: tuple[str, ...]
    fields: dict[str, str]


def draw_value(domain: Domain, rng: Random, *, known: float) -> Value:
    """A value, of ReCAST's lexicon with the probability `known`."""
    match domain:
        case "time":
            return _time(rng, known)
        case "amount":
            return _amount(rng, known)
        case "location" | "contact":
            return _name(domain, rng, known)


def spelled(number: int) -> str:
    """A number in words.

    >>> spelled(1_245)
    'one thousand two hundred forty five'
    """
    if number < 20:
        return _ONES[number]
    if number < 100:
        return (
            f"{_TENS[number // 10]} {spelled(number % 10)}" if number % 10 else _TENS[number // 10]
        )
    unit, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    rest = f" {spelled(number % unit)}" if number % unit else ""
    return f"{spelled(number // unit)} {name}{rest}"


def _time(rng: Random, known: float) -> Value:
    if rng.random() < known:
        hour, minute = rng.randrange(7, 22), rng.choice(_MINUTES)
    else:
        hour, minute = rng.randrange(24), rng.choice((*_MINUTES, rng.randrange(60)))
    time = {"time": f"{hour:02}:{minute:02}"}
    if time["time"] in ("12:00", "00:00") and rng.random() < 0.3:
        return Value("noon" if hour else "midnight", (), time)
    twelve = (hour + 11) % 12 + 1
    if minute in (15, 30, 45) and rng.random() < 0.35:
        word = {15: "quarter past", 30: "half past", 45: "quarter to"}[minute]
        word = word.replace("past", "pass") if rng.random() < 0.03 else word
        named = twelve % 12 + 1 if minute == 45 else twelve
        clock = f"{word} {_hour(named, rng)}"
        heard = [word.split()[0], word]
        if rng.random() < 0.3:
            clock, heard = f"a {clock}", [f"a {part}" for part in heard]
    else:
        clock, heard = _clock(twelve, minute, rng)
    half = "a" if hour < 12 else "p"
    if (clock[-1].isdigit() and rng.random() < 0.5) or rng.random() < 0.25:
        end = rng.choice(_HALVES).format(half)
        if rng.random() < 0.35:
            end = end.upper()
        ends = ["", f" {half}", end[:2]]
    else:
        end = f" in the {_part(hour, rng)}"
        ends = ["", " in", " in the"]
    return Value(clock + end, (*heard, *(clock + part for part in ends)), time)


def _part(hour: int, rng: Random) -> str:
    if hour < 12:
        return "morning"
    if hour == 17 and rng.random() < 0.3:
        return "afternoon"
    return "afternoon" if hour < 17 else "evening"


def _hour(hour: int, rng: Random) -> str:
    return str(hour) if rng.random() < 0.8 else _ONES[hour]


def _clock(hour: int, minute: int, rng: Random) -> tuple[str, list[str]]:
    """The time without its half of the day, and what may be written of it before its end."""
    if minute == 0:
        made = rng.choice((str(hour), str(hour), str(hour), _ONES[hour], f"{hour}:00"))
        return made, []
    if rng.random() < 0.1:
        small = f"oh {_ONES[minute]}" if minute < 10 else spelled(minute)
        parts = f"{_ONES[hour]} {small}".split()
        return " ".join(parts), [" ".join(parts[:size]) for size in range(1, len(parts))]
    mark = rng.choice(("", "", "", "", ".", ".", ".", ":", ":", " ", "-"))
    tens = minute - minute % 10
    heard = [str(hour), f"{hour}{mark}{tens:02}", f"{hour}{mark}{minute // 10}"]
    return f"{hour}{mark}{minute:02}", [*heard, _ONES[hour]]


def _amount(rng: Random, known: float) -> Value:
    currency, cents = "USD", 0
    if rng.random() < known:
        whole = int(float(draw_known("amount", rng).fields["amount"]))
    else:
        whole = rng.randrange(1, 10 ** rng.randrange(1, 5))
        whole = whole if rng.random() < 0.5 else max(1, whole // 10 * 10)
        currency = rng.choice(("USD", "USD", "USD", "USD", "EUR", "GBP"))
        cents = rng.randrange(1, 100) if rng.random() < 0.05 else 0
    sign, name = _SIGNS[currency]
    number = f"{whole:,}" if rng.random() < 0.6 else str(whole)
    digits = number + (f".{cents:02}" if cents else "")
    style = rng.random()
    heard = [number[:size] for size in range(1, len(number)) if number[size - 1].isdigit()]
    if style < 0.08 and not cents:
        words = spelled(whole).split()
        heard = [" ".join(words[:size]) for size in range(1, len(words) + 1)]
        text = f"{' '.join(words)} {name}"
    elif style < 0.25:
        text = f"{digits} {name}"
        heard.append(digits)
    else:
        text = f"{sign}{digits}" + (f" {name}" if rng.random() < 0.05 else "")
        heard.append(digits)
    return Value(text, tuple(heard), {"amount": f"{whole}.{cents:02}", "currency": currency})


def _name(domain: Domain, rng: Random, known: float) -> Value:
    if rng.random() < known:
        text = draw_known(domain, rng).text
        misheard = rng.random() < MISHEARD
    else:
        text = _person(rng) if domain == "contact" else _place(rng)
        misheard = False
    name = text.removeprefix("the ")
    before = text.removesuffix(name)
    if rng.random() < 0.1:
        name = name.title().replace("'S", "'s")
    elif rng.random() < 0.12:
        name = name.lower()
    written = before + (perturbed(name, rng) if misheard else name)
    return Value(written, tuple(_beginnings(written, rng)), {domain: name})


def _beginnings(text: str, rng: Random) -> list[str]:
    """What is written while a name is being said: whole words of it, or part of one."""
    words = text.split()
    whole = [" ".join(words[:size]) for size in range(1, len(words))]
    cut = rng.randrange(1, max(2, len(words[-1]) - 1))
    return [*whole, text[: len(text) - len(words[-1]) + cut] + rng.choice(("-", "...", ""))]


def _person(rng: Random) -> str:
    phrases = load_phrases()
    return rng.choice(phrases.first) if rng.random() < 0.4 else invented(phrases, rng)


def _place(rng: Random) -> str:
    phrases = load_phrases()
    if rng.random() < 0.5:
        first = invented(phrases, rng) if rng.random() < 0.8 else rng.choice(phrases.first)
        return f"{first} {rng.choice(phrases.kinds)}"
    place = rng.choice(phrases.places)
    return f"the {rng.choice(phrases.before)} {place}" if rng.random() < 0.5 else f"the {place}"


def invented(phrases: Phrases, rng: Random) -> str:
    """A name that nobody knows."""
    return "".join(rng.choices(phrases.syllables, k=rng.choice((2, 2, 3)))).capitalize()


def perturbed(text: str, rng: Random) -> str:
    """A text with a letter lost, doubled or another one."""
    at = rng.randrange(len(text))
    letter = rng.choice(("", text[at] * 2, rng.choice("aeioustrn")))
    return text[:at] + letter + text[at + 1 :] or text
