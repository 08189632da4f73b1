"""The question as one picture: three ways to treat a request that is corrected half way."""

from __future__ import annotations

from typing import Final

# Across the page, in percent of its width.
_THREE, _WAIT, _FOUR, _END = 30, 44, 68, 84
_LAUNCH, _DEADLINE, _CANCEL = 33, 56, 53
_ROW: Final = 52
_TOP: Final = 64
_ROWS: Final = (
    ("Start early and hope", "the table at three is booked: a stale execution"),
    ("Wait for the end", "right, but the caller waits"),
    ("Start early, cancel in time", "right, and soon: what RASSG tries to do"),
)


def question_picture() -> str:
    """Inline SVG; horizontal positions are percentages, so that text keeps its size."""
    parts = [
        _text(0, 14, "The caller says", "axis"),
        _text(2, 36, "“Table at three…"),
        _text(_WAIT, 36, "no, wait…"),
        _text(_FOUR, 36, "four.”"),
        f'<line class="grid" x1="{_DEADLINE}%" x2="{_DEADLINE}%" y1="50" y2="{_TOP + 3 * _ROW}"/>',
        _text(_DEADLINE, 60, "deadline of the first call", "axis", "middle"),
    ]
    for row, (name, outcome) in enumerate(_ROWS):
        y = _TOP + row * _ROW
        parts.append(_text(0, y + 18, name, "strong"))
        parts += _bars(row, y + 24)
        parts.append(_text(100, y + 18, outcome, "axis wide", "end"))
    label = "Three policies on one request: " + "; ".join(f"{n}: {o}" for n, o in _ROWS)
    drawn = "".join(parts)
    height = _TOP + 3 * _ROW
    notes = "".join(f"<li>{name}: {outcome}.</li>" for name, outcome in _ROWS)
    return (
        f'<figure class="question"><svg role="img" aria-label="{label}" height="{height}">{drawn}'
        f'</svg><ul class="narrow">{notes}</ul></figure>'
    )


def _bars(row: int, y: float) -> list[str]:
    if row == 0:
        return [_bar(_LAUNCH, _DEADLINE, y, "c1"), _bar(_DEADLINE, 76, y, "c1 spent", "three")]
    if row == 1:
        return [_bar(_END + 2, 100, y, "c2", "four")]
    cross = f'<text class="cross" x="{_CANCEL}%" y="{y + 13}" text-anchor="middle">✕</text>'
    return [_bar(_LAUNCH, _CANCEL, y, "c1"), cross, _bar(_FOUR + 6, 92, y, "c2", "four")]


def _bar(start: float, end: float, y: float, kind: str, word: str = "") -> str:
    bar = f'<rect x="{start}%" width="{end - start}%" y="{y}" height="16"/>'
    if word:
        bar += f'<text class="inside" x="{start}%" dx="6" y="{y + 12}">{word}</text>'
    return f'<g class="{kind}">{bar}</g>'


def _text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x}%" y="{y}" text-anchor="{anchor}">{words}</text>'
