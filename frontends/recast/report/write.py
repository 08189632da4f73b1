"""The report on disk: `report.md`, and its pictures as SVG and PNG beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from frontends.recast.report import pictures
from frontends.recast.report.figures import parts
from frontends.recast.report.frames import (
    prefix_frame,
    recording_frame,
    repair_frame,
    value_frame,
    without_noise,
)
from frontends.recast.report.markdown import markdown
from frontends.recast.report.packs import read_packs
from simcore.errors import UsageError
from simcore.files.atomic import write_atomic
from simcore.files.pictures import save_picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from frontends.recast.report.figures import Part

REPORT = "report.md"


def report(names: Sequence[str | Path], out: Path) -> Path:
    """Write the quality report of packs, by name or path, into the folder `out`; return its page.

    The same packs give the same bytes; what else lies in the folder stays. Raises `UsageError`,
    `InputError` or `InputErrors` where a pack is not there or faulty, `UsageError` where the
    disk refuses.
    """
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out} is a file, not a folder")
    packs = read_packs(names)
    recordings, repairs = recording_frame(packs), without_noise(repair_frame(packs))
    if recordings.is_empty():
        raise UsageError("there is nothing to report: no recording has recognized prefixes")
    prefixes, cut = prefix_frame(packs), parts(recordings)
    charts = _charts(cut, prefixes, without_noise(value_frame(packs)), repairs)
    for name, chart in charts.items():
        for ending in ("svg", "png"):
            save_picture(pictures.styled(chart), out / f"{name}.{ending}")
    page = out / REPORT
    text = markdown(packs, cut, prefixes, repairs, charts)
    try:
        write_atomic(page, text.encode())
    except OSError as fault:
        raise UsageError(f"cannot write {page}: {fault.strerror}") from fault
    return page


def _charts(
    cut: Sequence[Part], prefixes: pl.DataFrame, values: pl.DataFrame, repairs: pl.DataFrame
) -> dict[str, Any]:
    """The pictures for which there is something to show."""
    whole = cut[0]
    charts: dict[str, Any] = {"timing": pictures.timing_chart(prefixes)}
    if whole.rows["subset"].n_unique() > 1:
        charts["subsets"] = pictures.mix_chart(cut)
    if any(rate.n for rate in whole.rates.values()):
        charts["quality"] = pictures.quality_chart(cut)
    if whole.rates["prefix"].n:
        charts["prefixes"] = pictures.outcome_chart(cut)
        charts["hearing"] = pictures.hearing_chart(values)
    if len(repairs):
        charts["distances"] = pictures.distance_chart(repairs)
    return {name: chart for name, chart in charts.items() if chart is not None}
