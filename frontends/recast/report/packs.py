"""Trace packs by name or path, with what their provenance says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from frontends.recast.recipe import NOISES, SPLITS
from simcore.errors import InputError, UsageError
from simcore.files.traces import pack_names, read_traces, resolve_traces

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from simcore.trace import Recording


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack's recordings; `provenance` is None where no such file lies beside it."""

    name: str
    recordings: tuple[Recording, ...]
    digest: str
    provenance: Mapping[str, Any] | None

    @property
    def service_scale(self) -> str | None:
        """What measured decoding times were multiplied by, on each kind of processor."""
        made = self.provenance or {}
        if "processors" not in made:
            return f"{made['service_scale']:g}" if "service_scale" in made else None
        scales = {name: each["service_scale"] for name, each in made["processors"].items()}
        if len(set(scales.values())) == 1:
            return f"{min(scales.values()):g}"
        return ", ".join(f"{scale:g} on {name}" for name, scale in scales.items())


def recast_packs() -> tuple[list[str], list[str]]:
    """The names of the ReCAST packs that are shipped here, and of those that are not.

    Raises `UsageError` where there is none.
    """
    known = pack_names()
    names = [f"recast/{pack}" for pack in (*SPLITS, *NOISES)]
    found = [name for name in names if name in known]
    if not found:
        others = ", ".join(known) or "none"
        raise UsageError(f"there is no recast pack here; name other packs (known are {others})")
    return found, [name for name in names if name not in known]


def read_packs(names: Sequence[str | Path]) -> tuple[Pack, ...]:
    """Packs by name or path, in the order given; the folder and the file's stem name each.

    Raises `UsageError` for two of one name, `InputError` for a pack that is not there, and
    `InputErrors` for the faults of a file.
    """
    found: dict[str, Path] = {}
    for name in names:
        path = resolve_traces(str(name), ".").resolve()
        short = f"{path.parent.name}/{path.stem}"
        if short in found:
            raise UsageError(f"two packs are called '{short}'; name each once")
        found[short] = path
    return tuple(_read(path, name) for name, path in found.items())


def _read(path: Path, name: str) -> Pack:
    return Pack(name, read_traces(path), sha256(path.read_bytes()).hexdigest(), _provenance(path))


def _provenance(path: Path) -> Mapping[str, Any] | None:
    file = path.with_suffix(".provenance.json")
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        raise InputError("is no JSON", file=str(file)) from None
    if not isinstance(content, dict):
        raise InputError("a provenance is a JSON object", file=str(file))
    return content
