"""The lexicon parser: times, amounts, known places and known contacts, whatever is said last.

A prefix parser has only the prefix: a value that is cut off may be missed or taken for another one,
and a correction counts as soon as its value is heard, without understanding the sentence. So do the
words that ask for another tool, and those that take the request back.
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
    from collections.abc import Iterable, Iterator, Mapping, Sequence

DOMAINS = ("time", "amount", "location", "contact")
_SHIPPED = Path(__file__).with_name("lexicon.toml")
_CODE = ("lexicon", "tokens", "times", "amounts")


@dataclass(frozen=True, slots=True)
class Lexicon:
    """Calls from times, amounts, places and contacts; the value that was mentioned last wins.

    `file` is a TOML file like the `lexicon.toml` beside this module, which is the default: the
    tools of each domain with the words that ask for them, the fields that a call may have besides,
    the names of places and contacts with their other spellings, and what abandons a request.
    """

    file: Path = _SHIPPED

    def describe(self) -> Mapping[str, Any]:
        return {"name": "lexicon", "sha256": _source_digest(self.file)}

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        """The call around the last value of the domain; without one, of the value said last.

        A call has the other fields of its domain where they are mentioned, and none of it counts
        once a later phrase abandons it. Raises `UsageError` for an unknown domain.

        >>> parsed = Lexicon().parse("a table at three no wait at four p.m.".split(), "time")
        >>> parsed.argument, parsed.words
        ({'tool': 'book', 'arguments': {'time': '16:00'}}, (7, 8))
        >>> Lexicon().parse("a table at three, never mind".split(), "time").argument
        """
        if domain is not None and domain not in DOMAINS:
            raise UsageError(f"unknown domain '{domain}'{nearest(domain, DOMAINS)}")
        entries = _load(self.file)
        plain = tokenize(words)
        lines = (Line.of(plain), Line.of(with_digits(plain)))
        last = {name: mention for name in DOMAINS if (mention := _last(name, *lines, entries))}
        if domain is None and last:
            domain = max(last, key=lambda name: last[name].words[-1])
        if domain not in last:
            return Parsed(None)
        fields = [last[name] for name in (domain, *entries.also[domain]) if name in last]
        end = max(field.words[-1] for field in fields)
        abandoned = (lines[0].words(*f.span())[-1] for f in _found(entries.abandon, lines[0]))
        if any(word > end for word in abandoned):
            return Parsed(None)
        arguments = {key: value for field in fields for key, value in field.fields.items()}
        tool, asked = _tool(domain, lines[0], entries)
        carrying = sorted({*asked, *(index for field in fields for index in field.words)})
        return Parsed({"tool": tool, "arguments": arguments}, tuple(carrying))


@dataclass(frozen=True, slots=True)
class _Mention:
    fields: dict[str, str]
    words: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Entries:
    tool: dict[str, str]
    also: dict[str, tuple[str, ...]]
    asks: dict[str, dict[str, str]]
    names: dict[str, dict[str, str]]
    patterns: dict[str, re.Pattern[str]]
    asking: dict[str, re.Pattern[str]]
    abandon: re.Pattern[str]


def _last(domain: str, plain: Line, numbered: Line, entries: _Entries) -> _Mention | None:
    return max(
        _mentions(domain, plain, numbered, entries),
        key=lambda mention: mention.words[-1],
        default=None,
    )


def _mentions(domain: str, plain: Line, numbered: Line, entries: _Entries) -> Iterator[_Mention]:
    if domain == "time":
        for time, *span in find_times(numbered.text):
            yield _Mention({"time": time}, numbered.words(*span))
    elif domain == "amount":
        for amount, currency, *span in find_amounts(numbered.text):
            yield _Mention({"amount": amount, "currency": currency}, numbered.words(*span))
    else:
        for match in _found(entries.patterns[domain], plain):
            yield _Mention({domain: entries.names[domain][match[1]]}, plain.words(*match.span()))


def _tool(domain: str, plain: Line, entries: _Entries) -> tuple[str, tuple[int, ...]]:
    """The tool that was asked for last, with the words that did; the domain's own by default."""
    tool = entries.tool[domain]
    words: tuple[int, ...] = ()
    for match in _found(entries.asking[domain], plain):
        tool, words = entries.asks[domain][match[1]], plain.words(*match.span())
    return tool, words


def _found(pattern: re.Pattern[str], plain: Line) -> Iterator[re.Match[str]]:
    return pattern.finditer(plain.text)


@lru_cache
def _load(file: Path) -> _Entries:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such lexicon", file=str(file)) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML file: {error}", file=str(file)) from None
    for key in document:
        if key not in (*DOMAINS, "abandon"):
            raise InputError(
                f"unknown domain '{key}'{nearest(key, (*DOMAINS, 'abandon'))}", file=str(file)
            )
    tables = {domain: document.get(domain, {}) for domain in DOMAINS}
    names = {domain: _spellings(table.get("names", {})) for domain, table in tables.items()}
    asks = {domain: _spellings(table.get("asks", {})) for domain, table in tables.items()}
    return _Entries(
        tool={domain: table.get("tool", domain) for domain, table in tables.items()},
        also={domain: tuple(table.get("also", ())) for domain, table in tables.items()},
        asks=asks,
        names=names,
        patterns={domain: _any_of(spellings) for domain, spellings in names.items()},
        asking={domain: _any_of(spellings) for domain, spellings in asks.items()},
        abandon=_any_of([_plain(text) for text in document.get("abandon", {}).get("phrases", ())]),
    )


def _spellings(table: Mapping[str, Sequence[str]]) -> dict[str, str]:
    return {
        _plain(spelling): name for name, others in table.items() for spelling in (name, *others)
    }


def _plain(name: str) -> str:
    return " ".join(token.piece for token in tokenize(name.split()))


def _any_of(spellings: Iterable[str]) -> re.Pattern[str]:
    """Matches any spelling, the longest first, or its possessive; with none, nothing."""
    choices = "|".join(re.escape(text) for text in sorted(spellings, key=len, reverse=True))
    return re.compile(rf"\b({choices})s?\b" if choices else r"(?!)")


@lru_cache
def _source_digest(file: Path) -> str:
    """Of the lexicon and of the code that reads it."""
    digest = sha256()
    for path in (file, *(_SHIPPED.with_name(f"{name}.py") for name in _CODE)):
        digest.update(path.read_bytes())
    return digest.hexdigest()
