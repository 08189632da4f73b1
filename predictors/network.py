"""The causal GRU in torch: features in, log-probabilities of the 12 outcomes out."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from predictors.features import BUCKETS, PLAIN
from predictors.labels import OUTCOMES
from simcore.errors import MissingError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    import torch
    from numpy.typing import NDArray

HIDDEN: Final = 64
TEXT: Final = 16
"""Into how many numbers the hashed text is embedded."""

_PLAIN: Final = len(PLAIN)


def import_torch() -> None:
    """Raises `MissingError` where torch is not installed."""
    try:
        import torch  # noqa: F401
    except ModuleNotFoundError:
        raise MissingError("the GRU needs torch: pip install 'rassg-sim[train]'") from None


@contextmanager
def one_thread() -> Iterator[None]:
    """Small matrices on one thread: faster than on several, and added up in one order."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Network:
    """Standardized features and an embedding of the newest words, a GRU, a linear layer.

    With `hidden` = 0 there is no GRU: logistic regression, tick by tick. `parts` holds the weights,
    `mean` and `scale` [features without text] included.
    """

    def __init__(
        self,
        hidden: int = HIDDEN,
        dropout: float = 0.0,
        feature_dropout: float = 0.0,
        word_dropout: float = 0.0,
    ) -> None:
        import torch
        from torch import nn

        self.parts = nn.ModuleDict(
            {
                "text": nn.Linear(BUCKETS, TEXT, bias=False),
                "outcomes": nn.Linear(hidden or _PLAIN + TEXT, len(OUTCOMES)),
                "drop": nn.Dropout(dropout),
                # These drop a column for a whole recording: phrases of training, or one telling
                # feature, must not be all that the model listens to.
                "drop_features": nn.Dropout1d(feature_dropout),
                "drop_words": nn.Dropout1d(word_dropout),
            }
        )
        if hidden:
            self.parts["gru"] = nn.GRU(_PLAIN + TEXT, hidden, batch_first=True)
        self.mean, self.scale = torch.zeros(_PLAIN), torch.ones(_PLAIN)
        self.parts.register_buffer("mean", self.mean)
        self.parts.register_buffer("scale", self.scale)

    def standardize(self, ticks: NDArray[np.float32]) -> None:
        """Take mean and scale from training ticks [n, features]; constants are left alone."""
        import numpy as np
        import torch

        plain = ticks[:, :_PLAIN]
        deviation = plain.std(axis=0)
        self.mean.copy_(torch.from_numpy(plain.mean(axis=0)))
        self.scale.copy_(torch.from_numpy(np.where(deviation > 1e-6, deviation, 1)))

    def log_masses(self, x: torch.Tensor) -> torch.Tensor:
        """Log-probabilities [n, ticks, 12] of features [n, ticks, features]."""
        import torch

        drop = self.parts["drop"]
        plain = ((x[..., :_PLAIN] - self.mean) / self.scale).clamp(-5, 5)
        plain = self.parts["drop_features"](plain.transpose(1, 2)).transpose(1, 2)
        words = self.parts["drop_words"](x[..., _PLAIN:].transpose(1, 2)).transpose(1, 2)
        states = torch.cat([drop(plain), self.parts["text"](words)], dim=-1)
        if "gru" in self.parts:
            states = drop(self.parts["gru"](states)[0])
        return torch.log_softmax(self.parts["outcomes"](states), dim=-1)
