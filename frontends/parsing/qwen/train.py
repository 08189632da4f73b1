"""Training: random requests in, weights out; the same for the same settings, broken off or not."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from random import Random
from typing import TYPE_CHECKING, Any, Final

import torch
from safetensors import safe_open
from safetensors.torch import save
from torch.nn import functional

from frontends.parsing.qwen.heldout import taught
from frontends.parsing.qwen.model import EMBEDDING, Shape, Weights, initial, logits
from frontends.parsing.qwen.requests import draw_request
from frontends.parsing.qwen.samples import LONGEST, UNKNOWN, Source, batch, sequence
from frontends.parsing.qwen.tokenizer import Tokenizer
from frontends.parsing.qwen.written import write
from simcore.errors import InputError
from simcore.files.atomic import write_atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from torch import Tensor

    from frontends.parsing.qwen.samples import Batch, Texts
    from frontends.tools.catalog import Tools

    Progress = Callable[[str, int, int], None]

TOKENIZER: Final = "tokenizer.json"
STATE: Final = "state.safetensors"
_TEXTS: Final = 20_000
"""Requests that the tokens are learned from."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a training depends on besides the recordings.

    `steps` of about `tokens` tokens each; `plain` is how many tokens texts are made of, `prefixes`
    how many beginnings a request is trained on, `recorded` the share of recorded requests.
    Every `held_out`-th of the source's phrases is never learned from; 0: all are.
    `rate` is reached after the share `warmup` of the steps, and falls to nothing by the last.
    `bfloat16`: short numbers in matrix products, faster where the processor has them.
    """

    seed: int = 0
    steps: int = 2_500
    tokens: int = 16_384
    rate: float = 2e-3
    warmup: float = 0.03
    decay: float = 0.05
    clip: float = 1.0
    plain: int = 1_536
    width: int = 256
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    inner: int = 640
    prefixes: int = 7
    recorded: float = 0.04
    held_out: int = 0
    bfloat16: bool = True

    def shape(self, vocabulary: int) -> Shape:
        return Shape(vocabulary, self.width, self.layers, self.heads, self.kv_heads, self.inner)


@dataclass(frozen=True, slots=True)
class Trained:
    """Weights, the tokens they are for, and how the training went."""

    weights: Weights
    shape: Shape
    tokenizer: Tokenizer
    history: list[dict[str, float]]
    seconds: float

    @property
    def parameters(self) -> int:
        return sum(tensor.numel() for tensor in self.weights.values())


def train(
    folder: Path,
    recorded: Sequence[Texts],
    selection: Sequence[Texts],
    tools: Tools,
    settings: Settings,
    *,
    threads: int = 2,
    every: int = 250,
    stop: Callable[[], bool] = lambda: False,
    progress: Progress = lambda label, done, total: None,
    say: Callable[[str], None] = lambda line: None,
) -> Trained | None:
    """Train in a folder, from where it was left there; None where `stop` came first.

    Every so many steps the state is kept, and the loss and the share of right answers on
    `selection` are said. More threads add numbers up in another order: for equal weights, their
    number has to be equal too. Raises `InputError` where the folder holds another training.
    """
    torch.set_num_threads(threads)
    began = time.perf_counter()
    tokenizer = _tokenizer(folder, recorded, tools, settings)
    shape = settings.shape(len(tokenizer.tokens))
    state = _State.begin(folder, shape, settings)
    held_out = _batches(selection, tokenizer)
    before = state.seconds
    grammar = taught(settings.held_out)
    source = Source(tokenizer, recorded, settings.recorded, settings.prefixes, grammar)
    losses: list[float] = []
    for made in source.batches(settings.seed, settings.tokens, state.step):
        if state.step == settings.steps:
            break
        losses.append(state.learn(made))
        progress("training", state.step, settings.steps)
        if state.step % every == 0 or state.step == settings.steps:
            row = {"step": state.step, "loss": round(sum(losses) / len(losses), 5)}
            losses = []
            if held_out:
                row["selection"] = round(right_share(state.weights, shape, held_out), 4)
            state.history.append(row)
            state.seconds = round(before + time.perf_counter() - began, 1)
            state.save(folder / STATE)
            say(", ".join(f"{name} {value:g}" for name, value in row.items()))
        if stop():
            return None
    return Trained(state.weights, shape, tokenizer, state.history, state.seconds)


def right_share(weights: Weights, shape: Shape, batches: Sequence[Batch]) -> float:
    """The share of answers of which every token is the likeliest."""
    right = total = 0
    with torch.inference_mode():
        for made in batches:
            x = _Tensors.of(made)
            found = logits(weights, shape, x.tokens, x.positions, x.mask, x.learned).argmax(-1)
            wrong = torch.zeros_like(x.following)
            wrong[x.learned] = (found != x.following[x.learned]).long()
            faults: dict[tuple[int, int], int] = {}
            for row, column in x.learned.nonzero().tolist():
                key = (row, int(made.branches[row, column]))
                faults[key] = faults.get(key, 0) + int(wrong[row, column])
            right += sum(count == 0 for count in faults.values())
            total += len(faults)
    return right / max(total, 1)


@dataclass(frozen=True, slots=True)
class _Tensors:
    tokens: Tensor
    positions: Tensor
    mask: Tensor
    following: Tensor
    learned: Tensor

    @classmethod
    def of(cls, made: Batch) -> _Tensors:
        tokens, positions, branches, starts, following = (
            torch.from_numpy(column)
            for column in (
                made.tokens,
                made.positions,
                made.branches,
                made.starts,
                made.following,
            )
        )
        text = (branches == 0)[:, None, :] & (positions[:, None, :] < starts[:, :, None])
        earlier = torch.ones(tokens.shape[1], tokens.shape[1], dtype=torch.bool).tril()
        own = (branches[:, None, :] == branches[:, :, None]) & earlier
        return cls(tokens, positions, text | own, following, following != UNKNOWN)


@dataclass(slots=True)
class _State:
    """What a training is made of between two steps."""

    weights: Weights
    shape: Shape
    settings: Settings
    optimizers: Sequence[torch.optim.Optimizer]
    step: int
    history: list[dict[str, float]]
    seconds: float = 0.0

    @classmethod
    def begin(cls, folder: Path, shape: Shape, settings: Settings) -> _State:
        generator = torch.Generator().manual_seed(settings.seed)
        weights = initial(shape, generator)
        for tensor in weights.values():
            tensor.requires_grad_()
        state = cls(weights, shape, settings, _optimizers(weights, settings), 0, [])
        path = folder / STATE
        if path.is_file():
            state._load(path)
        return state

    def learn(self, made: Batch) -> float:
        """One step; the mean loss of a token of the answers."""
        settings = self.settings
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * _schedule(self.step, settings)
            optimizer.zero_grad()
        x = _Tensors.of(made)
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.bfloat16):
            found = logits(self.weights, self.shape, x.tokens, x.positions, x.mask, x.learned)
        loss = functional.cross_entropy(found.float(), x.following[x.learned])
        torch.autograd.backward(loss)
        torch.nn.utils.clip_grad_norm_(self.weights.values(), settings.clip)
        for optimizer in self.optimizers:
            optimizer.step()
        self.step += 1
        return loss.item()

    def _kept(self) -> Iterator[tuple[str, dict[str, Tensor]]]:
        """What the optimizers keep of each weight."""
        names = {id(tensor): name for name, tensor in self.weights.items()}
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                for tensor in group["params"]:
                    yield names[id(tensor)], optimizer.state[tensor]

    def save(self, path: Path) -> None:
        tensors = {f"weight.{name}": tensor.detach() for name, tensor in self.weights.items()}
        for name, kept in self._kept():
            tensors |= {f"{key}.{name}": value for key, value in kept.items()}
        facts = {
            "settings": json.dumps(asdict(self.settings)),
            "history": json.dumps(self.history),
            "step": str(self.step),
            "seconds": str(self.seconds),
        }
        write_atomic(path, save(tensors, facts))

    def _load(self, path: Path) -> None:
        with safe_open(path, framework="pt") as file:
            facts = file.metadata()
            if json.loads(facts["settings"]) != asdict(self.settings):
                raise InputError(
                    "holds a training of other settings; give another folder", file=str(path)
                )
            kept = dict(self._kept())
            for key in file.keys():  # noqa: SIM118 (a file is no dictionary)
                what, _, name = key.partition(".")
                if what == "weight":
                    self.weights[name].data.copy_(file.get_tensor(key))
                else:
                    kept[name][what] = file.get_tensor(key)
        self.step = int(facts["step"])
        self.history = json.loads(facts["history"])
        self.seconds = float(facts["seconds"])


def _optimizers(weights: Weights, settings: Settings) -> tuple[torch.optim.Optimizer, ...]:
    """Muon (Jordan et al., 2024) for the matrices between states, whose updates it makes
    orthogonal; AdamW for the embedding and the vectors."""
    hidden = [w for n, w in weights.items() if w.ndim == 2 and n != EMBEDDING]
    vectors = [w for w in weights.values() if w.ndim == 1]
    groups: list[dict[str, Any]] = [
        {"params": [weights[EMBEDDING]], "weight_decay": settings.decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return (
        torch.optim.Muon(hidden, weight_decay=settings.decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(groups, betas=(0.9, 0.98), fused=True),
    )


def _schedule(step: int, settings: Settings) -> float:
    """Up in the first steps, then down to nothing at the last."""
    warm = max(round(settings.warmup * settings.steps), 1)
    rise = (step + 1) / warm
    fall = (settings.steps - step) / max(settings.steps - warm, 1)
    return min(rise, fall, 1.0)


def _tokenizer(
    folder: Path, recorded: Sequence[Texts], tools: Tools, settings: Settings
) -> Tokenizer:
    path = folder / TOKENIZER
    if not path.is_file():
        texts = _texts(recorded, settings)
        folder.mkdir(parents=True, exist_ok=True)
        Tokenizer.train(texts, tools, settings.plain).save(path)
    return Tokenizer.load(path)


def _texts(recorded: Sequence[Texts], settings: Settings) -> Iterator[str]:
    rng, grammar = Random(f"{settings.seed}/tokens"), taught(settings.held_out)
    for whole, _ in recorded:
        yield f" {whole.text}"
    for _ in range(_TEXTS):
        yield f" {write(draw_request(rng, grammar), rng, 0)[0].text}"


def _batches(texts: Sequence[Texts], tokenizer: Tokenizer) -> list[Batch]:
    rows = [sequence(text, tokenizer) for text in texts]
    rows = sorted((r for r in rows if len(r.tokens) <= LONGEST), key=lambda row: len(row.tokens))
    return [batch(rows[at : at + 32]) for at in range(0, len(rows), 32)]
