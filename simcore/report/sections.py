"""What a report can hold besides a run's own figures: words, tables, pictures under a heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.report.grid import Grid


@dataclass(frozen=True, slots=True)
class Picture:
    """Markup for the page, such as an SVG, and what it shows; a `wide` one scrolls in its box."""

    markup: str
    caption: str = ""
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a report; a grid's title stands above it. Pictures are for the page alone."""

    heading: str
    text: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    pictures: Sequence[Picture] = ()
