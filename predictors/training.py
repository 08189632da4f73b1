"""Training: three sets of recordings in, a checkpoint out; the same for the same seed."""

from __future__ import annotations

import copy
import time
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from predictors.batch import labelled
from predictors.calibration import Calibrator, fit_calibrator
from predictors.forecast import digest
from predictors.gru import Gru, Part, Record, Settings
from predictors.labels import STEP_US, outcome_counts
from predictors.loss import loss
from predictors.machine import hardware
from predictors.network import Network, import_torch, one_thread
from simcore.errors import InputError
from simcore.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from predictors.batch import Batch
    from simcore.trace import Recording

    Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Named recordings and their padded batch."""

    name: str
    recordings: Sequence[Recording]
    batch: Batch

    @classmethod
    def of(cls, name: str, recordings: Sequence[Recording]) -> Dataset:
        """Raises `InputError` where no recording has an argument."""
        batch = labelled(recordings, STEP_US)
        if not batch.real.any():
            raise InputError("no recording has an argument to learn from", file=name)
        return cls(name, recordings, batch)

    @property
    def part(self) -> Part:
        """What the training record says of it."""
        return Part(
            traces=self.name, digest=digest(self.recordings), recordings=len(self.recordings)
        )


def train(
    name: str,
    data: Dataset,
    selection: Dataset,
    calibration: Dataset,
    seed: int,
    settings: Settings | None = None,
    progress: Progress = lambda label, done, total: None,
) -> Gru:
    """A checkpoint of that name: fitted on `data`, its epoch chosen on `selection`.

    `progress(label, done, total)` counts epochs. One thread and seeded streams: equal arguments
    give equal weights on one machine.
    """
    import_torch()
    import torch

    settings, began = settings or Settings(), time.perf_counter()
    with one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, train_loss, selection_loss = _fit(
            data.batch,
            selection.batch,
            seed,
            settings,
            lambda done: progress(name, done, settings.epochs),
        )
    record = Record(
        checkpoint=name,
        seed=seed,
        period_us=STEP_US,
        train=data.part,
        selection=selection.part,
        calibration=calibration.part,
        outcomes=outcome_counts(data.recordings, STEP_US),
        settings=settings,
        train_loss=tuple(train_loss),
        selection_loss=tuple(selection_loss),
        epoch=1 + int(np.argmin(selection_loss)),
        calibrator=Calibrator(),
        seconds=0.0,
        hardware=hardware(),
        packages={package: version(package) for package in ("torch", "numpy", "safetensors")},
    )
    batch, real = calibration.batch, calibration.batch.real
    raw = Gru(record, network).masses(batch.x, calibrated=False)
    calibrator = fit_calibrator(raw[real], batch.compatible[real], batch.weight[real].astype(float))
    taken = round(time.perf_counter() - began, 1)
    return Gru(record.model_copy(update={"calibrator": calibrator, "seconds": taken}), network)


def _fit(
    data: Batch, selection: Batch, seed: int, settings: Settings, progress: Callable[[int], None]
) -> tuple[Network, list[float], list[float]]:
    import torch

    network = Network(
        settings.hidden, settings.dropout, settings.feature_dropout, settings.word_dropout
    )
    network.standardize(data.x[data.real])
    optimizer = torch.optim.AdamW(
        network.parts.parameters(), lr=settings.rate, weight_decay=settings.decay
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, settings.epochs)
    own, held_out = _tensors(data), _tensors(selection)
    random = stream(seed, "batches")
    best = copy.deepcopy(network.parts.state_dict())
    train_losses: list[float] = []
    losses: list[float] = []
    for epoch in range(1, settings.epochs + 1):
        network.parts.train()
        order = torch.from_numpy(random.permutation(len(data.x)))
        total = 0.0
        chunks = torch.split(order, settings.batch)
        for rows in chunks:
            x, compatible, weight = (tensor[rows] for tensor in own)
            value = loss(network.log_masses(x), compatible, weight)
            optimizer.zero_grad()
            torch.autograd.backward(value)
            torch.nn.utils.clip_grad_norm_(network.parts.parameters(), 1.0)
            optimizer.step()
            total += value.item()
        schedule.step()
        train_losses.append(round(total / len(chunks), 5))
        network.parts.eval()
        with torch.inference_mode():
            x, compatible, weight = held_out
            losses.append(round(loss(network.log_masses(x), compatible, weight).item(), 5))
        if int(np.argmin(losses)) == epoch - 1:
            best = copy.deepcopy(network.parts.state_dict())
        progress(epoch)
        if epoch - 1 - int(np.argmin(losses)) >= settings.patience:
            break
    network.parts.load_state_dict(best)
    network.parts.eval()
    return network, train_losses, losses


def _tensors(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    import torch

    return (
        torch.from_numpy(batch.x),
        torch.from_numpy(batch.compatible),
        torch.from_numpy(batch.weight),
    )
