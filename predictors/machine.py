"""What computer this is, for training records."""

from __future__ import annotations

import os
import platform
from pathlib import Path


def hardware() -> str:
    """The processor's architecture and name, and how many of its cores there are."""
    return f"{platform.machine()}, {_processor()}, {os.cpu_count()} cores"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or "unknown")
