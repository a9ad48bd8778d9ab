"""The vectors of entities: the text that is embedded, and embedding for entities without a vector.

Vectors are compared only where they are of the active model. After a migration to another one the entities wait for the
back-fill, and are found by their words meanwhile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pgvector import HalfVector

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.model_slot import Ready
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work

SQL = Queries(__file__)
BATCH = 64


@dataclass(frozen=True, slots=True)
class _Waiting:
    """An entity without a vector of the active model."""

    tenant_id: str
    slice_id: int
    entity_id: int
    type: str
    name: str
    description: str

    @property
    def text(self) -> str:
        """The text that the model embeds. Without the type: only entities of one type are compared."""
        return f"{self.name}: {self.description}" if self.description else self.name


async def embed_waiting(
    database: Database,
    ready: Ready,
    *,
    tenant_id: str | None = None,
    slice_ids: Sequence[int] | None = None,
    defer_dedup: bool = True,
) -> int:
    """Embed waiting entities of some slices of a tenant, or of all, batch by batch. Returns how many got a vector or
    were refused.

    No connection is held while the model works. With `defer_dedup` entities that were never compared are
    compared later. Raises EmbedderUnavailable; what was done stays done.
    """
    total = after = 0
    while True:
        async with database.maintenance() as connection:
            params = {
                "model_id": ready.model_id,
                "after": after,
                "limit": BATCH,
                "tenant_id": tenant_id,
                "slice_ids": None if slice_ids is None else list(slice_ids),
            }
            rows = await (await connection.execute(SQL["to_embed"], params)).fetchall()
        waiting = [_Waiting(**row) for row in rows]
        if not waiting:
            return total
        total += await _embed(database, ready, waiting, defer_dedup=defer_dedup)
        after = waiting[-1].entity_id


async def _embed(database: Database, ready: Ready, waiting: Sequence[_Waiting], *, defer_dedup: bool) -> int:
    answers = await ready.embedder.embed([entity.text for entity in waiting])
    done: dict[str, set[int]] = {}
    count = 0
    async with database.maintenance() as connection:
        for entity, answer in zip(waiting, answers, strict=True):
            params = {
                "tenant_id": entity.tenant_id,
                "entity_id": entity.entity_id,
                "model_id": ready.model_id,
                "name": entity.name,
                "description": entity.description,
                "embedding": None if isinstance(answer, EmbeddingRejected) else HalfVector(answer),
            }
            row = await (await connection.execute(SQL["attach"], params)).fetchone()
            if row is not None:
                count += 1
                done.setdefault(entity.tenant_id, set()).add(row["slice_id"])
        for tenant_id, slice_ids in done.items() if defer_dedup else ():
            params = {"tenant_id": tenant_id, "slice_ids": sorted(slice_ids)}
            for row in await (await connection.execute(SQL["to_dedup"], params)).fetchall():
                await defer(connection, Work("dedup", tenant_id, row["agent_id"], row["owner_key"]))
    return count
