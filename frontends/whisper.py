"""Whisper through faster-whisper: a prefix to words with their probabilities."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frontends.models import digest_of, known_models, model_folder
from frontends.protocol import Decode, Word
from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from simcore.clock import Microseconds

_FRAME_US = 10_000


@dataclass(frozen=True, slots=True)
class Whisper:
    """Whisper by faster-whisper: a model's name or folder, on one thread, greedy, with word times.

    `model` is a folder, a model fetched by `simcore trace models`, or a name that faster-whisper
    downloads itself. Whisper looks at 30 s windows; a longer prefix is decoded window by window.
    `encoder_frames` cuts the window: 1,500 frames (15 s) make the base model about three times
    cheaper for a little more error; audio must then not be longer.
    """

    model: str
    language: str = "en"
    compute_type: str = "int8"
    encoder_frames: int | None = None

    @property
    def longest_us(self) -> Microseconds | None:
        return None if self.encoder_frames is None else self.encoder_frames * _FRAME_US

    def describe(self) -> Mapping[str, Any]:
        """Settings, model digest and package versions."""
        return {
            "name": "whisper",
            "model": Path(self.model).name,
            "sha256": _digest(_locate(self.model)),
            "language": self.language,
            "compute_type": self.compute_type,
            "encoder_frames": self.encoder_frames,
            "beam_size": 1,
            "temperature": 0,
            "packages": {name: version(name) for name in ("faster-whisper", "ctranslate2")},
        }

    def decode(self, samples: NDArray[np.float32]) -> Decode:
        model = _load(self.model, self.compute_type, self.encoder_frames)
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        segments, _ = model.transcribe(
            samples,
            language=self.language,
            beam_size=1,
            temperature=0,
            word_timestamps=True,
            condition_on_previous_text=False,
        )
        pieces = [piece for segment in segments for piece in segment.words or ()]
        cpu, wall = time.process_time_ns() - cpu, time.perf_counter_ns() - wall
        return Decode(_words(pieces), cpu // 1_000, wall // 1_000)


def _words(pieces: Sequence[Any]) -> tuple[Word, ...]:
    """Pieces joined to words: faster-whisper gives "$1,600" as " $1" and ",600"."""
    groups: list[list[Any]] = []
    for piece in pieces:
        if groups and not piece.word.startswith(" "):
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return tuple(
        Word(
            "".join(piece.word for piece in group).strip(),
            round(group[0].start * 1_000_000),
            round(group[-1].end * 1_000_000),
            round(sum(float(piece.probability) for piece in group) / len(group), 6),
        )
        for group in groups
    )


def _locate(model: str) -> Path:
    """The model's folder, downloading it by name as faster-whisper does."""
    if Path(model).is_dir():
        return Path(model)
    if folder := model_folder(model):
        return folder
    if "/" in model and not model.count("/") == 1:
        raise MissingError(f"there is no model folder '{model}'")
    _package()
    from faster_whisper.utils import download_model

    try:
        return Path(download_model(model))
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        known = [
            name
            for name, found in known_models().items()
            if any(file.name == "model.bin" for file in found.files)
        ]
        fetched = model if model in known else "|".join(known)
        raise MissingError(
            f"the model '{model}' is not here and cannot be downloaded ({reason}); "
            f"give a folder, or fetch one with: simcore trace models --only {fetched}"
        ) from None


@lru_cache
def _digest(folder: Path) -> str:
    return digest_of(folder)


@lru_cache(maxsize=1)
def _load(model: str, compute_type: str, frames: int | None) -> Any:
    package = _package()

    class Cut(package.WhisperModel):  # type: ignore[misc, name-defined]
        def encode(self, features: NDArray[np.float32]) -> Any:
            return super().encode(features[..., :frames])

    folder = _locate(model)
    try:
        return Cut(str(folder), device="cpu", compute_type=compute_type, cpu_threads=1)
    except (RuntimeError, ValueError, OSError) as error:
        raise MissingError(f"'{folder}' holds no model that loads: {error}") from None


def _package() -> Any:
    try:
        import faster_whisper
    except ImportError:
        raise MissingError(
            "decoding needs the package faster-whisper; "
            "install it with: pip install 'rassg-sim[speech]'"
        ) from None
    return faster_whisper
