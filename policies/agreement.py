"""Agreement of the latest arrivals: evidence that a recognition is stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.trace import Arrival


def agrees(arrivals: Sequence[Arrival], consensus: int) -> bool:
    """Whether the last `consensus` arrivals carry one non-empty argument.

    Only arrivals count: ticks that look at the same recognition again add no evidence.
    """
    if len(arrivals) < consensus:
        return False
    latest = arrivals[-1].argument
    for arrival in arrivals[-consensus:]:
        if arrival.argument != latest:
            return False
    return latest is not None
