"""What is held out of the source: never learned, and what is measured has some of it."""

from __future__ import annotations

from random import Random

import pytest

from frontends.parsing.qwen.heldout import divided, taught
from frontends.parsing.qwen.phrases import Speaker
from frontends.recast.grammar import DOMAINS, Grammar, load_grammar
from frontends.recast.record import read_records
from simcore.files.traces import shipped_scenarios

DECODES = shipped_scenarios() / "packs" / "recast" / "dev-selection.decodes.parquet"


def phrases(grammar: Grammar) -> set[str]:
    carriers = (
        carrier.opening
        for domain in DOMAINS
        for carrier in (*grammar.carriers[domain], *grammar.two[domain])
    )
    switches = (switch.text for domain in DOMAINS for switch in grammar.switch[domain])
    edits = (edit.text for edit in (*grammar.edits, *grammar.abandon))
    return {*carriers, *switches, *edits, *grammar.cues, *grammar.tails}


def test_nothing_is_held_out_unless_asked_for() -> None:
    assert taught(0) == load_grammar("source")


@pytest.mark.parametrize("held_out", [2, 3, 4])
def test_every_so_many_th_phrase_is_held_out(held_out: int) -> None:
    kept, whole = phrases(taught(held_out)), phrases(load_grammar("source"))
    assert kept < whole
    gone = len(whole) - len(kept)
    assert len(whole) / held_out - 12 < gone <= len(whole) / held_out


def test_a_speaker_never_says_what_is_held_out() -> None:
    grammar = taught(2)
    gone = phrases(load_grammar("source")) - phrases(grammar)
    speaker = Speaker(Random(1), 1.0, grammar)
    said: set[str] = set()
    for domain in DOMAINS:
        for _ in range(100):
            said |= {speaker.carrier(domain).opening, speaker.two(domain).opening}
            said |= {speaker.edit(), speaker.switch(domain), speaker.abandonment()}
            said |= {speaker.tail(), speaker.cue()}
    assert said == phrases(grammar)
    assert not said & gone


def test_recordings_are_divided_by_what_is_said_in_them() -> None:
    records = read_records(DECODES)
    known, unknown = divided(records, 2)
    assert known
    assert unknown
    assert sorted(r.columns["recording_id"] for r in (*known, *unknown)) == sorted(
        r.columns["recording_id"] for r in records
    )
    left = {carrier.id for domain in DOMAINS for carrier in taught(2).carriers[domain]}
    two = {carrier.id for domain in DOMAINS for carrier in taught(2).two[domain]}
    assert {record.columns["carrier_id"] for record in known} <= left | two
    assert divided(records, 0) == (records, [])
