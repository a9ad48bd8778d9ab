"""Files that are made once of a model's weights and kept: written in one step, checked for damage by themselves."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reverie_indexer.errors import SetupError

_SEAL_KEY = "sealed_sha256"
_SEAL_LENGTH = 2 + 2 + len(_SEAL_KEY) + 2 + 64
_ABANDONED_AFTER_SECONDS = 3600.0


def cached_file(cache_dir: Path, name: str, suffix: str, key: str, make: Callable[[], bytes]) -> Path:
    """Return the file of `name` in `cache_dir` for a `key`, making it first where it is missing or damaged.

    `make` gives a serialised protobuf message. Several processes may do this at once: each writes a file of its own and
    renames it into place. A file in the cache is checked against the digest it carries.

    Raises `SetupError` when the cache cannot be written, and the errors of `make`.
    """
    target = cache_dir / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}{suffix}"
    if is_sealed(target):
        return target
    body, tail = seal(make())
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(cache_dir, name)
        replace_file(target, body, tail)
    except OSError as error:
        # Windows refuses to replace a file that another process has open: that file is then the same.
        if not is_sealed(target):
            raise SetupError(
                f"The converted embedding model cannot be written to the cache directory ({error.strerror}): "
                "make it writable, with about 150 MB free, or configure another one."
            ) from error
    return target


def read_verified(path: Path, expected_sha256: str) -> bytes:
    """Read a file whole; `SetupError` naming both digests unless its SHA-256 is the expected one."""
    raw = path.read_bytes()
    actual = hashlib.sha256(raw).hexdigest()
    if actual != expected_sha256:
        raise SetupError(
            f"{path.name} of the embedding model has sha256 {actual}, expected {expected_sha256}: it is "
            "damaged or not the published file. Delete it and run `reverie models fetch`."
        )
    return raw


def replace_file(target: Path, *parts: bytes) -> None:
    """Put `parts`, joined, at `target` in one step; a reader sees the old file or the new one, whole."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.stem}-", suffix=".partial", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.writelines(parts)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def seal(body: bytes) -> tuple[bytes, bytes]:
    """A serialised protobuf message, and a tail for the same file: a property with the SHA-256 of these bytes.

    Serialised messages merge when concatenated, and readers pass over fields that they do not know: the two parts
    together are an ordinary file of their kind that can be checked for damage by itself.
    """
    import onnx

    digest = hashlib.sha256(body).hexdigest()
    tail = onnx.ModelProto(metadata_props=[onnx.StringStringEntryProto(key=_SEAL_KEY, value=digest)])
    return body, tail.SerializeToString(deterministic=True)


def is_sealed(path: Path) -> bool:
    """Whether `path` is a file that `seal` made, undamaged. False when there is none."""
    try:
        size = path.stat().st_size
        with path.open("rb") as stream:
            digest = hashlib.sha256()
            remaining = size - _SEAL_LENGTH
            while remaining > 0 and (piece := stream.read(min(remaining, 1 << 20))):
                digest.update(piece)
                remaining -= len(piece)
            return remaining == 0 and stream.read().endswith(digest.hexdigest().encode())
    except OSError:
        return False


def _remove_abandoned(cache_dir: Path, name: str) -> None:
    # A process killed while writing leaves 90 MB behind; one that is alive needs seconds.
    for path in cache_dir.glob(f".{name}-*.partial"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > _ABANDONED_AFTER_SECONDS:
                path.unlink()
