"""The loss against a numerical gradient and a plain likelihood of discrete hazards."""

from __future__ import annotations

from math import log
from random import Random

import pytest

torch = pytest.importorskip("torch")

from predictors.loss import loss  # noqa: E402

OUTCOMES = 12


def only(*outcomes: int) -> list[bool]:
    return [k in outcomes for k in range(OUTCOMES)]


CUT = [only(*range(k, OUTCOMES)) for k in range(1, 9)]
"""Cut within interval k: it is not over, and what comes later is possible."""

ROWS = [*(only(k) for k in range(OUTCOMES)), only(10, 11), *CUT]


def test_the_gradient_is_the_numerical_one() -> None:
    torch.manual_seed(0)
    rows = [only(0), only(5), only(9), only(10, 11), CUT[3]]
    scores = torch.randn(len(rows), OUTCOMES, dtype=torch.float64, requires_grad=True)
    weight = torch.rand(len(rows), dtype=torch.float64) + 0.1

    def total(values: torch.Tensor) -> torch.Tensor:
        return loss(torch.log_softmax(values, dim=-1), torch.tensor(rows), weight)

    assert torch.autograd.gradcheck(total, scores, eps=1e-6, atol=1e-8)


def plain(hazards: list[float], survivors: list[float], outcomes: list[bool]) -> float:
    """The loss of one tick from hazards h_0..h_9 of the ten event outcomes, one after another.

    `survivors`: how what meets no event is shared between T and none.
    """
    masses, alive = [], 1.0
    for hazard in hazards:
        masses.append(alive * hazard)
        alive *= 1 - hazard
    masses += [alive * share for share in survivors]
    known = [k for k in range(OUTCOMES) if outcomes[k]]
    if len(known) == 1 and known[0] < 10:
        event = known[0]
        likelihood = -sum(log(1 - h) for h in hazards[:event]) - log(hazards[event])
    elif known[0] >= 10:
        likelihood = -sum(log(1 - h) for h in hazards)
        likelihood -= log(sum(survivors[k - 10] for k in known))
    else:  # Cut: nothing had come before the interval that was going on.
        likelihood = -sum(log(1 - h) for h in hazards[: known[0]])
    entropy = 0.0
    for boundary in range(9):
        by_then = sum(masses[: boundary + 1])
        if max(known) <= boundary:
            entropy -= log(by_then)
        elif min(known) > boundary:
            entropy -= log(1 - by_then)
    return likelihood + entropy / 9


def test_agrees_with_a_plain_likelihood_of_discrete_hazards() -> None:
    random = Random(3)
    total = weights = 0.0
    masses = []
    weight = [random.uniform(0.1, 2) for _ in ROWS]
    for row, w in zip(ROWS, weight, strict=True):
        hazards = [random.uniform(0.02, 0.4) for _ in range(10)]
        share = random.random()
        total += w * plain(hazards, [share, 1 - share], row)
        weights += w
        alive, own = 1.0, []
        for hazard in hazards:
            own.append(alive * hazard)
            alive *= 1 - hazard
        masses.append([*own, alive * share, alive * (1 - share)])
    found = loss(
        torch.tensor(masses, dtype=torch.float64).log(),
        torch.tensor(ROWS),
        torch.tensor(weight, dtype=torch.float64),
    )
    assert found.item() == pytest.approx(total / weights, rel=1e-12)


def test_padding_weighs_nothing() -> None:
    masses = torch.log_softmax(torch.randn(2, 3, OUTCOMES, dtype=torch.float64), dim=-1)
    known = torch.tensor([[only(1), only(2), only(3)], [only(11), [True] * 12, [True] * 12]])
    weight = torch.tensor([[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]], dtype=torch.float64)
    short = loss(
        torch.cat([masses[0], masses[1, :1]]),
        torch.cat([known[0], known[1, :1]]),
        torch.tensor([0.5, 0.25, 0.25, 1.0], dtype=torch.float64),
    )
    assert loss(masses, known, weight).item() == pytest.approx(short.item(), rel=1e-12)
