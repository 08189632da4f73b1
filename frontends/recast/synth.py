"""Speaks texts with Kokoro."""

from __future__ import annotations

from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from frontends.audio import resample
from frontends.models import digest_of, need_model
from frontends.recast.timeline import to_grain
from simcore.errors import MissingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Kokoro:
    """Kokoro on one thread: the same text and voice give the same samples."""

    def __init__(self) -> None:
        folder = need_model("kokoro")
        try:
            import onnxruntime
            from kokoro_onnx import Kokoro as Engine
        except ImportError as error:
            raise MissingError(
                f"speech synthesis needs the package kokoro-onnx ({error}); "
                "install it with: pip install 'rassg-sim[synthesis]'"
            ) from None
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = onnxruntime.InferenceSession(
            str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self._engine = Engine.from_session(session, str(folder / "voices.npz"))

    def speak(self, text: str, voice: str) -> NDArray[np.int16]:
        """The samples of `text` at 16 kHz, in whole milliseconds, without silence at either end."""
        accent = "en-gb" if voice.startswith("b") else "en-us"
        samples, rate = self._engine.create(text, voice, lang=accent)
        return to_grain(resample(samples, rate))


@lru_cache(maxsize=1)
def describe_synthesizer() -> dict[str, Any]:
    """The model's digest and the versions of what speaks."""
    return {
        "name": "kokoro",
        "sha256": digest_of(need_model("kokoro")),
        "packages": {name: version(name) for name in ("kokoro-onnx", "onnxruntime", "av")},
    }
