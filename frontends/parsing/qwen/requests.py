"""Requests drawn at random: what is said piece by piece, and the call that is meant after each.

All that ReCAST's source does: corrections of a value, of a second field or of the tool, with or
without an editing phrase, once or twice; values that are broken off; abandonments; false alarms;
and texts in which nothing is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from frontends.parsing.qwen.phrases import ASKED, Speaker
from frontends.parsing.qwen.values import Value, draw_value
from frontends.recast.grammar import TOOLS, load_grammar

if TYPE_CHECKING:
    from random import Random

    from frontends.recast.grammar import Carrier, Domain, Grammar

Plan = dict[str, Any]

KINDS: Final = {
    "plain": 0.26,
    "repair": 0.42,
    "two": 0.14,
    "switch": 0.07,
    "abandonment": 0.06,
    "nothing": 0.05,
}
"""How often each kind of request is drawn."""
DOMAIN_SHARES: Final[dict[Domain, float]] = {
    "time": 0.34,
    "amount": 0.26,
    "location": 0.2,
    "contact": 0.2,
}
"""How often each domain is: numbers have to be learned, names only copied."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Said in one go: `head`, a value, `tail`; then `plan` is meant, as soon as the value is out.

    `stop`: the sentence may end here, else a comma stands there if anything.
    """

    head: str
    plan: Plan | None
    value: Value | None = None
    tail: str = ""
    stop: bool = True


def draw_request(rng: Random, grammar: Grammar | None = None) -> list[Piece]:
    """One request, in the phrases of a grammar (ReCAST's source by default) and in others."""
    speaker = Speaker(rng, rng.choice((0.0, 0.3, 1.0)), grammar or load_grammar("source"))
    draw = _Draw(rng, speaker, rng.choice((0.4, 0.9)))
    (kind,) = rng.choices(tuple(KINDS), tuple(KINDS.values()))
    (domain,) = rng.choices(tuple(DOMAIN_SHARES), tuple(DOMAIN_SHARES.values()))
    match kind:
        case "plain":
            return draw.plain(domain)
        case "repair":
            return draw.repaired(domain)
        case "two":
            return draw.two(domain)
        case "switch":
            return draw.switched(domain)
        case "abandonment":
            return draw.abandoned(domain)
        case _:
            return draw.nothing()


@dataclass(frozen=True, slots=True)
class _Draw:
    rng: Random
    speaker: Speaker
    known: float

    def plain(self, domain: Domain) -> list[Piece]:
        carrier, value = self.speaker.carrier(domain), self._value(domain)
        plan = _plan(domain, carrier, value)
        pieces = [self._opening(carrier, value, plan), *self._after(carrier, plan)]
        if self.rng.random() < 0.12:
            again = self._piece(carrier.again, value, plan, lead=carrier.restart + ", ")
            pieces += [again, *self._rest(plan, 0.7)]
        return pieces

    def repaired(self, domain: Domain) -> list[Piece]:
        carrier, value = self.speaker.carrier(domain), self._value(domain)
        plan: Plan | None = _plan(domain, carrier, value)
        said = [value]
        if value.partials and self.rng.random() < 0.25:
            # Broken off: the value was never said.
            plan = None
            stem = carrier.opening.format(value=self.rng.choice(value.partials))
            pieces = [Piece(stem, None, stop=False)]
        else:
            pieces = [self._opening(carrier, value, plan)]
            if self.rng.random() < 0.75:
                pieces += self._after(carrier, plan)
        filled = len(pieces) > 1
        for _ in range(self.rng.choice((1, 1, 1, 2))):
            value = self._unlike(domain, *said[-1:])
            said.append(value)
            plan = _plan(domain, carrier, value)
            pieces += self._repair(carrier, value, plan)
        if not filled and self.rng.random() < 0.7:
            pieces.append(Piece(carrier.filler, plan))
        return [*pieces, *self._rest(plan, 0.7)]

    def two(self, domain: Domain) -> list[Piece]:
        carrier = self.speaker.two(domain)
        assert carrier.field is not None
        value, other = self._value(domain), self._value(carrier.field)
        plan = _plan(domain, carrier, value)
        both = _plan(domain, carrier, value, other)
        pieces = [
            self._opening(carrier, value, plan),
            self._piece(carrier.other, other, both, stop=False),
        ]
        if self.rng.random() < 0.8:
            pieces += self._after(carrier, both)
        if self.rng.random() < 0.6:
            if self.rng.random() < 0.8:
                other = self._unlike(carrier.field, other)
                again = carrier.again
            else:
                value = self._unlike(domain, value)
                again = self.speaker.carrier(domain).again.replace("{value}", "{other}")
            both = _plan(domain, carrier, value, other)
            new = other if again is carrier.again else value
            if self.rng.random() < 0.6:
                pieces.append(Piece(self.speaker.edit(), pieces[-1].plan, stop=False))
            pieces.append(self._piece(again, new, both))
        return [*pieces, *self._rest(both, 0.7)]

    def switched(self, domain: Domain) -> list[Piece]:
        pieces = self.plain(domain)
        plan = pieces[-1].plan
        assert plan is not None
        after = {**plan, "tool": ASKED[domain]}
        if self.rng.random() < 0.6:
            pieces.append(Piece(self.speaker.edit(), plan, stop=False))
        pieces.append(Piece(_sentence(self.speaker.switch(domain)), after))
        return [*pieces, *self._rest(after, 0.6)]

    def abandoned(self, domain: Domain) -> list[Piece]:
        pieces = self.plain(domain) if self.rng.random() < 0.8 else self.repaired(domain)
        return [*pieces, Piece(self.speaker.abandonment(), None), *self._rest(None, 0.2)]

    def nothing(self) -> list[Piece]:
        """Sentences without a value, or what a recognizer writes where nothing is said."""
        if self.rng.random() < 0.2:
            text = self.rng.choice(("Thank you.", "you", "Thanks.", "...", "Okay.", "Hmm.", "I"))
            return [Piece(text, None)]
        return [Piece(self.speaker.tail(), None) for _ in range(self.rng.randrange(1, 4))]

    def _repair(self, carrier: Carrier, value: Value, plan: Plan) -> list[Piece]:
        way = self.rng.random()
        again = carrier.again
        if way < 0.15:
            again = carrier.opening
        elif way < 0.25:
            again = "{value}"
        if self.rng.random() < 0.55:
            edit = self.speaker.edit()
            if self.rng.random() < 0.5:
                return [self._piece(again, value, plan, lead=edit + " ")]
            # Pieces are joined by whatever the recognizer hears between them.
            return [Piece(edit, _BEFORE, stop=False), self._piece(again, value, plan)]
        lead = carrier.restart + ", " if self.rng.random() < 0.6 else ""
        return [self._piece(again, value, plan, lead=lead)]

    def _after(self, carrier: Carrier, plan: Plan | None) -> list[Piece]:
        """The request goes on; now and then with a false alarm."""
        pieces = [Piece(carrier.filler, plan)]
        if self.rng.random() < 0.1:
            pieces.insert(0, Piece(self.speaker.um(), plan, stop=False))
        return [*pieces, *self._rest(plan, 0.55)]

    def _rest(self, plan: Plan | None, share: float) -> list[Piece]:
        pieces: list[Piece] = []
        while self.rng.random() < share and len(pieces) < 4:
            text = self.speaker.cue() if self.rng.random() < 0.3 else self.speaker.tail()
            pieces.append(Piece(text, plan))
        return pieces

    def _opening(self, carrier: Carrier, value: Value, plan: Plan | None) -> Piece:
        return self._piece(carrier.opening, value, plan, stop=False)

    def _piece(
        self, pattern: str, value: Value, plan: Plan | None, *, lead: str = "", stop: bool = True
    ) -> Piece:
        head, _, tail = (lead + pattern).replace("{other}", "{value}").partition("{value}")
        return Piece(_sentence(head.strip()), plan, value, tail.strip(), stop)

    def _value(self, domain: Domain) -> Value:
        return draw_value(domain, self.rng, known=self.known)

    def _unlike(self, domain: Domain, *others: Value) -> Value:
        while True:
            value = self._value(domain)
            if all(value.fields != other.fields for other in others):
                return value


_BEFORE: Final[Plan] = {"tool": "", "arguments": {}}
"""Stands for what was meant before."""


def plans(pieces: list[Piece]) -> list[Plan | None]:
    """What is meant after each piece."""
    found: list[Plan | None] = []
    for piece in pieces:
        before = found[-1] if found else None
        found.append(before if piece.plan is _BEFORE else piece.plan)
    return found


def _plan(domain: Domain, carrier: Carrier, *values: Value) -> Plan:
    fields = {name: field for value in values for name, field in value.fields.items()}
    return {"tool": carrier.tool or TOOLS[domain], "arguments": fields}


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
