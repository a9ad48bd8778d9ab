"""Who waits for a lock."""

from __future__ import annotations

import asyncio
from typing import Any

import psycopg


async def waiting_for_locks(watcher: psycopg.AsyncConnection[Any], count: int) -> None:
    """Until so many sessions of this database wait for a lock."""
    async with asyncio.timeout(20):
        while True:
            cursor = await watcher.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            )
            row = await cursor.fetchone()
            if row is not None and row[0] == count:
                return
            await asyncio.sleep(0.01)
