"""What a recognizer and a parser are. Both are found by name through entry points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcore.clock import Microseconds


@dataclass(frozen=True, slots=True)
class Word:
    """A recognized word with its place in the prefix and the recognizer's probability."""

    text: str
    start_us: Microseconds
    end_us: Microseconds
    probability: float


@dataclass(frozen=True, slots=True)
class Decode:
    """What a recognizer made of a prefix.

    `service_us` is the processor time of the decode on one thread: the load on the machine does
    not change it much; `wall_us` is what the clock on the wall said.
    """

    words: tuple[Word, ...]
    service_us: Microseconds
    wall_us: Microseconds

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)


class Recognizer(Protocol):
    """Registered under `simcore.frontends`; made from a model's name or folder. Picklable."""

    @property
    def longest_us(self) -> Microseconds | None:
        """The longest audio that it can take, None for any."""

    def describe(self) -> Mapping[str, Any]:
        """Everything that changes what it hears (JSON types): the cache key, the provenance."""

    def decode(self, samples: NDArray[np.float32]) -> Decode:
        """The words of 16 kHz mono samples in [-1, 1], all heard from the recording's start."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A call or plan (None: nothing yet), and the indices of the words that carry it.

    `service_us` is the processor time that it took on one thread, 0 where that does not count.
    """

    argument: dict[str, Any] | list[dict[str, Any]] | None
    words: tuple[int, ...] = ()
    service_us: Microseconds = 0


class Parser(Protocol):
    """Registered under `simcore.parsers`."""

    def describe(self) -> Mapping[str, Any]:
        """Everything that changes what it makes of words (JSON types), for the provenance."""

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        """The call that the words ask for so far; `domain` is what the recording is about."""


def confidence(decode: Decode, parsed: Parsed) -> float:
    """Mean probability of the words that carry the argument; without one, of all words, else 0."""
    chosen = [decode.words[index] for index in parsed.words] or list(decode.words)
    if not chosen:
        return 0.0
    mean = sum(word.probability for word in chosen) / len(chosen)
    return round(min(max(mean, 0.0), 1.0), 6)
