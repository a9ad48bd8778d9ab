"""The morning card: what entered the long-term memory since its owner last looked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, opening_slices
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.nights.card_lines import present_entries
from reverie_server.nights.emergence.inputs import memory_document
from reverie_server.search.superseded import superseded_sentences
from reverie_server.search.superseded_text import current_text, ended_at, places_of

SQL = Queries(__file__)
# Older reports go into the archive after a month.
_NIGHTS = 31


@dataclass(frozen=True, slots=True)
class CardEntry:
    """An entry of the card: a key to name it by, the text that entered the memory, and its source."""

    key: str
    text: str
    source: str


class MorningCards:
    """The morning cards of places. `viewer` is the owner whose card it is: each has one of a team's memory.

    `language` is the agent's.
    """

    def __init__(self, database: Database, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._database = database
        self._now = now

    async def card(self, place: Place, viewer: str | None, language: str) -> list[CardEntry] | None:
        """The newest conclusions that the viewer has not seen, of which some are still in the memory; else None."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            rows = await self._unseen(connection, place, viewer)
            shown = await _shown(connection, place, rows, self._now(), language)
        return shown[1] if shown else None

    async def see(self, place: Place, viewer: str | None, language: str) -> int:
        """Mark the card as seen; how many entries its report has, 0 where there was none.

        The next one is that of an older report which the viewer has not seen.
        """
        async with self._database.tenant(place.tenant_id) as connection:
            rows = await self._unseen(connection, place, viewer)
            shown = await _shown(connection, place, rows, self._now(), language)
            if shown is None:
                return 0
            row = shown[0]
            params = {
                "tenant_id": place.tenant_id,
                "report_id": row["report_id"],
                "viewer": viewer or "",
                "slice_id": row["slice_id"],
                "at": self._now(),
            }
            await connection.execute(SQL["see"], params)
        return len(row["promoted"])

    async def for_conversation(
        self, place: Place, viewer: str | None, session_id: str | None, time_zone: str, language: str
    ) -> list[CardEntry] | None:
        """The card, if this is the first conversation of the viewer's day, or the first message of one; else None.

        There is none where `unseen_statement` has no row.
        """
        zone = ZoneInfo(time_zone)
        now = self._now()
        since = datetime.combine(now.astimezone(zone).date(), time(), zone)
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            rows = await self._unseen(connection, place, viewer)
            if not rows:
                return None
            params: dict[str, Any] = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "owner_key": viewer,
                "since": since,
                "now": now,
            }
            first = await (await connection.execute(SQL["first_session"], params)).fetchone()
            is_first = first is None or first["session_id"] == session_id
            shown = await _shown(connection, place, rows, now, language) if is_first else None
        return shown[1] if shown else None

    async def _unseen(self, connection: Connection, place: Place, viewer: str | None) -> Sequence[DictRow]:
        opening = opening_slices(place.tenant_id, place.agent_id, place.owner_key)
        return (await in_one_message(connection, [*opening, unseen_statement(place, viewer, limit=_NIGHTS)]))[-1]


def unseen_statement(place: Place, viewer: str | None, *, limit: int = 1) -> Statement:
    """The statement that gives the reports of an open slice that the viewer has not seen, the newest first."""
    params = {
        "tenant_id": place.tenant_id,
        "agent_id": place.agent_id,
        "owner_key": place.owner_key,
        "viewer": viewer or "",
        "limit": limit,
    }
    return Statement(SQL["card"], params)


async def _shown(
    connection: Connection, place: Place, rows: Sequence[DictRow], now: datetime, language: str
) -> tuple[DictRow, list[CardEntry]] | None:
    """The first report of which something is still in the memory and holds `now`, with that; None without one."""
    for row in rows:
        entries = await _entries(connection, place, row, now, language)
        if entries is not None:
            return row, entries
    return None


async def _entries(
    connection: Connection, place: Place, row: DictRow, now: datetime, language: str
) -> list[CardEntry] | None:
    """The entries that are still in the memory, as far as they hold `now`; None where nothing of them does."""
    found = await memory_document(connection, place.tenant_id, row["slice_id"])
    if found is None:
        return None
    texts = [entry["text"] for entry in row["promoted"]]
    present = await isolated(present_entries, found[1], texts, language, chars=len(found[1]))
    promoted = [entry for entry, is_present in zip(row["promoted"], present, strict=True) if is_present]
    slice_ids = await own_slices(connection, place)
    keys = [sentence.key for entry in promoted for sentence in keyed_sentences(entry["text"])]
    superseded = await superseded_sentences(connection, place.tenant_id, slice_ids, keys, now=now)
    # What a line of the memory says of somebody else holds there.
    texts = [
        current_text(text, ended_at(superseded, places_of(found[0].document_id, text)), marked=False)
        for text in (entry["text"] for entry in promoted)
    ]
    return [
        CardEntry(entry["key"], text, entry["source"]) for entry, text in zip(promoted, texts, strict=True) if text
    ] or None
