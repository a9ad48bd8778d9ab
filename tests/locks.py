"""Who waits for a lock."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg
from psycopg import sql


async def waiting_for_locks(watcher: psycopg.AsyncConnection[Any], count: int) -> None:
    """Until so many sessions of this database wait for a lock, on whichever node."""
    cursor = await watcher.execute("SELECT to_regclass('citus_stat_activity') IS NOT NULL")
    [is_of_nodes] = await cursor.fetchone() or [False]
    activity = sql.Identifier("citus_stat_activity" if is_of_nodes else "pg_stat_activity")
    counting = sql.SQL(
        "SELECT count(*) FROM {} WHERE datname = current_database() AND wait_event_type = 'Lock'"
    ).format(activity)
    async with asyncio.timeout(20):
        while True:
            cursor = await watcher.execute(counting)
            row = await cursor.fetchone()
            if row is not None and row[0] == count:
                return
            await asyncio.sleep(0.01)
