"""`report.md`: the tables and pictures with the words that they need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from frontends.recast.report import tables
from frontends.recast.report.frames import DIMENSIONS
from simcore.report.grid import escaped
from simcore.report.numbers import number, span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import polars as pl

    from frontends.recast.report.figures import Part, Rate
    from frontends.recast.report.packs import Pack

_QUESTION: Final = (
    "Every recording was decoded prefix by prefix, and every prefix parsed to a call. How good are "
    "the recognition and the parses that policies will see, and are the recordings what they are "
    "meant to be? Nothing here depends on a policy."
)
_RATES: Final = (
    "*WER*: word errors of the final recognition in what was said (`spoken`), without letter case, "
    'punctuation, fillers and "o\'clock", every number as one word of digits, so that "three p.m." '
    'is "3 PM"; a British spelling of an American word is an error. *Final parse right*: the share '
    "of recordings whose last parse is the target. *Prefixes right*: of the prefixes before the "
    "last, those whose parse is the value that had been heard in full last by the prefix' end, or "
    "nothing before the first. *Early*: the parse is the next value already, before its annotated "
    "end. *Churn*: the share of arrivals whose parse differs from the one before it (the first: "
    "from nothing) and is neither right nor early, so both from right to wrong and from one wrong "
    "parse to another. *Service*: the median time of a decode, as stored."
)
_MEANT: Final = (
    "A corrected field or a changed tool is a new value. After an abandonment nothing is right: "
    "from its annotated end or else from its onset, so that the prefixes that break off before its "
    "words are through count against the parser."
)
_OUTCOMES: Final = (
    "*Missing*: nothing, though a value is meant. *Behind*: a value that was meant before. "
    "*Wrong*: anything else, such as a value cut in half by the prefix' end."
)
_INTERVALS: Final = (
    "Intervals are 95 %, from resampling groups of recordings that share audio; none with fewer "
    "than six groups, or where all of them agree. A final parse that is right throughout has the "
    "exact bound."
)
_TIMES: Final = (
    "*Service* is a decode's time as stored: measured, times the service scale of the pack's "
    "provenance. *Behind*: from the end of a prefix to its arrival, service and the wait for the "
    "decoder together. *Waited*: the share of arrivals that did wait. *Busy*: service over audio; "
    "at 100 % the decoder cannot keep up."
)
_DISTANCES: Final = (
    "From the annotations, which come from the synthesis: from a value's availability to the onset "
    "of the repair after it, from there to the new value's availability, from the last new value "
    "to the end of the audio. Median and the middle 90 %."
)


def markdown(
    packs: Sequence[Pack],
    parts: Sequence[Part],
    prefixes: pl.DataFrame,
    repairs: pl.DataFrame,
    pictures: Collection[str],
) -> str:
    """The whole report; `pictures` are the names of the files that lie beside it."""
    whole = [part for part in parts if part.dimension is None]
    text = [f"# Quality of {escaped(', '.join(pack.name for pack in packs))}", _QUESTION]
    text += [_bullets(_findings(whole[0]))]
    if notes := list(_notes(packs)):
        text += ["**Not in this report**", _bullets(notes)]

    text += ["## What there is", tables.pack_table(whole).markdown()]
    text += ["A group shares audio; a pair is a stable and a corrected variant."]
    text += list(_alike(parts))
    for dimension in _varied(parts, None):
        text += [tables.mix_table(parts, dimension).markdown()]
        if dimension == "subset":
            text += _picture("subsets", "Subsets in every pack", pictures)

    text += ["## Recognition and parses", _RATES, _MEANT, _INTERVALS]
    text += [tables.quality_table(whole, prefixes, "pack").markdown()]
    text += _picture("quality", "Errors by every dimension; square-root axes", pictures)
    text += list(_qualities(parts, None, prefixes))
    text += ["## What the prefixes parse to", _OUTCOMES]
    text += [tables.outcome_table(_cut(parts, None, "subset"), "subset").markdown()]
    text += _picture("prefixes", "What the prefixes parse to, by subset", pictures)
    text += _picture(
        "hearing",
        "When a value is heard: prefixes by the time between the value's annotated end and theirs, "
        "up to the next repair's onset; points with at least 20 prefixes",
        pictures,
    )

    if len(repairs):
        text += ["## Distances", _DISTANCES, tables.distance_table(repairs, "subset").markdown()]
        text += _picture("distances", "Distances by subset", pictures)
    text += ["## Time", _TIMES, tables.timing_table(packs, prefixes).markdown()]
    text += _picture("timing", "Service time, and how far behind arrivals are", pictures)

    if whole[1:]:
        text += ["## Pack by pack"]
    for part in whole[1:]:
        text += [f"### {escaped(str(part.pack))}", *_qualities(parts, part.pack, prefixes)]
        text += [tables.outcome_table(_cut(parts, part.pack, "subset"), "subset").markdown()]
    text += ["## Where it comes from", _bullets(map(_origin, packs))]
    return "\n\n".join(text) + "\n"


def _findings(whole: Part) -> Iterator[str]:
    rates, rows = whole.rates, whole.rows
    hours = number(float(rows["audio_s"].sum()) / 3600, 1)
    yield (
        f"{len(rows)} recordings in {rows['cluster'].n_unique()} groups, {hours} h of audio, "
        f"{rows['arrivals'].sum()} prefixes."
    )
    if rates["wer"].n:
        yield (
            f"The final recognition gets {_said(rates['wer'])} words wrong: "
            f"{_percent(rates['wer'], 2)}."
        )
    if rates["final"].n:
        yield (
            f"The final parse is right in {_said(rates['final'])} recordings: "
            f"{_percent(rates['final'])}."
        )
    if rates["prefix"].n:
        yield (
            f"Before that, {_said(rates['prefix'])} prefixes parse right: "
            f"{_percent(rates['prefix'])}; with those that are early, {_percent(rates['fair'])}."
        )
        yield (
            f"{_said(rates['churn'])} arrivals change the parse wrongly: "
            f"{_percent(rates['churn'], 2)}."
        )


def _said(rate: Rate) -> str:
    return f"{rate.count} of {rate.n}"


def _percent(rate: Rate, digits: int = 1) -> str:
    return f"{number(rate.value, digits, 100)} % {span(rate.interval, digits, 100)}".rstrip()


def _notes(packs: Sequence[Pack]) -> Iterator[str]:
    for pack in packs:
        recordings = pack.recordings
        faults = {
            "have no arrivals and are left out": [r for r in recordings if not r.arrivals],
            "have no text of what was said (`spoken`): no WER": [
                r for r in recordings if r.spoken is None
            ],
            "have no target: their parses are not judged": [
                r for r in recordings if not r.labelled
            ],
            "have no annotated values: only their final parse is judged": [
                r for r in recordings if r.labelled and r.target and not r.values
            ],
        }
        for what, found in faults.items():
            if found:
                count = "all" if len(found) == len(recordings) else str(len(found))
                yield f"{escaped(pack.name)}: {count} of {len(recordings)} recordings {what}."


def _alike(parts: Sequence[Part]) -> Iterator[str]:
    cuts = {dimension: _cut(parts, None, dimension) for dimension in DIMENSIONS}
    if same := [
        f"{name} {escaped(str(cut[0].value))}" for name, cut in cuts.items() if len(cut) == 1
    ]:
        yield f"All recordings are alike in: {', '.join(same)}."
    if len(cuts["noise"]) > 1:
        yield (
            "Recordings with added noise count by noise alone, beside the clean ones of the same "
            "groups, and in the lines of packs that have no others."
        )


def _varied(parts: Sequence[Part], pack: str | None) -> list[str]:
    return [d for d in DIMENSIONS if len(_cut(parts, pack, d)) > 1]


def _cut(parts: Sequence[Part], pack: str | None, dimension: str) -> list[Part]:
    return [part for part in parts if part.pack == pack and part.dimension == dimension]


def _qualities(parts: Sequence[Part], pack: str | None, prefixes: pl.DataFrame) -> Iterator[str]:
    for dimension in _varied(parts, pack):
        cut = _cut(parts, pack, dimension)
        yield tables.quality_table(cut, prefixes, dimension).markdown()


def _picture(name: str, caption: str, pictures: Collection[str]) -> list[str]:
    return [f"![{caption}]({name}.svg)", f"*{caption}.*"] if name in pictures else []


def _origin(pack: Pack) -> str:
    made = pack.provenance
    if made is None:
        return f"{escaped(pack.name)}: SHA-256 `{pack.digest}`, no provenance beside it"
    recognizer, parser = made.get("recognizer") or {}, made.get("parser") or {}
    groups: Any = made.get("groups")
    counted = isinstance(groups, dict) and {"made", "planned"} <= groups.keys()
    known = {
        "groups": f"{groups['made']} of {groups['planned']}" if counted else None,
        "recognizer": " ".join(
            str(recognizer[key]) for key in ("name", "model") if key in recognizer
        ),
        "parser": parser.get("name"),
        "service scale": pack.service_scale,
    }
    words = [f"{name} {value}" for name, value in known.items() if value not in (None, "")]
    return escaped(f"{pack.name}: {', '.join(words)}") + f"; SHA-256 `{pack.digest}`"


def _bullets(lines: Iterator[str] | Sequence[str] | map[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
