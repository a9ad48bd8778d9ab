"""Vectors in PostgreSQL: the cache of a model's vectors, those of chunks, and the partitions of large slices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from pgvector import HalfVector
from psycopg import sql
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import ModelMismatch
from reverie_indexer.model import ModelIdentity, embedded_text

if TYPE_CHECKING:
    from reverie_indexer.embed import Vector

SQL = Queries(__file__)
# A B-tree entry ends at 2,704 bytes: two bytes a dimension beside the keys.
MAX_COVERED_DIMENSION = 1200


@dataclass(frozen=True, slots=True)
class Pending:
    """A chunk without its vector."""

    tenant_id: str
    slice_id: int
    chunk_id: int
    context: str
    text: str
    passage_sha256: bytes

    @property
    def passage_text(self) -> str:
        """The text that the model embeds."""
        return embedded_text(self.context, self.text)


async def activate_or_check(database: Database, identity: ModelIdentity) -> int:
    """The id of the model that is to be used; it becomes active in an index that has none yet.

    ModelMismatch when the index holds another model's vectors: those and these must never be compared. Nothing is
    written or locked where a model is active, so that a standby's reads may use it.
    """
    active_rows = await database.maintenance_query(SQL["active_model"], {})
    if active_rows:
        return _checked(active_rows[0], identity)
    async with database.maintenance() as connection:
        await connection.execute(SQL["lock_models"])
        active = await (await connection.execute(SQL["active_model"])).fetchone()
        if active is not None:
            return _checked(active, identity)
        model_id, _ = await _ensure_model(connection, identity)
        await connection.execute(SQL["activate_model"], {"model_id": model_id})
        return model_id


def _checked(active: DictRow, identity: ModelIdentity) -> int:
    stored = ModelIdentity(**{name: value for name, value in active.items() if name != "model_id"})
    if stored != identity:
        raise ModelMismatch(
            f"the index was embedded with {stored}, but {identity} is configured; configure the former, or "
            "run `reverie embeddings migrate` to re-embed the index while search goes on"
        )
    return int(active["model_id"])


async def register(database: Database, identity: ModelIdentity) -> tuple[int, bool]:
    """The id of a model, which is registered where it is new, and whether it is the active one."""
    async with database.maintenance() as connection:
        return await _ensure_model(connection, identity)


async def _ensure_model(connection: Connection, identity: ModelIdentity) -> tuple[int, bool]:
    row = await (await connection.execute(SQL["ensure_model"], asdict(identity))).fetchone()
    if row is None:
        raise LookupError("an upsert gave no row")
    return row["model_id"], row["active"]


async def cached(database: Database, tenant_id: str, model_id: int, hashes: Iterable[bytes]) -> set[bytes]:
    """Which of these passages the model has embedded for this tenant before."""
    params = {"tenant_id": tenant_id, "model_id": model_id, "hashes": list(hashes)}
    return {row["passage_sha256"] for row in await database.query(tenant_id, SQL["cached_hashes"], params)}


async def remember(database: Database, tenant_id: str, model_id: int, found: dict[bytes, Vector]) -> None:
    """Put vectors into the cache, so that a crash or a retry costs no second model call."""
    if not found:
        return
    async with database.tenant(tenant_id) as connection:
        await connection.execute(SQL["relaxed_commit"])
        # In hash order: two writers of the same passages must not wait for each other in a circle.
        await connection.cursor().executemany(
            SQL["add_to_cache"],
            [
                {
                    "tenant_id": tenant_id,
                    "model_id": model_id,
                    "sha256": sha256,
                    "embedding": HalfVector(vector),
                }
                for sha256, vector in sorted(found.items())
            ],
        )


async def prune_cache(database: Database, *, keep_days: int) -> int:
    """Remove vectors that are older than `keep_days` and of passages that no file has or had. Returns how many."""
    async with database.maintenance() as connection:
        await connection.execute(SQL["no_limits"])
        return (await connection.execute(SQL["prune_cache"], {"keep_days": keep_days})).rowcount


async def attach(connection: Connection, tenant_id: str, model_id: int, chunk_ids: Sequence[int]) -> int:
    """Give chunks their vectors from the cache. Returns how many got one. The caller holds their slices' locks."""
    params = {
        "tenant_id": tenant_id,
        "model_id": model_id,
        "chunk_ids": list(chunk_ids),
        "max_covered_dimension": MAX_COVERED_DIMENSION,
    }
    row = await (await connection.execute(SQL["embed_chunks"], params)).fetchone()
    return int((row or {"count": 0})["count"])


