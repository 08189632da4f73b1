"""Packs of ReCAST as another parser reads them: the same speech, decodes and annotations."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frontends.recast.packs import ONE, accuracy, parse_record
from frontends.tools.plans import canonical_plan
from simcore.files.traces import write_traces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from frontends.parsing.remembered import Remembered
    from frontends.recast.packs import Scales
    from frontends.recast.record import Record
    from frontends.tools.catalog import Tools

    Progress = Callable[[str, int, int], None]


def write_variant(
    path: Path,
    records: Sequence[Record],
    parser: Remembered,
    tools: Tools,
    provenance: dict[str, Any],
    *,
    scales: Scales = ONE,
    progress: Progress = lambda label, done, total: None,
) -> Iterator[str]:
    """Parse records and write them as a pack; yields a line about it.

    What is right is brought into the canonical form of the tools, as the parser's plans are. A
    parse takes the time that it was measured to take, scaled as the decodes are.
    """
    packed = []
    for done, record in enumerate(records, start=1):
        packed.append(parse_record(with_gold(record, tools), parser, scales))
        progress("parsing", done, len(records))
    write_traces(path, packed, provenance=provenance | {"parser": dict(parser.describe())})
    yield f"{path}: {accuracy(packed)}"


def with_gold(record: Record, tools: Tools) -> Record:
    """The record with its target and the values said in the canonical form of the tools."""
    columns = dict(record.columns)
    if columns.get("target") is not None:
        columns["target"] = _canonical(columns["target"], tools)
    columns["values"] = [
        value | {"argument": _canonical(value["argument"], tools)}
        for value in columns.get("values", ())
    ]
    return replace(record, columns=columns)


def _canonical(argument: Any, tools: Tools) -> Any:
    return canonical_plan(argument if isinstance(argument, list) else [argument], tools)
