"""What a request is made of: ReCAST's source phrases, and others put together at random.

The test's requests, asides and editing phrases are in neither.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from frontends.recast.grammar import DOMAINS, Carrier

if TYPE_CHECKING:
    from random import Random

    from frontends.recast.grammar import Domain, Grammar

PHRASES: Final = Path(__file__).with_name("phrases.toml")
OTHER: Final[dict[Domain, Domain]] = {
    "time": "location",
    "amount": "contact",
    "location": "time",
    "contact": "time",
}
"""The second field of a call, by the domain of its first."""
ASKED: Final[dict[Domain, str]] = {
    "time": "remind",
    "amount": "request",
    "location": "weather",
    "contact": "message",
}
"""The tool of a domain that has to be asked for by its name."""

_BETWEEN: Final[dict[Domain, tuple[str, ...]]] = {
    "time": ("at", "for", "by", "around", "before", "until", "from", "after"),
    "location": ("at", "to", "near", "from", "in front of", "by", "behind", "opposite", "into"),
    "contact": ("to", "with", "for", "from", "of"),
    "amount": ("for", "with", "of", "worth"),
}


@dataclass(frozen=True, slots=True)
class Phrases:
    """The lists of `phrases.toml`."""

    lists: dict[str, tuple[str, ...]]
    openings: dict[Domain, tuple[str, ...]]
    asks: dict[str, dict[str, tuple[str, ...]]]
    syllables: tuple[str, ...]
    first: tuple[str, ...]
    kinds: tuple[str, ...]
    before: tuple[str, ...]
    places: tuple[str, ...]


@lru_cache
def load_phrases() -> Phrases:
    """The phrases that come with the package."""
    document: dict[str, Any] = tomllib.loads(PHRASES.read_text(encoding="utf-8"))
    names = {key: tuple(words) for key, words in document["names"].items()}
    tables = ("switches", "repairs", "abandonments", "cues", "tails")
    lists = {key: tuple(found) for key, found in document.items() if isinstance(found, list)}
    lists |= {
        f"{table}.{key}": tuple(found) for table in tables for key, found in document[table].items()
    }
    asks = {
        tool: {key: tuple(found) for key, found in table.items()}
        for tool, table in document["asks"].items()
    }
    openings = {domain: tuple(document["openings"][domain]) for domain in DOMAINS}
    return Phrases(lists, openings, asks, **names)


@dataclass(frozen=True, slots=True)
class Speaker:
    """Draws phrases: the grammar's with the probability `source`, else made-up ones."""

    rng: Random
    source: float
    grammar: Grammar

    def carrier(self, domain: Domain) -> Carrier:
        """A request around a value of the domain."""
        if self._source():
            return self.rng.choice(self.grammar.carriers[domain])
        return self._carrier(domain)

    def two(self, domain: Domain) -> Carrier:
        """A request with a second field."""
        if self._source():
            return self.rng.choice(self.grammar.two[domain])
        field = OTHER[domain]
        join = self.rng.choice(_BETWEEN[field])
        made = self._carrier(domain)
        again = f"{self.rng.choice((join, self.rng.choice(_BETWEEN[field])))} {{other}}"
        return Carrier(
            "",
            made.opening,
            made.filler,
            again,
            tool=made.tool,
            other=f"{join} {{other}}",
            field=field,
        )

    def edit(self) -> str:
        """What announces a repair."""
        if self._source():
            return self.rng.choice(self.grammar.edits).text
        words = self.rng.choices(load_phrases().lists["repairs.words"], k=self.rng.randrange(1, 4))
        if self.rng.random() < 0.3:
            words.insert(self.rng.randrange(len(words) + 1), self._fill("{adjective} {noun}"))
        return _sentence(", ".join(words)) + ","

    def switch(self, domain: Domain) -> str:
        """Asks for the domain's other tool."""
        if self._source():
            return self.rng.choice(self.grammar.switch[domain]).text
        ask = self.rng.choice(load_phrases().asks[ASKED[domain]]["words"])
        return self._choice("switches.texts").format(ask=ask)

    def abandonment(self) -> str:
        """Takes the request back."""
        if self._source():
            return self.rng.choice(self.grammar.abandon).text
        text = self._fill(self._choice("abandonments.texts"))
        if self.rng.random() < 0.5:
            text = f"{self._choice('repairs.words')}, {text}"
        return _sentence(text)

    def tail(self) -> str:
        """A sentence without a value."""
        if self._source():
            return self.rng.choice(self.grammar.tails)
        return _sentence(self._fill(self._choice("tails.texts")))

    def cue(self) -> str:
        """What sounds like a correction and is none."""
        if self._source():
            return self.rng.choice(self.grammar.cues)
        rest = self._fill(self._choice("cues.rests"))
        return f"{self._choice('cues.starts')}{self.rng.choice((',', ''))} {rest}."

    def um(self) -> str:
        """A filled pause."""
        return self.rng.choice(self.grammar.fillers)

    def _source(self) -> bool:
        return self.rng.random() < self.source

    def _choice(self, name: str) -> str:
        return self.rng.choice(load_phrases().lists[name])

    def _carrier(self, domain: Domain) -> Carrier:
        phrases, tool = load_phrases(), ""
        openings = phrases.openings[domain]
        if self.rng.random() < 0.06:
            tool = ASKED[domain]
            openings = phrases.asks[tool]["openings"]
        opening = _sentence(self._fill(self.rng.choice(openings)))
        start, _, join = opening.rpartition(" ")
        again = self.rng.choice((join, self._choice("repairs.joins"), join))
        if again == start or len(again) > 8:
            again = ""
        filler = self._fill(self._choice("fillers"))
        return Carrier(
            "",
            f"{opening} {{value}}",
            filler,
            f"{again} {{value}}".strip(),
            restart=self._fill("{do} {thing}") if self.rng.random() < 0.5 else opening,
            tool=tool,
        )

    def _fill(self, pattern: str) -> str:
        """The pattern with words put in, spaces in order."""
        made = pattern
        for name in _SLOTS:
            while f"{{{name}}}" in made:
                made = made.replace(f"{{{name}}}", self._word(name), 1)
        return " ".join(made.split())

    def _word(self, name: str) -> str:
        match name:
            case "extra":
                return self.rng.choice(
                    ("{join} {thing}", "{join} {thing}", "{join} {person}", "for {count}",
                     "with {count}", "{adverb}")
                )  # fmt: skip
            case "do":
                return f"{self._choice('starts')} {{verb}}"
            case "thing":
                joined = " of {thing}" if self.rng.random() < 0.08 else ""
                return f"{self._choice('owners')} {{adjective}} {{noun}}{joined}"
            case "person":
                return f"{self._choice('owners')} {self._choice('people')}"
            case "count":
                number = self.rng.randrange(2, 13)
                word = str(number) if self.rng.random() < 0.5 else _COUNT[number]
                return f"{word} {self._choice('counted')}"
            case "word":
                return self._word(self.rng.choice(("verb", "noun", "noun", "adjective", "join")))
            case "verb" | "noun" if self.rng.random() < 0.1:
                return self._pseudo()
            case _:
                return self._choice(_LISTS[name])

    def _pseudo(self) -> str:
        """A word that nobody knows."""
        return "".join(self.rng.choices(load_phrases().syllables, k=self.rng.randrange(1, 3)))


_SLOTS: Final = (
    *("word", "extra", "do", "thing", "count", "person"),
    *("verb", "noun", "adjective", "adverb", "join"),
)
"""Each before those that its own words may hold."""
_LISTS: Final = {
    "verb": "verbs",
    "noun": "nouns",
    "adjective": "adjectives",
    "adverb": "adverbs",
    "join": "joins",
}
_COUNT: Final = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve"),
)


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
