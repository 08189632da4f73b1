"""Babble and hum under a recording, at a set ratio of speech to noise."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Final

import numpy as np

from frontends.audio import RATE, read_audio, write_wav
from frontends.recast.grammar import VOICES, load_grammar
from frontends.recast.timeline import LONGEST, Take

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

SENTENCES: Final = 14
"""How many each babbling voice says."""
HUM: Final = ((50, 1.0), (100, 0.5), (150, 0.3))
"""Frequencies in Hz and amplitudes of the mains' hum, which has a tenth of the babble's power."""


def make_babble(path: Path, speak: Callable[[str, str], NDArray[np.int16]]) -> None:
    """Write the voices of the source talking at once; a test recording is in none of them."""
    tails = load_grammar("source").tails
    voices = []
    for number, voice in enumerate(VOICES["source"]):
        texts = [tails[(number + index) % len(tails)] for index in range(SENTENCES)]
        said = np.concatenate([speak(text, voice) for text in texts]).astype(np.float64)
        voices.append(said / _level(said))
    length = min(map(len, voices))
    mixed = np.sum([voice[:length] for voice in voices], axis=0)
    write_wav(path, (mixed / np.abs(mixed).max() * 32_000).astype(np.int16))


def add_noise(takes: Sequence[Take], babble: Path, ratio: int, seed: str) -> list[Take]:
    """The recordings of a group with noise `ratio` dB below their speech.

    Both of a pair have the same noise, so they still share their audio up to the branch.
    """
    noise = _noise(babble, Random(seed))
    level = max(_level(take.samples) for take in takes)
    gain = level / _level(noise) / 10 ** (ratio / 20)
    noisy = []
    for take in takes:
        mixed = take.samples + gain * noise[: len(take.samples)]
        samples = np.clip(mixed.round(), -32_768, 32_767).astype(np.int16)
        columns = take.columns | {
            "recording_id": f"{take.columns['recording_id']}-{ratio}db",
            "noise": f"{ratio} dB",
        }
        noisy.append(Take(samples, columns))
    return noisy


def _noise(path: Path, rng: Random) -> NDArray[np.float64]:
    babble = read_audio(path).astype(np.float64)
    length = LONGEST * RATE // 1_000
    babble = np.resize(np.roll(babble, rng.randrange(len(babble))), length)
    time = np.arange(length) / RATE
    waves = [a * np.sin(2 * np.pi * (f * time + rng.random())) for f, a in HUM]
    hum: NDArray[np.float64] = np.sum(waves, axis=0)
    return babble / _level(babble) + hum / _level(hum) / 10**0.5


def _level(samples: NDArray[np.float64] | NDArray[np.int16]) -> float:
    """Root mean square where there is sound: pauses here are digital silence."""
    sound = samples[samples != 0].astype(np.float64)
    return float(np.sqrt(np.mean(sound**2)))
