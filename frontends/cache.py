"""Decodes and parses on disk, by what of and how: a build that is killed goes on where it was."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

from frontends.protocol import Decode, Parsed, Word
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def decode_key(samples: NDArray[np.float32], recognizer: Mapping[str, Any]) -> str:
    """The digest of a prefix's samples and of the recognizer's description."""
    digest = sha256(json.dumps(recognizer, sort_keys=True).encode())
    digest.update(samples.astype("<f4", copy=False).tobytes())
    return digest.hexdigest()


def parse_key(words: Sequence[str], domain: str | None, parser: Mapping[str, Any]) -> str:
    """The digest of what was said and of the parser's description."""
    said = json.dumps([parser, domain, *words], sort_keys=True)
    return sha256(said.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Cache:
    folder: Path

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def __contains__(self, key: str) -> bool:
        return self._path(key).is_file()

    def _read(self, key: str) -> Any:
        return json.loads(self._path(key).read_bytes())

    def _write(self, key: str, value: Decode | Parsed) -> None:
        text = json.dumps(asdict(value), separators=(",", ":"), ensure_ascii=False)
        write_atomic(self._path(key), text.encode())


class Decodes(Protocol):
    """Where decodes come from."""

    def get(self, key: str) -> Decode:
        """The decode of a key that is there."""


class DecodeCache(_Cache):
    """One small JSON file a decode; two recordings with the same prefix share it."""

    def get(self, key: str) -> Decode:
        """The decode of a key that is there."""
        data = self._read(key)
        words = tuple(Word(**word) for word in data["words"])
        return Decode(words, data["service_us"], data["wall_us"])

    def put(self, key: str, decode: Decode) -> None:
        self._write(key, decode)


class ParseCache(_Cache):
    """One small JSON file a parse."""

    def get(self, key: str) -> Parsed:
        """The parse of a key that is there."""
        data = self._read(key)
        return Parsed(data["argument"], tuple(data["words"]), data["service_us"])

    def put(self, key: str, parsed: Parsed) -> None:
        self._write(key, parsed)
