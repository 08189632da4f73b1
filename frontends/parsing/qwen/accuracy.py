"""How often a parser is right, on the prefixes that Whisper heard: by subset, editing and voice."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from frontends.parsing.qwen.faults import FAULTS, fault
from frontends.parsing.qwen.variant import with_gold
from frontends.recast.packs import parse_record
from frontends.recast.report.frames import recording_frame
from frontends.recast.report.packs import Pack
from simcore.report.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from frontends.protocol import Parsed, Parser
    from frontends.recast.record import Record
    from frontends.tools.catalog import Tools
    from simcore.trace import Recording

    Progress = Callable[[str, int, int], None]

CORRECTED: Final = "with a repair"
PLAIN: Final = "without a repair"
_ABOUT: Final = ("all", "kind", "subset", "editing", "voice", "domain")


@dataclass(slots=True)
class _Timed:
    """A parser that counts what its parses take: as it says, else as measured."""

    parser: Parser
    parses: int = 0
    seconds: float = 0.0

    def describe(self) -> Any:
        return self.parser.describe()

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        began = time.process_time()
        parsed = self.parser.parse(words, domain)
        if words:
            self.parses += 1
            taken = parsed.service_us / 1_000_000
            self.seconds += taken or time.process_time() - began
        return parsed


@dataclass(frozen=True, slots=True)
class Subject:
    """A parser by its name in the table, with the tools whose canonical form its calls have."""

    name: str
    parser: Parser
    tools: Tools | None = None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Rows of rates (`group`, `of`, counts, and three columns a parser), milliseconds a parse, and
    by parser how often the final parse of recordings with and without a repair has which fault."""

    rows: list[dict[str, Any]]
    names: tuple[str, ...]
    parse_ms: dict[str, float]
    faults: dict[str, Counter[tuple[str, str]]]


def accuracy(
    records: Sequence[Record],
    subjects: Sequence[Subject],
    progress: Progress = lambda label, done, total: None,
) -> Accuracy:
    """Parse every prefix of every record by every parser.

    A final parse is right where it is the exact plan that is right in the end. Another prefix is
    right where it is what is meant by then, or the value that is just being said; prefixes of which
    the annotations do not say what is right are left out, each recording weighs by its prefixes.
    """
    frames, times, faults = [], {}, {}
    for subject in subjects:
        timed = _Timed(subject.parser)
        recordings = tuple(_parsed(records, replace(subject, parser=timed), progress))
        frames.append(_frame(recordings).with_columns(parser=pl.lit(subject.name)))
        times[subject.name] = 1000 * timed.seconds / max(timed.parses, 1)
        faults[subject.name] = _faults(recordings)
    frame = pl.concat(frames)
    names = tuple(subject.name for subject in subjects)
    rows = [row for about in _ABOUT for row in _rates(frame, about, names)]
    return Accuracy(rows, names, times, faults)


def _parsed(records: Sequence[Record], subject: Subject, progress: Progress) -> Iterable[Recording]:
    for done, record in enumerate(records, start=1):
        kept = record if subject.tools is None else with_gold(record, subject.tools)
        yield parse_record(kept, subject.parser)
        progress(f"parsing: {subject.name}", done, len(records))


def _faults(recordings: Sequence[Recording]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for recording in recordings:
        found = fault(recording.arrivals[-1].argument, recording.target)
        if found is not None:
            counts[_kind(recording), found] += 1
    return counts


def _kind(recording: Recording) -> str:
    return CORRECTED if recording.repairs else PLAIN


def _frame(found: tuple[Recording, ...]) -> pl.DataFrame:
    variants = pl.DataFrame(
        {
            "recording": [recording.recording_id for recording in found],
            "kind": [_kind(recording) for recording in found],
        }
    )
    frame = recording_frame([Pack("records", found, "", None)])
    return frame.join(variants, on="recording", how="left").with_columns(all=pl.lit("all"))


def _rates(frame: pl.DataFrame, about: str, names: Sequence[str]) -> Iterable[dict[str, Any]]:
    sums = ("finals", "final_right", "prefixes", "right", "fair", "wrong_changes", "judged")
    table = frame.group_by(about, "parser").agg(pl.col(*sums).sum(), n=pl.len())
    for group in sorted(table[about].unique().to_list()):
        row: dict[str, Any] = {"of": about, "group": group}
        for name in names:
            found = table.filter((pl.col(about) == group) & (pl.col("parser") == name)).to_dicts()[
                0
            ]
            row["recordings"], row["prefixes"] = found["finals"], found["prefixes"]
            row[f"{name} final"] = found["final_right"] / max(found["finals"], 1)
            row[f"{name} prefixes"] = found["fair"] / max(found["prefixes"], 1)
            row[f"{name} wrong changes"] = found["wrong_changes"] / max(found["finals"], 1)
        yield row


def markdown(found: Accuracy) -> str:
    """The table, and what a parse takes."""
    columns = [f"{name} {what}" for what in ("final", "prefixes") for name in found.names]
    changes = [f"{name} wrong changes" for name in found.names]
    rows = []
    for row in found.rows:
        label = row["group"] if row["of"] in ("all", "kind") else f"{row['of']}: {row['group']}"
        cells = [label, str(row["recordings"]), str(row["prefixes"])]
        cells += [f"{100 * row[column]:.1f}" for column in columns]
        rows.append([*cells, *(f"{row[column]:.2f}" for column in changes)])
    lines = [
        "Exact plans, in percent: of the final parse, and of the other prefixes (what is meant by",
        "then, or the value that is just being said). Wrong changes: how often, in a recording,",
        "the parse changes to what is neither.",
        "",
        Grid("", ["", "recordings", "prefixes", *columns, *changes], rows).markdown(),
        "",
        "Wrong final parses, in percent of the recordings of their kind.",
        "",
        _fault_grid(found).markdown(),
        "",
    ]
    lines += [
        f"A parse by {name} takes {ms:.1f} ms of one processor thread."
        for name, ms in found.parse_ms.items()
    ]
    return "\n".join(lines) + "\n"


def _fault_grid(found: Accuracy) -> Grid:
    totals = {row["group"]: row["recordings"] for row in found.rows if row["of"] == "kind"}
    columns = [(name, kind) for name in found.names for kind in totals]
    rows = [
        [text, *(f"{100 * found.faults[n][kind, text] / totals[kind]:.1f}" for n, kind in columns)]
        for text in FAULTS
    ]
    return Grid("", ["", *(f"{name}, {kind}" for name, kind in columns)], rows)
