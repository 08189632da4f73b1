"""A real recognizer on audio made here, and on human recordings where they are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from frontends.audio import RATE, read_audio
from frontends.build import assemble, decode_all, listen, prefix_ends
from frontends.cache import DecodeCache
from frontends.models import model_folder
from frontends.parsing.lexicon import Lexicon
from frontends.whisper import Whisper
from simcore.errors import MissingError

from .fakes import wav
from .speech import speak

pytestmark = pytest.mark.speech
pytest.importorskip(
    "faster_whisper", reason="needs faster-whisper: pip install 'rassg-sim[speech]'"
)

HUMAN = Path(__file__).parents[3] / "shared" / "data" / "fdb_v3"


@pytest.fixture
def tiny() -> Whisper:
    if model_folder("tiny.en") is None:
        pytest.skip("needs the model: simcore trace models --only tiny.en")
    return Whisper("tiny.en")


def test_a_spoken_request_becomes_a_trace(tiny: Whisper, tmp_path: Path) -> None:
    said = speak("Please send two hundred dollars to my landlord")
    wav(tmp_path / "a.wav", (said * 32_767).astype(np.int16))
    row = {"audio": "a.wav", "domain": "amount"}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row))
    heard = listen(tmp_path, tiny)
    cache = DecodeCache(tmp_path / "cache")
    decode_all(heard, tiny, cache, jobs=1)
    recording = assemble(heard[0], Lexicon(), cache)

    assert len(recording.arrivals) == len(prefix_ends(len(said)))
    final = recording.arrivals[-1]
    assert final.argument == '{"arguments":{"amount":"200.00","currency":"USD"},"tool":"transfer"}'
    assert 0.1 < final.confidence <= 1
    assert recording.arrivals[0].argument is None
    for arrival in recording.arrivals:
        assert arrival.service_us is not None
        assert 10_000 < arrival.service_us < 30_000_000
        assert 0 <= arrival.pause_us <= arrival.prefix_end_us


def test_words_have_times_and_probabilities(tiny: Whisper) -> None:
    decode = tiny.decode(speak("Call my brother at seven thirty this evening"))
    assert len(decode.words) >= 5
    assert all(0 <= word.probability <= 1 for word in decode.words)
    assert all(word.start_us <= word.end_us for word in decode.words)
    assert [w.start_us for w in decode.words] == sorted(w.start_us for w in decode.words)
    assert all(" " not in word.text for word in decode.words)


def test_silence_is_no_words(tiny: Whisper) -> None:
    assert tiny.decode(np.zeros(RATE, np.float32)).text == ""


def test_a_cut_window_hears_the_same_request() -> None:
    if model_folder("tiny.en") is None:
        pytest.skip("needs the model: simcore trace models --only tiny.en")
    cut = Whisper("tiny.en", encoder_frames=1_500)
    assert cut.longest_us == 15_000_000
    said = speak("Please send two hundred dollars to my landlord")
    assert "200" in cut.decode(said).text
    assert cut.describe() != Whisper("tiny.en").describe()


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="there is no model folder"):
        Whisper(str(tmp_path / "nowhere")).describe()
    (tmp_path / "model.bin").write_bytes(b"no model")
    with pytest.raises(MissingError, match="holds no model that loads"):
        Whisper(str(tmp_path)).decode(np.zeros(RATE, np.float32))


@pytest.mark.skipif(not HUMAN.is_dir(), reason="the human recordings are not here")
def test_human_recordings(tiny: Whisper) -> None:
    index = (HUMAN / "audio" / "index.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in index.splitlines()]
    assert rows
    for row in rows:
        samples = read_audio(HUMAN / row["wav"])
        assert len(samples) / RATE == pytest.approx(row["duration_s"], abs=0.1)
        end = round((row["speech_end_s"] + 0.5) * RATE)
        heard = {word.lower().strip(".,!?") for word in tiny.decode(samples[:end]).text.split()}
        said = {word.lower().strip(".,!?") for word in row["demo_page_transcript"].split()}
        assert len(heard & said) >= 0.6 * len(said), row["id"]
