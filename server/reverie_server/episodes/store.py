"""Episodes as they are stored: what the stages, the routes and upkeep read and change.

Every function that takes a connection works inside the caller's transaction, in which the slices are open; those that
remove or change hold the slice's lock. What has expired at `now` is not there for anybody who reads.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.episode_index import remove_episodes
from reverie_indexer.index.slices import lock_slice, scope_of
from reverie_indexer.model import Place
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Work, message_source
from reverie_server.llm.generation import Method

log = structlog.get_logger()
SQL = Queries(__file__)
PAGE = 200
# A model that is asked again and again: not for what is older, and not for more sessions in one sweep.
REMAKE_DAYS = 7
REMAKE_SESSIONS = 200
_ID = re.compile(r"(?:ep-)?([1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class Episode:
    """The summary of the messages of a session from one number to another.

    `method` is how it was summarised; `fallback` why a configured model was not used, which is then asked again
    (`attempts` times so far). `ended_at` is when its last message was said. From `expires_at` on it is not there.
    """

    episode_id: int
    slice_id: int
    agent_id: str
    owner_key: str | None
    session_key: int
    session_id: str
    from_seq: int
    through_seq: int
    compactions: int
    summary: str
    abstract: str
    key_topics: Sequence[str]
    method: Method
    prompt: str | None
    prompt_version: str | None
    model: str | None
    fallback: str | None
    attempts: int
    started_at: datetime
    ended_at: datetime
    created_at: datetime
    expires_at: datetime
    semantic_at: datetime | None
    promoted_at: datetime | None
    promoted_to: str | None

    @property
    def path(self) -> str:
        """The path that its passages name as their source."""
        return path_of(self.session_id, self.through_seq)


def path_of(session_id: str, through_seq: int) -> str:
    """The path that passages of an episode name as their source. No file has such a path and the tier `episodic`."""
    return f"episodes/{session_id}/{through_seq}"


def parse_id(public_id: str) -> int:
    """The number in an episode's id, `ep-12` or the bare number; NotFound for anything else."""
    match = _ID.fullmatch(public_id)
    if match is None:
        raise NotFound(f"there is no episode {public_id[:100]!r}")
    return int(match[1])


async def read_episodes(
    connection: Connection,
    tenant_id: str,
    slice_ids: Sequence[int],
    *,
    now: datetime,
    before: int | None = None,
    session_id: str | None = None,
    episode_ids: Sequence[int] | None = None,
    limit: int = PAGE,
) -> list[Episode]:
    """A page of episodes, newest first: those numbered below `before`, of a conversation, or of these numbers."""
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "now": now,
        "before": before,
        "session_id": session_id,
        "episode_ids": None if episode_ids is None else list(episode_ids),
        "limit": limit,
    }
    return [Episode(**row) for row in await (await connection.execute(SQL["episodes"], params)).fetchall()]


async def read_episode(
    connection: Connection, tenant_id: str, slice_id: int, episode_id: int, *, now: datetime
) -> Episode | None:
    """The episode; None where it is gone or has expired."""
    found = await read_episodes(connection, tenant_id, [slice_id], now=now, episode_ids=[episode_id], limit=1)
    return found[0] if found else None


async def unpromoted(
    connection: Connection, tenant_id: str, slice_id: int, limit: int, *, now: datetime
) -> list[Episode]:
    """The episodes of a slice that dreaming did not take yet, oldest first."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "limit": limit, "now": now}
    return [Episode(**row) for row in await (await connection.execute(SQL["unpromoted"], params)).fetchall()]


async def count_unpromoted(connection: Connection, tenant_id: str, slice_id: int, *, now: datetime) -> int:
    """How many episodes of a slice dreaming did not take yet."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "now": now}
    row = await (await connection.execute(SQL["count_unpromoted"], params)).fetchone()
    return int((row or {})["count"])


async def mark_promoted(
    connection: Connection, tenant_id: str, slice_id: int, episode_ids: Sequence[int], path: str, at: datetime
) -> int:
    """Mark that dreaming took episodes into a file; how many were not marked yet.

    Fewer than were given: somebody was faster, or some are gone; the caller then takes back what it did.
    """
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "episode_ids": list(episode_ids), "path": path, "at": at}
    return (await connection.execute(SQL["mark_promoted"], params)).rowcount


