"""What an owner said on any day that is nearest in meaning to a request about it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import zip_longest

from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.search.asked.heard import NearStatement
from reverie_server.search.episode_passages import statement_text
from reverie_server.search.request import SearchRequest, rules_for
from reverie_server.search.search import Search
from reverie_server.text.statement_spans import statements

SQL = Queries(__file__)
MAX_NEAR = 48
"""The most statements that are near to some queries."""
MAX_MESSAGES = 240
"""Of one span of time the statements of so many messages are read."""
_MAX_MESSAGE_CHARS = 4_000
_NEAR_PASSAGES = 40
# A line of the log of conversations.
_LOGGED = re.compile(r"^(?:[-*] )?\[\d\d:\d\d\] ", re.MULTILINE)


class NearStatements:
    """Finds statements in the memory of a place. `now` gives the time."""

    def __init__(self, database: Database, search: Search, now: Callable[[], datetime] = lambda: datetime.now(UTC)):
        self._database = database
        self._search = search
        self._now = now

    async def find(self, grant: Grant, place: Place, queries: Sequence[str]) -> list[NearStatement]:
        """The statements of what the owner said or a file has, in the passages that are nearest in meaning to one of
        some queries; at most MAX_NEAR, the nearest passages first, each text once. The log of conversations is left
        out: it says what they say, and the assistant's answers."""
        if not queries:
            return []
        requests = [
            SearchRequest(
                place.tenant_id,
                place.agent_id,
                query,
                place.owner_key,
                max_results=_NEAR_PASSAGES,
                tiers=("document", "message"),
                mode="vector",
                # Which of them is meant was learnt from what is nearest as it is.
                role="query",
            )
            for query in queries
        ]
        outcomes = await self._search.search_together(requests, rules_for(grant, self._search.rules))
        ranked = (outcome.results for outcome in outcomes)
        in_turn = (each for some in zip_longest(*ranked) for each in some if each is not None)
        chunk_ids = list(dict.fromkeys(each.chunk_id for each in in_turn if each.scope == place.scope))
        rows = {row["chunk_id"]: row for row in await self._passages(grant, place, chunk_ids)}
        return await asyncio.to_thread(_statements_of, [rows[each] for each in chunk_ids if each in rows])

    async def statements_between(
        self, grant: Grant, place: Place, spans: Sequence[tuple[datetime, datetime]]
    ) -> list[NearStatement]:
        """The statements of what the owner said in some spans of time, each from a time to before another: those of the
        newest MAX_MESSAGES messages of each, the newest message first, each text once."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "owner_key": grant.principal.owner_key,
                "since": [since for since, _ in spans],
                "until": [until for _, until in spans],
                "limit": MAX_MESSAGES,
                "chars": _MAX_MESSAGE_CHARS,
            }
            rows = await (await connection.execute(SQL["statements_between"], params)).fetchall()
        return await asyncio.to_thread(_statements_of_messages, rows)

    async def _passages(self, grant: Grant, place: Place, chunk_ids: Sequence[int]) -> list[DictRow]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "chunk_ids": list(chunk_ids),
                "slice_ids": await own_slices(connection, place),
                "owner_key": grant.principal.owner_key,
                "now": self._now(),
            }
            return await (await connection.execute(SQL["said_passages"], params)).fetchall()


def _statements_of(rows: Sequence[DictRow]) -> list[NearStatement]:
    found: dict[str, NearStatement] = {}
    for row in rows:
        whole = statement_text(row["text"], row["tier"])
        if _LOGGED.search(whole) is None:
            for each in _statements_in(whole, row["at"]):
                # A note may say it before the message does.
                if each.text not in found or found[each.text].at is None:
                    found[each.text] = each
    return list(found.values())[:MAX_NEAR]


def _statements_of_messages(rows: Sequence[DictRow]) -> list[NearStatement]:
    found: dict[str, NearStatement] = {}
    for row in rows:
        for each in _statements_in(row["content"], row["at"]):
            found.setdefault(each.text, each)
    return list(found.values())


def _statements_in(whole: str, at: datetime | None) -> Iterator[NearStatement]:
    said = statements(whole)
    for previous, text, following in zip(("", *said), said, (*said[1:], ""), strict=False):
        yield NearStatement(text, at, previous, following)
