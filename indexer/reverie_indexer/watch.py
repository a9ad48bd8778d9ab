"""A folder of markdown as an agent's memory: what changed on disk since it was last indexed, and when."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import awatch

from reverie_indexer.errors import ReverieError, ValidationFailed
from reverie_indexer.files import check_path, check_text, is_searchable


@dataclass(frozen=True, slots=True)
class Scan:
    """The difference between a folder and what is indexed of it, by path relative to the folder, with `/`.

    `skipped` gives the reason why a file cannot be memory; its indexed text, if any, is left as it is.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...]
    skipped: Mapping[str, str] = field(default_factory=dict)


def origin_of(root: Path) -> str:
    """The reason that a folder's files carry as versions, so that only what it brought is removed with it.

    It names the folder without telling where it is.
    """
    resolved = str(root.resolve())
    return f"index of {root.resolve().name} ({hashlib.sha256(resolved.encode()).hexdigest()[:12]})"


def read_memory(root: Path, path: str, *, max_bytes: int) -> str:
    """The text of a file of the folder; ValidationFailed or PayloadTooLarge when it cannot be memory."""
    try:
        text = (root / path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationFailed("not UTF-8") from None
    except OSError as error:
        raise ValidationFailed(f"cannot be read: {error.strerror}") from None
    return check_text(text, max_bytes=max_bytes)


def scan(root: Path, indexed: Mapping[str, bytes], brought: Mapping[str, bytes], *, max_bytes: int) -> Scan:
    """Compare a folder with the memory it was indexed into; reads every file once.

    `indexed` is path → SHA-256 of the text of all files there, `brought` the same for those whose text came
    from this folder: only they are `removed` when the folder has them no longer.
    """
    new, changed, unchanged, skipped = [], [], [], {}
    paths = _markdown_files(root)
    for path in paths:
        try:
            check_path(path)
            sha256 = hashlib.sha256(read_memory(root, path, max_bytes=max_bytes).encode()).digest()
        except ReverieError as error:
            skipped[path] = error.detail
            continue
        if path not in indexed:
            new.append(path)
        elif indexed[path] != sha256:
            changed.append(path)
        else:
            unchanged.append(path)
    there = set(paths)
    removed = sorted(path for path in brought if path not in there)
    return Scan(tuple(new), tuple(changed), tuple(unchanged), tuple(removed), skipped)


def _markdown_files(root: Path) -> list[str]:
    """Markdown files under the folder, sorted; hidden ones, and links that lead out of it, are left out."""
    base = root.resolve()
    found = []
    for directory, folders, names in os.walk(base):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = Path(directory, name)
            is_inside = not file.is_symlink() or file.resolve().is_relative_to(base)
            if is_searchable(name) and not name.startswith(".") and is_inside and file.is_file():
                found.append(file.relative_to(base).as_posix())
    return sorted(found)


async def changes(root: Path) -> AsyncIterator[None]:
    """One item for every burst of changes to markdown files under the folder, until cancelled."""
    async for _ in awatch(root, watch_filter=lambda _, path: is_searchable(path)):
        yield None
