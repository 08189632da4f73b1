"""Predictors applied to recordings: one forecast a trace, the same for every policy and tool."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Protocol

from simcore.errors import InputError, MissingError, nearest
from simcore.files.traces import read_traces, write_traces
from simcore.registry import load, registered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from simcore.clock import Microseconds
    from simcore.trace import Forecast, Recording

SAFETENSORS: Final = ".safetensors"


class Predictor(Protocol):
    """A fitted model. A forecast at t depends on the arrivals with `arrived_at_us <= t` alone."""

    @property
    def checkpoint(self) -> str:
        """The name that its forecasts carry on a trace."""
        ...

    @property
    def outcomes(self) -> Sequence[int]:
        """How often each of the 12 outcomes was seen in training: the base rate to beat."""
        ...

    def forecasts(
        self, recordings: Sequence[Recording], period_us: Microseconds
    ) -> tuple[Forecast, ...]:
        """Each recording's step function, with the 12 masses, at `predictors.versions.ticks`.

        Empty where a recording never has an argument.
        """
        ...


class PredictorType(Protocol):
    """What an entry point of `simcore.predictors` names."""

    def load(self, path: Path) -> Predictor:
        """Read a model file; an `InputError` says what is wrong with it."""
        ...


def load_predictor(path: Path) -> Predictor:
    """The predictor in a model file, whose `schema` ("hazard/v1") names its kind.

    It stands in the JSON object, or in the metadata of a `.safetensors` file. The part before "/"
    is the name of an entry point of `simcore.predictors`.
    """
    document = read_metadata(path) if path.suffix == SAFETENSORS else read_json(path)
    schema = document.get("schema")
    if not isinstance(schema, str):
        raise InputError('a model file needs a "schema", such as "hazard/v1"', file=str(path))
    kind, known = schema.partition("/")[0], registered("predictors")
    if kind not in known:
        message = f"no predictor reads the schema '{schema}'{nearest(kind, known)}"
        raise InputError(message, file=str(path), place="schema")
    predictor: PredictorType = load("predictors", kind)
    return predictor.load(path)


def load_predictors(path: Path) -> tuple[Predictor, ...]:
    """The predictor in a model file, or those in a folder of checkpoints, by name."""
    return tuple(load_predictor(file) for file in model_files(path))


def model_files(path: Path) -> list[Path]:
    """A model file itself, or the checkpoints in a folder."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob(f"*{SAFETENSORS}"))
    if not files:
        raise InputError(f"holds no checkpoint (*{SAFETENSORS})", file=str(path))
    return files


def read_metadata(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file; reading it needs no torch."""
    try:
        from safetensors import SafetensorError, safe_open
    except ModuleNotFoundError:
        message = "reading checkpoints needs safetensors: pip install 'rassg-sim[train]'"
        raise MissingError(message) from None
    try:
        with safe_open(path, framework="numpy") as file:
            return file.metadata() or {}
    except FileNotFoundError:
        raise InputError("there is no such file", file=str(path)) from None
    except (OSError, SafetensorError) as error:
        raise InputError(f"is no safetensors file ({error})", file=str(path)) from None


def read_json(path: Path) -> dict[str, object]:
    """The JSON object in a file, not yet validated."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError("there is no such file", file=str(path)) from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=str(path)) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise InputError(
            f"is no JSON, or is cut short ({error.msg})", file=str(path), place=place
        ) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text", file=str(path)) from None
    if not isinstance(document, dict):
        raise InputError("holds no JSON object", file=str(path))
    return document


def with_forecasts(
    recordings: Sequence[Recording], predictors: Iterable[Predictor], period_us: Microseconds
) -> tuple[Recording, ...]:
    """The recordings with the predictors' forecasts; these checkpoints' earlier ones are gone."""
    made = {p.checkpoint: p.forecasts(recordings, period_us) for p in predictors}
    return tuple(
        replace(
            recording,
            forecasts=(
                *(forecast for forecast in recording.forecasts if forecast.checkpoint not in made),
                *(forecasts[place] for forecasts in made.values()),
            ),
        )
        for place, recording in enumerate(recordings)
    )


def add_forecasts(path: Path, models: Mapping[Path, Predictor], period_us: Microseconds) -> int:
    """Rewrite a trace file with the forecasts of models, by their files; how many rows.

    The file's provenance is kept and gains, under `forecasts`, each model's digest by checkpoint.
    """
    recordings = with_forecasts(read_traces(path), models.values(), period_us)
    record = path.with_suffix(".provenance.json")
    provenance = read_json(record) if record.exists() else {}
    earlier = provenance.get("forecasts")
    write_traces(
        path,
        recordings,
        provenance=provenance
        | {
            "forecasts": (earlier if isinstance(earlier, dict) else {})
            | {
                predictor.checkpoint: {
                    "model": model.name,
                    "sha256": sha256(model.read_bytes()).hexdigest(),
                    "period_us": period_us,
                }
                for model, predictor in models.items()
            }
        },
    )
    return len(recordings)


def digest(recordings: Iterable[Recording]) -> str:
    """SHA-256 of what a predictor can learn from: everything but the forecasts already added."""
    total = sha256()
    for recording in recordings:
        row = asdict(replace(recording, forecasts=()))
        total.update(json.dumps(row, sort_keys=True, ensure_ascii=True).encode() + b"\n")
    return f"sha256:{total.hexdigest()}"
