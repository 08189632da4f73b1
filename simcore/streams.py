"""Common random numbers: one stream for each source of randomness."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def stream(seed: int, *key: str | int) -> np.random.Generator:
    """The generator of one source, such as `stream(seed, recording, action, replication, source)`.

    The same key gives the same numbers on any machine, in any order and on any number of workers;
    a policy is never part of the key, so that all policies meet the same luck.
    """
    from numpy.random import default_rng

    text = "\x1f".join(f"{type(part).__name__}:{part}" for part in key)
    return default_rng([seed, *blake2b(text.encode(), digest_size=16).digest()])