async def attach_pending(
    database: Database, tenant_id: str, model_id: int, pending: Sequence[Pending], *, active: bool
) -> None:
    """Back-fill: vectors from the cache for chunks that were stored without, under their slices' locks.

    A chunk that moved to the past meanwhile, and so to another slice, is left for the next time.

    For a model that is not active yet (a migration) the chunks' `embedded` mark is left alone.
    """
    async with database.maintenance() as connection:
        slice_ids = sorted({chunk.slice_id for chunk in pending})
        await connection.execute(SQL["lock_slices_by_id"], {"tenant_id": tenant_id, "slice_ids": slice_ids})
        params = {"tenant_id": tenant_id, "slice_ids": slice_ids, "chunk_ids": [chunk.chunk_id for chunk in pending]}
        rows = await (await connection.execute(SQL["chunks_of_slices"], params)).fetchall()
        chunk_ids = [row["chunk_id"] for row in rows]
        if active:
            await attach(connection, tenant_id, model_id, chunk_ids)
            return
        await connection.execute(
            SQL["attach_vectors"],
            {
                "tenant_id": tenant_id,
                "model_id": model_id,
                "chunk_ids": chunk_ids,
                "max_covered_dimension": MAX_COVERED_DIMENSION,
            },
        )


async def reject(database: Database, tenant_id: str, sha256: bytes, error: str) -> None:
    """Mark the chunks of a passage that the model refuses for good."""
    async with database.maintenance() as connection:
        await connection.execute(SQL["reject_chunks"], {"tenant_id": tenant_id, "sha256": sha256, "error": error[:500]})


async def pending_chunks(
    database: Database,
    model_id: int,
    *,
    after: int,
    limit: int,
    active: bool,
    slice_ids: Sequence[int] | None = None,
) -> list[Pending]:
    """Chunks without a vector of a model, by id after a cursor; of the active model only some slices' if given.

    `active` asks for the back-fill of the active model, which goes by the chunks' mark: nothing when the model
    is not the active one any more.
    """
    query = SQL["chunks_to_embed"] if active else SQL["chunks_without"]
    async with database.maintenance() as connection:
        slices = None if slice_ids is None else list(slice_ids)
        params = {"after": after, "limit": limit, "model_id": model_id, "slice_ids": slices}
        cursor = await connection.execute(query, params)
        return [Pending(**row) for row in await cursor.fetchall()]


async def any_pending(database: Database, slice_ids: Sequence[int]) -> bool:
    """Whether slices have chunks that wait for the back-fill, whatever the model."""
    async with database.maintenance() as connection:
        cursor = await connection.execute(SQL["any_to_embed"], {"slice_ids": list(slice_ids)})
        return await cursor.fetchone() is not None


async def switch_model(database: Database, model_id: int, *, tolerated: int = 0) -> int:
    """Make a model active in one transaction, unless chunks still lack its vectors: how many do (0: switched).

    Writers wait meanwhile; readers see the old model until the commit and the new one from then on. Up to
    `tolerated` chunks may lack vectors (at most 999): they wait for the back-fill.
    """
    async with database.maintenance() as connection:
        await connection.execute(SQL["no_limits"])
        # Slices, models, chunks: the order of a promotion, whose new partition refers to the last two.
        await connection.execute(SQL["block_lockers"])
        await connection.execute(SQL["lock_models"])
        await connection.execute(SQL["block_writers"])
        missing = await (
            await connection.execute(SQL["chunks_without"], {"after": 0, "limit": 1000, "model_id": model_id})
        ).fetchall()
        if len(missing) > tolerated:
            return len(missing)
        await connection.execute(SQL["next_revisions"])
        await connection.execute(SQL["deactivate_models"])
        await connection.execute(SQL["activate_model"], {"model_id": model_id})
        await connection.execute(SQL["remark_embedded"], {"model_id": model_id})
        await connection.execute(SQL["remove_other_vectors"], {"model_id": model_id})
    return 0


