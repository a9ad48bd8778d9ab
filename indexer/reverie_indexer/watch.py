"""A folder of markdown as an agent's memory: finds changes since it was last indexed, and waits for new ones."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import os
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from watchfiles import awatch

from reverie_indexer.errors import PayloadTooLarge, ReverieError, ValidationFailed
from reverie_indexer.file_rules import SEARCHABLE, check_path, check_text

# Also how long after its start a watcher is taken for watching.
_WATCH_TIMEOUT_MS = 1000


@dataclass(frozen=True, slots=True)
class Scan:
    """The difference between a folder and its index, by path relative to the folder, with `/`.

    `skipped` gives the reason why a file, or a whole directory (its path ends in `/`), cannot be memory; what is
    indexed of it, if anything, is left as it is.
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
    file = root / path
    try:
        # Looked at first: what cannot be memory is not read into ours. A byte order mark does not count.
        if (size := file.stat().st_size) > max_bytes + len(codecs.BOM_UTF8):
            raise PayloadTooLarge(f"a file holds at most {max_bytes} bytes; this one has {size}")
        text = file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValidationFailed("not UTF-8") from None
    except OSError as error:
        raise ValidationFailed(f"cannot be read: {error.strerror}") from None
    return check_text(text, max_bytes=max_bytes)


def scan(root: Path, indexed: Mapping[str, bytes], brought: Mapping[str, bytes], *, max_bytes: int) -> Scan:
    """Compare a folder with the memory it was indexed into; reads every file once.

    ValidationFailed when the folder itself cannot be read: that is not a folder whose files are gone.

    `indexed` is path → SHA-256 of the text of all files there, `brought` the same for those whose text came
    from this folder: only they are `removed` when the folder has them no longer.
    """
    new, changed, unchanged = [], [], []
    paths, unreadable = _markdown_files(root)
    skipped = dict(unreadable)
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
    removed = sorted(path for path in brought if path not in there and not path.startswith(tuple(unreadable)))
    return Scan(tuple(new), tuple(changed), tuple(unchanged), tuple(removed), skipped)


def _markdown_files(root: Path) -> tuple[list[str], dict[str, str]]:
    """Markdown files under the folder, sorted, and what cannot be read, with the reason: directories end in `/`.

    Hidden files, and links that lead out of the folder, are left out.
    """
    try:
        base = root.resolve(strict=True)
        os.scandir(base).close()
    except OSError as error:
        raise ValidationFailed(f"the folder cannot be read: {error.strerror}") from error
    found = []
    unreadable: dict[str, str] = {}

    def note(error: OSError) -> None:
        unreadable[Path(error.filename).relative_to(base).as_posix() + "/"] = f"cannot be read: {error.strerror}"

    for directory, folders, names in os.walk(base, onerror=note):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in names:
            file = Path(directory, name)
            if not name.endswith(SEARCHABLE) or name.startswith("."):
                continue
            try:
                if file.is_file() and _is_inside(file, base):
                    found.append(file.relative_to(base).as_posix())
            except OSError as error:
                unreadable[file.relative_to(base).as_posix()] = f"cannot be read: {error.strerror}"
    return sorted(found), unreadable


def _is_inside(file: Path, base: Path) -> bool:
    return not file.is_symlink() or file.resolve().is_relative_to(base)


async def changes(root: Path) -> AsyncIterator[None]:
    """One item once the folder is watched, then one for every burst of changes under it, until cancelled.

    With the first item look at everything: what changed before it, nobody saw.
    """
    base = await asyncio.to_thread(root.resolve)
    bursts = awatch(
        base,
        watch_filter=lambda _, path: _may_matter(Path(path), base),
        rust_timeout=_WATCH_TIMEOUT_MS,
        yield_on_timeout=True,
    )
    is_first = True
    async for burst in bursts:
        if burst or is_first:
            is_first = False
            yield None


def _may_matter(path: Path, base: Path) -> bool:
    """Markdown, and what may be a directory full of it that was moved in or away."""
    names = path.relative_to(base).parts
    return not any(name.startswith(".") for name in names) and (path.name.endswith(SEARCHABLE) or not path.is_file())
