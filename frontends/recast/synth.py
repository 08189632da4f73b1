"""Speaks scripts with Kokoro and writes recordings: resumable, a pair at a time."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from hashlib import sha256
from importlib.metadata import version
from random import Random
from typing import TYPE_CHECKING, Any

from frontends.audio import resample, write_wav
from frontends.metadata import METADATA
from frontends.models import digest_of, need_model
from frontends.recast.timeline import Segments, lay_out, to_grain
from frontends.work import run_all
from simcore.errors import MissingError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from frontends.recast.script import PairScript
    from frontends.recast.timeline import Shape
    from simcore.progress import Progress

PROVENANCE = "audio.json"


class Kokoro:
    """Kokoro on one thread: the same text and voice give the same samples."""

    def __init__(self) -> None:
        folder = need_model("kokoro")
        try:
            import onnxruntime
            from kokoro_onnx import Kokoro as Engine
        except ImportError:
            raise MissingError(
                "speech synthesis needs the package kokoro-onnx; "
                "install it with: pip install 'rassg-sim[synthesis]'"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._engine = Engine.from_session(session, str(folder / "voices.npz"))

    def speak(self, text: str, voice: str) -> NDArray[np.int16]:
        """The samples of `text` at 16 kHz, without silence at either end."""
        accent = "en-gb" if voice.startswith("b") else "en-us"
        samples, rate = self._engine.create(text, voice, lang=accent)
        return to_grain(resample(samples, rate))


@dataclass(frozen=True, slots=True)
class _Task:
    script: PairScript
    shape: Shape
    seed: int
    folder: Path
    key: str

    @property
    def record(self) -> Path:
        return self.folder / "pairs" / f"{self.script.pair_id}.json"

    def done(self) -> bool:
        if not self.record.is_file():
            return False
        record = json.loads(self.record.read_text(encoding="utf-8"))
        return bool(record["key"] == self.key) and all(
            (self.folder / row["audio"]).is_file() for row in record["rows"]
        )


def synthesize(
    scripts: Sequence[PairScript],
    shape: Shape,
    seed: int,
    folder: Path,
    *,
    jobs: int,
    progress: Progress,
) -> None:
    """Write the recordings of `scripts` with their `metadata.jsonl` into a folder.

    Pairs that are there already, made from the same script, shape, seed and model, are kept.
    """
    (folder / "pairs").mkdir(parents=True, exist_ok=True)
    model = digest_of(need_model("kokoro"))
    tasks = [_Task(s, shape, seed, folder, _key(s, shape, seed, model)) for s in scripts]
    run_all(
        _make,
        [task for task in tasks if not task.done()],
        jobs=jobs,
        label="speaking",
        progress=progress,
        done=sum(task.done() for task in tasks),
    )
    records = [json.loads(task.record.read_text(encoding="utf-8")) for task in tasks]
    rows = [row for record in records for row in record["rows"]]
    write_atomic(folder / METADATA, "".join(json.dumps(row) + "\n" for row in rows).encode())
    provenance = {
        "recipe": "recast-pilot",
        "seed": seed,
        "shape": asdict(shape),
        "pairs": len(scripts),
        "voices": sorted({script.voice for script in scripts}),
        "synthesizer": {
            "name": "kokoro",
            "sha256": model,
            "packages": {name: version(name) for name in ("kokoro-onnx", "onnxruntime", "av")},
        },
    }
    write_atomic(folder / PROVENANCE, f"{json.dumps(provenance, indent=2)}\n".encode())


_engine: Kokoro | None = None


def _make(task: _Task) -> None:
    """Speak one pair; the record is written last, so that a killed run starts it again."""
    global _engine
    engine = _engine = _engine or Kokoro()
    script = task.script
    parts = Segments(
        **{
            field.name: engine.speak(getattr(script, field.name), script.voice)
            for field in fields(Segments)
        }
    )
    rng = Random(f"{task.seed}/{script.pair_id}/timeline")
    rows: list[dict[str, Any]] = []
    for take in lay_out(script, parts, task.shape, rng):
        name = f"{take.metadata['recording_id']}.wav"
        write_wav(task.folder / name, take.samples)
        rows.append({"audio": name, **take.metadata})
    write_atomic(task.record, json.dumps({"key": task.key, "rows": rows}).encode())


def _key(script: PairScript, shape: Shape, seed: int, model: str) -> str:
    text = json.dumps([asdict(script), asdict(shape), seed, model], sort_keys=True)
    return sha256(text.encode()).hexdigest()
