"""What is known of the forecasts' quality (`quality/v1`), as a section of a report."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from simcore.errors import InputError
from simcore.report.charts import reliability
from simcore.report.grid import Grid
from simcore.report.numbers import NONE, number
from simcore.report.sections import Picture, Section

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SCHEMA: Final = "quality/v1"
_PLACES: Final = {"veto": "At the moments when a veto is decided", "ticks": "At every control tick"}


def quality_section(path: Path) -> Section:
    """Reliability and scores of every calibrated predictor, over all recordings.

    Raises ``InputError`` for a file that does not hold the quality of forecasts.
    """
    try:
        document = json.loads(path.read_text("utf-8"))
        entries = [
            entry
            for entry in document["entries"]
            if entry["calibrated"] and entry["action"] is None and entry["column"] is None
        ]
        if document["schema"] != SCHEMA:
            raise KeyError(document["schema"])
        parts = [(title, [e for e in entries if e["where"] == at]) for at, title in _PLACES.items()]
        pictures = [_picture(title, found) for title, found in parts if found]
        grids = [_grid(title, found) for title, found in parts if found]
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror}", file=str(path)) from None
    except (ValueError, KeyError, TypeError):
        raise InputError(f"is not the quality of forecasts ({SCHEMA})", file=str(path)) from None
    text = (
        "A forecast is reliable where what it calls 30 % comes in 30 of 100 cases: on the "
        "diagonal. Superseded: the value that is under way will be corrected or was wrong. NLL, "
        "Brier score and calibration error (ECE) are better when lower, AUROC when higher."
    )
    return Section("How good are the forecasts?", [text], grids, pictures)


def _picture(title: str, entries: Sequence[dict[str, Any]]) -> Picture:
    curves = [
        (
            entry["predictor"],
            [(b["mean"], b["share"], b["n"]) for b in entry["scores"]["superseded"]["reliability"]],
        )
        for entry in entries
        if entry["scores"]["superseded"] is not None
    ]
    return Picture(reliability(curves), f"{title}:")


def _grid(title: str, entries: Sequence[dict[str, Any]]) -> Grid:
    rows = []
    for entry in entries:
        scores = entry["scores"]
        cells = [entry["predictor"], f"{scores['n']}", number(scores["nll"], 3)]
        for label in ("superseded", "wrong"):
            found = scores[label]
            names = ("brier", "auroc", "ece")
            cells += [NONE if found is None else number(found[name], 3) for name in names]
        rows.append(cells)
    scored = [f"{label}: {name}" for label in ("superseded", "wrong") for name in _SCORES]
    return Grid(title, ("forecast", "n", "NLL", *scored), rows)


_SCORES: Final = ("Brier", "AUROC", "ECE")
