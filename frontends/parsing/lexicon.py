"""The lexicon parser: times, amounts, known places and known contacts, whatever is said last.

A prefix parser has only the prefix: a value that is cut off may be missed or taken for another one,
and a correction counts as soon as its value is heard, without understanding the sentence.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontends.parsing.amounts import find_amounts
from frontends.parsing.times import find_times
from frontends.parsing.tokens import Line, tokenize, with_digits
from frontends.protocol import Parsed
from simcore.errors import InputError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DOMAINS = ("time", "amount", "location", "contact")
_SHIPPED = Path(__file__).with_name("lexicon.toml")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Calls from times, amounts, places and contacts; the value that was mentioned last wins.

    `file` is a TOML file like the `lexicon.toml` beside this module, which is the default: the tool
    of each domain, and the names of places and contacts with their other spellings.
    """

    file: Path = _SHIPPED

    def describe(self) -> Mapping[str, Any]:
        return {"name": "lexicon", "sha256": _source_digest(self.file)}

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        """The last value of the domain (of all four without one) as a call.

        Raises `UsageError` for an unknown domain.

        >>> Lexicon().parse("a table at three no wait at four p.m.".split(), "time")
        Parsed(argument={'tool': 'book', 'arguments': {'time': '16:00'}}, words=(7, 8))
        """
        if domain is not None and domain not in DOMAINS:
            raise UsageError(f"unknown domain '{domain}'{nearest(domain, DOMAINS)}")
        entries = _load(self.file)
        plain = tokenize(words)
        lines = (Line.of(plain), Line.of(with_digits(plain)))
        found = [
            mention
            for name in ((domain,) if domain else DOMAINS)
            for mention in _mentions(name, *lines, entries)
        ]
        if not found:
            return Parsed(None)
        name, arguments, indices = max(found, key=lambda mention: mention[2][-1])
        return Parsed({"tool": entries.tools[name], "arguments": arguments}, indices)


@dataclass(frozen=True, slots=True)
class _Entries:
    tools: dict[str, str]
    names: dict[str, dict[str, str]]
    patterns: dict[str, re.Pattern[str]]


def _mentions(
    domain: str, plain: Line, numbered: Line, entries: _Entries
) -> Iterator[tuple[str, dict[str, str], tuple[int, ...]]]:
    if domain == "time":
        for time, *span in find_times(numbered.text):
            yield domain, {"time": time}, numbered.words(*span)
    elif domain == "amount":
        for amount, currency, *span in find_amounts(numbered.text):
            yield domain, {"amount": amount, "currency": currency}, numbered.words(*span)
    else:
        for match in entries.patterns[domain].finditer(plain.text):
            yield domain, {domain: entries.names[domain][match[1]]}, plain.words(*match.span())


@lru_cache
def _load(file: Path) -> _Entries:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such lexicon", file=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML file: {error}", file=str(file)) from None
    for key in document:
        if key not in DOMAINS:
            raise InputError(f"unknown domain '{key}'{nearest(key, DOMAINS)}", file=str(file))
    tools, names = {}, {}
    for domain in DOMAINS:
        table = document.get(domain, {})
        tools[domain] = table.get("tool", domain)
        names[domain] = {
            _plain(spelling): name
            for name, others in table.get("names", {}).items()
            for spelling in (name, *others)
        }
    patterns = {domain: _any_of(spellings) for domain, spellings in names.items()}
    return _Entries(tools, names, patterns)


def _plain(name: str) -> str:
    return " ".join(token.piece for token in tokenize(name.split()))


def _any_of(spellings: Mapping[str, str]) -> re.Pattern[str]:
    """Matches any spelling, the longest first, or its possessive; with none, nothing."""
    choices = "|".join(re.escape(text) for text in sorted(spellings, key=len, reverse=True))
    return re.compile(rf"\b({choices})s?\b" if choices else r"(?!)")


@lru_cache
def _source_digest(file: Path) -> str:
    """Of the lexicon and of the code that reads it."""
    digest = sha256()
    for path in (file, *sorted(_SHIPPED.parent.glob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()
