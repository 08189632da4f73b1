"""What a run on plain speech owes to its frontend: when speech ended, and what was parsed last.

For recordings whose delay counts from the end of the waveform: the same delay from the end of
speech, where the recognizer heard the last of it, and how many stale trajectories had a wrong final
parse, so that waiting for the end would not have helped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from simcore.bootstrap import intervals
from simcore.metrics import Estimate
from simcore.tally import Sums

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from simcore.bootstrap import Ratio
    from simcore.trace import Recording

WRONG = "wrong"


def final_parse(recording: Recording) -> str | None:
    """Whether the final recognition means the target: right, wrong, or empty; None: unlabelled."""
    if not recording.labelled or not recording.arrivals:
        return None
    argument = recording.arrivals[-1].argument
    if argument == recording.target:
        return "right"
    return "empty" if argument is None else WRONG


def with_final_parse(panel: pl.DataFrame, recordings: Iterable[Recording]) -> pl.DataFrame:
    """The panel with the column `final_parse`."""
    known = pl.DataFrame(
        [(r.recording_id, final_parse(r)) for r in recordings],
        schema={"recording_id": pl.String, "final_parse": pl.String},
        orient="row",
    )
    return panel.join(known, on="recording_id", how="left", maintain_order="left")


@dataclass(frozen=True, slots=True)
class SpeechFigures:
    """One policy on recordings whose delay counts from the end of the waveform.

    Of its `stale` trajectories, `stale_wrong` have a wrong, non-empty final parse, and of these
    `stale_eou` are stale under end-of-utterance execution as well (None: no such policy ran).
    `delay_s` counts from the end of the waveform, `speech_delay_s` from the end of speech, both
    over the successes; `clipped` and `speech_clipped` of these were done before, and count as 0.
    """

    policy: str
    stale: int
    stale_wrong: int
    stale_eou: int | None
    delay_s: Estimate
    clipped: int
    speech_delay_s: Estimate
    speech_clipped: int


class SpeechTally:
    """Adds up panels that have the column `final_parse`.

    `eou` is the label of the policy that executes at the end of the utterance.
    """

    def __init__(self, recordings: Iterable[Recording], eou: str | None) -> None:
        ends = [
            (r.recording_id, r.audio_end_us, r.audio_end_us - r.arrivals[-1].pause_us)
            for r in recordings
            if r.origin_us is None and r.arrivals
        ]
        self._ends = pl.DataFrame(
            ends,
            schema={"recording_id": pl.String, "_wave_us": pl.Int64, "_speech_us": pl.Int64},
            orient="row",
        )
        self._differ = any(wave != speech for _, wave, speech in ends)
        self._eou = eou
        self._clusters: dict[str, int] = {}
        self._policies: dict[str, _Counts] = {}

    def add(self, panel: pl.DataFrame) -> None:
        """Add a panel: every policy's trajectories on some recordings."""
        if not self._differ:
            return
        rows = panel.filter(pl.col("failure").is_null() & pl.col("stale").is_not_null()).join(
            self._ends, on="recording_id", maintain_order="left"
        )
        keys = ["recording_id", "action", "replication"]
        at_end = rows.filter(pl.col("policy") == pl.lit(self._eou, pl.String)).select(
            *keys, _eou="stale"
        )
        rows = rows.join(at_end.unique(keys), on=keys, how="left", maintain_order="left")
        for (policy,), part in rows.partition_by("policy", as_dict=True).items():
            self._policies.setdefault(str(policy), _Counts()).add(part, self._clusters)

    def figures(
        self, policies: Sequence[str], *, seed: int, resamples: int
    ) -> tuple[SpeechFigures, ...]:
        """One for each policy, in this order; none where speech ends with every waveform."""
        found = [(name, self._policies[name]) for name in policies if name in self._policies]
        order = np.array([self._clusters[name] for name in sorted(self._clusters)], np.int64)
        ratios = [sums.ratio(order) for _, counts in found for sums in (counts.wave, counts.speech)]
        spans = iter(intervals(ratios, seed=seed, resamples=resamples))
        delays = iter([_estimate(ratio, next(spans)) for ratio in ratios])
        return tuple(
            SpeechFigures(
                policy=name,
                stale=counts.stale,
                stale_wrong=counts.stale_wrong,
                stale_eou=None if self._eou is None else counts.stale_eou,
                delay_s=next(delays),
                clipped=counts.clipped,
                speech_delay_s=next(delays),
                speech_clipped=counts.speech_clipped,
            )
            for name, counts in found
        )


class _Counts:
    def __init__(self) -> None:
        self.wave, self.speech = Sums(), Sums()
        self.stale = self.stale_wrong = self.stale_eou = self.clipped = self.speech_clipped = 0

    def add(self, rows: pl.DataFrame, clusters: dict[str, int]) -> None:
        stale = rows.filter("stale")
        wrong = stale.filter(pl.col("final_parse") == WRONG)
        self.stale += len(stale)
        self.stale_wrong += len(wrong)
        self.stale_eou += len(wrong.filter("_eou"))
        done = rows.filter("success")
        names = done.select(pl.coalesce("group_id", "recording_id")).to_series().to_list()
        at = np.array([clusters.setdefault(name, len(clusters)) for name in names], np.int64)
        self.clipped += _add_delay(self.wave, at, done, "_wave_us")
        self.speech_clipped += _add_delay(self.speech, at, done, "_speech_us")


def _add_delay(sums: Sums, at: NDArray[np.int64], done: pl.DataFrame, origin: str) -> int:
    """Add the delays from an origin; returns how many are clipped to 0."""
    delay = (done["completed_us"] - done[origin]) / 1_000_000
    sums.add(at, delay.clip(lower_bound=0))
    return int((delay < 0).sum())


def _estimate(ratio: Ratio, interval: Any) -> Estimate:
    return Estimate(ratio.value, int(ratio.count.sum()), interval)
