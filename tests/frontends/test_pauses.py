"""Pauses at the ends of prefixes."""

from __future__ import annotations

import numpy as np
import pytest

from frontends.pauses import WINDOW, trailing_silence

from .fakes import RATE
from .speech import speak

pytest.importorskip(
    "faster_whisper", reason="needs faster-whisper: pip install 'rassg-sim[speech]'"
)


def test_silence_is_a_pause_from_the_beginning() -> None:
    samples = np.zeros(3 * RATE, np.float32)
    assert trailing_silence(samples, [RATE, 3 * RATE]) == [1_000_000, 3_000_000]


def test_a_pause_is_what_follows_the_last_speech() -> None:
    speech = speak("Please book a table for three people tomorrow evening")
    samples = np.concatenate([speech, np.zeros(2 * RATE, np.float32)])
    inside, end = trailing_silence(samples, [len(speech) // 2, len(samples)])
    assert inside < 200_000
    assert end == pytest.approx(2_000_000, abs=400_000)


def test_the_future_does_not_change_a_pause() -> None:
    speech = speak("Please call Anna. No wait, call Peter")
    ends = [*range(15_360, len(speech), 15_360), len(speech)]
    alone = [trailing_silence(speech[:end], [end])[0] for end in ends]
    assert trailing_silence(speech, ends) == pytest.approx(alone, abs=WINDOW * 1_000_000 // RATE)
