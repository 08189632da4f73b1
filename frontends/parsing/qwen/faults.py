"""How a parse differs from the call that is meant."""

from __future__ import annotations

import json
from typing import Any, Final

FAULTS: Final = (
    "nothing for a call",
    "a call for nothing",
    "another tool",
    "other fields",
    "another value",
)
"""From the coarsest to the finest; a parse has the first that holds."""


def fault(parsed: str | None, meant: str | None) -> str | None:
    """Which of `FAULTS` an argument has, both in JSON; None where it is exact.

    >>> fault('{"tool":"book","arguments":{"time":"15:00"}}', None)
    'a call for nothing'
    """
    if parsed == meant:
        return None
    if parsed is None or meant is None:
        return FAULTS[0] if parsed is None else FAULTS[1]
    one, other = _call(parsed), _call(meant)
    if one["tool"] != other["tool"]:
        return FAULTS[2]
    return FAULTS[3 if one["arguments"].keys() != other["arguments"].keys() else 4]


def _call(argument: str) -> dict[str, Any]:
    """The call, of a plan the first."""
    found = json.loads(argument)
    call: dict[str, Any] = found[0] if isinstance(found, list) else found
    return call
