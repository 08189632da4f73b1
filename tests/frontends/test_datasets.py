"""Released data sets are read as they lie on disk, with the oddities of their gold."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from frontends.datasets.audio2tool import TIER, read_audio2tool
from frontends.datasets.fdb_v3 import read_fdb_v3
from frontends.datasets.loaders import find_tools, read_folder
from frontends.tools.catalog import read_tools
from simcore.errors import InputErrors, UsageError

from .fakes import noise, wav

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("dateutil", reason="needs python-dateutil: pip install 'rassg-sim[gguf]'")

TOOLS = [
    {
        "name": "search",
        "parameters": {"properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
    {
        "name": "buy",
        "parameters": {
            "properties": {"item": {"type": "string"}, "count": {"type": "integer", "default": 1}}
        },
    },
]


@pytest.fixture
def tools_file(tmp_path: Path) -> Path:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    return file


def fdb(root: Path, name: str, calls: Any, **row: Any) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    wav(folder / "input.wav", noise(0.1))
    example = name.rpartition("_")[0]
    (folder / "metadata.json").write_text(
        json.dumps({"id": example, "domain": "shop", "expected_tool_calls": calls, **row})
    )
    return folder


def test_fdb_is_a_folder_a_recording(tmp_path: Path, tools_file: Path) -> None:
    root = tmp_path / "release"
    reference = "$RESULT_0.products[0].product_id"
    fdb(
        root,
        "shop_02_anna",
        [
            {"function": "search", "args": {"query": "Hiking Boots"}},
            {"function": "buy", "args": {"item": reference, "count": 1}, "note": "cheapest"},
        ],
        state_rollback_test=True,
    )
    fdb(root, "shop_01_bert", [])
    (root / "README.md").write_text("not a recording")
    dataset = read_fdb_v3(root, read_tools(tools_file))
    nothing, both = dataset.sources
    assert not dataset.misfits
    assert both.audio == root / "shop_02_anna" / "input.wav"
    assert both.columns == {
        "recording_id": "shop_02_anna",
        "group_id": "shop_02",
        "voice": "anna",
        "domain": "shop",
        "subset": "rollback",
        "corpus": "fdb-v3",
        "split": "test",
        "target": [
            {"tool": "search", "arguments": {"query": "hiking boots"}},
            {"tool": "buy", "arguments": {"item": reference}},
        ],
    }
    assert nothing.columns["target"] is None
    assert nothing.columns["subset"] == "plain"


def test_gold_that_does_not_fit_is_kept_and_told(tmp_path: Path, tools_file: Path) -> None:
    root = tmp_path / "release"
    fdb(root, "shop_01_a", [{"function": "search", "args": {"category": "gifts"}}])
    fdb(root, "shop_02_a", "nonsense")
    dataset = read_fdb_v3(root, read_tools(tools_file))
    assert dataset.sources[0].columns["target"] == [
        {"tool": "search", "arguments": {"category": "gifts"}}
    ]
    assert dataset.misfits["shop_01_a"] == [
        "call 0: 'search' has no argument 'category'; known are query",
        "call 0: 'search' lacks the argument 'query'",
    ]
    assert "target" not in dataset.sources[1].columns
    assert dataset.misfits["shop_02_a"] == ["has no expected_tool_calls"]


def test_every_faulty_recording_of_fdb_is_told(tmp_path: Path, tools_file: Path) -> None:
    root = tmp_path / "release"
    (fdb(root, "shop_01_a", []) / "input.wav").unlink()
    (fdb(root, "shop_02_a", []) / "metadata.json").write_text("{")
    with pytest.raises(InputErrors) as caught:
        read_fdb_v3(root, read_tools(tools_file))
    first, second = map(str, caught.value.faults)
    assert "shop_01_a: the recording has no input.wav" in first
    assert "shop_02_a/metadata.json: is no JSON" in second


def test_an_empty_release_of_fdb(tmp_path: Path, tools_file: Path) -> None:
    with pytest.raises(InputErrors, match="holds no recording"):
        read_fdb_v3(tmp_path / "nowhere", read_tools(tools_file))


def a2t(root: Path, *rows: dict[str, Any]) -> None:
    (root / TIER / "audio").mkdir(parents=True)
    lines = []
    for row in rows:
        audio = f"audio/q{row['query_idx']:04}_s{row['speaker_idx']}.wav"
        if not row.pop("missing", False):
            wav(root / TIER / audio, noise(0.1))
        gold = {"tool_name": "search", "extracted_params": {"query": "boots"}}
        lines.append(json.dumps({"audio": audio, "query": "boots, please", **gold, **row}))
    (root / TIER / "metadata.jsonl").write_text("\n".join(lines) + "\n")


def test_audio2tool_gives_one_reading_a_query(tmp_path: Path, tools_file: Path) -> None:
    a2t(
        tmp_path / "public",
        {"query_idx": 1, "speaker_idx": 3},
        {"query_idx": 0, "speaker_idx": 2},
        {"query_idx": 1, "speaker_idx": 0, "speech_synthesis_success": False},
        {"query_idx": 1, "speaker_idx": 1, "missing": True},
        {"query_idx": 1, "speaker_idx": 2, "speech_synthesis_success": None},
    )
    dataset = read_audio2tool(tmp_path, read_tools(tools_file))
    assert [source.recording_id for source in dataset.sources] == ["q0000_s2", "q0001_s2"]
    assert dataset.sources[0].columns["spoken"] == "boots, please"
    assert read_audio2tool(tmp_path / "public", read_tools(tools_file)) == dataset


@pytest.mark.parametrize("params", [{"query": "Boots"}, "{'query': 'Boots'}"])
def test_audio2tool_gold_in_both_notations(tmp_path: Path, tools_file: Path, params: Any) -> None:
    more = [{"tool_name": "buy", "extracted_params": "{'item': 'P5', 'count': 2}"}]
    a2t(
        tmp_path,
        {"query_idx": 0, "speaker_idx": 0, "extracted_params": params},
        {"query_idx": 1, "speaker_idx": 0, "additional_tool_calls": more},
        {"query_idx": 2, "speaker_idx": 0, "additional_tool_calls": str(more)},
    )
    first, second, third = read_audio2tool(tmp_path, read_tools(tools_file)).sources
    boots = {"tool": "search", "arguments": {"query": "boots"}}
    assert first.columns["target"] == [boots]
    assert second.columns["target"] == third.columns["target"]
    assert second.columns["target"] == [
        boots,
        {"tool": "buy", "arguments": {"item": "p5", "count": 2}},
    ]


def test_audio2tool_gold_that_cannot_be_read_leaves_the_recording_unlabelled(
    tmp_path: Path, tools_file: Path
) -> None:
    a2t(
        tmp_path,
        {"query_idx": 0, "speaker_idx": 0, "extracted_params": "query=boots"},
        {"query_idx": 1, "speaker_idx": 0, "tool_name": ""},
    )
    dataset = read_audio2tool(tmp_path, read_tools(tools_file))
    assert all("target" not in source.columns for source in dataset.sources)
    assert len(dataset.misfits) == 2


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("[]", "line 1: is no JSON object"),
        ('{"audio": "a.wav"}', "line 1: a reading needs a number 'query_idx'"),
        ("", "lists no reading"),
    ],
)
def test_a_faulty_audio2tool(tmp_path: Path, tools_file: Path, row: str, message: str) -> None:
    (tmp_path / TIER).mkdir()
    (tmp_path / TIER / "metadata.jsonl").write_text(row)
    with pytest.raises(InputErrors) as caught:
        read_audio2tool(tmp_path, read_tools(tools_file))
    assert message in str(caught.value)


def test_audio2tool_without_its_tier(tmp_path: Path, tools_file: Path) -> None:
    with pytest.raises(InputErrors, match=f"has no folder {TIER}"):
        read_audio2tool(tmp_path, read_tools(tools_file))


def test_tools_come_from_the_release_or_from_the_user(tmp_path: Path, tools_file: Path) -> None:
    assert find_tools("audio2tool", tmp_path, tools_file) == tools_file
    with pytest.raises(UsageError, match="'audio2tool' needs --tools"):
        find_tools("audio2tool", tmp_path, None)
    (tmp_path / "tools_registry.csv").touch()
    assert find_tools("audio2tool", tmp_path, None) == tmp_path / "tools_registry.csv"
    with pytest.raises(UsageError, match="unknown data set 'fdb3'; did you mean 'fdb-v3'"):
        find_tools("fdb3", tmp_path, tools_file)


def test_a_folder_of_ones_own_has_its_targets_in_canonical_form(
    tmp_path: Path, tools_file: Path
) -> None:
    wav(tmp_path / "a.wav", noise(0.1))
    target = {"tool": "search", "arguments": {"query": "The Boots"}}
    (tmp_path / "metadata.jsonl").write_text(json.dumps({"audio": "a.wav", "target": target}))
    (source,) = read_folder(tmp_path, tools_file).sources
    assert source.columns["target"] == [{"tool": "search", "arguments": {"query": "boots"}}]
    (source,) = read_folder(tmp_path).sources
    assert source.columns["target"] == target
