"""Audio files to samples as a recognizer wants them: 16 kHz, one channel, 32-bit floats.

Any rate is resampled and channels are mixed down. The longest recording is a setting: a prefix
decoder decodes everything heard so far again and again, so an hour of audio is a mistake.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from simcore.clock import format_duration
from simcore.errors import InputError, MissingError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from simcore.clock import Microseconds

RATE: Final = 16_000
"""Samples a second."""

LONGEST: Final[Microseconds] = 120_000_000


def read_audio(path: Path, *, longest: Microseconds = LONGEST) -> NDArray[np.float32]:
    """The samples of an audio file at 16 kHz, mono, in [-1, 1].

    Raises `InputError` for a file that is missing, empty, no audio or longer than `longest`.
    """
    av = _av()
    if not path.is_file():
        raise InputError("there is no such audio file", file=str(path))
    if path.stat().st_size == 0:
        raise InputError("the file is empty", file=str(path))
    blocks: list[NDArray[np.int16]] = []
    heard, limit = 0, longest * RATE // 1_000_000
    try:
        with av.open(str(path), mode="r", metadata_errors="ignore") as container:
            if not container.streams.audio:
                raise InputError("the file has no audio", file=str(path))
            resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
            for frame in container.decode(audio=0):
                frame.pts = None
                for block in resampler.resample(frame):
                    blocks.append(block.to_ndarray()[0])
                    heard += len(blocks[-1])
                if heard > limit:
                    raise InputError(
                        f"the audio is longer than {format_duration(longest)}; "
                        "--longest raises this limit",
                        file=str(path),
                    )
            blocks += [block.to_ndarray()[0] for block in resampler.resample(None)]
    except av.FFmpegError:
        raise InputError("this is not audio that can be decoded", file=str(path)) from None
    if not heard:
        raise InputError("the audio has no samples", file=str(path))
    return (np.concatenate(blocks) / np.float32(32_768)).astype(np.float32)


def resample(samples: NDArray[np.float32], rate: int) -> NDArray[np.int16]:
    """Mono float samples in [-1, 1] at `rate`, as 16-bit samples at 16 kHz."""
    av = _av()
    clipped = (np.clip(samples, -1, 1) * 32_767).round().astype(np.int16)
    frame = av.AudioFrame.from_ndarray(clipped[None, :], format="s16", layout="mono")
    frame.sample_rate = rate
    resampler = av.AudioResampler(format="s16", layout="mono", rate=RATE)
    blocks = [*resampler.resample(frame), *resampler.resample(None)]
    return cast("NDArray[np.int16]", np.concatenate([block.to_ndarray()[0] for block in blocks]))


def write_wav(path: Path, samples: NDArray[np.int16], *, rate: int = RATE) -> None:
    """Write mono 16-bit samples, whole or not at all."""
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())
    write_atomic(path, content.getvalue())


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise MissingError(
            "reading audio needs the package av; install it with: pip install 'rassg-sim[speech]'"
        ) from None
    return av
