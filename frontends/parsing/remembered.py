"""A parser whose results are kept on disk: for one that is slow, and whose time is measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from frontends.cache import parse_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from frontends.cache import ParseCache
    from frontends.protocol import Parsed, Parser


@dataclass(frozen=True)
class Remembered:
    """Parses what its cache lacks, and keeps it there."""

    parser: Parser
    cache: ParseCache

    @cached_property
    def _described(self) -> Mapping[str, Any]:
        return self.parser.describe()

    def describe(self) -> Mapping[str, Any]:
        return self._described

    def knows(self, words: Sequence[str], domain: str | None = None) -> bool:
        """Whether these words have been parsed before."""
        return parse_key(words, domain, self._described) in self.cache

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        key = parse_key(words, domain, self._described)
        if key not in self.cache:
            self.cache.put(key, self.parser.parse(words, domain))
        return self.cache.get(key)
