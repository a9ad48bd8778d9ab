"""How long the history of files is kept: upkeep that removes what is older, or more, than an agent's settings say."""

from __future__ import annotations

from typing import Any

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.document_index import purge_chunks

SQL = Queries(__file__)


async def prune_history(database: Database, *, keep_days: int | None, keep_count: int | None) -> int:
    """Remove versions that were replaced more than `keep_days` ago, and all but the newest `keep_count` of a file.

    The present version always stays. None keeps all; an agent's own settings come first. What `as_of` finds goes
    with the versions it was of. A slice at a time, under its lock; how many versions were removed.
    """
    async with database.maintenance() as connection:
        cursor = await connection.execute(SQL["keepers"], {"keep_days": keep_days, "keep_count": keep_count})
        keepers = [row for row in await cursor.fetchall() if (row["keep_days"], row["keep_count"]) != (None, None)]
    return sum([await _prune_slice(database, row) for row in keepers])


async def _prune_slice(database: Database, keeper: dict[str, Any]) -> int:
    async with database.maintenance() as connection:
        await connection.execute(SQL["lock_slice"], keeper)
        pruned = (await connection.execute(SQL["prune_versions"], keeper)).rowcount
        if pruned:
            rows = await (await connection.execute(SQL["outlived_chunks"], keeper)).fetchall()
            await purge_chunks(connection, keeper["tenant_id"], rows)
        return pruned
