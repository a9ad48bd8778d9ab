"""When SOUL.md is written anew: after a number of writes of memory files, counted in the transactions of the writes."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.facts.sources import holds_memory
from reverie_server.jobs.defer import Delays, defer
from reverie_server.jobs.model import Work
from reverie_server.sessions.append import LOG_REASON

SQL = Queries(__file__)
# Writes that add nothing to a memory, or nothing but the words of a conversation.
_NOT_COUNTED = frozenset({LOG_REASON, "forget", "reindex"})


async def count_writes(
    every: int, delays: Delays, connection: Connection, place: Place, changes: Sequence[Change]
) -> None:
    """Count the writes of memory files among changes, in their transaction; the last of `every` defers the stage.

    The stage runs when the facts of the writes have been read. Global memory has no SOUL.md of its own.
    """
    writes = sum(is_counted(change.path, change.reason) for change in changes)
    if not writes or place.scope == "global":
        return
    owner_key = place.owner_key if place.scope == "personal" else None
    params = {
        "tenant_id": place.tenant_id,
        "agent_id": place.agent_id,
        "owner_key": owner_key,
        "writes": writes,
        "every": every,
    }
    row = await (await connection.execute(SQL["count"], params)).fetchone()
    if row is not None and row["memory_writes"] == 0:
        work = Work("soul", place.tenant_id, place.agent_id, owner_key)
        await defer(connection, work, after_seconds=delays.facts_debounce_seconds)


def is_counted(path: str, reason: str) -> bool:
    """Whether a write of a file counts: SOUL.md and the other files that are no memory do not. Pure."""
    return holds_memory(path) and reason not in _NOT_COUNTED
