"""`report.html`: one file that needs nothing else, for readers who were not there."""

from __future__ import annotations

import json
from html import escape
from importlib import resources
from typing import TYPE_CHECKING

from simcore.report.agent import agent_grids
from simcore.report.charts import risk_delay_plane, score_bars
from simcore.report.numbers import NONE, fraction, number
from simcore.report.picture import question_picture
from simcore.report.tables import (
    event_table,
    messages,
    paired_table,
    policy_table,
    speech_table,
)
from simcore.report.words import DIMENSIONS, QUESTION, TERMS, TITLE, findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simcore.report.grid import Grid
    from simcore.report.sections import Section
    from simcore.report.summary import Summary


def html(summary: Summary, sections: Sequence[Section] = ()) -> str:
    """The whole report, with its style and pictures inside; `sections` come before the tables."""
    style = resources.files("simcore.report").joinpath("style.css").read_text("utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(summary.scenario)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(_body(summary, sections))
        + "\n</body>\n</html>\n"
    )


def _body(summary: Summary, sections: Sequence[Section]) -> Iterator[str]:
    yield f"<h1>{TITLE if sections else escape(summary.scenario)}</h1>"
    yield f"<p>{QUESTION}</p>"
    yield question_picture()
    for section in sections:
        yield from _told(section)
    if sections:
        yield "<h2>Every policy, on all recordings</h2>"
    yield _bullets(("", text) for text in findings(summary))
    if not sections:
        yield "<h2>Risk and delay</h2>"
        yield risk_delay_plane(summary.policies)
        yield score_bars([(policy.policy, policy.scores) for policy in summary.policies])
        yield "<h2>Figures</h2>"
    yield _table(policy_table(summary.policies))
    if notes := list(messages(summary)):
        yield "<h2>Gates, failures, unlabelled</h2>"
        yield _bullets((' class="bad"' if bad else "", text) for bad, text in notes)
    if summary.differences:
        grid = paired_table(summary.differences)
        yield "<h2>Paired differences</h2>"
        yield f'<p class="faint">{escape(grid.title)}. Negative is less than the baseline.</p>'
        yield _table(grid)
    for heading, grid in agent_grids(summary).items():
        yield f"<h2>{heading}</h2>"
        yield f'<p class="faint">{escape(grid.title)}.</p>'
        yield _table(grid)
    if summary.speech:
        grid = speech_table(summary.speech)
        yield "<h2>Speech</h2>"
        yield f'<p class="faint">{escape(grid.title)}.</p>'
        yield _table(grid)
    for dimension, heading in DIMENSIONS.items():
        yield from _breakdown(summary, dimension, heading)
    yield "<h2>Events</h2>"
    yield _table(event_table(summary.policies))
    yield "<h2>What is measured</h2>"
    terms = (f"<dt>{term}</dt><dd>{text}</dd>" for term, text in TERMS.items())
    yield f"<dl>{''.join(terms)}</dl>"
    yield from _origin(summary)


def _told(section: Section) -> Iterator[str]:
    if section.heading:
        yield f"<h2>{escape(section.heading)}</h2>"
    for text in section.text:
        yield f"<p>{escape(text)}</p>"
    for picture in section.pictures:
        if picture.caption:
            yield f"<p>{escape(picture.caption)}</p>"
        kind = ' class="scroll"' if picture.wide else ""
        yield f"<div{kind}>{picture.markup}</div>"
    for grid in section.grids:
        if grid.title:
            yield f"<h3>{escape(grid.title)}</h3>"
        yield _table(grid)


def _breakdown(summary: Summary, dimension: str, heading: str) -> Iterator[str]:
    """Policies down, values across; each cell has the stale rate, its count and the delay."""
    rows = {p.policy: p.by[dimension] for p in summary.policies if dimension in p.by}
    values = list(dict.fromkeys(part.value for parts in rows.values() for part in parts))
    if not values:
        return
    yield f"<h2>{heading}</h2>"
    yield '<p class="faint">Stale executions in % (darker is more), their count; delay in s.</p>'
    head = "".join(f"<th>{escape(value or NONE)}</th>" for value in values)
    lines = [f'<tr><th class="word">policy</th>{head}</tr>']
    for policy, parts in rows.items():
        cells = {part.value: part.scores for part in parts}
        line = f'<td class="word">{escape(policy)}</td>'
        for value in values:
            if (scores := cells.get(value)) is None:
                line += "<td></td>"
                continue
            shade = 60 * (scores.stale_rate.value or 0)
            line += (
                f'<td class="cell c1" style="background: '
                f'color-mix(in srgb, var(--c) {shade:.0f}%, transparent)">'
                f"{number(scores.stale_rate.value, 2, 100)}"
                f"<small>{fraction(scores.stale_rate)}</small>"
                f"<small>{number(scores.delay_s.value)} s</small></td>"
            )
        lines.append(f"<tr>{line}</tr>")
    yield f'<div class="scroll"><table>{"".join(lines)}</table></div>'


def _origin(summary: Summary) -> Iterator[str]:
    yield "<h2>To repeat</h2>"
    packages = ", ".join(f"{name} {version}" for name, version in summary.packages.items())
    yield (
        f"<p>Seed {summary.seed}, scenario <code>{summary.scenario_hash}</code>, git revision "
        f"<code>{escape(summary.git_revision or 'unknown')}</code>; {escape(packages)}.</p>"
    )
    for heading, content in (("As given", summary.as_given), ("As run", summary.resolved)):
        if content:
            text = json.dumps(content, indent=1, ensure_ascii=False)
            yield f"<details><summary>{heading}</summary><pre>{escape(text)}</pre></details>"


def _table(grid: Grid) -> str:
    def line(tag: str, cells: Iterable[str]) -> str:
        return "".join(
            f"<{tag}{_kind(position < grid.left, cell)}>"
            f"{escape(cell).replace('; ', '<br>')}</{tag}>"
            for position, cell in enumerate(cells)
        )

    rows = [line("th", grid.headers), *(line("td", row) for row in grid.rows)]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<div class="scroll"><table>{body}</table></div>'


def _kind(word: bool, cell: str) -> str:
    kinds = ["word"] * word + [cell] * (cell in ("yes", "no"))
    return f' class="{" ".join(kinds)}"' if kinds else ""


def _bullets(lines: Iterable[tuple[str, str]]) -> str:
    return f"<ul>{''.join(f'<li{kind}>{escape(text)}</li>' for kind, text in lines)}</ul>"
