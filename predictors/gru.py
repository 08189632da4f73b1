"""The GRU as a predictor: its checkpoint file, and its forecasts in one padded batch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from zlib import crc32

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from predictors.batch import inputs
from predictors.calibration import Calibrator
from predictors.features import NAMES
from predictors.forecast import read_metadata
from predictors.labels import OUTCOMES, PERSISTS_RIGHT
from predictors.network import HIDDEN, Network, import_torch, one_thread
from simcore.errors import InputError, UsageError
from simcore.files.atomic import write_atomic
from simcore.files.faults import explain, path_text
from simcore.trace import Forecast

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from simcore.clock import Microseconds
    from simcore.trace import Recording

SCHEMA: Final = "gru/v1"
FEATURES: Final = f"{crc32(' '.join(NAMES).encode()):08x}"
"""Stands for the features' names and order: weights mean nothing to others."""

DECIMALS: Final = 4
"""Masses are rounded: a batch made up otherwise changes them by 1e-7, and no decision may hang on
that; and packs stay small."""


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")


class Settings(_Strict):
    """How a checkpoint is trained; the epoch with the lowest selection loss is kept.

    `hidden`: units of the GRU, 0 for none. `patience`: after how many epochs without a better one
    training ends.
    """

    hidden: int = HIDDEN
    batch: int = 32
    rate: float = 3e-3
    decay: float = 1e-2
    dropout: float = 0.1
    feature_dropout: float = 0.2
    word_dropout: float = 0.5
    epochs: int = 80
    patience: int = 15


class Part(_Strict):
    """Traces that a checkpoint has learned from."""

    traces: str
    digest: str
    recordings: int


class Record(_Strict):
    """How a checkpoint came about. Losses are those of `predictors.loss`, by epoch from 1."""

    schema_: Annotated[Literal["gru/v1"], Field(alias="schema")] = SCHEMA
    features: str = FEATURES
    checkpoint: str
    seed: int
    period_us: int
    train: Part
    selection: Part
    calibration: Part
    outcomes: Annotated[tuple[int, ...], Field(min_length=len(OUTCOMES), max_length=len(OUTCOMES))]
    settings: Settings
    train_loss: tuple[float, ...]
    selection_loss: tuple[float, ...]
    epoch: int
    calibrator: Calibrator
    seconds: float
    hardware: str
    packages: dict[str, str]


@dataclass(frozen=True, slots=True)
class Gru:
    """A trained checkpoint."""

    record: Record
    network: Network

    @property
    def checkpoint(self) -> str:
        return self.record.checkpoint

    @property
    def outcomes(self) -> tuple[int, ...]:
        return self.record.outcomes

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a checkpoint; an `InputError` says what is wrong with it."""
        from safetensors.numpy import load_file

        import_torch()
        import torch

        metadata = read_metadata(path)
        try:
            fields = json.loads(metadata.get("record", ""))
        except ValueError:
            raise InputError("its training record is no JSON", file=str(path)) from None
        try:
            document = json.dumps({**fields, "schema": metadata.get("schema")})
            record = Record.model_validate_json(document)
        except ValidationError as error:
            place, message = explain(error, Record)[0]
            raise InputError(message, file=str(path), place=path_text(place) or None) from None
        if record.features != FEATURES:
            message = "was trained on other features than this version computes: train it again"
            raise InputError(message, file=str(path))
        network = Network(record.settings.hidden)
        weights = {name: torch.from_numpy(array) for name, array in load_file(path).items()}
        try:
            network.parts.load_state_dict(weights)
        except RuntimeError as error:
            reason = str(error).splitlines()[-1].strip()
            raise InputError(f"its weights do not fit: {reason}", file=str(path)) from None
        return cls(record, network)

    def save(self, path: Path) -> None:
        """Write the checkpoint (safetensors, the training record as metadata)."""
        from safetensors.numpy import save

        weights = {name: value.numpy() for name, value in self.network.parts.state_dict().items()}
        record = self.record.model_dump_json(by_alias=True, exclude={"schema_"})
        write_atomic(path, save(weights, {"schema": SCHEMA, "record": record}))

    def masses(self, x: NDArray[np.float32], *, calibrated: bool = True) -> NDArray[np.float64]:
        """The 12 masses [n, ticks, 12] of features [n, ticks, features], not rounded."""
        import torch

        self.network.parts.eval()
        with one_thread(), torch.inference_mode():
            log_masses = self.network.log_masses(torch.from_numpy(x)).double().numpy()
        raw: NDArray[np.float64] = np.exp(log_masses)
        raw /= raw.sum(axis=-1, keepdims=True)
        return self.record.calibrator(raw) if calibrated else raw

    def forecasts(
        self, recordings: Sequence[Recording], period_us: Microseconds
    ) -> tuple[Forecast, ...]:
        """The forecast of every recording, in one batch; the period is that of training."""
        if period_us != self.record.period_us:
            message = f"{self.checkpoint} was trained on a period of {self.record.period_us} us"
            raise UsageError(f"{message}, not {period_us} us")
        times, x = inputs(recordings, period_us)
        masses = rounded(self.masses(x)) if x.size else np.empty((*x.shape[:2], len(OUTCOMES)))
        return tuple(
            Forecast(
                self.checkpoint,
                tuple(at),
                tuple(np.round(1 - own[: len(at), PERSISTS_RIGHT], DECIMALS).tolist()),
                tuple(map(tuple, own[: len(at)].tolist())),
            )
            for at, own in zip(times, masses, strict=True)
        )


def rounded(masses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Masses [..., 12] to DECIMALS; the largest takes what is missing, so that they add up to 1."""
    result: NDArray[Any] = np.round(masses, DECIMALS)
    largest = result.argmax(axis=-1)[..., None]
    rest = result.sum(axis=-1, keepdims=True) - np.take_along_axis(result, largest, axis=-1)
    np.put_along_axis(result, largest, np.round(1 - rest, DECIMALS), axis=-1)
    return result
