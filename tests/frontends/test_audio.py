"""Audio of any rate and shape becomes 16 kHz mono; what is no audio is one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from frontends.audio import RATE, read_audio, resample, write_wav
from simcore.errors import InputError

from .fakes import noise, wav

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("av", reason="needs av: pip install 'rassg-sim[speech]'")


def tone(rate: int, seconds: float, hertz: float = 440) -> np.ndarray:  # type: ignore[type-arg]
    time = np.arange(round(rate * seconds)) / rate
    return (10_000 * np.sin(2 * np.pi * hertz * time)).astype(np.int16)


def pitch(samples: np.ndarray) -> float:  # type: ignore[type-arg]
    return float(np.argmax(np.abs(np.fft.rfft(samples))) * RATE / len(samples))


def test_16_khz_mono_is_read_as_it_is(tmp_path: Path) -> None:
    samples = noise(1.5)
    read = read_audio(wav(tmp_path / "a.wav", samples))
    assert read.dtype == np.float32
    np.testing.assert_array_equal(read, samples / np.float32(32_768))


@pytest.mark.parametrize("rate", [8_000, 24_000, 44_100])
def test_other_rates_are_resampled(tmp_path: Path, rate: int) -> None:
    read = read_audio(wav(tmp_path / "a.wav", tone(rate, 2), rate=rate))
    assert len(read) == pytest.approx(2 * RATE, abs=50)
    assert pitch(read) == pytest.approx(440, abs=2)


def test_stereo_is_mixed_down(tmp_path: Path) -> None:
    left, right = tone(RATE, 1, 300), tone(RATE, 1, 1_000)
    both = np.stack([left, right], axis=1).reshape(-1)
    read = read_audio(wav(tmp_path / "a.wav", both, channels=2))
    assert len(read) == RATE
    spectrum = np.abs(np.fft.rfft(read))
    assert sorted(np.argsort(spectrum)[-2:]) == [300, 1_000]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a.wav: the file is empty"),
        (b"once upon a time\n" * 40, "a.wav: this is not audio that can be decoded"),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "a.wav: "),
    ],
)
def test_no_audio(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "a.wav"
    file.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_audio(file)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_wav_without_samples(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.wav: the audio has no samples"):
        read_audio(wav(tmp_path / "a.wav", np.zeros(0, np.int16)))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.wav: there is no such audio file"):
        read_audio(tmp_path / "a.wav")


def test_an_hour_is_refused_with_the_option_that_allows_it(tmp_path: Path) -> None:
    hour = wav(tmp_path / "a.wav", np.zeros(3_600 * 8_000, np.int16), rate=8_000)
    with pytest.raises(InputError, match=r"longer than 120 s; --longest raises this limit"):
        read_audio(hour)
    assert len(read_audio(wav(tmp_path / "b.wav", noise(3)), longest=3_000_000)) == 3 * RATE


def test_written_audio_reads_back(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", noise(0.5))
    np.testing.assert_array_equal(read_audio(tmp_path / "a.wav"), noise(0.5) / np.float32(32_768))
    assert [path.name for path in tmp_path.iterdir()] == ["a.wav"]


def test_resampling_keeps_pitch_and_length() -> None:
    samples = resample(tone(24_000, 1).astype(np.float32) / 32_768, 24_000)
    assert len(samples) == pytest.approx(RATE, abs=20)
    assert pitch(samples) == pytest.approx(440, abs=2)
