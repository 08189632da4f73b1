"""Recorded requests as training texts: what Whisper wrote of each prefix, and what was meant."""

from __future__ import annotations

import json
import re
import tomllib
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from frontends.parsing.lexicon import Lexicon
from frontends.parsing.qwen.shipped import TOOLS
from frontends.parsing.qwen.written import Prefix
from frontends.recast.grammar import GRAMMAR
from frontends.recast.packs import parse_record
from frontends.recast.report.prefixes import judge, judgeable, meant
from frontends.tools.catalog import read_tools

if TYPE_CHECKING:
    from collections.abc import Iterable

    from frontends.parsing.qwen.requests import Plan
    from frontends.parsing.qwen.samples import Texts
    from frontends.recast.record import Record

_NAMES: Final = ("location", "contact")


def recorded_texts(records: Iterable[Record], *, learnable: bool) -> list[Texts]:
    """The final text of each recording and those of its other prefixes, each text once.

    `learnable` leaves out prefixes in which what is meant was not heard: a number or a time that is
    written otherwise, or a value that is written before it had been said in whole.
    """
    found: list[Texts] = []
    for record in records:
        recording = parse_record(record, Lexicon())
        if not judgeable(recording):
            continue
        steps, prefixes = meant(recording), {}
        for arrival, judgement in zip(recording.arrivals, judge(recording), strict=True):
            argument = steps[judgement.step].argument
            plan = None if argument is None else json.loads(argument)
            if arrival.text and (
                not learnable
                or judgement.outcome == "right"
                or (judgement.outcome != "early" and _is_name(plan))
            ):
                prefixes[arrival.text] = Prefix(arrival.text, as_written(plan, arrival.text))
        if prefixes:
            *beginnings, last = prefixes.values()
            found.append((last, beginnings))
    return found


def as_written(plan: Plan | None, text: str) -> Plan | None:
    """The plan with places and names spelled as the text last has them, else as the lexicon does;
    its arguments in the order of the tool's."""
    if plan is None:
        return None
    given = plan["arguments"]
    order = read_tools(TOOLS)[plan["tool"]].properties
    arguments = {
        name: _spelled(given[name], text) if name in _NAMES else given[name]
        for name in order
        if name in given
    }
    return {**plan, "arguments": arguments}


def _is_name(plan: Plan | None) -> bool:
    return plan is not None and not {"time", "amount"} & set(plan["arguments"])


def _spelled(value: str, text: str) -> str:
    found = list(re.finditer(rf"\b{re.escape(value)}\b", text, re.IGNORECASE))
    return found[-1][0] if found else _known().get(value, value)


@lru_cache
def _known() -> dict[str, str]:
    values = tomllib.loads(GRAMMAR.read_text(encoding="utf-8"))["values"]
    names = [name.removeprefix("the ") for name in (*values["places"], *values["names"])]
    return {name.lower(): name for name in names}
