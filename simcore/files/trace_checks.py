"""What must hold between the values of one `trace/v1` row.

The checks read the row as a plain mapping and pass over whatever is missing, so that a row with
one bad value still has the rest of it judged.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from simcore.files.faults import Location

    Row = Mapping[str, Any]
    Fault = tuple[Location, str]

MASS_TOLERANCE = 1e-4


def relations(row: Row) -> Iterator[Fault]:
    """Every broken relation of a row, with its place."""
    yield from _arrivals(row.get("arrivals") or [])
    yield from _increasing(row.get("events") or [], "events", "at_us")
    for index, repair in enumerate(row.get("repairs") or []):
        onset, resolved = repair.get("onset_us"), repair.get("resolved_us")
        if onset is not None and resolved is not None and resolved < onset:
            message = f"resolved at {resolved}, before its onset at {onset}"
            yield ("repairs", index, "resolved_us"), message
    seen: set[str] = set()
    for index, forecast in enumerate(row.get("forecasts") or []):
        name = forecast.get("checkpoint")
        if name in seen:
            yield ("forecasts", index, "checkpoint"), f"a second forecast of '{name}'"
        if name is not None:
            seen.add(name)
        for place, message in _forecast(forecast):
            yield ("forecasts", index, *place), message


def _arrivals(arrivals: list[Row]) -> Iterator[Fault]:
    yield from _increasing(arrivals, "arrivals", "prefix_end_us")
    yield from _increasing(arrivals, "arrivals", "arrived_at_us")
    for index, arrival in enumerate(arrivals):
        end, arrived = arrival.get("prefix_end_us"), arrival.get("arrived_at_us")
        if end is None or arrived is None:
            continue
        place: Location = ("arrivals", index, "arrived_at_us")
        if arrived < end:
            yield place, f"arrived at {arrived}, before its prefix ends at {end}"
        service = arrival.get("service_us")
        free = arrivals[index - 1].get("arrived_at_us") if index else 0
        if service is not None and free is not None and arrived != max(end, free) + service:
            expected = f"max({end}, {free}) + {service} = {max(end, free) + service}"
            yield (
                place,
                f"is {arrived}, but one decoder in order gives "
                f"max(prefix end, previous arrival) + service_us = {expected}",
            )
    finals = [index for index, arrival in enumerate(arrivals) if arrival.get("is_final")]
    if arrivals and not finals:
        yield ("arrivals",), "no arrival is final; the last one must be"
    for index in finals[:-1]:
        yield ("arrivals", index, "is_final"), f"a second final arrival follows at {finals[-1]}"
    if finals and finals[-1] != len(arrivals) - 1:
        place = ("arrivals", finals[-1], "is_final")
        yield place, f"the final arrival is not the last of {len(arrivals)}"


def _increasing(rows: list[Row], name: str, key: str) -> Iterator[Fault]:
    known = [(index, row[key]) for index, row in enumerate(rows) if row.get(key) is not None]
    for (_, before), (index, after) in pairwise(known):
        if after < before:
            yield (name, index, key), f"{after} comes before {before}; {name} are sorted by time"


def _forecast(forecast: Row) -> Iterator[Fault]:
    times = forecast.get("at_us")
    for name in ("p_bad", "masses"):
        values = forecast.get(name)
        if times is not None and values is not None and len(values) != len(times):
            yield (name,), f"has {len(values)} entries, but at_us has {len(times)}"
    if times is not None and None not in times:
        for index, (before, after) in enumerate(pairwise(times), start=1):
            if after <= before:
                yield ("at_us", index), f"{after} does not come after {before}; times increase"
    for index, masses in enumerate(forecast.get("masses") or []):
        if masses is not None and None not in masses and abs(sum(masses) - 1) > MASS_TOLERANCE:
            yield ("masses", index), f"the masses sum to {sum(masses):g} instead of 1"
