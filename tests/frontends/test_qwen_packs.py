"""ReCAST read by another parser: what is right, packs, the table of accuracy, and the commands."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from frontends.models import digest_of
from frontends.parsing.lexicon import Lexicon
from frontends.parsing.qwen import shipped
from frontends.parsing.qwen.accuracy import Subject, accuracy, markdown
from frontends.parsing.qwen.commands import app, train_app
from frontends.parsing.qwen.faults import fault
from frontends.parsing.qwen.variant import with_gold, write_variant
from frontends.protocol import Parsed
from frontends.recast.packs import parse_record
from frontends.recast.record import read_records, write_records
from frontends.tools.catalog import read_tools
from frontends.tools.plans import canonical_plan
from simcore.errors import InputError, MissingError, UsageError
from simcore.files.traces import read_traces, shipped_scenarios

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from frontends.parsing.gguf.parser import Gguf
    from frontends.recast.record import Record

pytest.importorskip("text_to_num", reason="needs the extra 'speech'")
pytest.importorskip("dateutil", reason="needs the extra 'gguf'")

DECODES = shipped_scenarios() / "packs" / "recast" / "dev-selection.decodes.parquet"
TOOLS = read_tools(shipped.TOOLS)


@dataclass
class Plans:
    """The lexicon's calls as plans in canonical form; each parse takes 2 ms."""

    texts: list[str] = field(default_factory=list)

    def describe(self) -> Mapping[str, Any]:
        return {"name": "plans"}

    def parse(self, words: Sequence[str], domain: str | None = None) -> Parsed:
        self.texts.append(" ".join(words))
        found = Lexicon().parse(words, domain)
        argument = found.argument
        calls = argument if isinstance(argument, list) or argument is None else [argument]
        return Parsed(calls and canonical_plan(calls, TOOLS), found.words, 2_000)


@pytest.fixture(scope="module")
def records() -> list[Record]:
    return read_records(DECODES)[:24]


def test_what_is_right_is_brought_into_the_form_of_the_tools(records: list[Record]) -> None:
    columns = records[0].columns | {
        "target": {"tool": "navigate", "arguments": {"location": "children's hospital"}},
        "values": [
            {"argument": {"tool": "book", "arguments": {"time": "9:30"}}, "available_us": 7}
        ],
    }
    made = with_gold(replace(records[0], columns=columns), TOOLS).columns
    assert made["target"] == [{"tool": "navigate", "arguments": {"location": "childrens hospital"}}]
    assert made["values"] == [
        {"argument": [{"tool": "book", "arguments": {"time": "09:30"}}], "available_us": 7}
    ]
    nothing = replace(records[0], columns=columns | {"target": None, "values": []})
    assert with_gold(nothing, TOOLS).columns["target"] is None


def test_a_pack_of_another_parser_has_the_same_speech(
    records: list[Record], tmp_path: Path
) -> None:
    path = tmp_path / "dev.parquet"
    made = {"recipe": "recast", "parser": {"name": "lexicon"}}
    (line,) = write_variant(path, records, Plans(), TOOLS, made)
    assert "24 recordings, the final parse is right in" in line
    recordings = read_traces(path)
    assert [r.recording_id for r in recordings] == [r.recording_id for r in records]
    right = sum(r.arrivals[-1].argument == r.target for r in recordings)
    assert right >= 20
    services = [arrival.service_us for arrival in recordings[0].arrivals]
    decodes = records[0].service_us
    # A text that is new takes its parse as well.
    assert services[0] == decodes[0] + 2_000
    assert all(s - d in (0, 2_000) for s, d in zip(services, decodes, strict=True))
    provenance = json.loads(path.with_suffix(".provenance.json").read_text())
    assert provenance["parser"] == {"name": "plans"}
    assert provenance["recipe"] == "recast"


def test_accuracy_is_the_same_for_the_same_calls(records: list[Record]) -> None:
    subjects = (Subject("lexicon", Lexicon()), Subject("plans", Plans(), TOOLS))
    found = accuracy(records, subjects)
    assert {row["of"] for row in found.rows} == {
        *("all", "kind", "subset", "editing", "voice", "domain")
    }
    whole = found.rows[0]
    assert whole["recordings"] == 24
    assert 0.8 < whole["lexicon final"] <= 1
    for row in found.rows:
        for what in ("final", "prefixes", "wrong changes"):
            assert row[f"lexicon {what}"] == row[f"plans {what}"]
    assert found.parse_ms["plans"] == pytest.approx(2)
    text = markdown(found)
    assert "| with a repair |" in text
    assert "A parse by plans takes 2.0 ms" in text
    assert found.faults["plans"] == found.faults["lexicon"]
    wrong = round(24 * (1 - whole["lexicon final"]))
    assert found.faults["lexicon"].total() == wrong
    assert "| another value |" in text


@pytest.mark.parametrize(
    ("parsed", "meant", "expected"),
    [
        (None, None, None),
        ('[{"arguments":{},"tool":"book"}]', '[{"arguments":{},"tool":"book"}]', None),
        (None, '{"arguments":{},"tool":"book"}', "nothing for a call"),
        ('{"arguments":{},"tool":"book"}', None, "a call for nothing"),
        ('{"arguments":{},"tool":"book"}', '{"arguments":{"a":1},"tool":"pay"}', "another tool"),
        ('{"arguments":{},"tool":"book"}', '{"arguments":{"a":1},"tool":"book"}', "other fields"),
        (
            '[{"arguments":{"a":2},"tool":"book"}]',
            '[{"arguments":{"a":1},"tool":"book"}]',
            "another value",
        ),
    ],
)
def test_how_a_parse_is_wrong(parsed: str | None, meant: str | None, expected: str | None) -> None:
    assert fault(parsed, meant) == expected


