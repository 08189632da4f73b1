"""Where the scenarios and packs that come with the simulator lie."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


def shipped_scenarios() -> Path:
    """The scenarios' folder: inside an installed wheel, else at the root of a checkout."""
    installed = _PACKAGE / "scenarios"
    return installed if installed.is_dir() else _PACKAGE.parent / "scenarios"
