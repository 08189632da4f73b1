"""A real recognizer and a real, small language model on a recording of Audio2Tool, where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from frontends.build import assemble, decode_all, hear, parse_all
from frontends.cache import DecodeCache, ParseCache
from frontends.datasets.loaders import read_dataset
from frontends.models import model_folder
from frontends.parsing.gguf.parser import Gguf
from frontends.parsing.remembered import Remembered
from frontends.tools.catalog import read_tools
from frontends.whisper import Whisper

pytestmark = pytest.mark.speech
pytest.importorskip(
    "llama_cpp", reason="needs llama-cpp-python: pip install 'rassg-sim[gguf]' (it compiles)"
)
pytest.importorskip("faster_whisper", reason="needs the extra 'speech'")

ROOT = Path(__file__).parents[3] / "shared" / "data" / "audio2tool"


def test_a_spoken_correction_becomes_plans_of_the_tools(tmp_path: Path) -> None:
    for name in ("tiny.en", "smollm2"):
        if model_folder(name) is None:
            pytest.skip(f"needs the model: simcore trace models --only {name}")
    if not ROOT.is_dir():
        pytest.skip("needs recordings of Audio2Tool")
    dataset = read_dataset("audio2tool", ROOT, ROOT / "tools.json")
    assert not dataset.misfits
    whisper = Whisper("tiny.en")
    parser = Remembered(
        Gguf(Path("smollm2"), ROOT / "tools.json", most_calls=1), ParseCache(tmp_path)
    )
    heard = hear(dataset.sources[-1:], whisper, step=2_000_000)
    decodes = DecodeCache(tmp_path)
    decode_all(heard, whisper, decodes, jobs=0)
    parse_all(heard, parser, decodes, jobs=0)
    recording = assemble(heard[0], parser, decodes)

    assert recording.target == (
        '[{"arguments":{"deviceId":"microwave_2"},"tool":"getApplianceStatus"}]'
    )
    tools = read_tools(ROOT / "tools.json")
    for arrival in recording.arrivals:
        decode = decodes.get(heard[0].keys[recording.arrivals.index(arrival)])
        assert arrival.service_us is not None
        assert arrival.service_us > decode.service_us
        if arrival.argument is not None:
            (call,) = json.loads(arrival.argument)
            assert set(call["arguments"]) <= set(tools[call["tool"]].properties)
