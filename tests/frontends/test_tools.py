"""Tools are read in the forms that agents have them in, and calls are compared by their fields."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from frontends.tools.catalog import Tool, read_tools
from frontends.tools.plans import canonical_plan, free_text, misfits
from simcore.errors import InputErrors

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("dateutil", reason="needs python-dateutil: pip install 'rassg-sim[gguf]'")

SEARCH: dict[str, Any] = {
    "name": "search_flights",
    "description": "Search flights.",
    "parameters": {
        "type": "object",
        "properties": {
            "destination": {"type": "string"},
            "date": {"type": "string"},
            "seats": {"type": "integer", "default": 1},
            "max_price": {"type": "number"},
            "cabin": {"type": "string", "enum": ["Economy", "Business"]},
            "direct": {"type": "boolean"},
        },
        "required": ["destination"],
    },
}
TOOLS = {
    "search_flights": Tool(
        "search_flights", "", SEARCH["parameters"]["properties"], ("destination",)
    )
}


def one(**arguments: Any) -> Any:
    """The canonical arguments of a single call."""
    plan = canonical_plan([{"tool": "search_flights", "arguments": arguments}], TOOLS)
    assert plan is not None
    return plan[0]["arguments"]


@pytest.mark.parametrize(
    "document",
    [
        [SEARCH],
        {"tools": [SEARCH]},
        [{"type": "function", "function": SEARCH}],
        [{"type": "function", **SEARCH}],
        [{"name": "search_flights", "inputSchema": SEARCH["parameters"]}],
        [{"name": "search_flights", "input_schema": SEARCH["parameters"]}],
    ],
)
def test_every_usual_form_is_the_same_tool(tmp_path: Path, document: Any) -> None:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(document))
    tool = read_tools(file)["search_flights"]
    assert tool.properties == SEARCH["parameters"]["properties"]
    assert tool.required == ("destination",)


def test_references_within_a_schema_are_followed(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"cabin": {"$ref": "#/$defs/Cabin", "default": "Economy"}},
        "$defs": {"Cabin": {"enum": ["Economy", "Business"]}},
    }
    file = tmp_path / "tools.json"
    file.write_text(json.dumps([{"name": "book", "parameters": schema}]))
    assert read_tools(file)["book"].properties == {
        "cabin": {"enum": ["Economy", "Business"], "default": "Economy"}
    }


def test_a_registry_of_signatures(tmp_path: Path) -> None:
    file = tmp_path / "tools_registry.csv"
    file.write_text(
        "tool_id,domain,category,tool_name,signature,description,argument_defaults,"
        "argument_constraints\n"
        '1,car,climate,setHeat,"setHeat(zone: str, level: int, boost=False)",Heat a zone,'
        "zone='all',\"level='0, 1, 2'\"\n"
    )
    (tool,) = read_tools(file).values()
    assert tool.name == "setHeat"
    assert tool.properties == {
        "zone": {"type": "string", "default": "all"},
        "level": {"type": "integer"},
        "boost": {"type": "string", "default": False},
    }
    assert tool.required == ("level",)
    assert "level='0, 1, 2'" in tool.description


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("[{]", "is no JSON"),
        ("{}", "tools are a JSON list"),
        ("[]", "it lists no tools"),
        ('[{"description": "x"}]', "tools[0]: a tool needs the key 'name'"),
        ('[{"name": "a"}, {"name": "a"}]', "tools[1]: a second tool of the name 'a'"),
        ('[{"name": "a", "parameters": {"required": ["b"]}}]', "requires 'b'"),
        (
            '[{"name": "a", "parameters": {"properties": {"b": {"$ref": "#/$defs/B"}}}}]',
            "refers to '#/$defs/B', which is not in it",
        ),
        (
            '[{"name": "a", "parameters": {"properties": {"b": {"$ref": "#/properties/b"}}}}]',
            "refers to itself",
        ),
    ],
)
def test_a_faulty_tools_file(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "tools.json"
    file.write_text(content)
    with pytest.raises(InputErrors) as caught:
        read_tools(file)
    assert message in str(caught.value)
    assert str(file) in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_missing_tools_file(tmp_path: Path) -> None:
    with pytest.raises(InputErrors, match="no such tools file"):
        read_tools(tmp_path / "tools.json")


@pytest.mark.parametrize(
    ("field", "alike"),
    [
        ("max_price", [1200, 1200.0, "1200", "$1,200", "1,200.00"]),
        ("seats", [2, 2.0, "2"]),
        ("date", ["October 7", "Oct 7th", "7 October", "the 7th of October"]),
        ("date", ["2026-10-07", "October 7, 2026"]),
        ("date", ["Friday", "friday", "the Friday"]),
        ("cabin", ["Economy", "economy", "ECONOMY."]),
        ("direct", [True, "true", "Yes"]),
        ("destination", ["Las Vegas", "las  vegas.", "the Las Vegas"]),
        ("destination", ["driver_license", "driver license"]),
    ],
)
def test_what_means_the_same_is_equal(field: str, alike: list[Any]) -> None:
    assert len({json.dumps(one(**{field: value})) for value in alike}) == 1


@pytest.mark.parametrize(
    ("field", "one_value", "other_value"),
    [
        ("max_price", 1200, 120),
        ("date", "October 7", "October 5"),
        ("date", "October 7", "2026-10-07"),
        ("date", "Friday", "Saturday"),
        ("destination", "gate 1.5", "gate 15"),
        ("destination", "Miami", "Boston"),
        ("cabin", "Economy", "First"),
        ("direct", True, False),
    ],
)
def test_what_differs_stays_different(field: str, one_value: Any, other_value: Any) -> None:
    assert one(**{field: one_value}) != one(**{field: other_value})


def test_a_default_and_its_absence_are_the_same() -> None:
    assert one(destination="Miami", seats=1) == one(destination="Miami")
    assert one(destination="Miami", seats=2) != one(destination="Miami")


def test_a_reference_stays_as_it_is() -> None:
    reference = "$RESULT_0.Products[0].product_id"
    assert one(destination=reference, max_price="$RESULT_1.price") == {
        "destination": reference,
        "max_price": "$RESULT_1.price",
    }


def test_no_calls_are_no_plan() -> None:
    assert canonical_plan([], TOOLS) is None


def test_gold_that_does_not_fit_is_told_and_kept() -> None:
    calls = [
        {"tool": "search_flight", "arguments": {}},
        {"tool": "search_flights", "arguments": {"destinatoin": "Miami", "seats": "two"}},
        {"tool": "search_flights", "arguments": {"destination": "$RESULT_0.city"}},
    ]
    assert misfits(calls, TOOLS) == [
        "call 0: unknown tool 'search_flight'; did you mean 'search_flights'?",
        "call 1: 'search_flights' has no argument 'destinatoin'; did you mean 'destination'?",
        "call 1: 'seats' of 'search_flights' is 'two', which is no integer",
        "call 1: 'search_flights' lacks the argument 'destination'",
    ]
    plan = canonical_plan(calls, TOOLS)
    assert plan is not None
    assert plan[1]["arguments"] == {"destinatoin": "miami", "seats": "two"}


SIMPLE = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(["$RESULT_0.a[1]", "Oct 7th", "3 pm", "1e999", "-1,5", "true", "economy"])
)
VALUES = SIMPLE | st.lists(SIMPLE, max_size=2) | st.dictionaries(st.text(), SIMPLE, max_size=2)


@settings(deadline=None)
@example(arguments={"date": 510501})
@example(arguments={"max_price": "0\x08"})
@given(st.dictionaries(st.sampled_from(sorted(TOOLS["search_flights"].properties)), VALUES))
def test_canonical_form_is_final(arguments: dict[str, Any]) -> None:
    once = one(**arguments)
    assert one(**once) == once
    misfits([{"tool": "search_flights", "arguments": arguments}], TOOLS)
    json.dumps(once, allow_nan=False)


@given(st.text())
def test_free_text_is_final(text: str) -> None:
    assert free_text(free_text(text)) == free_text(text)
