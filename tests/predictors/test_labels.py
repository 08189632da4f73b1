"""Labels: a table worked out by hand, and a second, naive reading of the same rules."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predictors.labels import OUTCOMES, observe
from predictors.versions import ticks, versions
from simcore.trace import Arrival, Recording, Repair

D = 320_000


def trace(
    *arrivals: tuple[int, str | None],
    target: str | bool | None = "A",
    repairs: tuple[tuple[int, int | None], ...] = (),
) -> Recording:
    """Arrivals as (time in ms, argument), the last one final; `target=False`: unlabelled.

    A prefix ends 10 ms before it arrives.
    """
    return Recording(
        recording_id="r",
        audio_end_us=arrivals[-1][0] * 1000,
        arrivals=tuple(
            Arrival(ms * 1000 - 10_000, ms * 1000, "", 1.0, argument, i == len(arrivals))
            for i, (ms, argument) in enumerate(arrivals, start=1)
        ),
        labelled=target is not False,
        target=None if target is False else target,  # type: ignore[arg-type]
        repairs=tuple(
            Repair(onset * 1000, None if end is None else end * 1000, "prospective")
            for onset, end in repairs
        ),
    )


# What each tick sees, from 320 ms on unless the case says otherwise.
TABLE = {
    "one right version": (trace((320, "A"), (960, "A")), ["none"] * 3),
    "one wrong version": (trace((320, "B"), (960, "B")), ["T"] * 3),
    "no call is right": (trace((320, "B"), (640, "B"), target=None), ["T", "T"]),
    "unlabelled": (trace((320, "A"), (640, "A"), target=False), ["T|none"] * 2),
    "unlabelled, but an event is known": (
        trace((320, "A"), (960, "B"), target=False),
        ["2", "1", "T|none"],
    ),
    "never an argument": (trace((320, None), (640, None)), []),
    "only the final flush": (trace((320, None), (900, "A")), ["none"]),
    "an arrival at a tick is seen by it": (trace((320, "B"), (640, "A")), ["1", "none"]),
    "empties neither end nor start a version": (
        trace((320, "B"), (640, None), (960, "B"), (1280, "A")),
        ["3", "2", "1", "none"],
    ),
    "an empty final flush leaves the version": (trace((320, "A"), (640, None)), ["none", "none"]),
    "flicker labels a right version superseded": (
        trace((320, "A"), (640, "C"), (960, "A")),
        ["1", "1", "none"],
    ),
    "A, B, A between ticks": (
        trace((320, "A"), (400, "B"), (500, "A"), (960, "A")),
        ["1", "none", "none"],
    ),
    "exactly on tau_1, and 1 ms after": (trace((320, "B"), (641, "A")), ["2", "1", "none"]),
    "exactly on tau_5, tau_4": (
        trace((320, "B"), (2240, "A")),
        ["5", "5", "4", "3", "2", "1", "none"],
    ),
    "exactly on tau_8, and beyond": (
        trace((320, "B"), (5440, "A")),
        [">", *["8"] * 5, "7", "7", "6", "6", "5", "5", "4", "3", "2", "1", "none"],
    ),
    "an onset is the event, then the repair is open": (
        trace((320, "B"), (1600, "A"), repairs=((900, 1500),)),
        ["2", "1", "0", "0", "none"],
    ),
    "an onset at the tick is open, not later": (
        trace((320, "B"), (960, "A"), repairs=((640, 900),)),
        ["1", "0", "none"],
    ),
    "heard in full only by the arrival after": (
        # 960 has heard up to 950, so a repair resolved at 955 stays open until 1280.
        trace((320, "B"), (960, "A"), (1280, "A"), repairs=((640, 955),)),
        ["1", "0", "0", "none"],
    ),
    "resolved exactly at a prefix's end": (
        trace((320, "B"), (960, "A"), (1280, "A"), repairs=((640, 950),)),
        ["1", "0", "none", "none"],
    ),
    "an empty argument closes no repair": (
        trace((320, "B"), (960, None), (1280, "A"), repairs=((500, 900),)),
        ["1", "0", "0", "none"],
    ),
    "never resolved": (
        trace((320, "A"), (960, "A"), (1280, "A"), repairs=((700, None),)),
        ["2", "1", "0", "0"],
    ),
    "resolved by no argument that follows": (
        trace((320, "A"), (960, None), repairs=((500, 600),)),
        ["1", "0", "0"],
    ),
    "two repairs": (
        trace((320, "B"), (1280, "C"), (2240, "A"), repairs=((700, 1200), (1700, 2200))),
        ["2", "1", "0", "2", "1", "0", "none"],
    ),
    "a repair back to the same value": (
        trace((320, "A"), (960, "A"), (1280, "A"), repairs=((500, 900),)),
        ["1", "0", "none", "none"],
    ),
}


def shown(recording: Recording) -> list[str]:
    return ["|".join(OUTCOMES[i] for i in o.outcomes) for o in observe(recording, D)]


@pytest.mark.parametrize("case", TABLE)
def test_hand_checked(case: str) -> None:
    recording, expected = TABLE[case]
    assert shown(recording) == expected


def test_ticks_begin_at_the_first_argument_and_end_when_the_final_flush_is_seen() -> None:
    recording = trace((310, None), (650, "A"), (970, None), (1300, "A"))
    assert list(ticks(recording.arrivals, D)) == [960_000, 1_280_000, 1_600_000]


def test_versions_are_runs() -> None:
    recording = trace((100, "A"), (200, None), (300, "A"), (400, "B"), (500, "A"), (600, None))
    runs = [(v.argument, v.began_us) for v in versions(recording.arrivals)]
    assert runs == [("A", 100_000), ("B", 400_000), ("A", 500_000)]


def test_wrong_is_about_the_target_whatever_comes_after() -> None:
    recording = trace((320, "A"), (640, "C"), (960, "A"))
    assert [o.wrong for o in observe(recording, D)] == [False, True, False]
    assert [o.version for o in observe(recording, D)] == [0, 1, 2]


TAUS_MS = [320, 640, 960, 1280, 1920, 2560, 3200, 4800]


def naive(recording: Recording) -> list[set[str]]:
    """The rules once more, in milliseconds and word for word, tick by tick."""
    result = []
    arrivals = [
        (a.arrived_at_us // 1000, a.prefix_end_us // 1000, a.argument) for a in recording.arrivals
    ]
    final_seen, t = False, -320
    while not final_seen:
        t += 320
        final_seen = arrivals[-1][0] <= t
        spoken = [x for at, _, x in arrivals if at <= t and x]
        if not spoken:
            continue
        v = spoken[-1]
        is_open, events = False, []
        for repair in recording.repairs:
            onset = repair.onset_us // 1000
            resolved = 10**9 if repair.resolved_us is None else repair.resolved_us // 1000
            healed = [at for at, end, x in arrivals if end >= resolved and x and at <= t]
            is_open = is_open or (onset <= t and not healed)
            events += [onset] if onset > t else []
        events += [at for at, _, x in arrivals if at > t and x and x != v]
        if is_open:
            result.append({"0"})
        elif events:
            wait = min(events) - t
            later = [str(k) for k, tau in enumerate(TAUS_MS, start=1) if wait <= tau]
            result.append({later[0] if later else ">"})
        elif not recording.labelled:
            result.append({"T", "none"})
        else:
            result.append({"none" if v == recording.target else "T"})
    return result


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Random traces whose times often fall on ticks and boundaries."""
    moment = st.integers(1, 25).map(lambda n: n * 320) | st.integers(10, 8000)
    times = sorted(draw(st.lists(moment, min_size=1, max_size=8, unique=True)))
    values = st.sampled_from(["A", "B", "C", None])
    spans = draw(st.lists(st.tuples(moment, st.none() | st.integers(0, 3000)), max_size=2))
    return trace(
        *[(time, draw(values)) for time in times],
        target=draw(st.sampled_from(["A", "B", None, False])),
        repairs=tuple((on, None if length is None else on + length) for on, length in spans),
    )


@given(recordings())
@settings(deadline=None)
def test_agrees_with_a_naive_reading(recording: Recording) -> None:
    assert [set(text.split("|")) for text in shown(recording)] == naive(recording)
