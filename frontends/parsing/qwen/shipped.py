"""The model that comes with the package, and the tools that it knows."""

from __future__ import annotations

from pathlib import Path
from typing import Final

NAME: Final = "qwen"
TOOLS: Final = Path(__file__).with_name("tools.json")
MODEL: Final = Path(__file__).with_name("model.gguf")
RECORD: Final = Path(__file__).with_name("model.json")
CONTEXT: Final = 2048
"""Tokens of transcript and answer together."""
