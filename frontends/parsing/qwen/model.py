"""Qwen2 in plain torch: RMS norms, rotary positions, grouped queries with biases, SwiGLU, tied
embeddings. Its weights have the names that llama.cpp gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from torch import Tensor

EPSILON: Final = 1e-6
ROPE_BASE: Final = 10_000.0
EMBEDDING: Final = "token_embd.weight"


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a model."""

    vocabulary: int
    width: int = 256
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    inner: int = 640

    @property
    def head(self) -> int:
        return self.width // self.heads


Weights = dict[str, torch.Tensor]


def initial(shape: Shape, generator: torch.Generator) -> Weights:
    """Random weights, those that write to the residual smaller with depth."""

    def normal(rows: int, columns: int, scale: float = 1.0) -> Tensor:
        deviation = scale * columns**-0.5
        made: Tensor = torch.randn(rows, columns, generator=generator) * deviation
        return made

    width, kv = shape.width, shape.kv_heads * shape.head
    depth = (2 * shape.layers) ** -0.5
    weights = {
        EMBEDDING: torch.randn(shape.vocabulary, width, generator=generator) * 0.04,
        "output_norm.weight": torch.ones(width),
    }
    for layer in range(shape.layers):
        block = {
            "attn_norm.weight": torch.ones(width),
            "attn_q.weight": normal(width, width),
            "attn_q.bias": torch.zeros(width),
            "attn_k.weight": normal(kv, width),
            "attn_k.bias": torch.zeros(kv),
            "attn_v.weight": normal(kv, width),
            "attn_v.bias": torch.zeros(kv),
            "attn_output.weight": normal(width, width, depth),
            "ffn_norm.weight": torch.ones(width),
            "ffn_gate.weight": normal(shape.inner, width),
            "ffn_up.weight": normal(shape.inner, width),
            "ffn_down.weight": normal(width, shape.inner, depth),
        }
        weights |= {f"blk.{layer}.{name}": tensor for name, tensor in block.items()}
    return weights


def logits(
    weights: Weights,
    shape: Shape,
    tokens: Tensor,
    positions: Tensor,
    mask: Tensor | None = None,
    at: Tensor | None = None,
) -> Tensor:
    """Logits [n, vocabulary] after the tokens [rows, length] where `at` [rows, length] is true, by
    default after all of them.

    `mask` [rows, length, length] says which tokens (columns) a token sees; by default those up to
    itself.
    """
    embedding = weights[EMBEDDING]
    x = functional.embedding(tokens, embedding)
    turn = _rotation(positions, shape.head)
    if mask is None:
        length = tokens.shape[1]
        mask = torch.ones(1, length, length, dtype=torch.bool).tril()
    hidden = ~mask[:, None]
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        part = {
            name.removeprefix(block): tensor
            for name, tensor in weights.items()
            if name.startswith(block)
        }
        x = x + _attention(part, shape, _norm(x, part["attn_norm.weight"]), turn, hidden)
        x = x + _feed_forward(part, _norm(x, part["ffn_norm.weight"]))
    states = x.flatten(0, 1) if at is None else x[at]
    return functional.linear(_norm(states, weights["output_norm.weight"]), embedding)


def _norm(x: Tensor, weight: Tensor) -> Tensor:
    return functional.rms_norm(x, (x.shape[-1],), weight, EPSILON)


def _attention(
    part: Weights, shape: Shape, x: Tensor, turn: tuple[Tensor, Tensor], hidden: Tensor
) -> Tensor:
    rows, length, width = x.shape

    def project(name: str, heads: int) -> Tensor:
        made = functional.linear(x, part[f"attn_{name}.weight"], part[f"attn_{name}.bias"])
        return made.view(rows, length, heads, shape.head).transpose(1, 2)

    query = _rotated(project("q", shape.heads), turn)
    key = _rotated(project("k", shape.kv_heads), turn)
    # Queries of one group stand below each other, so that keys and values are not repeated.
    grouped = query.reshape(rows, shape.kv_heads, -1, shape.head)
    scores = (grouped @ key.transpose(2, 3)).float() * shape.head**-0.5
    scores = scores.view(rows, shape.heads, length, length).masked_fill(hidden, -torch.inf)
    shares = scores.softmax(-1).view(rows, shape.kv_heads, -1, length)
    found = (shares.to(query.dtype) @ project("v", shape.kv_heads)).view(
        rows, shape.heads, length, shape.head
    )
    return functional.linear(
        found.transpose(1, 2).reshape(rows, length, width), part["attn_output.weight"]
    )


def _feed_forward(part: Weights, x: Tensor) -> Tensor:
    gate = functional.silu(functional.linear(x, part["ffn_gate.weight"]))
    return functional.linear(
        gate * functional.linear(x, part["ffn_up.weight"]), part["ffn_down.weight"]
    )


def _rotation(positions: Tensor, size: int) -> tuple[Tensor, Tensor]:
    """Cosines and sines [rows, 1, length, size / 2]."""
    rates = ROPE_BASE ** (-torch.arange(0, size, 2, dtype=torch.float32) / size)
    angles = positions[:, None, :, None].float() * rates
    return angles.cos(), angles.sin()


def _rotated(x: Tensor, turn: tuple[Tensor, Tensor]) -> Tensor:
    """The halves of each head turned against each other."""
    cosine, sine = (part.to(x.dtype) for part in turn)
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)
