"""Whether a run has the structure that the paper reports: claims held against intervals."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Literal

from simcore.bootstrap import Interval
from simcore.report.numbers import NONE, number, signed, signed_span, span
from simcore.report.study import BY_DELAY, BY_STALE, CONSENSUS, OURS, TIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simcore.metrics import Difference
    from simcore.report.study import Study

Answer = Literal["yes", "no", "unresolved"]

BEYOND_EOU: Final = 0.05
A_FEW_TENTHS_S: Final = 0.5
REUSE_S: Final = 0.3
REMOVED: Final = 0.9


@dataclass(frozen=True, slots=True)
class Check:
    """A claim, what was found, and whether the one follows from the other.

    `yes`: the whole interval agrees with the claim; `no`: none of it does; `unresolved`: part of
    it, or there are too few groups of recordings for an interval.
    """

    claim: str
    found: str
    answer: Answer


def checks(study: Study) -> list[Check]:
    """Every claim about policies that were run."""
    return [*_orders(study), *_bounds(study), *_matched(study), *_against_controls(study)]


def _orders(study: Study) -> Iterator[Check]:
    pairs = [(more, less) for less, more in pairwise(BY_STALE)]
    for (more, less), found in study.differences(pairs).items():
        yield _positive(f"{less} has fewer stale executions than {more}", found.stale_rate, 100)
    for (one, other), found in study.differences(TIES, TIES).items():
        yield _tie(f"{one} ties with {other} in stale executions", found.stale_rate)
    pairs = [(more, less) for less, more in pairwise(BY_DELAY)]
    for (more, less), found in study.differences(pairs).items():
        yield _positive(f"{less} is faster than {more}", found.delay_s, 1)
    for (fewer, more), found in study.differences(pairwise(CONSENSUS)).items():
        yield _positive(f"{more} has fewer stale executions than {fewer}", found.stale_rate, 100)
        faster = _positive("", _reversed(found.delay_s), 1)
        yield Check(f"{fewer} is faster than {more}", faster.found, faster.answer)


def _bounds(study: Study) -> Iterator[Check]:
    for found in study.differences([(OURS, "eou")]).values():
        yield _bounded(
            f"{OURS} is stale at most {100 * BEYOND_EOU:g} points more than eou, which loses "
            "only to wrong final parses",
            found.stale_rate,
            high=BEYOND_EOU,
            scale=100,
        )
    for found in study.differences([(OURS, "local_agreement")]).values():
        yield _bounded(
            f"{OURS}'s delay is within {A_FEW_TENTHS_S:g} s of local_agreement's",
            found.delay_s,
            low=-A_FEW_TENTHS_S,
            high=A_FEW_TENTHS_S,
        )
    for found in study.differences([("no-reuse", OURS)]).values():
        yield _bounded(f"keeping progress saves {REUSE_S:g} s or more", found.delay_s, low=REUSE_S)


def _matched(study: Study) -> Iterator[Check]:
    pairs = study.main.pairs.get((OURS, "rassg-no-cancel"))
    if pairs is None:
        return
    (share,) = study.spread([pairs.removed_share(study.main.order)])
    claim = (
        f"cancelling removes at least {REMOVED:.0%} of the stale executions of the same launches"
    )
    answer = _bounded(claim, share, low=REMOVED).answer
    found = f"{number(share.value, 1, 100)} % {span(share.interval, 1, 100)}".rstrip()
    yield Check(claim, found, answer)
    answer = "no" if pairs.added else "yes"
    yield Check("... and adds none", f"{pairs.added} of {pairs.n} pairs", answer)


def _against_controls(study: Study) -> Iterator[Check]:
    for (_, control), found in study.differences((OURS, c) for c in study.controls).items():
        if control.endswith("oracle"):
            continue
        yield _positive(f"{OURS} costs less than under {control}", _reversed(found.cost), 1)


def _positive(claim: str, found: Difference, scale: float) -> Check:
    return _bounded(claim, found, low=0.0, scale=scale, strict=True)


def _tie(claim: str, found: Difference) -> Check:
    answer: Answer = "no" if found.verdict == "order" else "yes"
    if found.value is None:
        answer = "unresolved"
    return Check(claim, _said(found, 100), answer)


def _bounded(
    claim: str,
    found: Difference,
    *,
    low: float = float("-inf"),
    high: float = float("inf"),
    scale: float = 1,
    strict: bool = False,
) -> Check:
    answer: Answer = "unresolved"
    interval = found.interval
    if found.value is None:
        return Check(claim, NONE, answer)
    if found.verdict == "tie" and strict:
        answer = "no"
    elif interval is not None and (found.verdict == "order" or not strict):
        inside = low <= interval.low and interval.high <= high
        outside = interval.high < low or interval.low > high
        answer = "yes" if inside else "no" if outside else "unresolved"
    return Check(claim, _said(found, scale), answer)


def _said(found: Difference, scale: float) -> str:
    unit = " points" if scale == 100 else ""
    value = f"{signed(found.value, 2, scale)}{unit}"
    return f"{value} {signed_span(found.interval, 2, scale)}".rstrip()


def _reversed(found: Difference) -> Difference:
    ends = found.interval
    return replace(
        found,
        value=None if found.value is None else -found.value,
        interval=None if ends is None else Interval(-ends.high, -ends.low, ends.kind),
    )
