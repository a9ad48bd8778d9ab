"""Vectors of passages: brought into the cache, attached to chunks that wait, and made anew for another model."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from reverie_indexer import tracing
from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.index import vectors
from reverie_indexer.model_slot import Ready

if TYPE_CHECKING:
    from reverie_indexer.embed import Embedding, Vector

# A migration tries this often to leave no chunk to the back-fill, and then leaves at most `TOLERATED_CHUNKS`.
PATIENT_ROUNDS = 5
TOLERATED_CHUNKS = 256
PAGE = 256


async def embed_passages(
    database: Database,
    tenant_id: str,
    ready: Ready,
    texts: dict[bytes, str],
    batch_size: int = 64,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Bring the vectors of passages (hash → text) into the tenant's cache, batch by batch, each kept at once.

    A passage that is there costs nothing. One that the model refuses is marked and left out. Short ones come first:
    a model fills up each batch to its longest text, and of what time allows, most is done. `progress` is called with
    the number of passages of each batch. Raises EmbedderUnavailable.
    """
    known = await vectors.cached(database, tenant_id, ready.model_id, texts)
    missing = [(sha256, text) for sha256, text in texts.items() if sha256 not in known]
    missing.sort(key=lambda item: len(item[1]))
    storing: asyncio.Task[None] | None = None
    try:
        for start in range(0, len(missing), batch_size):
            batch = missing[start : start + batch_size]
            with tracing.part("embed", texts=len(batch)):
                answers = await ready.embedder.embed([text for _, text in batch])
            if storing is not None:
                await storing
            # The model goes on meanwhile with the next batch.
            storing = asyncio.create_task(_keep(database, tenant_id, ready.model_id, batch, answers))
            progress(len(batch))
    finally:
        if storing is not None:
            await storing


async def _keep(
    database: Database,
    tenant_id: str,
    model_id: int,
    batch: Sequence[tuple[bytes, str]],
    answers: Sequence[Embedding],
) -> None:
    """Put what the model said of a batch into the cache."""
    found: dict[bytes, Vector] = {}
    for (sha256, _), answer in zip(batch, answers, strict=True):
        if isinstance(answer, EmbeddingRejected):
            await vectors.reject(database, tenant_id, sha256, answer.detail)
        else:
            found[sha256] = answer
    await vectors.remember(database, tenant_id, model_id, found)


async def embed_pending(
    database: Database,
    ready: Ready,
    pending: Iterable[vectors.Pending],
    *,
    active: bool,
    batch_size: int = 64,
) -> None:
    """Embed chunks that wait and attach their vectors. Raises EmbedderUnavailable."""
    by_tenant: dict[str, list[vectors.Pending]] = {}
    for item in pending:
        by_tenant.setdefault(item.tenant_id, []).append(item)
    for tenant_id, items in by_tenant.items():
        texts = {item.passage_sha256: item.passage_text for item in items}
        await embed_passages(database, tenant_id, ready, texts, batch_size)
        await vectors.attach_pending(database, tenant_id, ready.model_id, items, active=active)


async def migrate(database: Database, ready: Ready, *, progress: Callable[[int], None] = lambda _: None) -> int:
    """Give every chunk a vector of `ready`'s model beside the old ones, then switch. Returns how many were embedded.

    Search goes on with the old model meanwhile; what is written meanwhile is found by the next round. When
    writers never pause, a few chunks are left to the back-fill. Raises EmbedderUnavailable; run again, it goes
    on where it stopped.
    """
    total = 0
    dimension = ready.embedder.identity.dimension
    await vectors.index_partitions_for(database, ready.model_id, dimension)
    for rounds in itertools.count():
        after, is_full = 0, True
        # A page that is not full ends the round: with writers that never pause there is always one more chunk.
        while is_full:
            pending = await vectors.pending_chunks(database, ready.model_id, after=after, limit=PAGE, active=False)
            await embed_pending(database, ready, pending, active=False)
            after = pending[-1].chunk_id if pending else 0
            is_full = len(pending) == PAGE
            total += len(pending)
            progress(len(pending))
        # Again, for the slices that were promoted meanwhile.
        await vectors.index_partitions_for(database, ready.model_id, dimension)
        tolerated = 0 if rounds < PATIENT_ROUNDS else TOLERATED_CHUNKS
        if await vectors.switch_model(database, ready.model_id, tolerated=tolerated) == 0:
            break
    return total
