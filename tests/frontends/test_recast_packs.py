"""The shipped ReCAST packs are what they say."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from frontends.recast.grammar import DOMAINS, VOICES, load_grammar
from frontends.recast.packs import FROZEN
from frontends.recast.recipe import GROUPS, NOISES, SINGLE, SPLITS, all_items
from frontends.recast.record import SUFFIX, read_records
from frontends.recast.timeline import LONGEST
from simcore.files.shipped import shipped_scenarios
from simcore.files.traces import read_traces

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from frontends.recast.grammar import Side
    from simcore.trace import Arrival, Recording

FOLDER: Path = shipped_scenarios() / "packs" / "recast"
PACKS = [name for name in (*SPLITS, *NOISES) if (FOLDER / f"{name}.parquet").is_file()]


@cache
def pack(name: str) -> tuple[Recording, ...]:
    return read_traces(FOLDER / f"{name}.parquet")


@cache
def provenance(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.provenance.json").read_text(encoding="utf-8"))


def pairs(name: str) -> list[tuple[Recording, Recording]]:
    found: dict[str, dict[str | None, Recording]] = defaultdict(dict)
    for recording in pack(name):
        if recording.pair_id is not None:
            found[recording.pair_id][recording.variant] = recording
    return [(pair["stable"], pair["corrected"]) for pair in found.values()]


def side(name: str) -> Side:
    return "source" if name in SPLITS[:-1] else "test"


def test_the_four_splits_are_there() -> None:
    assert set(SPLITS) <= set(PACKS)


@pytest.mark.parametrize("name", PACKS)
def test_counts_are_those_of_the_provenance(name: str) -> None:
    made = provenance(name)
    groups = {recording.group_id: recording.subset for recording in pack(name)}
    assert len(groups) == made["groups"]["made"] <= made["groups"]["planned"]
    assert len(pack(name)) == made["recordings"]["made"] <= made["recordings"]["planned"]
    counts = Counter(groups.values())
    assert {subset: counts[subset] for subset in GROUPS} == {
        subset: row["made"] for subset, row in made["subsets"].items()
    }
    assert dict(Counter(recording.voice for recording in pack(name))) == made["voices"]
    split = name if name in SPLITS else "test"
    assert {(r.corpus, r.split) for r in pack(name)} == {("recast", split)}


@pytest.mark.parametrize("name", PACKS)
def test_a_group_is_whole(name: str) -> None:
    groups: dict[str | None, list[Recording]] = defaultdict(list)
    for recording in pack(name):
        groups[recording.group_id].append(recording)
    for recordings in groups.values():
        variants = [recording.variant for recording in recordings]
        single = recordings[0].subset in SINGLE
        assert variants == (["stable"] if single else ["stable", "corrected"])
        assert len({recording.pair_id for recording in recordings}) == 1


@pytest.mark.parametrize("split", SPLITS)
def test_a_finished_split_has_the_papers_size(split: str) -> None:
    made = provenance(split)["groups"]
    if made["made"] < made["planned"]:
        pytest.skip(f"recast/{split} has {made['made']} of {made['planned']} groups so far")
    counts = Counter(r.subset for r in pack(split))
    planned = [item for item in all_items() if item.pack == split]
    assert counts == Counter(
        item.subset for item in planned for _ in range(1 if item.subset in SINGLE else 2)
    )
    sizes = {"train": 320, "dev-selection": 64, "dev-calibration": 64, "test": 2_400}
    assert counts.total() == sizes[split]
    assert {r.carrier_id for r in pack(split)} <= {
        carrier.id
        for kind in (load_grammar(side(split)).carriers, load_grammar(side(split)).two)
        for own in kind.values()
        for carrier in own
    }
    if split in ("train", "test"):
        assert {r.voice for r in pack(split)} == set(VOICES[side(split)])
        assert {r.domain for r in pack(split)} == set(DOMAINS)


def test_the_splits_are_apart() -> None:
    groups: set[str | None] = set()
    for split in SPLITS:
        own = {recording.group_id for recording in pack(split)}
        assert not own & groups
        groups |= own
    source = [recording for split in SPLITS[:-1] for recording in pack(split)]
    for field in ("voice", "carrier_id"):
        assert not {getattr(r, field) for r in source} & {getattr(r, field) for r in pack("test")}
    phrases = {
        edit.id: edit.text for edit in (*load_grammar("test").edits, *load_grammar("test").abandon)
    }
    known = {
        word.strip(".,").lower()
        for edit in (*load_grammar("source").edits, *load_grammar("source").abandon)
        for word in edit.text.split()
    }
    for recording in pack("test"):
        if recording.edit_id is not None:
            words = {word.strip(".,").lower() for word in phrases[recording.edit_id].split()}
            assert (recording.editing == "unseen") == (not words & known), recording.edit_id


@pytest.mark.parametrize("name", PACKS)
def test_a_pair_is_one_until_its_branch(name: str) -> None:
    def before(arrivals: Sequence[Arrival], branch: int) -> list[Arrival]:
        return [arrival for arrival in arrivals if arrival.prefix_end_us <= branch]

    assert pairs(name)
    for stable, corrected in pairs(name):
        assert stable.branch_us is not None
        assert stable.branch_us == corrected.branch_us == corrected.repairs[0].onset_us
        shared = before(stable.arrivals, stable.branch_us)
        assert len(shared) == stable.branch_us // 960_000
        assert shared == before(corrected.arrivals, stable.branch_us)


@pytest.mark.parametrize("name", PACKS)
def test_the_distances_that_make_a_subset(name: str) -> None:
    for _, corrected in pairs(name):
        repair = corrected.repairs[0]
        said = [v.available_us for v in corrected.values if v.available_us <= repair.onset_us]
        gap = repair.onset_us - max(said) if said else 0
        assert corrected.audio_end_us <= LONGEST * 1_000
        if corrected.subset == "prospective":
            assert repair.resolved_us is not None
            assert 1_000_000 <= gap <= 3_500_000
            assert repair.resolved_us - repair.onset_us >= 2_000_000
            assert corrected.audio_end_us - repair.resolved_us >= 3_000_000
        elif corrected.subset == "early":
            assert gap <= 1_000_000
        elif corrected.subset == "late":
            assert gap >= 6_000_000


@pytest.mark.parametrize("split", SPLITS)
def test_a_third_of_the_corrections_have_no_editing_phrase(split: str) -> None:
    editing = Counter(corrected.editing for _, corrected in pairs(split))
    assert editing["none"] * 3 >= editing.total()
    assert (editing["unseen"] > 0) == (split == "test")


@pytest.mark.parametrize("name", PACKS)
def test_packs_come_from_the_decodes_beside_them(name: str) -> None:
    records = {record.recording_id: record for record in read_records(FOLDER / f"{name}{SUFFIX}")}
    assert list(records) == [recording.recording_id for recording in pack(name)]
    for recording in pack(name):
        record = records[recording.recording_id]
        assert [" ".join(words) for words in record.words] == [a.text for a in recording.arrivals]


@pytest.mark.parametrize("name", PACKS)
def test_every_pack_was_parsed_by_the_frozen_parser(name: str) -> None:
    frozen = json.loads((FOLDER / FROZEN).read_text(encoding="utf-8"))
    assert provenance(name)["parser"] == frozen["parser"]


def test_all_packs_together_are_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 15_000_000


@pytest.mark.parametrize("name", [name for name in NOISES if name in PACKS])
def test_noisy_copies_are_of_every_kind_and_say_the_same(name: str) -> None:
    made = provenance(name)["groups"]
    if made["made"] < made["planned"]:
        pytest.skip(f"recast/{name} has {made['made']} of {made['planned']} groups so far")
    assert len(pack(name)) == 240
    assert {recording.domain for recording in pack(name)} == set(DOMAINS)
    assert {recording.voice for recording in pack(name)} == set(VOICES["test"])
    kinds = Counter(recording.editing for recording in pack(name) if recording.repairs)
    clean = Counter(recording.editing for recording in pack("test") if recording.repairs)
    assert kinds.keys() == clean.keys()
    for kind, count in clean.items():
        assert kinds[kind] == pytest.approx(count / 10, rel=0.4)
    copied = {recording.recording_id: recording for recording in pack("test")}
    for recording in pack(name):
        original = copied[recording.recording_id.removesuffix(f"-{NOISES[name]}db")]
        assert recording.noise == f"{NOISES[name]} dB"
        assert (recording.target, recording.edit_id, recording.voice, recording.group_id) == (
            original.target,
            original.edit_id,
            original.voice,
            original.group_id,
        )