async def promote_large_slices(database: Database, *, exact_max_chunks: int, max_partitions: int) -> int:
    """Give slices that have outgrown the exact scan a partition of their own with an HNSW index; how many."""
    async with database.maintenance() as connection:
        used = await (await connection.execute(SQL["count_partitions"])).fetchone()
        free = max_partitions - (used or {"count": 0})["count"]
        cursor = await connection.execute(
            SQL["slices_to_promote"], {"exact_max_chunks": exact_max_chunks, "limit": max(free, 0)}
        )
        large = await cursor.fetchall()
    for row in large:
        await promote_slice(database, row["tenant_id"], row["slice_id"])
    return len(large)


async def promote_slice(database: Database, tenant_id: str, slice_id: int) -> None:
    """Give a slice a partition of its own with an HNSW index, unless it has one.

    Copy, index, attach and switch in one transaction: a reader finds the vectors in one place or the other.
    """
    key = {"tenant_id": tenant_id, "slice_id": slice_id}
    async with database.maintenance() as connection:
        await connection.execute(SQL["no_limits"])
        row = await (await connection.execute(SQL["lock_slice_by_id"], key)).fetchone()
        if row is None or row["partition_id"] != 0:
            return
        # The slice's own number is the partition's: unique without a sequence or a race.
        number = sql.Literal(slice_id)
        table = sql.Identifier(f"vectors_{slice_id}")
        await connection.execute(
            sql.SQL("CREATE TABLE {} (LIKE vectors INCLUDING DEFAULTS, CHECK (partition_id = {}))").format(
                table, number
            )
        )
        await connection.execute(
            sql.SQL(
                "INSERT INTO {} SELECT tenant_id, slice_id, chunk_id, document_id, {}, model_id, tier, covered, "
                "embedding FROM vectors_0 WHERE tenant_id = {} AND slice_id = {}"
            ).format(table, number, sql.Literal(tenant_id), number)
        )
        models = await (await connection.execute(SQL["models_in_use"], key)).fetchall()
        for model in models:
            await _index_partition(connection, slice_id, model["model_id"], model["dimension"])
        await connection.execute(
            sql.SQL("ALTER TABLE vectors ATTACH PARTITION {} FOR VALUES IN ({})").format(table, number)
        )
        await connection.execute(SQL["leave_shared_partition"], key)
        await connection.execute(SQL["move_slice"], {**key, "partition_id": slice_id})


async def _index_partition(connection: Connection, slice_id: int, model_id: int, dimension: int) -> None:
    """The HNSW index of a slice's own partition for one model; named, so that it is made once."""
    await connection.execute(
        sql.SQL(
            "CREATE INDEX IF NOT EXISTS {} ON {} USING hnsw ((embedding::halfvec({})) halfvec_cosine_ops) "
            "WHERE model_id = {}"
        ).format(
            sql.Identifier(f"vectors_{slice_id}_embedding_{model_id}"),
            sql.Identifier(f"vectors_{slice_id}"),
            sql.Literal(dimension),
            sql.Literal(model_id),
        )
    )


async def index_partitions_for(database: Database, model_id: int, dimension: int) -> None:
    """Give every partition of its own an HNSW index for a model that is about to become active; idempotent."""
    async with database.maintenance() as connection:
        partitions = await (await connection.execute(SQL["own_partitions"])).fetchall()
    for row in partitions:
        # One transaction each: a build keeps the writers of its partition out, and of no other.
        async with database.maintenance() as connection:
            await connection.execute(SQL["no_limits"])
            await _index_partition(connection, row["partition_id"], model_id, dimension)
