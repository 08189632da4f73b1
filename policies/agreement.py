"""Agreement of the latest arrivals: evidence that a recognition is stable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.trace import Arrival


def missing(arrivals: Sequence[Arrival], consensus: int) -> int:
    """How many more arrivals it takes at least until the last `consensus` ones agree.

    0 where they carry one non-empty argument. Only arrivals count: ticks that look at the same
    recognition again add no evidence.
    """
    latest = arrivals[-1].argument
    if latest is None:
        return consensus
    lacking = consensus
    for arrival in reversed(arrivals):
        if lacking == 0 or arrival.argument != latest:
            break
        lacking -= 1
    return lacking
