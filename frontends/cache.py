"""Decodes on disk, by what was decoded and how: a build that is killed goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from frontends.protocol import Decode, Word
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def decode_key(samples: NDArray[np.float32], recognizer: Mapping[str, Any]) -> str:
    """The digest of a prefix's samples and of the recognizer's description."""
    digest = sha256(json.dumps(recognizer, sort_keys=True).encode())
    digest.update(samples.astype("<f4", copy=False).tobytes())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class DecodeCache:
    """One small JSON file a decode; two recordings with the same prefix share it."""

    folder: Path

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def __contains__(self, key: str) -> bool:
        return self._path(key).is_file()

    def get(self, key: str) -> Decode:
        """The decode of a key that is there."""
        data = json.loads(self._path(key).read_bytes())
        words = tuple(Word(**word) for word in data["words"])
        return Decode(words, data["service_us"], data["wall_us"])

    def put(self, key: str, decode: Decode) -> None:
        text = json.dumps(asdict(decode), separators=(",", ":"), ensure_ascii=False)
        write_atomic(self._path(key), text.encode())
