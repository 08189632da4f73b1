"""Recordings for predictors: random ones, other futures of them, and some to learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from simcore.trace import Arrival, Recording, Repair

if TYPE_CHECKING:
    from simcore.clock import Microseconds

THREE = '{"arguments":{"time":"15:00"},"tool":"book"}'
FOUR = '{"arguments":{"time":"16:00"},"tool":"book"}'
WORDS = ("book", "a table", "at three", "at four", "no", "wait", "Please.", "on the...", "b-", ",")


TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join)


@st.composite
def recordings(
    draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS, *, labelled: bool = False
) -> Recording:
    """Any recording; `labelled` ones have a call that is right."""
    times = draw(st.lists(st.integers(1, 30), min_size=1, max_size=10, unique=True))
    times = [n * 200_000 for n in sorted(times)]
    arrivals = tuple(
        Arrival(
            time - draw(st.integers(0, 100_000)),
            time,
            draw(texts),
            draw(st.none() | st.floats(0, 1)),
            draw(st.sampled_from(["A", "B", None])),
            time == times[-1],
            pause_us=draw(st.integers(0, 2_000_000)),
        )
        for time in times
    )
    onset = draw(st.none() | st.integers(0, 6_000_000))
    return Recording(
        recording_id=str(draw(st.integers())),
        audio_end_us=times[-1],
        arrivals=arrivals,
        labelled=labelled or draw(st.booleans()),
        target=draw(st.sampled_from(["A", "B"] if labelled else ["A", "B", None])),
        repairs=() if onset is None else (Repair(onset, onset + 500_000, "prospective"),),
    )


@st.composite
def other_futures(draw: st.DrawFn, recording: Recording, time: Microseconds) -> Recording:
    """The same arrivals up to `time`; everything else is that of another recording."""
    other = draw(recordings())
    past = tuple(a for a in recording.arrivals if a.arrived_at_us <= time)
    future = tuple(
        replace(a, arrived_at_us=time + a.arrived_at_us, prefix_end_us=time + a.prefix_end_us)
        for a in other.arrivals
    )
    return replace(other, arrivals=past if past and past[-1].is_final else past + future)


def spoken(number: int) -> Recording:
    """Odd ones announce a correction and make it, two seconds after the value was heard."""
    corrected = number % 2 == 1
    said = "book a table for three"
    texts = [said, said, f"{said} no wait" if corrected else f"{said} by the window"]
    texts += [texts[-1], f"{texts[-1]} at four" if corrected else f"{texts[-1]} please"]
    return Recording(
        recording_id=f"r{number}",
        group_id=f"g{number // 2}",
        audio_end_us=5 * 960_000,
        arrivals=tuple(
            Arrival(
                n * 960_000,
                n * 960_000 + 100_000 + number,
                text,
                0.9,
                FOUR if corrected and n == 5 else THREE,
                n == 5,
            )
            for n, text in enumerate(texts, start=1)
        ),
        labelled=True,
        target=FOUR if corrected else THREE,
        repairs=(Repair(2_200_000, 4_700_000, "prospective"),) if corrected else (),
    )
