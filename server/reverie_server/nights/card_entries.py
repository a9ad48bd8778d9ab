"""The acts of a person on an entry of the morning card: confirm it, or edit its line of the memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, NotFound
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.long_term.longterm import LongTermMemory
from reverie_server.long_term.memory_text import contains
from reverie_server.nights.card_lines import MemoryLines, with_line
from reverie_server.provenance.line_identity import added_lines, line_sha256
from reverie_server.text.markdown_blocks import folded

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class PromotedEntry:
    """An entry of a report that is still in the memory: its key, its text, and its source."""

    key: str
    text: str
    source: str


class CardEntries:
    """The entries of reports that a person may confirm, edit and forget. `now` gives the time."""

    def __init__(
        self,
        database: Database,
        long_term: LongTermMemory,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._long_term = long_term
        self._now = now

    async def entry(self, place: Place, report_id: str, key: str, language: str) -> PromotedEntry:
        """An entry of a report; NotFound where there is none, or where it has left the memory."""
        return (await self._found(place, report_id, key, language))[0]

    async def to_forget(self, place: Place, report_id: str, key: str, language: str) -> list[str]:
        """The texts to forget with an entry: its own, and what now says it in the memory in other words.

        Raises NotFound as `entry`, and Conflict where only longer statements say it.
        """
        found, memory = await self._found(place, report_id, key, language)
        standing = await asyncio.to_thread(memory.saying, found.text, language)
        if not standing:
            raise Conflict("only longer statements of the memory say the entry: change the file")
        # Forgetting finds the entry's own words by itself, and then leaves what stands beside them.
        own = folded([found.text])
        return [found.text, *(text for text in standing if not contains(folded([text]), own))]

    async def _found(self, place: Place, report_id: str, key: str, language: str) -> tuple[PromotedEntry, MemoryLines]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            promoted = await _promoted(connection, place, await own_slices(connection, place), report_id)
        found = next((each for each in promoted if each.get("key") == key), None)
        current = await self._long_term.current(place)
        if found is None or current is None:
            raise NotFound("there is no such entry")
        memory = await isolated(MemoryLines.of, current[1], language, chars=len(current[1]))
        if memory.find(found["text"], language) is None:
            raise NotFound("the entry has left the memory")
        return PromotedEntry(key, found["text"], found["source"]), memory

    async def confirm(self, place: Place, report_id: str, key: str, language: str, *, by: str) -> PromotedEntry:
        """Confirm an entry and the facts that it states: they and the report say when. Raises NotFound."""
        found = await self.entry(place, report_id, key, language)
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ids = await own_slices(connection, place)
            changed = {"confirmed_at": self._now().isoformat()}
            await _change(connection, place, slice_ids, report_id, key, changed)
            keys = [span.key for span in keyed_sentences(found.text)]
            params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, "keys": keys, "at": self._now(), "by": by}
            await connection.execute(SQL["confirm_facts"], params)
        return found

    async def edit(
        self, place: Place, report_id: str, key: str, content: str, language: str, *, by: str
    ) -> PromotedEntry:
        """Change exactly the line of an entry, which is the person's from then on; the report has the new text.

        Raises NotFound, ValidationFailed for content that is empty or too long, Conflict where the memory moves away.
        """
        found = await self.entry(place, report_id, key, language)
        current = await self._long_term.current(place)
        if current is None:
            raise NotFound("there is no such entry")
        path = current[0].path
        own: list[str] = []

        def edit(text: str | None) -> str:
            changed = with_line(text, found.text, content, language) if text is not None else None
            if text is None or changed is None:
                raise Conflict("the entry has left the memory meanwhile, or only longer statements say it")
            # The line may say more than the entry, and then it is the person's with that.
            own[:] = [content, *added_lines(text, changed)]
            return changed

        async def within(connection: Connection, slice_: Slice) -> None:
            changed = {"text": " ".join(content.split()), "edited_at": self._now().isoformat()}
            await _change(connection, place, [slice_.slice_id], report_id, key, changed)
            params = {"tenant_id": place.tenant_id, "slice_id": slice_.slice_id, "path": path}
            await connection.execute(SQL["own_lines"], {**params, "lines_sha256": [line_sha256(line) for line in own]})

        await self._long_term.edit(place, path, edit, within, by=by, reason="edit of a card's entry")
        return PromotedEntry(key, " ".join(content.split()), found.source)


async def _promoted(connection: Connection, place: Place, slice_ids: list[int], report_id: str) -> list[dict[str, Any]]:
    params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, "report_id": report_id}
    row = await (await connection.execute(SQL["promoted"], params)).fetchone()
    if row is None:
        raise NotFound("there is no such report")
    return list(row["promoted"])


async def _change(
    connection: Connection, place: Place, slice_ids: list[int], report_id: str, key: str, changed: dict[str, Any]
) -> None:
    """Change an entry of a report in the caller's transaction, in which the report is locked."""
    params = {"tenant_id": place.tenant_id, "slice_ids": slice_ids, "report_id": report_id}
    row = await (await connection.execute(SQL["locked"], params)).fetchone()
    if row is None:
        raise NotFound("there is no such report")
    promoted = [{**each, **changed} if each.get("key") == key else each for each in row["promoted"]]
    await connection.execute(SQL["change"], {**params, "promoted": Jsonb(promoted)})
