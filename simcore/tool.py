"""What an action costs, how long it runs, and until when it can be taken back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from simcore.clock import Microseconds

FieldType = Literal["text", "number", "date", "time", "datetime"]


@dataclass(frozen=True, slots=True)
class ToolProfile:
    """One action's timing and prices, fixed and known to policies.

    Times are microseconds; the costs share one unit, `delay_price` is that unit per second.
    `miss_cost` prices a target that was not achieved. `reusable_fields` are the argument fields
    whose change leaves the work done so far valid; None means all of them.

    A tool with an `explicit` boundary has two phases: `runtime_us` is how long it prepares, which
    can always be taken back; its effect happens at a commit, which answers after `commit_us`.
    `fields` gives the types of argument fields, by which equal values written differently are found
    to be equal (see `simcore.keys`).
    """

    name: str
    runtime_us: Microseconds
    cancel_window_us: Microseconds
    stale_cost: float = 5.0
    cancel_cost: float = 0.5
    delay_price: float = 0.3
    miss_cost: float | None = None
    reusable_fields: frozenset[str] | None = None
    effect: Literal["read", "write"] = "write"
    boundary: Literal["deadline", "explicit"] = "deadline"
    commit_us: Microseconds = 0
    fields: tuple[tuple[str, FieldType], ...] = ()

    @property
    def price_of_missing(self) -> float:
        """`miss_cost`, which defaults to `stale_cost`."""
        return self.stale_cost if self.miss_cost is None else self.miss_cost

    def completion(self, committed: Microseconds, start: Microseconds) -> Microseconds:
        """When a version committed at c on a pipeline started at s completes: max(c, s + l)."""
        return max(committed, start + self.runtime_us)

    def deadline(self, committed: Microseconds, start: Microseconds) -> Microseconds:
        """Eq. 1 of RASSG: b = min(c + w, max(c, s + l)); past b the version is irreversible."""
        return min(committed + self.cancel_window_us, max(committed, start + self.runtime_us))

    def keeps_progress(self, old: str, new: str) -> bool:
        """Whether the work done for argument `old` still serves `new` (both canonical).

        Never across a change of tool; otherwise where only reusable fields change.
        """
        return _reusable(self.reusable_fields, old, new)


@lru_cache(maxsize=4096)
def _reusable(fields: frozenset[str] | None, old: str, new: str) -> bool:
    before, after = json.loads(old), json.loads(new)
    before = before if isinstance(before, list) else [before]
    after = after if isinstance(after, list) else [after]
    if [call["tool"] for call in before] != [call["tool"] for call in after]:
        return False
    if fields is None:
        return True
    return all(
        name in fields
        for a, b in zip(before, after, strict=True)
        for name in a["arguments"].keys() | b["arguments"].keys()
        if _text(a["arguments"], name) != _text(b["arguments"], name)
    )


def _text(arguments: dict[str, Any], name: str) -> str | None:
    # As text, since Python holds 1, 1.0 and true equal.
    return json.dumps(arguments[name], sort_keys=True) if name in arguments else None
