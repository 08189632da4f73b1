"""One pack divided into what trains, what selects, and what calibrates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simcore.errors import UsageError
from simcore.streams import stream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.trace import Recording

PARTS: Final = ("train", "dev-selection", "dev-calibration")
SHARES: Final = (0.7, 0.15, 0.15)


def split(recordings: Sequence[Recording], seed: int) -> dict[str, tuple[Recording, ...]]:
    """The recordings by part, in their order: SHARES of the groups, no group in two parts.

    Raises `UsageError` where a part would be empty.
    """
    groups = sorted({recording.cluster for recording in recordings})
    order = [groups[place] for place in stream(seed, "split").permutation(len(groups))]
    first = round(SHARES[0] * len(order))
    second = first + round(SHARES[1] * len(order))
    parts = dict(zip(PARTS, (order[:first], order[first:second], order[second:]), strict=True))
    for name, own in parts.items():
        if not own:
            raise UsageError(f"{len(groups)} groups are too few to split: none is left for {name}")
    return {
        name: tuple(recording for recording in recordings if recording.cluster in set(own))
        for name, own in parts.items()
    }
