"""Random recordings, and other futures of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import strategies as st

from simcore.trace import Arrival, Recording, Repair

if TYPE_CHECKING:
    from simcore.clock import Microseconds

WORDS = ("book", "a table", "at three", "at four", "no", "wait", "Please.", "on the...", "b-", ",")


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    times = draw(st.lists(st.integers(1, 30), min_size=1, max_size=10, unique=True))
    times = [n * 200_000 for n in sorted(times)]
    arrivals = tuple(
        Arrival(
            time - draw(st.integers(0, 100_000)),
            time,
            " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=8))),
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
        labelled=draw(st.booleans()),
        target=draw(st.sampled_from(["A", "B", None])),
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
