"""The empirical hazard of supersession: a life table of argument versions, by age and by cue.

From the tick at which a version of age a is seen, with or without an editing phrase in its text:

    p_0      = open(a, cue)                                     a repair is going on
    otherwise, step by step of 320 ms: an event comes with event(a, cue), the final flush without
    one with end(a, cue), else the version is a step older. What the walk collects in interval k is
    p_k; what it collects later, without limit, p_>; what ends without event is p_T with share
    wrong(cue), else p_none. Once the final flush has been seen only p_0, p_T and p_none are left.

The cue is kept as it stands over the walk. Rates are counts of tick observations: in each step
every version at risk counts once, whatever its length, as in any life table (the same total weight
for each version over all its ticks would favour short lives and bias the hazard upwards).

Smoothing: a rate is (count + m * parent) / (at risk + m), with m = `SMOOTHING` observations of its
parent, from age and cue to cue to all; the root starts from equal shares, one observation each.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from predictors.cues import State, state
from predictors.forecast import digest, read_json
from predictors.labels import (
    BEYOND,
    ONGOING,
    OUTCOMES,
    PERSISTS_RIGHT,
    PERSISTS_WRONG,
    STEP_US,
    observe,
    outcome_counts,
)
from predictors.versions import seen, ticks, versions
from simcore.errors import InputError
from simcore.files.atomic import write_atomic
from simcore.files.faults import explain, path_text
from simcore.trace import INTERVAL_ENDS_US, Forecast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from predictors.labels import Observation
    from simcore.clock import Microseconds
    from simcore.trace import Recording

SCHEMA: Final = "hazard/v1"
AGES_US: Final = (0, *INTERVAL_ENDS_US)
"""Where each bin of ages begins; the last is open."""

SMOOTHING: Final = 10.0

Rate = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
Ages = Annotated[tuple[Rate, ...], Field(min_length=len(AGES_US), max_length=len(AGES_US))]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Rates(_Part):
    """The shares for texts with, or without, an editing phrase; `*_at_end`: after the flush."""

    event: Ages
    end: Ages
    open: Ages
    open_at_end: Rate
    wrong_at_end: Rate

    @model_validator(mode="after")
    def _leaves(self) -> Self:
        if any(a + b > 1 for a, b in zip(self.event, self.end, strict=True)):
            raise ValueError("'event' and 'end' of one age add up to at most 1")
        if self.event[-1] + self.end[-1] == 0:
            raise ValueError("the last age needs a way out: 'event' and 'end' are both 0")
        return self


class Training(_Part):
    """What a model was fitted on. `outcomes` counts observations whose outcome is known."""

    traces: str
    digest: str
    recordings: Count
    versions: Count
    observations: Count
    outcomes: Annotated[
        tuple[Count, ...], Field(min_length=len(OUTCOMES), max_length=len(OUTCOMES))
    ]


class Hazard(_Part):
    """A fitted hazard, as it stands in its file."""

    schema_: Literal["hazard/v1"] = Field(SCHEMA, alias="schema")
    no_cue: Rates
    editing_phrase: Rates
    training: Training

    @property
    def checkpoint(self) -> str:
        """The name that its forecasts carry on a trace."""
        return "hazard"

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How often each of the 12 outcomes was seen in training."""
        return self.training.outcomes

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a model file; an `InputError` says what is wrong with it."""
        try:
            return cls.model_validate_json(json.dumps(read_json(path)))
        except ValidationError as error:
            place, message = explain(error, cls)[0]
            raise InputError(message, file=str(path), place=path_text(place) or None) from None

    def save(self, path: Path) -> None:
        """Write the model file; equal models give equal bytes."""
        write_atomic(path, (self.model_dump_json(by_alias=True, indent=1) + "\n").encode())

    def masses(self, now: State) -> tuple[float, ...]:
        """The 12 masses for a state, which add up to 1.

        The walk ends in the last age's geometric series: by tau_8 every version has reached it.
        """
        rates = self.editing_phrase if now.cue else self.no_cue
        result = [0.0] * len(OUTCOMES)
        ended = 0.0
        if now.final:
            result[ONGOING] = rates.open_at_end
            ended = 1 - rates.open_at_end
        else:
            age = now.age_us
            result[ONGOING] = rates.open[_bin(age)]
            alive = 1 - result[ONGOING]
            passed = 0
            for interval, boundary in enumerate(INTERVAL_ENDS_US, start=1):
                while passed < boundary:
                    event, end = rates.event[_bin(age)], rates.end[_bin(age)]
                    result[interval] += alive * event
                    ended += alive * end
                    alive *= max(0.0, 1 - event - end)
                    passed += STEP_US
                    age += STEP_US
            event, end = rates.event[-1], rates.end[-1]
            result[BEYOND] = alive * event / (event + end)
            ended += alive * end / (event + end)
        result[PERSISTS_WRONG] = ended * rates.wrong_at_end
        result[PERSISTS_RIGHT] = ended * (1 - rates.wrong_at_end)
        total = sum(result)
        return tuple(mass / total for mass in result)

    def forecasts(
        self, recordings: Sequence[Recording], period_us: Microseconds
    ) -> tuple[Forecast, ...]:
        """The forecast of every recording."""
        return tuple(self.forecast(recording, period_us) for recording in recordings)

    def forecast(self, recording: Recording, period_us: Microseconds) -> Forecast:
        """The forecast at every tick that sees a version (`predictors.versions.ticks`)."""
        times, masses = [], []
        for time in ticks(recording.arrivals, period_us):
            now = state(seen(recording.arrivals, time), time)
            if now is not None:
                times.append(time)
                masses.append(self.masses(now))
        p_bad = tuple(1 - row[PERSISTS_RIGHT] for row in masses)
        return Forecast(self.checkpoint, tuple(times), p_bad, tuple(masses))


def fit(recordings: Sequence[Recording], traces: str) -> Hazard:
    """The hazard of labelled recordings; `traces` names them in the training record.

    Raises `InputError` where no recording with a target has an argument at its end.
    """
    at = _Counts()
    observed = 0
    for recording in recordings:
        final_us = recording.arrivals[-1].arrived_at_us if recording.arrivals else 0
        for observation in observe(recording, STEP_US):
            observed += 1
            now = state(seen(recording.arrivals, observation.at_us), observation.at_us)
            if now is not None:
                at.add(now, observation, ends=final_us <= observation.at_us + STEP_US)
    if not at.closed:
        raise InputError("no recording with a target ends with an argument", file=traces)
    return Hazard(
        no_cue=at.rates(cue=False),
        editing_phrase=at.rates(cue=True),
        training=Training(
            traces=traces,
            digest=digest(recordings),
            recordings=len(recordings),
            versions=sum(len(versions(recording.arrivals)) for recording in recordings),
            observations=observed,
            outcomes=outcome_counts(recordings, STEP_US),
        ),
    )


Cells = Counter[tuple[bool, int]]
"""Counts by cue and by bin of age."""


class _Counts:
    """How often each state was seen, and what came of it."""

    def __init__(self) -> None:
        self.seen, self.open = Cells(), Cells()
        self.risk, self.event, self.end = Cells(), Cells(), Cells()
        self.last, self.last_open = Cells(), Cells()
        self.closed, self.wrong = Cells(), Cells()

    def add(self, now: State, observation: Observation, *, ends: bool) -> None:
        """Count one tick; `ends`: the final flush is seen within a step from it."""
        outcome = observation.outcomes[0]
        if now.final:
            cell = (now.cue, 0)
            self.last[cell] += 1
            self.last_open[cell] += outcome == ONGOING
            if outcome in (PERSISTS_WRONG, PERSISTS_RIGHT) and observation.wrong is not None:
                self.closed[cell] += 1
                self.wrong[cell] += observation.wrong
            return
        cell = (now.cue, _bin(now.age_us))
        self.seen[cell] += 1
        self.open[cell] += outcome == ONGOING
        if outcome != ONGOING:
            self.risk[cell] += 1
            self.event[cell] += outcome == 1
            self.end[cell] += outcome != 1 and ends

    def rates(self, *, cue: bool) -> Rates:
        """The smoothed shares of one kind of text."""
        return Rates(
            event=_by_age(self.event, self.risk, cue, shares=3),
            end=_by_age(self.end, self.risk, cue, shares=3),
            open=_by_age(self.open, self.seen, cue, shares=2),
            open_at_end=_by_cue(self.last_open, self.last, cue, shares=2),
            wrong_at_end=_by_cue(self.wrong, self.closed, cue, shares=2),
        )


def _by_age(hits: Cells, trials: Cells, cue: bool, *, shares: int) -> tuple[float, ...]:
    parent = _by_cue(hits, trials, cue, shares=shares)
    cells = [(cue, age) for age in range(len(AGES_US))]
    return tuple(_smooth(hits[cell], trials[cell], parent) for cell in cells)


def _by_cue(hits: Cells, trials: Cells, cue: bool, *, shares: int) -> float:
    root = _smooth(hits.total(), trials.total(), 1 / shares, weight=shares)
    own = [cell for cell in trials if cell[0] == cue]
    return _smooth(sum(hits[c] for c in own), sum(trials[c] for c in own), root)


def _smooth(hits: int, trials: int, parent: float, weight: float = SMOOTHING) -> float:
    return (hits + weight * parent) / (trials + weight)


def _bin(age_us: Microseconds) -> int:
    return bisect_right(AGES_US, age_us) - 1
