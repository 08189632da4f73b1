"""A recognizer without a model, and audio made of numbers."""

from __future__ import annotations

import wave
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from typer.testing import CliRunner

from frontends.commands import app
from frontends.protocol import Decode, Word

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

RATE = 16_000
TEXT = "book a table for three p.m. no wait make it four p.m. please thank you"
SAID = TEXT.split(" ")


@dataclass(frozen=True)
class Fake:
    """Hears a word of `SAID` every 0.5 s and needs `cost` of the prefix's length to do so."""

    cost: float = 0.1
    longest_us: int | None = None

    def describe(self) -> Mapping[str, Any]:
        return {"name": "fake", "cost": self.cost}

    def decode(self, samples: NDArray[np.float32]) -> Decode:
        heard = SAID[: len(samples) // (RATE // 2)]
        words = tuple(
            Word(word, i * 500_000, (i + 1) * 500_000, 0.5 + i / 100)
            for i, word in enumerate(heard)
        )
        return Decode(words, int(len(samples) * 1_000_000 / RATE * self.cost), 1)


def no_pauses(samples: NDArray[np.float32], ends: Any) -> list[int]:
    return [0] * len(ends)


def noise(seconds: float, seed: int = 0) -> NDArray[np.int16]:
    rng = np.random.default_rng(seed)
    return rng.integers(-3_000, 3_000, round(seconds * RATE)).astype(np.int16)


def wav(path: Path, samples: NDArray[np.int16], *, rate: int = RATE, channels: int = 1) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    return path


def run_trace(*arguments: Any) -> str:
    """What a `simcore trace` command that succeeds prints."""
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output
