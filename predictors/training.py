"""Training: three sets of recordings in, a checkpoint out; the same for the same seed."""

from __future__ import annotations

import copy
import platform
import time
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from predictors.batch import labelled
from predictors.calibration import Calibrator, fit_calibrator
from predictors.forecast import digest
from predictors.gru import Gru, Part, Record
from predictors.labels import OUTCOMES, STEP_US
from predictors.loss import loss
from predictors.network import Network, import_torch
from simcore.errors import InputError
from simcore.streams import stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from predictors.batch import Batch
    from simcore.trace import Recording


@dataclass(frozen=True, slots=True)
class Settings:
    """How a checkpoint is trained; the epoch with the lowest selection loss is kept.

    `patience`: after how many epochs without a better one training ends.
    """

    batch: int = 32
    rate: float = 3e-3
    decay: float = 1e-2
    dropout: float = 0.3
    epochs: int = 80
    patience: int = 15


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
    data: Dataset,
    selection: Dataset,
    calibration: Dataset,
    seed: int,
    settings: Settings | None = None,
    progress: Callable[[str, int, int], None] = lambda label, done, total: None,
) -> Gru:
    """The checkpoint `gru-<seed>`: fitted on `data`, its epoch chosen on `selection`.

    `progress(label, done, total)` counts epochs. One thread and seeded streams: equal arguments
    give equal weights on one machine.
    """
    import_torch()
    import torch

    settings, name, began = settings or Settings(), f"gru-{seed}", time.perf_counter()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network, train_loss, selection_loss = _fit(
                data.batch,
                selection.batch,
                seed,
                settings,
                lambda done: progress(name, done, settings.epochs),
            )
    finally:
        torch.set_num_threads(threads)
    record = Record(
        checkpoint=name,
        seed=seed,
        period_us=STEP_US,
        train=data.part,
        selection=selection.part,
        calibration=calibration.part,
        outcomes=outcome_counts(data.batch),
        settings=asdict(settings),
        train_loss=tuple(train_loss),
        selection_loss=tuple(selection_loss),
        epoch=1 + int(np.argmin(selection_loss)),
        calibrator=Calibrator(),
        seconds=0.0,
        hardware=f"{platform.machine()}, {_processor()}",
        packages={name: version(name) for name in ("torch", "numpy", "safetensors")},
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

    network = Network(settings.dropout)
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


def outcome_counts(batch: Batch) -> tuple[int, ...]:
    """How many ticks have each of the 12 outcomes, where one alone is compatible."""
    known = batch.compatible[batch.real]
    sure = known[known.sum(axis=1) == 1].argmax(axis=1)
    counts = Counter(sure.tolist())
    return tuple(counts[outcome] for outcome in range(len(OUTCOMES)))


def _tensors(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    import torch

    return (
        torch.from_numpy(batch.x),
        torch.from_numpy(batch.compatible),
        torch.from_numpy(batch.weight),
    )


def _processor() -> str:
    from pathlib import Path

    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if "model name" in line), "")
