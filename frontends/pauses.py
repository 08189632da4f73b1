"""How long the speaker had been silent when a prefix ended, by Silero's voice activity detector.

The detector is recurrent in one direction, so one pass over the recording gives, at each prefix's
end, what a live system would have known there.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from frontends.audio import RATE
from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from simcore.clock import Microseconds

WINDOW: Final = 512
"""Samples that the detector judges at once: 32 ms."""

THRESHOLD: Final = 0.5


def trailing_silence(samples: NDArray[np.float32], ends: Sequence[int]) -> list[Microseconds]:
    """For prefixes of 16 kHz samples that end at these positions, the silence at their ends.

    It counts from the end of the last whole window that held speech; a prefix without speech is
    silent from its beginning.
    """
    padded = np.pad(samples, (0, 2 * WINDOW - len(samples) % WINDOW))
    spoken = _detector()(padded).reshape(-1)[: len(samples) // WINDOW] >= THRESHOLD
    stops = (np.flatnonzero(spoken) + 1) * WINDOW
    silences = []
    for end in ends:
        heard = np.searchsorted(stops, end, side="right")
        last = int(stops[heard - 1]) if heard else 0
        silences.append((end - last) * 1_000_000 // RATE)
    return silences


@lru_cache
def _detector() -> Any:
    try:
        from faster_whisper.vad import get_vad_model
    except ImportError:
        raise MissingError(
            "finding pauses needs the package faster-whisper; "
            "install it with: pip install 'rassg-sim[speech]'"
        ) from None
    return get_vad_model()
