"""Draws what is said: for each group of recordings one script, before anything is synthesized.

A recording is a row of spans. A span says its texts with pauses around them; its `length` or its
`rest` (the pauses alone) is drawn when the lengths of the spoken texts are known. The distances
that make a subset are therefore fixed by the script and its seed, never by what is recognized.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from random import Random
from typing import TYPE_CHECKING, Any, Final

from frontends.recast.grammar import DOMAINS, TOOLS, VOICES, draw_value, load_grammar

if TYPE_CHECKING:
    from collections.abc import Callable

    from frontends.recast.grammar import Carrier, Domain, Edit, Grammar, Side, Spoken

Milliseconds = int
Range = tuple[Milliseconds, Milliseconds]

WITHOUT_EDIT: Final = 0.4
"""The share of corrections that restart without an editing phrase (at least a third)."""
HUMAN_WITHOUT_EDIT: Final = 0.83
"""The same in spontaneous speech (substitution repairs in Switchboard, n = 1,061)."""
HUMAN_ONSET: Final = (630.0, 1_720.0)
"""Median and 90th percentile, in ms, from the start of the replaced words to the repair."""
_NORMAL_90 = 1.281_552


@dataclass(frozen=True, slots=True)
class Span:
    """Texts said in a row, with pauses.

    `length`: bounds of the whole span, in ms; speech that is longer raises the lower one, and in
    a repair the upper one. `rest`: bounds of its pauses alone. With neither, the texts follow each
    other at once. Pauses go between the texts, before the first where `leads`, after the last
    where `trails`. `argument`: the call that is meant once the last text was said. `repair`: a
    repair begins with the span, and is resolved by the argument. `cut`: speech that is longer than
    the span is cut there, and its argument was never said.
    """

    texts: tuple[str, ...] = ()
    length: Range | None = None
    rest: Range | None = None
    leads: bool = False
    trails: bool = False
    argument: dict[str, Any] | None = None
    repair: bool = False
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Variant:
    """One recording of a group: what follows the shared spans, and the call that is right."""

    name: str
    spans: tuple[Span, ...]
    target: dict[str, Any] | None
    edit: Edit | None = None
    matched: bool = False
    """Whether its last pauses make it about as long as the corrected recording."""


@dataclass(frozen=True, slots=True)
class Script:
    """A group: one recording, or a stable and a corrected one that share the first spans."""

    group_id: str
    split: str
    subset: str
    domain: Domain
    voice: str
    carrier_id: str
    shared: tuple[Span, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class _Draw:
    """What a subset draws from: the grammar, a stream, and the group's place among its kind."""

    grammar: Grammar
    domain: Domain
    turn: int
    index: int
    rng: Random

    def carrier(self, *, plain: bool = False) -> Carrier:
        carriers = self.grammar.carriers[self.domain]
        if plain:
            carriers = tuple(carrier for carrier in carriers if not carrier.tool)
        return carriers[self.turn % len(carriers)]

    def value(self, *others: Spoken, field: Domain | None = None) -> Spoken:
        """A value of the field (by default of the domain) unlike the others."""
        while True:
            value = draw_value(field or self.domain, self.rng)
            if all(value.fields != other.fields for other in others):
                return value

    def call(self, carrier: Carrier, *values: Spoken) -> dict[str, Any]:
        fields = {name: field for value in values for name, field in value.fields.items()}
        return {"tool": carrier.tool or TOOLS[self.domain], "arguments": fields}

    def edit(self, without: float = WITHOUT_EDIT) -> Edit | None:
        """Every so often none, else the next phrase."""
        said = int((self.index + 1) * (1 - without))
        if said == int(self.index * (1 - without)):
            return None
        return self.grammar.edits[(said - 1) % len(self.grammar.edits)]

    def tails(self, count: int) -> list[str]:
        return self.rng.sample(self.grammar.tails, count)


_Made = tuple["Carrier", tuple[Span, ...], tuple[Variant, ...]]


def draw_script(
    split: str, side: Side, subset: str, index: int, seed: int, attempt: int = 0
) -> Script:
    """The script of the group `index` of a subset in a split; the same seed gives the same one.

    Domains, carriers, voices and editing phrases rotate with the index. `attempt` draws values and
    pauses anew, for speech that would be longer than a recording may be.
    """
    group_id = f"{split}-{subset}-{index:04}"
    domain = DOMAINS[index % len(DOMAINS)]
    turn = index // len(DOMAINS)
    rng = Random(f"{seed}/{group_id}/{attempt}")
    draw = _Draw(load_grammar(side), domain, turn, index, rng)
    carrier, shared, variants = SUBSETS[subset](draw)
    voices = VOICES[side]
    voice = voices[(turn + index) % len(voices)]
    return Script(group_id, split, subset, domain, voice, carrier.id, shared, variants)


def _prospective(draw: _Draw) -> _Made:
    return _repaired(draw, gap=(1_000, 3_500), resolve=(2_000, 3_200), tail=(3_000, 3_800))


def _early(draw: _Draw) -> _Made:
    return _repaired(
        draw, gap=(200, 1_000), rest=(100, 600), tail=(2_500, 3_500), filler_after=True
    )


