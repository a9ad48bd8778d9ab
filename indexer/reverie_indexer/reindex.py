"""Indexes the files of a place again by the current rules, without changing a file."""

from __future__ import annotations

from dataclasses import dataclass

from reverie_indexer.change import Change
from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place, Written
from reverie_indexer.pipeline import Pipeline

FILES_PER_WRITE = 32


@dataclass(frozen=True, slots=True)
class Reindexed:
    """Counts of files, of passages, of new passages with a vector, and of unchanged passages."""

    documents: int
    chunks: int
    embedded: int
    reused: int

    def __add__(self, other: Reindexed) -> Reindexed:
        """Both together."""
        return Reindexed(
            self.documents + other.documents,
            self.chunks + other.chunks,
            self.embedded + other.embedded,
            self.reused + other.reused,
        )


async def reindex(database: Database, pipeline: Pipeline, place: Place) -> Reindexed:
    """Chunk and embed every file of a place again, in groups, each in one transaction; NotFound: unknown agent.

    An unchanged passage keeps its chunk and costs nothing. Vectors that are late are left to the back-fill.
    After an interruption, call it again: files that are done cost nothing.
    """
    done: list[Written] = []
    embedded = 0
    after: tuple[int, str, int] | None = None
    while True:
        async with database.tenant(place.tenant_id, snapshot=True) as connection:
            if not await store.agent_exists(connection, place.tenant_id, place.agent_id):
                raise NotFound(f"there is no agent {place.agent_id!r}")
            slice_ids = await own_slices(connection, place)
            _, page = await store.list_documents(
                connection, place.tenant_id, slice_ids, prefix=None, after=after, limit=FILES_PER_WRITE
            )
        if not page:
            break
        for written in await _again(pipeline, place, [document.path for document in page]):
            done.append(written)
            embedded += written.chunk_count - written.reused if written.embedded else 0
        after = (page[-1].sort_order, page[-1].path, page[-1].document_id)
    chunks = sum(written.chunk_count for written in done)
    return Reindexed(len(done), chunks, embedded, sum(written.reused for written in done))


async def _again(pipeline: Pipeline, place: Place, paths: list[str]) -> list[Written]:
    changes = [Change(path, _as_it_is, "server", "reindex", reserved=True) for path in paths]
    try:
        return await pipeline.write_many(place, changes)
    except NotFound:
        # One file was deleted meanwhile: the others are indexed one by one.
        halves = (paths[: len(paths) // 2], paths[len(paths) // 2 :])
        return [] if len(paths) == 1 else [w for half in halves for w in await _again(pipeline, place, half)]


def _as_it_is(text: str | None) -> str:
    if text is None:
        raise NotFound("the file was deleted")
    return text