def invoke(application: Any, *arguments: str) -> Any:
    return CliRunner().invoke(application, arguments)


def test_decodes_that_are_not_there(tmp_path: Path) -> None:
    result = invoke(app, "accuracy", "recast/dev-selektion")
    assert isinstance(result.exception, InputError)
    assert "did you mean 'recast/dev-selection'" in str(result.exception)
    assert "\n" not in str(result.exception)


def test_a_model_that_is_not_there(records: list[Record], tmp_path: Path) -> None:
    path = tmp_path / "few.decodes.parquet"
    write_records(path, records[:2])
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    result = invoke(app, "accuracy", str(path), "--model", "none.gguf")
    assert isinstance(result.exception, MissingError)
    assert "there is no model file 'none.gguf'" in str(result.exception)


def test_torch_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    result = invoke(train_app, "--work", str(tmp_path))
    assert isinstance(result.exception, MissingError)
    assert "pip install 'rassg-sim[train]'" in str(result.exception)


def test_a_package_is_missed_before_hours_of_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("torch", "tokenizers", "safetensors"):
        pytest.importorskip(package, reason="needs the extra 'train'")
    monkeypatch.setitem(sys.modules, "gguf", None)
    result = invoke(train_app, "--work", str(tmp_path / "work"))
    assert isinstance(result.exception, MissingError)
    assert "needs the package gguf" in str(result.exception)
    assert not (tmp_path / "work").exists()


def test_a_model_is_a_gguf_file(tmp_path: Path) -> None:
    for package in ("torch", "tokenizers", "safetensors", "gguf"):
        pytest.importorskip(package, reason="needs the extra 'train'")
    result = invoke(train_app, "--work", str(tmp_path / "work"), "--out", "model.json")
    assert isinstance(result.exception, UsageError)
    assert "not 'model.json'" in str(result.exception)


def test_nothing_is_left_to_learn_from(tmp_path: Path) -> None:
    for package in ("torch", "tokenizers", "safetensors", "gguf"):
        pytest.importorskip(package, reason="needs the extra 'train'")
    result = invoke(train_app, "--work", str(tmp_path / "work"), "--held-out", "1")
    assert isinstance(result.exception, UsageError)
    assert "leaves nothing to learn from" in str(result.exception)
    assert not (tmp_path / "work").exists()


def test_the_shipped_model_has_its_record_and_is_small() -> None:
    from hashlib import sha256

    record = json.loads(shipped.RECORD.read_text())
    assert record["model"]["sha256"] == sha256(shipped.MODEL.read_bytes()).hexdigest()
    assert shipped.MODEL.stat().st_size < 25_000_000


@pytest.fixture
def qwen() -> Iterator[Gguf]:
    """The shipped model, by its name."""
    pytest.importorskip("llama_cpp", reason="needs llama-cpp-python")
    from frontends.parsing.gguf import parser as parsing

    yield parsing.Gguf(Path(shipped.NAME), shipped.TOOLS, context=shipped.CONTEXT)
    parsing._session.cache_clear()


def test_the_shipped_model_parses_by_its_name(qwen: Gguf) -> None:
    found = [
        qwen.parse(text.split()).argument
        for text in (
            "Please book a table",
            "Please book a table for 3 p.m. out on the terrace.",
            "Please book a table for 3 p.m. out on the terrace. No wait, for 4.30 p.m.",
        )
    ]
    assert found == [
        None,
        [{"tool": "book", "arguments": {"time": "15:00"}}],
        [{"tool": "book", "arguments": {"time": "16:30"}}],
    ]


PARTS = ("train", "dev-selection", "dev-calibration", "test")


@pytest.mark.parametrize("part", PARTS)
def test_the_shipped_packs_are_the_same_speech_read_by_the_shipped_model(part: str) -> None:
    packs = shipped_scenarios() / "packs"
    path = packs / "recast-qwen" / f"{part}.parquet"
    made = json.loads(path.with_suffix(".provenance.json").read_text())
    assert made["parser"]["sha256"] == digest_of(shipped.MODEL)
    pairs = list(zip(read_traces(path), read_traces(packs / "recast" / path.name), strict=True))
    for mine, lexicons in pairs:
        assert mine.recording_id == lexicons.recording_id
        assert [a.text for a in mine.arrivals] == [a.text for a in lexicons.arrivals]
        assert [v.available_us for v in mine.values] == [v.available_us for v in lexicons.values]
    if part != "train":
        checkpoints = {f.checkpoint for mine, _ in pairs for f in mine.forecasts}
        assert checkpoints == {"hazard", "gru-0", "gru-1", "gru-2"}


def test_the_shipped_model_still_reads_what_it_read_for_the_packs(qwen: Gguf) -> None:
    path = shipped_scenarios() / "packs" / "recast-qwen" / "dev-selection.parquet"
    kept = {recording.recording_id: recording for recording in read_traces(path)}
    for record in read_records(DECODES)[:8]:
        again = parse_record(with_gold(record, TOOLS), qwen)
        before = kept[again.recording_id]
        assert [a.argument for a in again.arrivals] == [a.argument for a in before.arrivals]
        assert again.target == before.target
