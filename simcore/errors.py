"""What goes wrong because of a person, said in one line and with the exit code it ends in."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class SimcoreError(Exception):
    """Base of every error that a person can mend; the command line shows no traceback of it."""

    exit_code = 2


class UsageError(SimcoreError):
    """A wrong option, name or combination of them."""


class InputError(SimcoreError):
    """A fault in a file. ``place`` is its line or path within the file, where known."""

    def __init__(self, message: str, *, file: str | None = None, place: str | None = None) -> None:
        self.message, self.file, self.place = message, file, place
        super().__init__(": ".join(part for part in (file, place, message) if part))


class InputErrors(SimcoreError):
    """Every fault of a set of files, not the first alone."""

    def __init__(self, faults: Iterable[InputError]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


class MissingError(SimcoreError):
    """A model or an optional dependency is not here; the message says what to install."""

    exit_code = 3


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint for a mistyped name: the nearest known one, else all of them.

    >>> nearest("rasg", ["eou", "rassg"])
    "; did you mean 'rassg'?"
    """
    names = sorted(set(known))
    close = get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known are {', '.join(names)}" if names else ""
