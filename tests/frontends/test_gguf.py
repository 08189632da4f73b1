"""The GGUF parser, through the real llama.cpp, with a small model that speaks nonsense."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from frontends.parsing.gguf import parser as parsing
from frontends.parsing.gguf.parser import Gguf
from frontends.parsing.gguf.schema import plan_schema
from frontends.tools.catalog import read_tools
from simcore.errors import MissingError

from .qwen2 import write_qwen2

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from frontends.protocol import Parsed

pytest.importorskip(
    "llama_cpp", reason="needs llama-cpp-python: pip install 'rassg-sim[gguf]' (it compiles)"
)
pytest.importorskip("dateutil", reason="needs python-dateutil: pip install 'rassg-sim[gguf]'")

TOOLS = [
    {
        "name": "search_flights",
        "description": "Search for flights.",
        "parameters": {
            "type": "object",
            "properties": {
                "destination": {"type": "string"},
                "date": {"type": "string"},
                "seats": {"type": "integer"},
                "stops": {"type": "array", "items": {"type": "string"}},
                "cabin": {"enum": ["Economy", "Business"]},
                "extras": {
                    "type": "object",
                    "properties": {"meal": {"type": ["string", "null"]}},
                    "required": ["meal"],
                },
            },
            "required": ["destination", "date"],
        },
    },
    {"name": "track_order", "parameters": {"properties": {"order": {"type": "string"}}}},
    {"name": "stop", "description": "Stop all of it."},
]
TEXTS = (
    "Looking at flights",
    "Looking at flights to Miami on October 5th",
    "Looking at flights to Miami on October 5th, wait, make it the 7th",
    "Track the order GG5",
    "7 please",
    "«Grüße»",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_qwen2(tmp_path_factory.mktemp("model") / "qwen2.gguf")


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tools") / "tools.json"
    file.write_text(json.dumps(TOOLS))
    return file


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    """No model is left loaded from another test."""
    parsing._session.cache_clear()
    yield
    parsing._session.cache_clear()


def parse(parser: Gguf, text: str) -> Parsed:
    return parser.parse(text.split())


def test_every_answer_is_a_plan_of_these_tools(model: Path, tools: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    parser = Gguf(model, tools, context=2048)
    session = parsing._session(parser)
    schema = plan_schema(read_tools(tools), parser.most_calls)
    answers = [session.model.answer(session.prompt(text), session.grammar) for text in TEXTS]
    for answer, service in answers:
        jsonschema.validate(json.loads(answer, strict=False), schema)
        assert service > 0
    assert len({answer for answer, _ in answers}) > 1
    for text in TEXTS:
        json.dumps(parse(parser, text).argument, ensure_ascii=False).encode()


def test_a_parse_depends_on_its_words_alone(model: Path, tools: Path) -> None:
    parser = Gguf(model, tools, context=2048)
    forwards = [replace(parse(parser, text), service_us=0) for text in TEXTS]
    backwards = [replace(parse(parser, text), service_us=0) for text in reversed(TEXTS)]
    assert forwards == backwards[::-1]
    parsing._session.cache_clear()
    assert replace(parse(parser, TEXTS[2]), service_us=0) == forwards[2]


def test_the_prompt_is_evaluated_once_up_to_the_transcript(
    model: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parser = Gguf(model, tools, context=2048)
    session = parsing._session(parser)
    llama = session.model._llama
    evaluated: list[int] = []
    original = llama.eval

    def count(tokens: Any) -> None:
        evaluated.append(len(tokens))
        original(tokens)

    monkeypatch.setattr(llama, "eval", count)
    for text in TEXTS:
        evaluated.clear()
        parse(parser, text)
        prompt = session.prompt(text)
        assert len(session.model._held) > 250
        # What two transcripts share is evaluated again, or an answer's time would depend on others.
        assert evaluated[0] == len(prompt) - len(session.model._held)
        # The model is asked again for each token of its answer only.
        assert set(evaluated[1:]) <= {1}


def test_the_models_own_template_is_used(tmp_path: Path, tools: Path) -> None:
    file = write_qwen2(tmp_path / "own.gguf", template="BEGIN {{ messages[0].content }} END")
    session = parsing._session(Gguf(file, tools, context=2048))
    text = session.model._llama.detokenize(session.prompt("track my order")).decode()
    assert text.startswith("BEGIN ")
    assert text.endswith("track my order END")
    assert "search_flights(destination: string, date: string, seats?: integer" in text


def test_nothing_said_is_no_plan_and_takes_no_time(model: Path, tools: Path) -> None:
    parsed = Gguf(model, tools).parse([])
    assert (parsed.argument, parsed.words, parsed.service_us) == (None, (), 0)


def answering(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr("frontends.parsing.gguf.model.Model.answer", lambda *_: (answer, 5))


def test_a_plan_is_canonical_and_knows_its_words(
    model: Path, tools: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = [
        {"tool": "search_flights", "arguments": {"destination": "Miami.", "date": "October 7"}},
        {"tool": "track_order", "arguments": {"order": "$RESULT_0.flights[0].id"}},
    ]
    answering(monkeypatch, json.dumps(calls))
    parsed = parse(Gguf(model, tools, context=2048), "flights to Miami, on 10 07 flights id")
    assert parsed.argument == [
        {"tool": "search_flights", "arguments": {"destination": "miami", "date": "--10-07"}},
        {"tool": "track_order", "arguments": {"order": "$RESULT_0.flights[0].id"}},
    ]
    assert parsed.words == (2, 4, 5)
    assert parsed.service_us == 5


@pytest.mark.parametrize("answer", ["[]", '[{"tool": "stop", "argum'])
def test_no_call_and_an_answer_that_is_cut_off_are_no_plan(
    model: Path, tools: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    answering(monkeypatch, answer)
    assert parse(Gguf(model, tools, context=2048), "stop").argument is None


def test_another_model_setting_or_tool_is_another_parse(
    model: Path, tools: Path, tmp_path: Path
) -> None:
    others = tmp_path / "tools.json"
    others.write_text(json.dumps(TOOLS[:1]))
    other_model = write_qwen2(tmp_path / "other.gguf", seed=8)
    described = [
        json.dumps(parser.describe())
        for parser in (
            Gguf(model, tools),
            Gguf(other_model, tools),
            Gguf(model, others),
            Gguf(model, tools, context=1024),
            Gguf(model, tools, most_calls=1),
        )
    ]
    assert len(set(described)) == len(described)


def fails(parser: Gguf, text: str | None = None) -> str:
    """What parsing says; without a text, what is known before anything is parsed."""
    with pytest.raises(MissingError) as caught:
        parser.check() if text is None else parse(parser, text)
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_model_that_is_missing_or_no_model(model: Path, tools: Path, tmp_path: Path) -> None:
    assert "there is no model file" in fails(Gguf(tmp_path / "none.gguf", tools))
    text = tmp_path / "text.gguf"
    text.write_text("not a model")
    assert "is no GGUF file" in fails(Gguf(text, tools))
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(model.read_bytes()[:100_000])
    assert "cannot be loaded" in fails(Gguf(cut, tools))


def test_a_model_without_a_chat_template(tools: Path, tmp_path: Path) -> None:
    file = write_qwen2(tmp_path / "base.gguf", template=None)
    assert "has no chat template" in fails(Gguf(file, tools))


def test_a_template_that_fails(tools: Path, tmp_path: Path) -> None:
    file = write_qwen2(tmp_path / "odd.gguf", template="{{ raise_exception('no users') }}")
    assert "chat template fails: no users" in fails(Gguf(file, tools))


def test_more_than_the_context_holds(model: Path, tools: Path) -> None:
    assert "more than the context of 512" in fails(Gguf(model, tools, context=512))
    # The model was trained on 2,048.
    assert "more than the context of 2,048" in fails(Gguf(model, tools), "really " * 1500)


def test_more_tools_than_a_grammar_holds(model: Path, tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    fields = {f"field_{i}": {"enum": [f"choice {j} of {i}" for j in range(60)]} for i in range(60)}
    file.write_text(
        json.dumps([{"name": f"tool_{i}", "parameters": {"properties": fields}} for i in range(9)])
    )
    assert "the tools' schema is too large" in fails(Gguf(model, file))


def test_the_package_is_missing(model: Path, tools: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    assert "pip install 'rassg-sim[gguf]'" in fails(Gguf(model, tools))
