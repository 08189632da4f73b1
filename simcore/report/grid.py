"""A table of text that prints plainly, in Markdown and through rich."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of text under headers; the first `left` columns are words, the others numbers.

    >>> print(Grid("Costs", ("policy", "cost"), [("eou", "4.40"), ("rassg", "1.91")]))
    Costs
    policy  cost
    eou     4.40
    rassg   1.91
    """

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    left: int = 1

    def __str__(self) -> str:
        lines = [self.headers, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = (
            "  ".join(
                cell.ljust(width) if position < self.left else cell.rjust(width)
                for position, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )
        return "\n".join([self.title, *text])

    def __rich__(self) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(
            title=Text(self.title, style="bold"),
            title_justify="left",
            box=None,
            pad_edge=False,
            header_style="dim",
            padding=(0, 2, 0, 0),
        )
        for position, header in enumerate(self.headers):
            words = position < self.left
            table.add_column(header, justify="left" if words else "right", overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        return table

    def markdown(self) -> str:
        """The table alone, without its title."""
        rule = ["---" if position < self.left else "---:" for position in range(len(self.headers))]
        cells = ([escaped(" ".join(cell.split())) for cell in row] for row in self.rows)
        lines = [self.headers, rule, *cells]
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is, also within a table."""
    return "".join(f"\\{mark}" if mark in "\\|`*<" else mark for mark in text)
