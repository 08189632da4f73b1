"""The lexicon parser: one value however it is said, the last one wins, words that carry it."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from frontends.parsing.lexicon import DOMAINS, Lexicon
from frontends.recast.grammar import draw_value, load_grammar
from frontends.recast.recipe import GROUPS, Item
from simcore.errors import InputError, UsageError

pytest.importorskip("text_to_num", reason="needs text2num: pip install 'rassg-sim[speech]'")

LEXICON = Lexicon()
NUMBERS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
ONES = NUMBERS.split(" ")
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def value(text: str, domain: str) -> dict[str, str] | None:
    argument = LEXICON.parse(text.split(), domain).argument
    assert argument is None or isinstance(argument, dict)
    return None if argument is None else argument["arguments"]


def time(text: str) -> str | None:
    found = value(text, "time")
    return None if found is None else found["time"]


def spell(number: int) -> str:
    if number < 20:
        return ONES[number]
    if number < 100:
        rest = number % 10
        return TENS[number // 10 - 2] + (f" {ONES[rest]}" if rest else "")
    if number < 1000:
        rest = number % 100
        return f"{ONES[number // 100]} hundred" + (f" {spell(rest)}" if rest else "")
    rest = number % 1000
    return f"{spell(number // 1000)} thousand" + (f" {spell(rest)}" if rest else "")


@pytest.mark.parametrize(
    "text",
    [
        "at 3pm",
        "at 3 p.m.",
        "at 3 P.M.,",
        "three o'clock",
        "at three",
        "15:00",
        "3:00 pm",
        "3.00 p.m.",
        "three in the afternoon",
        "at 3 this afternoon.",
    ],
)
def test_three_in_the_afternoon(text: str) -> None:
    assert time(text) == "15:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("half past four", "16:30"),
        ("a quarter past nine in the evening", "21:15"),
        ("quarter to five p.m.", "16:45"),
        ("ten to six p.m.", "17:50"),
        ("at 930 in the morning", "09:30"),
        ("seven oh five a.m.", "07:05"),
        ("noon", "12:00"),
        ("at midnight", "00:00"),
        ("12:15 a.m.", "00:15"),
        ("at 1120A. M. under my name", "11:20"),
        ("at 4p m", "16:00"),
        ("twelve thirty p.m.", "12:30"),
        ("at 8:30 tonight", "20:30"),
        ("a table for eight people at nine", "09:00"),
        ("in five minutes", None),
        ("for two people", None),
        ("half past", None),
        ("p.m.", None),
    ],
)
def test_times(text: str, expected: str | None) -> None:
    assert time(text) == expected


@given(st.integers(0, 23), st.integers(0, 59))
def test_a_time_is_one_value_in_every_style(hour: int, minute: int) -> None:
    expected = f"{hour:02}:{minute:02}"
    twelve, half = hour % 12 or 12, "am" if hour < 12 else "pm"
    dotted = f"{half[0]}.m."
    styles = [
        expected,
        f"{twelve}:{minute:02}{half}",
        f"at {twelve}:{minute:02} {dotted}",
        f"{twelve}.{minute:02} {dotted.upper()}",
        f"{twelve}{minute:02} {dotted}",
    ]
    if minute == 0:
        styles += [
            f"{twelve}{half}",
            f"{spell(twelve)} {dotted}",
            f"{spell(twelve)} o'clock {half}",
        ]
    elif minute < 10:
        styles.append(f"{spell(twelve)} oh {spell(minute)} {dotted}")
    else:
        styles.append(f"{spell(twelve)} {spell(minute)} {dotted}")
    if minute == 30:
        styles.append(f"half past {spell(twelve)} {dotted}")
    assert {style: time(style) for style in styles} == dict.fromkeys(styles, expected)


@given(st.integers(1, 99_999))
def test_an_amount_is_one_value_in_every_style(amount: int) -> None:
    expected = {"amount": f"{amount}.00", "currency": "USD"}
    styles = [
        f"${amount}",
        f"${amount:,}.",
        f"$ {amount}.00",
        f"{amount} dollars",
        f"{amount:,} bucks,",
        f"{spell(amount)} dollars",
        f"{spell(amount).replace(' hundred ', ' hundred and ')} dollars",
    ]
    assert {style: value(style, "amount") for style in styles} == dict.fromkeys(styles, expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("85 euros and 50 cents", ("85.50", "EUR")),
        ("2 thousand pounds", ("2000.00", "GBP")),
        ("$1.5 million", ("1500000.00", "USD")),
        ("a hundred dollars", ("100.00", "USD")),
        ("twenty five", None),
    ],
)
def test_amounts(text: str, expected: tuple[str, str] | None) -> None:
    found = value(text, "amount")
    assert (None if found is None else (found["amount"], found["currency"])) == expected


@pytest.mark.parametrize(
    ("text", "domain", "expected"),
    [
        ("to the Harbour, please.", "location", "harbor"),
        ("the Children's Hospital", "location", "children's hospital"),
        ("near Oak Street.", "location", "oak street"),
        ("call Sara", "contact", "sarah"),
        ("Anna's number", "contact", "anna"),
        ("call Annabel", "contact", None),
    ],
)
def test_names(text: str, domain: str, expected: str | None) -> None:
    found = value(text, domain)
    assert (found and found[domain]) == expected


def test_the_last_value_wins_and_names_its_words() -> None:
    words = ["a", "table", "at", "3", "p.m.", "no", "wait,", "at", "4", "p.m.", "please"]
    parsed = LEXICON.parse(words, "time")
    assert parsed.argument == {"tool": "book", "arguments": {"time": "16:00"}}
    assert [words[index] for index in parsed.words] == ["4", "p.m."]


def test_without_a_domain_the_last_value_of_any_wins() -> None:
    words = ["call", "Anna", "at", "three", "and", "send", "her", "two", "hundred", "dollars"]
    parsed = LEXICON.parse(words)
    assert parsed.argument == {
        "tool": "transfer",
        "arguments": {"amount": "200.00", "currency": "USD", "contact": "anna"},
    }
    assert parsed.words == (1, 7, 8, 9)


@given(st.lists(st.text(max_size=8), max_size=12), st.sampled_from([None, *DOMAINS]))
def test_any_words_parse_to_indices_within_them(words: list[str], domain: str | None) -> None:
    parsed = LEXICON.parse(words, domain)
    assert all(0 <= index < len(words) for index in parsed.words)
    assert (parsed.argument is None) == (not parsed.words)


@pytest.mark.parametrize("side", ["source", "test"])
def test_nothing_but_a_value_parses_to_one(side: str) -> None:
    grammar = load_grammar(side)  # type: ignore[arg-type]
    for domain in DOMAINS:
        carriers = (*grammar.carriers[domain], *grammar.two[domain])
        texts = [
            text for c in carriers for text in (c.filler, c.restart, c.opening.format(value=""))
        ]
        phrases = [edit.text for edit in (*grammar.edits, *grammar.abandon)]
        for text in (*texts, *phrases, *grammar.tails, *grammar.cues, *grammar.fillers):
            assert LEXICON.parse(text.split(), domain).argument is None, text


def test_every_value_of_the_grammar_is_known() -> None:
    rng = Random(0)
    for domain in DOMAINS:
        for _ in range(200):
            spoken = draw_value(domain, rng)
            parsed = LEXICON.parse(spoken.text.split(), domain).argument
            assert parsed is not None, spoken
            assert parsed["arguments"] == spoken.fields  # type: ignore[call-overload]


@pytest.mark.parametrize("subset", [name for name in GROUPS if name != "abandonment"])
def test_what_is_said_parses_to_what_is_meant(subset: str) -> None:
    """The texts as they were written: what a recognizer makes of them is another matter."""
    for index in range(16):
        script = Item("train", subset, index).script()
        for variant in script.variants:
            spans = (*script.shared, *variant.spans)
            said = [word for span in spans for text in span.texts for word in text.split()]
            assert LEXICON.parse(said, script.domain).argument == variant.target, said


def test_an_unknown_domain_is_named() -> None:
    with pytest.raises(UsageError, match="unknown domain 'tme'; did you mean 'time'"):
        LEXICON.parse(["hello"], "tme")


def test_a_lexicon_of_ones_own(tmp_path) -> None:  # type: ignore[no-untyped-def]
    own = tmp_path / "own.toml"
    own.write_text('[location]\ntool = "go"\n[location.names]\n"pier nine" = ["pier 9"]\n')
    parsed = Lexicon(own).parse(["take", "me", "to", "pier", "9."], "location")
    assert parsed.argument == {"tool": "go", "arguments": {"location": "pier nine"}}
    assert Lexicon(own).parse(["Anna"], "contact").argument is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[locaton]\ntool = "go"\n', "unknown domain 'locaton'; did you mean 'location'"),
        ("[location", "is no TOML file"),
    ],
)
def test_a_faulty_lexicon_is_one_clear_line(tmp_path, content: str, message: str) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "own.toml"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        Lexicon(file).parse(["hello"])


def test_words_that_ask_for_another_tool() -> None:
    said = ["meet", "me", "at", "three", "p.m.", "actually", "just", "make", "it", "a", "reminder"]
    parsed = LEXICON.parse(said, "time")
    assert parsed.argument == {"tool": "remind", "arguments": {"time": "15:00"}}
    assert [said[index] for index in parsed.words] == ["three", "p.m.", "reminder"]


def test_a_call_has_the_other_field_where_it_is_mentioned() -> None:
    said = ["pay", "20", "dollars", "to", "Anna,", "no,", "to", "Peter"]
    assert LEXICON.parse(said[:3], "amount").argument == {
        "tool": "transfer",
        "arguments": {"amount": "20.00", "currency": "USD"},
    }
    parsed = LEXICON.parse(said, "amount").argument
    assert parsed == {
        "tool": "transfer",
        "arguments": {"amount": "20.00", "currency": "USD", "contact": "peter"},
    }
    assert LEXICON.parse(["to", "Anna"], "amount").argument is None


@pytest.mark.parametrize("phrase", ["never mind.", "Forget it!", "no, cancel that"])
def test_a_request_is_taken_back_until_a_value_is_said_again(phrase: str) -> None:
    said = f"call Anna, {phrase}".split()
    assert LEXICON.parse(said, "contact").argument is None
    assert LEXICON.parse(said, None).argument is None
    again = LEXICON.parse([*said, "call", "Peter"], "contact").argument
    assert again == {"tool": "contact", "arguments": {"contact": "peter"}}
