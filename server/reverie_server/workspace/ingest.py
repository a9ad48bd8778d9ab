"""Index a folder: bring an agent's memory in line with it, and say what was done."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from reverie_indexer.errors import NotFound, ReverieError, StaleVersion
from reverie_indexer.model import Place, Written
from reverie_indexer.pipeline import Pipeline, overwrite
from reverie_indexer.watch import origin_of, read_memory, scan
from reverie_server.workspace.files import Reader, Workspace
from reverie_server.workspace.tombstones import Tombstones

# Files of one transaction: few enough that a crash loses little, enough that the model gets full batches.
FILES_PER_WRITE = 32


@dataclass(frozen=True, slots=True)
class Summary:
    """What indexing a folder did, in files; `chunks` are those of the files written, `pending` lack vectors yet."""

    new: int
    changed: int
    unchanged: int
    removed: int
    skipped: Mapping[str, str]
    chunks: int
    pending: int


async def index_folder(
    workspace: Workspace,
    pipeline: Pipeline,
    place: Place,
    root: Path,
    *,
    tombstones: Tombstones,
    max_file_bytes: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Summary:
    """Write what is new or changed, remove what this folder brought and has no longer.

    What was forgotten stays forgotten, though the folder may still have it.

    Files are written in groups, each in one transaction: stopped in the middle, the next run goes on there.
    `progress` gets the files done and their total.
    """
    origin = origin_of(root)
    indexed = await workspace.present_hashes(place, reason=None)
    brought = await workspace.present_hashes(place, reason=origin)
    found = await asyncio.to_thread(scan, root, indexed, brought, max_bytes=max_file_bytes)
    to_write = sorted([*found.new, *found.changed])
    skipped = dict(found.skipped)
    total = len(to_write) + len(found.removed)
    written: list[Written] = []
    without_forgotten = await tombstones.without_forgotten(place)
    progress(0, total)
    for start in range(0, len(to_write), FILES_PER_WRITE):
        group = to_write[start : start + FILES_PER_WRITE]
        texts = await asyncio.to_thread(_read, root, group, max_file_bytes, skipped)
        kept = {path: await asyncio.to_thread(without_forgotten, text) for path, text in texts.items()}
        changes = [overwrite(path, text, by="index", reason=origin) for path, text in kept.items()]
        if changes:
            written += await pipeline.write_many(place, changes)
        progress(start + len(group), total)
    removed = 0
    for done, path in enumerate(found.removed, 1):
        removed += await _remove(workspace, pipeline, place, path, origin)
        progress(len(to_write) + done, total)
    return Summary(
        new=len(found.new),
        changed=len(found.changed),
        unchanged=len(found.unchanged),
        removed=removed,
        skipped=skipped,
        chunks=sum(result.chunk_count for result in written),
        pending=sum(not result.embedded for result in written),
    )


async def _remove(workspace: Workspace, pipeline: Pipeline, place: Place, path: str, origin: str) -> bool:
    """Delete a file whose present text the folder brought; whether it was there. Who wrote it since keeps it."""
    reader = Reader(place.tenant_id, place.agent_id, place.owner_key)
    try:
        document, [newest] = await workspace.history(reader, path, place.scope, before=None, limit=1)
        if document.path != path or newest.reason != origin:
            return False
        await pipeline.delete(place, path, by="index", reason=origin, if_version=newest.version)
    except (NotFound, StaleVersion):
        return False
    return True


def _read(root: Path, paths: Sequence[str], max_bytes: int, skipped: dict[str, str]) -> dict[str, str]:
    """The texts; a file that changed into something unreadable since the scan joins `skipped`."""
    texts = {}
    for path in paths:
        try:
            texts[path] = read_memory(root, path, max_bytes=max_bytes)
        except ReverieError as error:
            skipped[path] = error.detail
    return texts
