"""Training sequences from played scripts, on the token clock.

What the agent generated is trained on, what was put in between is not; nor is the last token before
an interruption, from which a model would learn to stop anywhere.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, Literal

from simcore.agent.program import right_steps
from simcore.agent.simulation import play
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from simcore.agent.process import Piece
    from simcore.agent.script import Script
    from simcore.agent.simulation import TaskManager

Format = Literal["ids", "segments"]
IGNORED: Final = -100
"""The label that PyTorch's cross entropy passes over."""
UNKNOWN: Final = "<unknown>"


@dataclass(frozen=True, slots=True)
class Context:
    """One agent's context as it grew: its tokens, and which of them are trained on."""

    id: str
    tokens: tuple[str, ...]
    trained: tuple[bool, ...]


def sequence(script: Script, manager: TaskManager) -> Context:
    """Play a script without its slips, and keep what the agent saw and generated."""
    steps = tuple(replace(step, slip=None) for step in right_steps(script))
    played = play(replace(script, steps=steps), manager)
    tokens = tuple(token for piece in played.pieces for token in piece.tokens)
    trained = tuple(kept for piece in played.pieces for kept in _mask(piece))
    return Context(script.id, tokens, trained)


def _mask(piece: Piece) -> list[bool]:
    mask = [piece.source == "agent"] * len(piece.tokens)
    if piece.cut:
        mask[-1] = False
    return mask


def vocabulary(sequences: Iterable[Context]) -> dict[str, int]:
    """A number for every token, the same for the same sequences in any order."""
    found = {token for sequence in sequences for token in sequence.tokens}
    return {token: number for number, token in enumerate([UNKNOWN, *sorted(found - {UNKNOWN})])}


def with_ids(sequence: Context, numbers: Mapping[str, int]) -> dict[str, Any]:
    """A row for trainers that take token numbers: `input_ids`, `labels`, `attention_mask`."""
    ids = [numbers.get(token, numbers[UNKNOWN]) for token in sequence.tokens]
    labels = [
        number if kept else IGNORED for number, kept in zip(ids, sequence.trained, strict=True)
    ]
    return {
        "id": sequence.id,
        "input_ids": ids,
        "labels": labels,
        "attention_mask": [1] * len(ids),
    }


def with_segments(sequence: Context) -> dict[str, Any]:
    """A row for trainers with a tokenizer: stretches of text, each trained on or not.

    The `input_output` format of Axolotl; a stretch but the first begins with its space.
    """
    pairs = zip(sequence.tokens, sequence.trained, strict=True)
    segments: list[dict[str, Any]] = []
    for kept, group in groupby(pairs, key=lambda pair: pair[1]):
        text = " ".join(token for token, _ in group)
        segments.append({"label": kept, "text": f" {text}" if segments else text})
    return {"id": sequence.id, "segments": segments}


def read_ids(row: Mapping[str, Any], numbers: Mapping[str, int]) -> Context:
    """The sequence of a row with ids, as it was before `with_ids`."""
    names = {number: token for token, number in numbers.items()}
    trained = tuple(label != IGNORED for label in row["labels"])
    return Context(row["id"], tuple(names[number] for number in row["input_ids"]), trained)


def export(
    scripts: Sequence[Script], manager: Callable[[], TaskManager], out: Path, form: Format
) -> list[Path]:
    """Write a sequence a line; with ids, also `<stem>.vocab.json`. The files written."""
    sequences = [sequence(script, manager()) for script in scripts]
    written = [out]
    if form == "ids":
        numbers = vocabulary(sequences)
        rows = [with_ids(sequence, numbers) for sequence in sequences]
        written.append(out.with_suffix(".vocab.json"))
        text = json.dumps(numbers, ensure_ascii=False, indent=0)
        write_atomic(written[-1], f"{text}\n".encode())
    else:
        rows = [with_segments(sequence) for sequence in sequences]
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    write_atomic(out, "".join(f"{line}\n" for line in lines).encode())
    return written
