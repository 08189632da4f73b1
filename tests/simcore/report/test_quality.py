from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from simcore.errors import InputError
from simcore.report.quality import quality_section

if TYPE_CHECKING:
    from pathlib import Path


def entry(predictor: str, where: str, **given: Any) -> dict[str, Any]:
    bins = [{"low": 0.2, "high": 0.3, "n": 40, "mean": 0.25, "share": 0.75}]
    against = {"n": 40, "share": 0.2, "brier": 0.125, "auroc": None, "ece": 0.5}
    scores = {"n": 40, "nll": 1.5, "superseded": against | {"reliability": bins}, "wrong": None}
    whole = {"calibrated": True, "action": None, "column": None, "value": None}
    return {"predictor": predictor, "where": where, "scores": scores} | whole | given


def written(path: Path, *entries: dict[str, Any], schema: str = "quality/v1") -> Path:
    path.write_text(json.dumps({"schema": schema, "entries": entries}))
    return path


def test_the_calibrated_scores_over_everything_are_shown(tmp_path: Path) -> None:
    others = (
        entry("raw", "veto", calibrated=False),
        entry("one-action", "veto", action="book"),
        entry("a-slice", "ticks", column="voice", value="x"),
    )
    file = written(tmp_path / "quality.json", entry("gru<0>", "veto"), *others)
    section = quality_section(file)
    (grid,) = section.grids
    assert grid.rows == [["gru<0>", "40", "1.500", "0.125", "–", "0.500", "–", "–", "–"]]
    (picture,) = section.pictures
    assert 'cx="25.0%" cy="25.0%"' in picture.markup
    assert "gru&lt;0&gt;" in picture.markup
    assert "raw" not in picture.markup


@pytest.mark.parametrize("text", ["{", "[]", '{"schema": "quality/v2", "entries": []}'])
def test_another_file_is_refused_in_one_line(text: str, tmp_path: Path) -> None:
    (tmp_path / "q.json").write_text(text)
    for name, said in (("q.json", "is not the quality of forecasts"), ("no", "cannot be read")):
        with pytest.raises(InputError, match=said):
            quality_section(tmp_path / name)