def _late(draw: _Draw) -> _Made:
    return _repaired(
        draw, gap=(6_000, 6_800), rest=(100, 500), tail=(800, 1_500), aside=True, mute=True
    )


def _repaired(
    draw: _Draw,
    *,
    gap: Range,
    tail: Range,
    resolve: Range | None = None,
    rest: Range | None = None,
    aside: bool = False,
    filler_after: bool = False,
    mute: bool = False,
) -> _Made:
    """A value, a gap in which the request goes on, a repair of the value, a tail.

    `aside`: another sentence in the gap. `filler_after`: the request goes on after the repair.
    `mute`: nothing is said after the repair.
    """
    carrier, edit = draw.carrier(), draw.edit()
    first = draw.value()
    second = draw.value(first)
    between, after, last = draw.tails(3)
    filler = _sentence(carrier.filler) + "." if filler_after else carrier.filler + "."
    shared = (
        _opening(carrier, first, draw.call(carrier, first)),
        Span(
            () if filler_after else (filler, between) if aside else (filler,),
            length=gap,
            leads=True,
            trails=True,
        ),
    )
    repair = Span(
        (_begin(carrier, edit), _full(carrier.again, second)),
        length=resolve,
        rest=rest,
        argument=draw.call(carrier, second),
        repair=True,
    )
    ends = (filler,) if filler_after else () if mute else (last,)
    corrected = Variant(
        "corrected",
        (repair, Span(ends, length=tail, leads=True, trails=True)),
        draw.call(carrier, second),
        edit,
    )
    said = (filler, after) if filler_after else (after,) if mute else (after, last)
    return carrier, shared, (_stable(draw.call(carrier, first), said), corrected)


def _double(draw: _Draw) -> _Made:
    """Two repairs; every fourth returns to the first value."""
    carrier, edit = draw.carrier(), draw.edit()
    first = draw.value()
    second = draw.value(first)
    third = first if draw.index % 4 == 3 else draw.value(first, second)
    aside, last = draw.tails(2)
    filler = _sentence(carrier.filler) + "."
    phrases = [other for other in draw.grammar.edits if edit and other.seen == edit.seen]
    again = draw.rng.choice(phrases) if phrases else None
    shared = (
        _opening(carrier, first, draw.call(carrier, first)),
        Span(length=(600, 1_500), leads=True),
    )

    def repair(begin: str, value: Spoken) -> Span:
        texts = (begin, _full(carrier.again, value))
        return Span(texts, rest=(50, 500), argument=draw.call(carrier, value), repair=True)

    corrected = Variant(
        "corrected",
        (
            repair(_begin(carrier, edit), second),
            Span(length=(600, 1_500), leads=True),
            repair(_begin(carrier, again), third),
            Span((filler,), length=(2_000, 3_000), leads=True, trails=True),
        ),
        draw.call(carrier, third),
        edit,
    )
    said = (filler, aside, last)
    return carrier, shared, (_stable(draw.call(carrier, first), said), corrected)


def _other_field(draw: _Draw) -> _Made:
    """A call with two fields, of which the second is corrected."""
    carriers = draw.grammar.two[draw.domain]
    carrier, edit = carriers[draw.turn % len(carriers)], draw.edit()
    assert carrier.field is not None
    value, first = draw.value(), draw.value(field=carrier.field)
    second = draw.value(first, field=carrier.field)
    aside, last = draw.tails(2)
    before, after = draw.call(carrier, value, first), draw.call(carrier, value, second)
    shared = (
        Span((carrier.opening.format(value=value.text),), argument=draw.call(carrier, value)),
        Span(
            (carrier.other.format(other=first.text) + ",",),
            rest=(50, 200),
            leads=True,
            argument=before,
        ),
        Span((carrier.filler + ".",), length=(1_000, 3_000), leads=True, trails=True),
    )
    again = _full(carrier.again, second)
    repair = Span(
        (again,) if edit is None else (edit.text, again),
        rest=(50, 600),
        argument=after,
        repair=True,
    )
    corrected = Variant(
        "corrected",
        (repair, Span((last,), length=(2_500, 3_500), leads=True, trails=True)),
        after,
        edit,
    )
    return carrier, shared, (_stable(before, (aside, last)), corrected)


def _tool_change(draw: _Draw) -> _Made:
    """The value stays, the tool changes."""
    carrier, edit = draw.carrier(plain=True), draw.edit()
    switches = draw.grammar.switch[draw.domain]
    switch = switches[draw.turn % len(switches)]
    value = draw.value()
    aside, last = draw.tails(2)
    before = draw.call(carrier, value)
    after = {**before, "tool": switch.tool}
    shared = (
        _opening(carrier, value, before),
        Span((carrier.filler + ".",), length=(1_000, 3_000), leads=True, trails=True),
    )
    texts = (_sentence(switch.text),) if edit is None else (edit.text, switch.text)
    corrected = Variant(
        "corrected",
        (
            Span(texts, rest=(50, 600), argument=after, repair=True),
            Span((last,), length=(2_500, 3_500), leads=True, trails=True),
        ),
        after,
        edit,
    )
    return carrier, shared, (_stable(before, (aside, last)), corrected)


