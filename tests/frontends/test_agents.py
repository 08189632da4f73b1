"""Scripts drawn by recipe, and training sequences from playing them."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from frontends.agents.commands import app, export_app
from frontends.agents.generate import scripts
from frontends.agents.recipe import CHAINS, DAGS, RECIPES, SPEECH
from frontends.agents.sft import Context, export, read_ids, sequence, vocabulary, with_ids
from policies.speculative_interaction import SpeculativeInteraction
from simcore.agent.script import Script, from_row
from simcore.agent.simulation import play
from simcore.files.script_model import row_faults

if TYPE_CHECKING:
    from pathlib import Path

EVERY = [*RECIPES.values(), replace(CHAINS, correction=0.5, repeat=0.3)]


@pytest.mark.parametrize("recipe", EVERY, ids=lambda recipe: recipe.workload)
def test_drawn_scripts_hold_to_the_rules(recipe: Any) -> None:
    rows = list(scripts(recipe, 20))
    assert [fault for row in rows for fault in row_faults(row)] == []
    assert rows[:7] == list(scripts(recipe, 7))
    low, high = recipe.calls
    for row in rows:
        ids = {step["call"] for step in row["steps"] if "call" in step}
        assert low <= len(ids) <= high
        assert 100 <= row["tokens_per_second"] <= 200


def test_a_rate_changes_what_it_decides_and_nothing_else() -> None:
    plain = list(scripts(SPEECH, 6))
    silent = list(scripts(replace(SPEECH, repeat=0.0), 6))
    for row, other in zip(plain, silent, strict=True):
        kept = [step for step in row["steps"] if step.get("slip") != "repeat"]
        assert {**row, "steps": kept} == other
    assert plain != silent


def test_an_agent_that_waits_takes_as_long_as_the_papers() -> None:
    for recipe in (CHAINS, DAGS):
        times = [play(s, SpeculativeInteraction("sequential")).answer_s for s in drawn(recipe, 60)]
        assert 4.5 <= sum(times) / len(times) <= 7.6


def drawn(recipe: Any, count: int) -> list[Script]:
    return [from_row(row) for row in scripts(recipe, count)]


def test_generated_stretches_fill_the_time_between_what_arrives() -> None:
    cut = 0
    for script in drawn(SPEECH, 10):
        pieces = play(script, SpeculativeInteraction()).pieces
        for before, piece in pairwise(pieces):
            assert piece.at_us % script.token_us == 0
            if piece.source == "agent" and before.source == "agent" and not before.cut:
                assert piece.at_us - before.at_us == len(piece.tokens) * script.token_us
            cut += piece.cut
    assert cut


def test_what_is_put_in_and_what_it_interrupts_are_not_trained_on() -> None:
    script = next(s for s in drawn(DAGS, 10) if play(s, SpeculativeInteraction()).interruptions)
    pieces = play(script, SpeculativeInteraction()).pieces
    found = sequence(script, SpeculativeInteraction())
    assert found.tokens == tuple(token for piece in pieces for token in piece.tokens)
    place = 0
    for piece in pieces:
        trained = found.trained[place : place + len(piece.tokens)]
        own = piece.source == "agent"
        assert trained[:-1] == (own,) * (len(trained) - 1)
        assert trained[-1] == (own and not piece.cut)
        place += len(piece.tokens)


def test_slips_are_not_taught() -> None:
    plain = [sequence(s, SpeculativeInteraction()) for s in drawn(replace(SPEECH, repeat=0), 5)]
    slips = [sequence(s, SpeculativeInteraction()) for s in drawn(replace(SPEECH, repeat=0.9), 5)]
    assert plain == slips


def test_sequences_come_back_as_they_went(tmp_path: Path) -> None:
    found = drawn(CHAINS, 5)
    file, numbers_file = export(found, SpeculativeInteraction, tmp_path / "train.jsonl", "ids")
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    numbers = json.loads(numbers_file.read_text())
    assert [read_ids(row, numbers) for row in rows] == [
        sequence(script, SpeculativeInteraction()) for script in found
    ]
    (texts,) = export(found, SpeculativeInteraction, tmp_path / "text.jsonl", "segments")
    for line, row in zip(texts.read_text().splitlines(), rows, strict=True):
        segments = json.loads(line)["segments"]
        context = read_ids(row, numbers)
        assert "".join(part["text"] for part in segments).split(" ") == list(context.tokens)
        flags = [part["label"] for part in segments for _ in part["text"].split()]
        assert flags == list(context.trained)


def test_commands_draw_and_export(tmp_path: Path) -> None:
    mine, out = tmp_path / "mine.jsonl", tmp_path / "train.jsonl"
    runner = CliRunner()
    drawn = runner.invoke(app, ["generate", "dags", "--out", str(mine), "--count", "2"])
    assert drawn.exit_code == 0
    done = runner.invoke(export_app, [str(mine), "--out", str(out), "--format", "segments"])
    assert (done.exit_code, len(out.read_text().splitlines())) == (0, 2)


def test_a_small_model_learns_the_format() -> None:
    torch = pytest.importorskip(
        "torch", reason="training needs torch: pip install 'rassg-sim[train]'"
    )
    short = replace(CHAINS, think=(4, 8), answer_think=(3, 6), answer=(2, 4), words=(6, 9))
    contexts = [sequence(script, SpeculativeInteraction()) for script in drawn(short, 40)]
    numbers = vocabulary(contexts)
    train, held_out = contexts[:32], contexts[32:]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = _Model(torch, len(numbers))
    before = model.loss(held_out, numbers)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(5):
        for first in range(0, len(train), 8):
            optimizer.zero_grad()
            model.loss(train[first : first + 8], numbers).backward()
            optimizer.step()
    assert model.loss(held_out, numbers) < 0.5 * before
    # A call is an id, the tool, and an object: what follows "<call> id" is the tool's name.
    names = dict(map(reversed, numbers.items()))
    right = total = 0
    for context in held_out:
        guesses = [names[number] for number in model.guesses(context, numbers)]
        for place, token in enumerate(context.tokens[:-2]):
            if token == "<call>" and context.trained[place : place + 3] == (True,) * 3:
                right += guesses[place + 1] == context.tokens[place + 2] == "search"
                total += 1
    assert total > 10
    assert right >= 0.9 * total


class _Model:
    """A recurrent network over the rows as a trainer reads them."""

    def __init__(self, torch: Any, size: int) -> None:
        self._torch = torch
        self._embedding = torch.nn.Embedding(size, 24)
        self._memory = torch.nn.GRU(24, 32, batch_first=True)
        self._head = torch.nn.Linear(32, size)

    def parameters(self) -> list[Any]:
        parts = (self._embedding, self._memory, self._head)
        return [weight for part in parts for weight in part.parameters()]

    def _scores(self, ids: Any) -> Any:
        return self._head(self._memory(self._embedding(ids))[0])

    def loss(self, contexts: list[Context], numbers: dict[str, int]) -> Any:
        torch, rows = self._torch, [with_ids(context, numbers) for context in contexts]
        pad = torch.nn.utils.rnn.pad_sequence
        ids = pad([torch.tensor(row["input_ids"]) for row in rows], batch_first=True)
        labels = pad(
            [torch.tensor(row["labels"]) for row in rows], batch_first=True, padding_value=-100
        )
        scores = self._scores(ids[:, :-1])
        return torch.nn.functional.cross_entropy(scores.flatten(0, 1), labels[:, 1:].flatten())

    def guesses(self, context: Context, numbers: dict[str, int]) -> list[int]:
        with self._torch.no_grad():
            ids = self._torch.tensor([with_ids(context, numbers)["input_ids"]])
            found: list[int] = self._scores(ids)[0].argmax(-1).tolist()
            return found


def test_the_report_compares_the_systems_and_keeps_every_point(tmp_path: Path) -> None:
    out = tmp_path / "out"
    arguments = ["report", "--out", str(out), "--count", "6", "--sweep", "2"]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    text = (out / "report.md").read_text()
    for title in ("chains", "dags", "speech", "Where speculation stops paying", "Growth"):
        assert f"## {title}" in text
    for row in ("sequential", "asynchronous", "speculative", "speculative, writes not held"):
        assert text.count(f"| {row} |") == 3
    points = json.loads((out / "points.json").read_text())
    assert {point["sweep"] for point in points} == {"surface", "calls", "words", "slips"}
    for point in points:
        assert point["speed_up"] == point["sequential_s"] / point["speculative_s"]
    for name in ("surface", "growth"):
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
