"""Index a folder: bring an agent's memory in line with it, and say what was done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from reverie_indexer.bulk import write_groups
from reverie_indexer.change import Change, overwrite
from reverie_indexer.errors import NotFound, ReverieError, StaleVersion
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.watch import origin_of, read_memory, scan
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace
from reverie_server.provenance.tombstones import Tombstones

# Of one transaction: so little that a crash loses little and memory is bounded, enough for full batches of the model.
FILES_PER_WRITE = 32
CHARS_PER_WRITE = 262_144


@dataclass(frozen=True, slots=True)
class Summary:
    """The counts of indexing a folder, in files; `chunks` are of the files written, `pending` lack vectors yet."""

    new: int
    changed: int
    unchanged: int
    removed: int
    skipped: Mapping[str, str]
    chunks: int
    pending: int


@dataclass(frozen=True, slots=True)
class Progress:
    """How far indexing has come: of `total` files that differ `done` are settled, and `chunks` are written.

    `unchanged` files were found to be indexed already, be it by a run that was stopped. `embedded` passages have been
    before the model; the files that they are of may still have to be written.
    """

    done: int
    total: int
    chunks: int
    unchanged: int
    embedded: int = 0


async def index_folder(
    workspace: Workspace,
    pipeline: Pipeline,
    place: Place,
    root: Path,
    *,
    tombstones: Tombstones,
    max_file_bytes: int,
    chars_per_write: int = CHARS_PER_WRITE,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Summary:
    """Write what is new or changed, remove what this folder brought and has no longer.

    What was forgotten stays forgotten, though the folder may still have it.

    Files are written in groups, each in one transaction and in the order of their paths, while the next are chunked
    and embedded: stopped in the middle, the next run goes on there, and what was embedded is not embedded again.
    """
    origin = origin_of(root)
    indexed = await workspace.present_hashes(place, reason=None)
    brought = await workspace.present_hashes(place, reason=origin)
    found = await asyncio.to_thread(scan, root, indexed, brought, max_bytes=max_file_bytes)
    to_write = sorted([*found.new, *found.changed])
    reading = _Reading(root, to_write, max_file_bytes, await tombstones.of_files(place), dict(found.skipped))
    at = Progress(0, len(to_write) + len(found.removed), 0, len(found.unchanged))
    progress(at)
    pending = 0

    def embedded(count: int) -> None:
        nonlocal at
        at = replace(at, embedded=at.embedded + count)
        progress(at)

    writing = write_groups(pipeline, place, _groups(reading, origin, chars_per_write))
    async with _counting(pipeline, embedded), aclosing(writing) as groups:
        async for written in groups:
            done = to_write.index(written[-1].path, at.done) + 1
            at = replace(at, done=done, chunks=at.chunks + sum(each.chunk_count for each in written))
            pending += sum(not each.embedded for each in written)
            progress(at)
    # Files at the end that have become unreadable since the scan are in no group.
    if at.done < len(to_write):
        at = replace(at, done=len(to_write))
        progress(at)
    removed = 0
    for done, path in enumerate(found.removed, len(to_write) + 1):
        removed += await _remove(workspace, pipeline, place, path, origin)
        at = replace(at, done=done)
        progress(at)
    return Summary(
        new=len(found.new),
        changed=len(found.changed),
        unchanged=len(found.unchanged),
        removed=removed,
        skipped=reading.skipped,
        chunks=at.chunks,
        pending=pending,
    )


@asynccontextmanager
async def _counting(pipeline: Pipeline, embedded: Callable[[int], None]) -> AsyncIterator[None]:
    before, pipeline.on_embedded = pipeline.on_embedded, embedded
    try:
        yield
    finally:
        pipeline.on_embedded = before


@dataclass(frozen=True, slots=True)
class _Reading:
    """Files to be read; one that changed into something unreadable since the scan joins `skipped`."""

    root: Path
    paths: Sequence[str]
    max_bytes: int
    without_forgotten: Callable[[str], str]
    skipped: dict[str, str]

    def text(self, path: str) -> str | None:
        """The text of a file that is to be indexed; None when it cannot be."""
        try:
            return self.without_forgotten(read_memory(self.root, path, max_bytes=self.max_bytes))
        except ReverieError as error:
            self.skipped[path] = error.detail
            return None


async def _groups(reading: _Reading, origin: str, chars_per_write: int) -> AsyncGenerator[Sequence[Change], None]:
    """The files in order, read when they are asked for."""
    group: list[Change] = []
    chars = 0
    for path in reading.paths:
        text = await asyncio.to_thread(reading.text, path)
        if text is None:
            continue
        if group and (len(group) == FILES_PER_WRITE or chars + len(text) > chars_per_write):
            yield group
            group, chars = [], 0
        group.append(overwrite(path, text, by="index", reason=origin))
        chars += len(text)
    if group:
        yield group


async def _remove(workspace: Workspace, pipeline: Pipeline, place: Place, path: str, origin: str) -> bool:
    """Delete a file whose present text the folder brought; whether it was there. Who wrote it since keeps it."""
    principal = Principal(place.tenant_id, place.agent_id, place.owner_key)
    try:
        document, [newest] = await workspace.history(principal, path, place.scope, before=None, limit=1)
        if document.path != path or newest.reason != origin:
            return False
        await pipeline.delete(place, path, by="index", reason=origin, if_version=newest.version)
    except (NotFound, StaleVersion):
        return False
    return True
