"""The causal GRU in torch: features in, log-probabilities of the 12 outcomes out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from predictors.features import BUCKETS, NAMES
from predictors.labels import OUTCOMES
from simcore.errors import MissingError

if TYPE_CHECKING:
    import numpy as np
    import torch
    from numpy.typing import NDArray

HIDDEN: Final = 64
TEXT: Final = 16
"""Into how many numbers the hashed text is embedded."""

_PLAIN: Final = len(NAMES) - BUCKETS


def import_torch() -> None:
    """Raises `MissingError` where torch is not installed."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise MissingError("the GRU needs torch: pip install 'rassg-sim[train]'") from None


class Network:
    """Standardized features and an embedding of the newest words, a GRU, a linear layer.

    `parts` holds the weights, `mean` and `scale` [features without text] included.
    """

    def __init__(self, dropout: float = 0.0) -> None:
        import torch
        from torch import nn

        self.parts = nn.ModuleDict(
            {
                "text": nn.Linear(BUCKETS, TEXT, bias=False),
                "gru": nn.GRU(_PLAIN + TEXT, HIDDEN, batch_first=True),
                "outcomes": nn.Linear(HIDDEN, len(OUTCOMES)),
                "drop": nn.Dropout(dropout),
            }
        )
        self.parts.register_buffer("mean", torch.zeros(_PLAIN))
        self.parts.register_buffer("scale", torch.ones(_PLAIN))

    def standardize(self, ticks: NDArray[np.float32]) -> None:
        """Take mean and scale from training ticks [n, features]; constants are left alone."""
        import numpy as np
        import torch

        plain = ticks[:, :_PLAIN]
        deviation = plain.std(axis=0)
        self.parts.mean.copy_(torch.from_numpy(plain.mean(axis=0)))
        self.parts.scale.copy_(torch.from_numpy(np.where(deviation > 1e-6, deviation, 1)))

    def log_masses(self, x: torch.Tensor) -> torch.Tensor:
        """Log-probabilities [n, ticks, 12] of features [n, ticks, features]."""
        import torch

        drop = self.parts["drop"]
        plain = (x[..., :_PLAIN] - self.parts.mean) / self.parts.scale
        text = self.parts["text"](drop(x[..., _PLAIN:]))
        states, _ = self.parts["gru"](torch.cat([drop(plain.clamp(-5, 5)), text], dim=-1))
        return torch.log_softmax(self.parts["outcomes"](drop(states)), dim=-1)
