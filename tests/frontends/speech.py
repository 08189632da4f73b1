"""Speech made in the test, by eSpeak NG from a package; no model, no download."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from frontends.audio import resample

if TYPE_CHECKING:
    from numpy.typing import NDArray

_RETRIEVAL, _UTF8, _CALLBACK = (
    1,
    1,
    ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p),
)


@cache
def _engine() -> tuple[Any, int]:
    loader = pytest.importorskip(
        "espeakng_loader", reason="needs espeakng-loader: pip install 'rassg-sim[dev]'"
    )
    library = ctypes.CDLL(str(loader.get_library_path()))
    rate = library.espeak_Initialize(_RETRIEVAL, 0, str(loader.get_data_path()).encode(), 0)
    assert rate > 0
    library.espeak_SetVoiceByName(b"en-us")
    library.espeak_SetParameter(1, 150, 0)
    return library, rate


def speak(text: str) -> NDArray[np.float32]:
    """16 kHz mono samples in [-1, 1]."""
    library, rate = _engine()
    blocks: list[NDArray[np.int16]] = []

    def keep(samples: Any, count: int, _: Any) -> int:
        if samples and count:
            blocks.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    callback = _CALLBACK(keep)
    library.espeak_SetSynthCallback(callback)
    data = text.encode()
    library.espeak_Synth(data, len(data) + 1, 0, 1, 0, _UTF8, None, None)
    library.espeak_Synchronize()
    samples = np.concatenate(blocks).astype(np.float32) / 32_768
    return (resample(samples, rate) / 32_768).astype(np.float32)
