"""What the GRU is trained on: censored likelihood, and cross-entropy at cumulative boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

BOUNDARIES = 9
"""tau_0 = 0 to tau_8: what has come by tau_k are the outcomes 0 to k."""


def loss(log_masses: Tensor, compatible: Tensor, weight: Tensor) -> Tensor:
    """The weighted mean, over ticks, of a negative log-likelihood and a binary cross-entropy.

    Arguments: log-probabilities [..., 12], the outcomes that agree with what is known [..., 12],
    weights [...]. The likelihood is the summed mass of all compatible outcomes. At boundary k the
    event "an outcome up to k" has come or not; where the compatible outcomes lie on both sides
    nobody knows, and it is masked. The cross-entropy is a mean over the boundaries, so that it
    weighs about as much as the likelihood.
    """
    import torch

    ruled_out = torch.where(compatible, log_masses, -torch.inf)
    likelihood = -torch.logsumexp(ruled_out, dim=-1)

    by_then = torch.logcumsumexp(log_masses, dim=-1)[..., :BOUNDARIES]
    later = torch.logcumsumexp(log_masses.flip(-1), dim=-1).flip(-1)[..., 1 : BOUNDARIES + 1]
    known = compatible.to(log_masses.dtype)
    some_before = known.cumsum(-1)[..., :BOUNDARIES] > 0
    some_after = known.flip(-1).cumsum(-1).flip(-1)[..., 1 : BOUNDARIES + 1] > 0
    zero = torch.zeros((), dtype=log_masses.dtype)
    entropy = torch.where(some_after, zero, -by_then) + torch.where(some_before, zero, -later)
    return (weight * (likelihood + entropy.mean(dim=-1))).sum() / weight.sum()
