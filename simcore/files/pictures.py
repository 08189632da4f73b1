"""Altair charts as files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from simcore.errors import UsageError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from pathlib import Path

    import altair as alt


def save_picture(chart: alt.TopLevelMixin, path: Path, *, scale: float = 2) -> None:
    """Write a chart as PNG or SVG, by the name's ending; `scale` multiplies a PNG's pixels.

    Raises ``UsageError`` for another ending, and where the disk refuses.
    """
    if path.suffix.lower() == ".png":
        picture = io.BytesIO()
        chart.save(picture, format="png", scale_factor=scale)
        content = picture.getvalue()
    elif path.suffix.lower() == ".svg":
        drawing = io.StringIO()
        chart.save(drawing, format="svg")
        content = drawing.getvalue().encode()
    else:
        raise UsageError(f"{path.name} is no picture's name; end it in .png or .svg")
    try:
        write_atomic(path, content)
    except OSError as fault:
        raise UsageError(f"cannot write {path}: {fault.strerror}") from fault
