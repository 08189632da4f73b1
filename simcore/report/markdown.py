"""`report.md`: the tables of a run with a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simcore.report.agent import agent_grids
from simcore.report.grid import escaped
from simcore.report.tables import (
    breakdowns,
    event_table,
    messages,
    paired_table,
    policy_table,
    speech_table,
)
from simcore.report.words import DIMENSIONS, QUESTION, TERMS, findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simcore.report.grid import Grid
    from simcore.report.sections import Section
    from simcore.report.summary import Summary


def markdown(summary: Summary, sections: Sequence[Section] = ()) -> str:
    """The whole report, for a code host or a terminal; `sections` stand before a run's figures."""
    parts = [f"# {escaped(summary.scenario)}"]
    for section in sections:
        parts += _told(section)
    parts.append(QUESTION)
    parts.append(_bullets(map(escaped, findings(summary))))
    parts += _section("Policies", policy_table(summary.policies))
    notes = [f"**{escaped(text)}**" if bad else escaped(text) for bad, text in messages(summary)]
    if notes:
        parts += ["## Gates, failures, unlabelled", _bullets(notes)]
    if summary.differences:
        parts += _section("Paired differences", paired_table(summary.differences))
    for heading, grid in agent_grids(summary).items():
        parts += _section(heading, grid)
    if summary.speech:
        parts += _section("Speech", speech_table(summary.speech))
    for dimension, grid in breakdowns(summary.policies).items():
        parts += _section(DIMENSIONS[dimension], grid)
    parts += _section("Events", event_table(summary.policies))
    parts += ["## Terms", _bullets(f"*{term}*: {text}" for term, text in TERMS.items())]
    packages = ", ".join(f"{name} {version}" for name, version in summary.packages.items())
    parts += [
        "## To repeat",
        _bullets(
            [
                f"seed {summary.seed}",
                f"scenario `{summary.scenario_hash}`",
                f"git revision {summary.git_revision or 'unknown'}",
                packages,
            ]
        ),
    ]
    return "\n\n".join(parts) + "\n"


def _told(section: Section) -> Iterator[str]:
    if section.heading:
        yield f"## {section.heading}"
    yield from map(escaped, section.text)
    for grid in section.grids:
        if grid.title:
            yield f"**{escaped(grid.title)}**"
        yield grid.markdown()


def _section(heading: str, grid: Grid) -> list[str]:
    words = [] if grid.title in ("", heading) else [f"{escaped(grid.title)}."]
    return [f"## {heading}", *words, grid.markdown()]


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