async def mark_refused(
    connection: Connection, tenant_id: str, slice_id: int, episode_ids: Sequence[int]
) -> dict[int, int]:
    """Note that dreaming refused what a model said of episodes; how often it did by now, by their numbers."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "episode_ids": list(episode_ids)}
    rows = await (await connection.execute(SQL["mark_refused"], params)).fetchall()
    return {row["episode_id"]: row["promotion_refusals"] for row in rows}


async def mark_semantic(
    connection: Connection, tenant_id: str, slice_id: int, episode_id: int, summary: str, at: datetime
) -> bool:
    """Mark that the graph took what an episode says. False: it says something else by now, or somebody was faster."""
    params = {
        "tenant_id": tenant_id,
        "slice_id": slice_id,
        "episode_id": episode_id,
        "summary": summary,
        "at": at,
    }
    return (await connection.execute(SQL["mark_semantic"], params)).rowcount == 1


async def sources_of(
    connection: Connection, tenant_id: str, episodes: Sequence[Episode]
) -> dict[int, list[dict[str, Any]]]:
    """The messages that each episode was made of, by the episode's number; those that are gone are not named."""
    params = {"tenant_id": tenant_id, "episode_ids": [episode.episode_id for episode in episodes]}
    rows = await (await connection.execute(SQL["sources"], params)).fetchall()
    return {row["episode_id"]: [_source(row)] for row in rows}


def _source(row: DictRow) -> dict[str, Any]:
    messages = list(zip(row["seqs"], row["message_ids"], strict=True))
    source = message_source(row["session_id"], messages)
    return {**source, "from_seq": row["from_seq"], "through_seq": row["through_seq"]}


async def remove(connection: Connection, tenant_id: str, slice_: Slice, episode_ids: Sequence[int]) -> int:
    """Remove episodes with all that the index has of them; how many passages that were."""
    passages = await remove_episodes(connection, tenant_id, slice_, episode_ids)
    params = {"tenant_id": tenant_id, "slice_id": slice_.slice_id, "episode_ids": list(episode_ids)}
    await connection.execute(SQL["remove"], params)
    return len(passages)


async def of_session(connection: Connection, tenant_id: str, slice_id: int, session_key: int) -> list[int]:
    """The numbers of a session's episodes, expired ones too."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "session_key": session_key}
    rows = await (await connection.execute(SQL["of_session"], params)).fetchall()
    return [row["episode_id"] for row in rows]


async def has_episodes(connection: Connection, tenant_id: str, session_key: int) -> bool:
    """Whether something was made of a session that outlives its messages."""
    params = {"tenant_id": tenant_id, "session_key": session_key}
    row = await (await connection.execute(SQL["has_episodes"], params)).fetchone()
    return bool((row or {})["found"])


async def clearable(
    connection: Connection, tenant_id: str, slice_id: int, *, older_than_days: float | None, path_prefix: str | None
) -> list[int]:
    """The numbers of a slice's episodes under `path_prefix` that ended more than `older_than_days` ago; None: any."""
    params = {
        "tenant_id": tenant_id,
        "slice_id": slice_id,
        "older_than_days": older_than_days,
        "path_prefix": path_prefix,
    }
    rows = await (await connection.execute(SQL["clearable"], params)).fetchall()
    return [row["episode_id"] for row in rows]


async def prune(database: Database, now: datetime) -> int:
    """Remove the episodes of all tenants whose time is over, a page at a time, each slice in one transaction; how many.

    What the graph took from them stays.
    """
    total = 0
    while True:
        async with database.maintenance() as connection:
            params = {"now": now, "limit": PAGE}
            rows = await (await connection.execute(SQL["expired"], params)).fetchall()
        by_place: defaultdict[Place, list[int]] = defaultdict(list)
        for row in rows:
            scope = scope_of(row["agent_id"], row["owner_key"])
            by_place[Place(row["tenant_id"], row["agent_id"], scope, row["owner_key"])].append(row["episode_id"])
        removed = 0
        for place, episode_ids in by_place.items():
            removed += await _prune_place(database, place, episode_ids, now)
        total += removed
        # Nothing of a full page could be removed: somebody else is at it.
        if len(rows) < PAGE or not removed:
            break
    if total:
        log.info("episodes_pruned", episodes=total)
    return total


async def _prune_place(database: Database, place: Place, episode_ids: Sequence[int], now: datetime) -> int:
    try:
        async with database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            params: Mapping[str, Any] = {
                "tenant_id": place.tenant_id,
                "slice_id": slice_.slice_id,
                "episode_ids": list(episode_ids),
                "now": now,
            }
            rows = await (await connection.execute(SQL["still_expired"], params)).fetchall()
            found = [row["episode_id"] for row in rows]
            if found:
                await remove(connection, place.tenant_id, slice_, found)
            return len(found)
    except NotFound:
        # The agent was deleted meanwhile, and they with it.
        return len(episode_ids)


async def ask_again(database: Database, now: datetime) -> int:
    """Defer making again what was made without the configured model, of all tenants, bounded; of how many sessions.

    Each has a job already, unless that was lost to too many failures: what waits is brought forward.
    """
    params = {"now": now, "since": now - timedelta(days=REMAKE_DAYS), "limit": REMAKE_SESSIONS}
    async with database.maintenance() as connection:
        rows = await (await connection.execute(SQL["to_remake"], params)).fetchall()
        for row in rows:
            await defer(connection, Work("episodic", **row, trigger="retry"))
    return len(rows)
