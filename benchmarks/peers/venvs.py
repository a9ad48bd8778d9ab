"""A virtual environment for each adapter, made once and again when its requirements change."""

from __future__ import annotations

import hashlib
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from benchmarks.peers.process import PeerFailed, first_line

_STAMP = ".requirements"
_INSTALL_SECONDS = 1800


def interpreter(name: str, adapters: Path, work: Path) -> Path:
    """The Python that runs the adapter `name`: this one where it has no requirements of its own (Reverie).

    Makes `work`/venvs/NAME and installs NAME.txt into it unless that was done with the same requirements. PeerFailed
    with the reason when they cannot be installed.
    """
    wanted = adapters / f"{name}.txt"
    if not wanted.exists():
        return Path(sys.executable)
    home = work / "venvs" / name
    python = home / "bin" / "python"
    stamp = digest(wanted, adapters / "base.txt")
    if (home / _STAMP).is_file() and (home / _STAMP).read_text() == stamp:
        return python
    shutil.rmtree(home, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(home)])
    _run([str(python), "-m", "pip", "install", "-q", "-r", str(adapters / "base.txt"), "-r", str(wanted)])
    (home / _STAMP).write_text(stamp)
    return python


def digest(*requirements: Path) -> str:
    """What the requirements say, in hex, with the files that they include by `-r`; other Pythons differ too."""
    seen: list[str] = [platform.python_version()]
    for path in requirements:
        for line in path.read_text().splitlines():
            seen.append(line)
            if line.startswith("-r "):
                seen.append(digest(path.parent / line.removeprefix("-r ").strip()))
    return hashlib.sha256("\n".join(seen).encode()).hexdigest()


def _run(command: list[str]) -> None:
    try:
        subprocess.run(  # noqa: S603  # fixed commands
            command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        said = [line for line in error.stderr.splitlines() if "ERROR" in line] or [error.stderr]
        raise PeerFailed(f"does not install: {first_line(said[-1])}") from error
    except subprocess.TimeoutExpired as error:
        raise PeerFailed(f"does not install in {_INSTALL_SECONDS} s") from error
