"""The shipped pilot packs are what they say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from frontends.recast.grammar import DOMAINS, VOICES
from frontends.recast.timeline import LONGEST
from simcore.files.traces import read_traces, resolve_traces

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simcore.trace import Arrival, Recording

SPLITS = ("source", "test")


@cache
def pack(split: str) -> tuple[Recording, ...]:
    return read_traces(resolve_traces(f"pilot/{split}", "."))


def provenance(split: str) -> Any:
    path = resolve_traces(f"pilot/{split}", ".").with_suffix(".provenance.json")
    return json.loads(path.read_text(encoding="utf-8"))


def pairs(split: str) -> list[tuple[Recording, Recording]]:
    found: dict[str | None, dict[str | None, Recording]] = defaultdict(dict)
    for recording in pack(split):
        found[recording.pair_id][recording.variant] = recording
    return [(pair["stable"], pair["corrected"]) for pair in found.values()]


@pytest.mark.parametrize("split", SPLITS)
def test_pairs_in_four_domains_evenly(split: str) -> None:
    recordings = pack(split)
    assert len(recordings) == 2 * len(pairs(split)) >= 120
    counts = Counter(recording.domain for recording in recordings)
    assert counts == dict.fromkeys(DOMAINS, len(recordings) // 4)
    assert {recording.split for recording in recordings} == {split}
    assert {recording.subset for recording in recordings} == {"prospective"}


@pytest.mark.parametrize("split", SPLITS)
def test_a_pair_is_one_until_its_branch(split: str) -> None:
    def before(arrivals: Sequence[Arrival], branch: int) -> list[Arrival]:
        return [arrival for arrival in arrivals if arrival.prefix_end_us <= branch]

    for stable, corrected in pairs(split):
        assert stable.branch_us is not None
        assert stable.branch_us == corrected.branch_us
        shared = before(stable.arrivals, stable.branch_us)
        assert len(shared) == stable.branch_us // 960_000 >= 1
        assert shared == before(corrected.arrivals, stable.branch_us)
        assert stable.values == corrected.values[:1]
        assert stable.group_id == corrected.group_id


@pytest.mark.parametrize("split", SPLITS)
def test_the_distances_of_a_prospective_repair(split: str) -> None:
    for stable, corrected in pairs(split):
        (repair,) = corrected.repairs
        first, second = corrected.values
        assert repair.resolved_us is not None
        assert 1_000_000 <= repair.onset_us - first.available_us <= 3_500_000
        assert repair.resolved_us - repair.onset_us >= 2_000_000
        assert corrected.audio_end_us - repair.resolved_us >= 3_000_000
        assert repair.onset_us == corrected.branch_us
        assert repair.resolved_us == second.available_us == corrected.origin_us
        assert stable.origin_us == first.available_us
        assert corrected.target == second.argument != first.argument == stable.target
        assert not stable.repairs
        for recording in (stable, corrected):
            assert recording.audio_end_us <= LONGEST * 1_000
            assert recording.arrivals[-1].prefix_end_us == recording.audio_end_us


def test_source_and_test_are_apart() -> None:
    source, test = pack("source"), pack("test")
    for name in ("group_id", "pair_id", "recording_id", "voice", "carrier_id"):
        assert not {getattr(r, name) for r in source} & {getattr(r, name) for r in test}, name
    assert not {recording.voice for recording in (*source, *test)} & set(VOICES["test"])


def test_corrections_with_and_without_an_editing_phrase() -> None:
    for split in SPLITS:
        edits = [corrected.edit_id for _, corrected in pairs(split)]
        assert edits.count(None) * 3 >= len(edits)
        assert all(stable.edit_id is None for stable, _ in pairs(split))


@pytest.mark.parametrize("split", SPLITS)
def test_the_provenance_tells_how_it_was_made(split: str) -> None:
    made = provenance(split)
    assert made["recordings"] == len(pack(split))
    assert set(made["audio_sha256"]) == {recording.recording_id for recording in pack(split)}
    assert made["recognizer"]["model"] == "base"
    assert made["recognizer"]["encoder_frames"] == 1_500
    assert len(made["recognizer"]["sha256"]) == len(made["audio"]["synthesizer"]["sha256"]) == 64
    assert made["audio"]["recipe"] == "recast-pilot"
