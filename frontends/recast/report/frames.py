"""Packs as tables: a row a recording, a recognized prefix, a value said, a repair.

Each row has its pack, its recording and the `DIMENSIONS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import polars as pl

from frontends.recast.report.prefixes import OUTCOMES, judge, judgeable
from frontends.recast.report.words import word_errors
from simcore.clock import NEVER, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from frontends.recast.report.packs import Pack
    from simcore.trace import Recording

    Row = dict[str, Any]

DIMENSIONS: Final = ("subset", "voice", "domain", "editing", "noise")
UNKNOWN: Final = "not annotated"
CLEAN: Final = "clean"
_EDITING: Final = {"seen": "seen phrase", "unseen": "unseen phrase", "none": "no phrase"}

_KEYS: Final = dict.fromkeys(("pack", "recording", *DIMENSIONS), pl.String)
_RECORDINGS: Final = {
    **dict.fromkeys(("cluster", "pair", "variant", "carrier", "edit"), pl.String),
    "audio_s": pl.Float64,
    **dict.fromkeys(("errors", "words", "finals", "final_right", "prefixes"), pl.Int64),
    **dict.fromkeys((*OUTCOMES, "fair", "arrivals", "judged", "wrong_changes"), pl.Int64),
}
_PREFIXES: Final = {
    **dict.fromkeys(("end_s", "service_s", "lag_s"), pl.Float64),
    "final": pl.Boolean,
}
_VALUES: Final = {"value": pl.Int64, "since_s": pl.Float64, "heard": pl.Boolean}
_REPAIRS: Final = dict.fromkeys(("gap_s", "resolve_s", "tail_s"), pl.Float64)


def recording_frame(packs: Sequence[Pack]) -> pl.DataFrame:
    """A row a recording with arrivals: what it is, and the sums behind its rates.

    `pair` is null unless both variants are in the pack. `errors` of `words` spoken, both 0 where
    `spoken` is not given. `final_right` of `finals`, which is 0 for an unlabelled recording. The
    outcomes of its `prefixes`, the final one excepted (`fair`: right or early), and the
    `wrong_changes` among the `judged` arrivals, all 0 where the annotations do not say what is
    right.
    """
    frame = _frame(packs, _recording, _RECORDINGS)
    complete = pl.col("variant").n_unique().over("pack", "pair") > 1
    return frame.with_columns(pair=pl.when(complete).then("pair"))


def prefix_frame(packs: Sequence[Pack]) -> pl.DataFrame:
    """A row an arrival, in seconds; `lag_s` is from the prefix' end to its arrival."""
    return _frame(packs, _prefixes, _PREFIXES)


def value_frame(packs: Sequence[Pack]) -> pl.DataFrame:
    """A row a value said and prefix: whether its parse is that value.

    `value` counts a recording's values from 1, `since_s` is from the value's availability to the
    prefix' end, negative before it. A value's prefixes end where the next repair begins.
    """
    return _frame(packs, _values, _VALUES)


def repair_frame(packs: Sequence[Pack]) -> pl.DataFrame:
    """A row a repair; distances in seconds, from the annotations, null where there is none.

    `gap_s`: from the availability of the value before it (of the first, if there is none before) to
    the onset; `resolve_s`: from there to the new value's availability; `tail_s`: from there to the
    end of the audio, for a recording's last repair.
    """
    return _frame(packs, _repairs, _REPAIRS)


def without_noise(frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of clean recordings, all rows where there is none."""
    clean = frame.filter(pl.col("noise") == CLEAN)
    return frame if clean.is_empty() else clean


def _frame(
    packs: Sequence[Pack], rows_of: Callable[[Recording], Iterator[Row]], columns: Any
) -> pl.DataFrame:
    rows = [
        _keys(pack, recording) | row
        for pack in packs
        for recording in pack.recordings
        if recording.arrivals
        for row in rows_of(recording)
    ]
    return pl.DataFrame(rows, schema=_KEYS | columns, orient="row")


def _keys(pack: Pack, recording: Recording) -> Row:
    editing = "no repair"
    if recording.repairs:
        editing = _EDITING.get(recording.editing or "", UNKNOWN)
    return {
        "pack": pack.name,
        "recording": recording.recording_id,
        "subset": recording.subset or UNKNOWN,
        "voice": recording.voice or UNKNOWN,
        "domain": recording.domain or UNKNOWN,
        "editing": editing,
        "noise": recording.noise or CLEAN,
    }


def _recording(recording: Recording) -> Iterator[Row]:
    last = recording.arrivals[-1]
    errors, words = 0, 0
    if recording.spoken is not None:
        errors, words = word_errors(recording.spoken, last.text)
    judged = judge(recording) if judgeable(recording) else []
    between = [found.outcome for found in judged[:-1]]
    yield {
        "cluster": recording.cluster,
        "pair": recording.pair_id,
        "variant": recording.variant,
        "carrier": recording.carrier_id,
        "edit": recording.edit_id,
        "audio_s": seconds(recording.audio_end_us),
        "errors": errors,
        "words": words,
        "finals": int(recording.labelled),
        "final_right": int(recording.labelled and last.argument == recording.target),
        "prefixes": len(between),
        **{outcome: between.count(outcome) for outcome in OUTCOMES},
        "fair": between.count("right") + between.count("early"),
        "arrivals": len(recording.arrivals),
        "judged": len(judged),
        "wrong_changes": sum(found.wrong_change for found in judged),
    }


def _prefixes(recording: Recording) -> Iterator[Row]:
    for arrival in recording.arrivals:
        service = arrival.service_us
        yield {
            "end_s": seconds(arrival.prefix_end_us),
            "service_s": None if service is None else seconds(service),
            "lag_s": seconds(arrival.arrived_at_us - arrival.prefix_end_us),
            "final": arrival.is_final,
        }


def _values(recording: Recording) -> Iterator[Row]:
    values = sorted(recording.values, key=lambda value: value.available_us)
    onsets = [repair.onset_us for repair in recording.repairs]
    for number, value in enumerate(values, start=1):
        available = value.available_us
        end = min((onset for onset in onsets if onset >= available), default=NEVER)
        for arrival in recording.arrivals:
            if arrival.prefix_end_us <= end:
                yield {
                    "value": number,
                    "since_s": seconds(arrival.prefix_end_us - available),
                    "heard": arrival.argument == value.argument,
                }


def _repairs(recording: Recording) -> Iterator[Row]:
    available = sorted(value.available_us for value in recording.values)
    repairs = sorted(recording.repairs, key=lambda repair: repair.onset_us)
    for repair in repairs:
        before = [time for time in available if time <= repair.onset_us] or available[:1]
        onset, end = repair.onset_us, repair.resolved_us
        tail = None if end is None else seconds(recording.audio_end_us - end)
        yield {
            "gap_s": seconds(onset - before[-1]) if before else None,
            "resolve_s": None if end is None else seconds(end - onset),
            "tail_s": tail if repair is repairs[-1] else None,
        }
