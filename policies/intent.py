"""What an utterance means for the work that is going on: stop it, change it, or nothing."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from simcore.keys import mentions, revised

if TYPE_CHECKING:
    from simcore.tool import FieldType
    from simcore.trace import Argument

Check = Literal["keyword", "correction-aware"]
Intent = Literal["stop", "go on"]

_STOP: Final = re.compile(r"\b(stop|cancel|don'?t|do not|wait|never ?mind|hold on)\b")
_SOFT: Final = ("wait", "hold on")


def intent(
    text: str, argument: Argument, fields: tuple[tuple[str, FieldType], ...], check: Check
) -> Intent | Argument:
    """Stop, go on, or the call with another value (as canonical text).

    `keyword` looks for a word that stops. `correction-aware` also looks at what follows the last of
    them: another value there is a correction ("wait, make it 4 pm"), the same value after a mere
    "wait" is none of the two ("wait, did you get 3 pm?").
    """
    plain = text.lower().replace("’", "'")
    words = list(_STOP.finditer(plain))
    if check == "keyword":
        return "stop" if words else "go on"
    after = plain[words[-1].end() :] if words else plain
    changed = revised(argument, after, fields)
    if changed is not None:
        return changed
    if not words or (words[-1][0] in _SOFT and mentions(after)):
        return "go on"
    return "stop"
