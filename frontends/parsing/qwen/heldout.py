"""The source without some of its phrases: what a parser makes of words that it was not taught.

The test says other things than the source, and is looked at once; this can be looked at often.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from frontends.recast.grammar import DOMAINS, load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from frontends.recast.grammar import Grammar
    from frontends.recast.record import Record


def taught(held_out: int) -> Grammar:
    """The source without every so many-th phrase of each of its lists; whole for 0."""
    grammar = load_grammar("source")
    if not held_out:
        return grammar

    def kept(phrases: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(p for at, p in enumerate(phrases, start=1) if at % held_out)

    return replace(
        grammar,
        carriers={domain: kept(grammar.carriers[domain]) for domain in DOMAINS},
        two={domain: kept(grammar.two[domain]) for domain in DOMAINS},
        switch={domain: kept(grammar.switch[domain]) for domain in DOMAINS},
        edits=kept(grammar.edits),
        abandon=kept(grammar.abandon),
        cues=kept(grammar.cues),
        tails=kept(grammar.tails),
    )


def divided(records: Iterable[Record], held_out: int) -> tuple[list[Record], list[Record]]:
    """Records in whose request nothing was held out, and the others."""
    gone = _phrases(load_grammar("source")) - _phrases(taught(held_out))
    said = [re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE) for phrase in gone]
    known: list[Record] = []
    unknown: list[Record] = []
    for record in records:
        found = any(phrase.search(record.columns["spoken"]) for phrase in said)
        (unknown if found else known).append(record)
    return known, unknown


def _phrases(grammar: Grammar) -> set[str]:
    """What each phrase is found by in what was spoken."""
    carriers = [
        part
        for domain in DOMAINS
        for carrier in (*grammar.carriers[domain], *grammar.two[domain])
        for part in (carrier.opening.partition("{value}")[0].strip(), carrier.filler)
    ]
    switches = [switch.text for domain in DOMAINS for switch in grammar.switch[domain]]
    edits = [edit.text for edit in (*grammar.edits, *grammar.abandon)]
    return {*carriers, *switches, *edits, *grammar.cues, *grammar.tails} - {""}
