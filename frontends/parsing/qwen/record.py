"""What a model was trained on, how, and how it went: kept beside its file."""

from __future__ import annotations

import json
from dataclasses import asdict
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from frontends.parsing.qwen.phrases import PHRASES
from frontends.parsing.qwen.shipped import TOOLS
from frontends.processor import instruction_set
from frontends.recast.grammar import GRAMMAR
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from frontends.parsing.qwen.train import Settings, Trained

SCHEMA: Final = "parser/v1"
_PACKAGES: Final = ("rassg-sim", "torch", "tokenizers", "safetensors", "gguf")


def write_record(
    model: Path, made: Trained, settings: Settings, decodes: Mapping[str, Path], numbers: str
) -> Path:
    """Write `model`'s record: its name with the ending `.json`."""
    record = {
        "schema": SCHEMA,
        "model": {
            "file": model.name,
            "sha256": _digest(model),
            "bytes": model.stat().st_size,
            "parameters": made.parameters,
            "shape": asdict(made.shape),
            "numbers": numbers,
        },
        "settings": asdict(settings),
        "sources": {path.name: _digest(path) for path in (GRAMMAR, PHRASES, TOOLS)},
        "decodes": {name: _digest(path) for name, path in decodes.items()},
        "history": made.history,
        "seconds": made.seconds,
        "processor": instruction_set(),
        "packages": {package: version(package) for package in _PACKAGES},
    }
    path = model.with_suffix(".json")
    write_atomic(path, (json.dumps(record, indent=1) + "\n").encode())
    return path


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()