def _abandonment(draw: _Draw) -> _Made:
    """In the end no call is right; silence follows."""
    carrier = draw.carrier()
    phrase = draw.grammar.abandon[draw.turn % len(draw.grammar.abandon)]
    value = draw.value()
    aside, last = draw.tails(2)
    before = draw.call(carrier, value)
    shared = (
        _opening(carrier, value, before),
        Span((carrier.filler + ".",), length=(800, 3_500), leads=True, trails=True),
    )
    corrected = Variant(
        "corrected",
        (Span((phrase.text,), repair=True), Span(length=(1_500, 3_000), leads=True)),
        None,
        phrase,
    )
    return carrier, shared, (_stable(before, (aside, last)), corrected)


def _human(draw: _Draw) -> _Made:
    """A repair as in spontaneous speech: soon, mostly unannounced, often inside the value.

    The time from the value's first word to the repair is log-normal; a value that takes longer is
    cut there, and was never said in whole.
    """
    carrier, edit = draw.carrier(), draw.edit(HUMAN_WITHOUT_EDIT)
    first = draw.value()
    second = draw.value(first)
    median, high = HUMAN_ONSET
    onset = round(median * exp(draw.rng.gauss(0, log(high / median) / _NORMAL_90)))
    onset = min(max(onset, 150), 4_000)
    aside, last = draw.tails(2)
    filler = _sentence(carrier.filler) + "."
    stem, _, _ = carrier.opening.partition("{value}")
    before, after = draw.call(carrier, first), draw.call(carrier, second)
    again = _full(carrier.again, second)
    corrected = Variant(
        "corrected",
        (
            Span((first.text,), length=(onset, onset), trails=True, argument=before, cut=True),
            Span(
                (again,) if edit is None else (edit.text, again),
                rest=(0, 300),
                argument=after,
                repair=True,
            ),
            Span((filler, last), rest=(600, 1_500), leads=True, trails=True),
        ),
        after,
        edit,
    )
    stable = Variant(
        "stable",
        (
            Span((first.text,), length=(onset, onset), trails=True, argument=before),
            Span((filler, aside, last), rest=(600, 1_500), leads=True, trails=True),
        ),
        before,
    )
    return carrier, (Span((stem.strip(),)),), (stable, corrected)


def _ordinary(draw: _Draw) -> _Made:
    carrier, value = draw.carrier(), draw.value()
    (last,) = draw.tails(1)
    call = draw.call(carrier, value)
    shared = (_opening(carrier, value, call),)
    rest = Span((carrier.filler + ".", last), rest=(600, 2_400), leads=True, trails=True)
    return carrier, shared, (Variant("stable", (rest,), call),)


def _false_alarm(draw: _Draw) -> _Made:
    """Cue words, a restart that keeps the value, fillers or a long pause, and no repair."""
    carrier, value = draw.carrier(), draw.value()
    (last,) = draw.tails(1)
    call = draw.call(carrier, value)
    filler = carrier.filler + "."
    cue = draw.grammar.cues[(draw.turn + draw.index) % len(draw.grammar.cues)]
    um = draw.grammar.fillers[draw.index % len(draw.grammar.fillers)]
    again = f"{_sentence(carrier.restart)}, {_full(carrier.again, value)}"
    pause = Span(length=(2_000, 3_500), leads=True)
    rest: tuple[Span, ...]
    match draw.turn % 6:
        case 0 | 1 | 2:
            rest = (_said((filler, cue, last)),)
        case 3:
            rest = (_said((filler, again, last)),)
        case 4:
            rest = (_said((um, filler, last)),)
        case _:
            rest = (pause, _said((filler, last)))
    return carrier, (_opening(carrier, value, call),), (Variant("stable", rest, call),)


SUBSETS: Final[dict[str, Callable[[_Draw], _Made]]] = {
    "prospective": _prospective,
    "ordinary": _ordinary,
    "early": _early,
    "late": _late,
    "human": _human,
    "double": _double,
    "other-field": _other_field,
    "tool-change": _tool_change,
    "abandonment": _abandonment,
    "false-alarm": _false_alarm,
}


def _opening(carrier: Carrier, value: Spoken, call: dict[str, Any]) -> Span:
    return Span((carrier.opening.format(value=value.text) + ",",), argument=call)


def _said(texts: tuple[str, ...]) -> Span:
    return Span(texts, rest=(600, 2_400), leads=True, trails=True)


def _stable(target: dict[str, Any], texts: tuple[str, ...]) -> Variant:
    """Goes on without a repair, about as long as the corrected recording."""
    return Variant(
        "stable", (Span(texts, rest=(600, 600), leads=True, trails=True),), target, matched=True
    )


def _begin(carrier: Carrier, edit: Edit | None) -> str:
    """What begins a repair: the phrase, or the carrier's restart."""
    return _sentence(carrier.restart) + "," if edit is None else edit.text


def _full(again: str, value: Spoken) -> str:
    """A sentence that ends in the value; "p.m." needs no full stop."""
    return again.format(value=value.text, other=value.text).removesuffix(".") + "."


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:]
