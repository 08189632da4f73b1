"""metadata.jsonl: every fault with its line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from frontends.metadata import read_metadata
from simcore.errors import InputError, InputErrors

if TYPE_CHECKING:
    from pathlib import Path


def folder_of(tmp_path: Path, *lines: Any) -> Path:
    for name in ("a.wav", "b.wav"):
        (tmp_path / name).write_bytes(b"")
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    (tmp_path / "metadata.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def test_columns_are_kept_and_the_id_defaults_to_the_stem(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path,
        {"audio": "a.wav", "domain": "time", "target": None, "values": []},
        "",
        {"audio": "b.wav", "recording_id": "second"},
    )
    first, second = read_metadata(folder)
    assert (first.recording_id, first.domain, first.audio) == ("a", "time", folder / "a.wav")
    assert first.columns["target"] is None
    assert (second.recording_id, second.domain) == ("second", None)
    assert "target" not in second.columns


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"audio": "a.wav"', "is no JSON, or is cut short"),
        ([1], "a recording is an object"),
        ({"recording_id": "r"}, "the key 'audio' must name a file"),
        ({"audio": "aa.wav"}, "there is no audio file 'aa.wav'; did you mean 'a.wav'?"),
        ({"audio": "a.wav", "domian": "time"}, "unknown key 'domian'; did you mean 'domain'?"),
        ({"audio": "a.wav", "arrivals": []}, "'arrivals' comes from decoding; leave it out"),
        ({"audio": "a.wav", "branch_us": -1}, "branch_us: -1 is negative"),
        ({"audio": "a.wav", "target": {"tool": "x"}}, "target"),
        ({"audio": "a.wav", "recording_id": 3}, "recording_id"),
    ],
)
def test_a_fault_names_its_line(tmp_path: Path, line: Any, message: str) -> None:
    folder = folder_of(tmp_path, {"audio": "b.wav"}, line)
    with pytest.raises(InputErrors) as caught:
        read_metadata(folder)
    assert f"metadata.jsonl: line 2: {message}" in str(caught.value)
    assert len(caught.value.faults) == 1


def test_every_fault_is_told(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {"audio": "a.wav"}, "{", {"audio": "a.wav"}, {"audio": ""})
    with pytest.raises(InputErrors) as caught:
        read_metadata(folder)
    assert [fault.place for fault in caught.value.faults] == ["line 2", "line 3", "line 4"]
    assert "'a' is the id of line 1 too" in str(caught.value)


def test_nothing_to_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the folder has no metadata\.jsonl"):
        read_metadata(tmp_path)
    with pytest.raises(InputError, match="there is no such file or folder"):
        read_metadata(tmp_path / "nowhere")
    with pytest.raises(InputErrors, match="is empty: it lists no recordings"):
        read_metadata(folder_of(tmp_path, ""))
