"""The random requests that the small parser learns from."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import pytest

from frontends.parsing.lexicon import Lexicon
from frontends.parsing.qwen.phrases import Speaker
from frontends.parsing.qwen.requests import Piece, draw_request, plans
from frontends.parsing.qwen.values import Value, draw_value, spelled
from frontends.parsing.qwen.written import write
from frontends.recast.grammar import DOMAINS, load_grammar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from frontends.recast.grammar import Domain

pytest.importorskip("text_to_num", reason="needs the extra 'speech'")


def plain(text: str) -> str:
    return " ".join(re.findall(r"[a-z']+", text.lower()))


def whole_texts(count: int) -> list[str]:
    rng = Random("whole")
    return [plain(write(draw_request(rng), rng, 0)[0].text) for _ in range(count)]


def phrases_of_the_test() -> Iterator[str]:
    """What only the test says; of requests, the words before the value."""
    grammar = load_grammar("test")
    for domain in DOMAINS:
        for carrier in (*grammar.carriers[domain], *grammar.two[domain]):
            yield carrier.opening.partition("{value}")[0]
            yield carrier.filler
        yield from (switch.text for switch in grammar.switch[domain])
    yield from (edit.text for edit in (*grammar.edits, *grammar.abandon) if not edit.seen)
    yield from (*grammar.cues, *grammar.tails)


def test_nothing_that_only_the_test_says_is_learned() -> None:
    texts = whole_texts(4_000)
    assert len(set(texts)) > 3_800
    for phrase in map(plain, phrases_of_the_test()):
        # A verb alone is no phrase: of those, the next test asks.
        assert " " not in phrase or not any(phrase in text for text in texts), phrase


def test_no_request_of_the_test_is_learned() -> None:
    speaker = Speaker(Random(6), 0.3, load_grammar("source"))
    grammar = load_grammar("test")
    for domain in DOMAINS:
        learned = {plain(speaker.carrier(domain).opening) for _ in range(2_000)}
        assert len(learned) > 500
        for carrier in (*grammar.carriers[domain], *grammar.two[domain]):
            assert plain(carrier.opening) not in learned


def test_the_same_stream_writes_the_same() -> None:
    def drawn() -> list[object]:
        rng = Random(5)
        return [write(draw_request(rng), rng, 6) for _ in range(50)]

    assert drawn() == drawn()


@pytest.mark.parametrize("domain", ["time", "amount"])
def test_a_value_is_written_so_that_the_lexicon_reads_it(domain: Domain) -> None:
    rng, lexicon = Random(3), Lexicon()
    read = 0
    for _ in range(400):
        value = draw_value(domain, rng, known=0.9)
        words = f"book it at {value.text} please".split()
        argument = lexicon.parse(words, domain).argument
        assert argument is None or isinstance(argument, dict)
        read += argument is not None and argument["arguments"] == value.fields
    # The rest is what recognizers make of times, such as "9 45 in the morning", or "midnight".
    assert read > 0.9 * 400


@pytest.mark.parametrize("domain", ["location", "contact"])
def test_a_name_is_spelled_in_the_call_as_in_the_text(domain: Domain) -> None:
    rng = Random(4)
    values = [draw_value(domain, rng, known=0.5) for _ in range(300)]
    spelled_alike = sum(value.text.endswith(value.fields[domain]) for value in values)
    assert 0.95 * 300 < spelled_alike < 300  # some known ones are misheard
    assert len({value.fields[domain] for value in values}) > 150


def test_numbers_in_words() -> None:
    assert [spelled(n) for n in (0, 13, 40, 99, 100, 1_500, 2_345)] == [
        "zero",
        "thirteen",
        "forty",
        "ninety nine",
        "one hundred",
        "one thousand five hundred",
        "two thousand three hundred forty five",
    ]


def test_a_call_is_meant_as_soon_as_its_value_is_out() -> None:
    three, four = {"tool": "book", "arguments": {}}, {"tool": "book", "arguments": {"time": "x"}}
    pieces = [
        Piece("A table at", three, Value("3 p.m.", ("3",), {}), "tonight", stop=False),
        Piece("Please.", three),
        Piece("No, at", four, Value("4 p.m.", ("4 p",), {})),
    ]
    seen: dict[str, object] = {}
    for seed in range(300):
        whole, beginnings = write(pieces, Random(seed), 20)
        for prefix in (whole, *beginnings):
            seen[plain_number(prefix.text)] = prefix.plan
    assert seen["a table at"] is None
    assert seen["a table at 3"] is None
    assert seen["a table at 3 p m"] == three
    assert seen["a table at 3 p m tonight please no at"] == three
    assert seen["a table at 3 p m tonight please no at 4 p"] == three
    assert seen["a table at 3 p m tonight please no at 4 p m"] == four
    assert plans(pieces) == [three, three, four]


def plain_number(text: str) -> str:
    return " ".join(re.findall(r"[a-z0-9']+", text.lower()))
