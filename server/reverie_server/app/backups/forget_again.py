"""Forgetting again in what was restored from a backup: the acts of the log that the backup is older than.

An act is known by hashes alone. What it was about is looked for among all names and texts of the database, and is then
removed as it was the first time. It is run before anybody is served.
"""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg.rows import DictRow

from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import lock_slice, own_slices, scope_of
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.forgettable import Selection
from reverie_server.provenance.forgotten_log import Act, Entry, ForgottenLog, place_names, texts_of
from reverie_server.runtime import Runtime
from reverie_server.settings.agent import effective_settings
from reverie_server.text.keyed_texts import KeyedTexts

SQL = Queries(__file__)
_DAY_SECONDS = 86_400
_BATCH_ROWS = 50


@dataclass(frozen=True, slots=True)
class _Memory:
    place: Place
    slice_id: int
    subject: str


async def forget_again(runtime: Runtime, log: ForgottenLog, entries: Sequence[Entry]) -> Mapping[Act, int]:
    """Apply acts to a restored database, oldest first; of each kind how many of them, or of texts, were found.

    `runtime` is wired without a log, so that nothing is added to it. What is not there is no error.
    """
    again = _Again(runtime, log)
    found: Counter[Act] = Counter()
    texts: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.act == "texts":
            texts[entry.subject].append(entry)
        else:
            found[entry.act] += await again.remove(entry)
    if texts:
        for memory in await again.memories():
            if memory.subject in texts:
                found["texts"] += await again.forget(memory, texts[memory.subject])
    return +found


class _Again:
    def __init__(self, runtime: Runtime, log: ForgottenLog) -> None:
        self._runtime = runtime
        self._log = log

    async def remove(self, entry: Entry) -> int:
        """Remove what an act is about; how many things of that kind there were."""
        match entry.act:
            case "clear":
                memories = [each for each in await self.memories() if each.subject == entry.subject]
                return sum([await self._clear(each, entry) for each in memories])
            case "agent":
                rows = [row for row in await self._rows("agents") if self._is(entry, row["tenant_id"], row["agent_id"])]
                for row in rows:
                    await self._delete_agent(row["tenant_id"], row["agent_id"])
            case "owner":
                rows = [
                    row for row in await self._rows("owners") if self._is(entry, row["tenant_id"], row["owner_key"])
                ]
                for row in rows:
                    await self._runtime.owners.delete(row["tenant_id"], row["owner_key"], dry_run=False)
            case "key":
                rows = [row for row in await self._rows("keys") if self._is(entry, row["key_id"])]
                for row in rows:
                    await self._runtime.keys.revoke(row["key_id"])
            case "episode":
                rows = await self._rows("episodes")
                rows = [row for row in rows if self._is(entry, row["tenant_id"], str(row["episode_id"]))]
                for row in rows:
                    await self._delete_episode(row)
            case _:
                names = ("tenant_id", "agent_id", "owner_key", "session_id")
                rows = await self._rows("sessions")
                rows = [row for row in rows if self._is(entry, *(row[name] for name in names))]
                for row in rows:
                    principal = Principal(row["tenant_id"], row["agent_id"], row["owner_key"])
                    sessions = self._runtime.sessions
                    remove = sessions.delete if entry.act == "session" else sessions.clear
                    await remove(principal, row["session_id"])
        return len(rows)

    async def memories(self) -> list[_Memory]:
        """All memories, with what acts in them are known by."""
        found = []
        for row in await self._rows("memories"):
            scope = scope_of(None if row["is_global"] else row["agent_id"], row["owner_key"])
            place = Place(row["tenant_id"], row["agent_id"], scope, row["owner_key"])
            found.append(_Memory(place, row["slice_id"], self._log.subject("texts", *place_names(place))))
        return found

    async def forget(self, memory: _Memory, entries: Sequence[Entry]) -> int:
        """Forget texts of a memory, and leave their tombstones; how many texts were found, as they stand."""
        known = [text for entry in entries for text in texts_of(entry)]
        sought = KeyedTexts(known, self._log.keyed)
        texts: dict[str, None] = {}
        async for content in self._texts(memory):
            texts |= dict.fromkeys(await asyncio.to_thread(sought.found_in, content))
        if texts:
            await self._runtime.forgetting.forget_texts(await self._grant(memory.place), memory.place, list(texts))
        tenant_id = memory.place.tenant_id
        async with self._runtime.database.tenant(tenant_id) as connection:
            slice_ = await lock_slice(connection, memory.place)
            for entry in entries:
                keyed = [(bytes.fromhex(text_hmac), count) for text_hmac, count in entry.details["tombstones"]]
                await self._runtime.tombstones.add_keyed(connection, tenant_id, slice_.slice_id, keyed, entry.at)
        return len(texts)

    async def _clear(self, memory: _Memory, entry: Entry) -> int:
        days = entry.details["days"]
        if days is not None:
            # What was so old then.
            days += max(0.0, (datetime.now(UTC) - entry.at).total_seconds()) / _DAY_SECONDS
        prefix: str | None = None
        if entry.details["prefix"] is not None:
            prefix = await self._prefix(memory, *entry.details["prefix"])
            if prefix is None:
                return 0
        selection = Selection(days, prefix, tuple(entry.details["tiers"]))
        cleared = await self._runtime.clearing.clear(memory.place, selection, dry_run=False)
        return int(any(cleared.removed.values()))

    async def _prefix(self, memory: _Memory, length: int, digest: str) -> str | None:
        """The beginning of paths that an act named; None where no path of the memory has it."""
        params = {"tenant_id": memory.place.tenant_id, "slice_id": memory.slice_id}
        beginnings = {row["path"][:length] for row in await self._rows("paths", **params)}
        return next((each for each in sorted(beginnings) if self._log.keyed(each).hex() == digest), None)

    async def _delete_agent(self, tenant_id: str, agent_id: str) -> None:
        async with self._runtime.database.maintenance() as connection:
            await connection.execute(SQL["without_leader"], {"tenant_id": tenant_id, "agent_id": agent_id})
        await self._runtime.agents.delete(tenant_id, agent_id)

    async def _delete_episode(self, row: DictRow) -> None:
        scope = scope_of(row["agent_id"], row["owner_key"])
        place = Place(row["tenant_id"], row["agent_id"], scope, row["owner_key"])
        try:
            await self._runtime.consolidation.episodes.delete(place, str(row["episode_id"]))
        except NotFound:
            # It has expired, and is pruned by upkeep.
            return

    async def _texts(self, memory: _Memory) -> AsyncIterator[str]:
        """The texts of a memory, one after the other: all of them may not fit into memory."""
        params = {"tenant_id": memory.place.tenant_id, "slice_id": memory.slice_id}
        async with self._runtime.database.tenant(memory.place.tenant_id, snapshot=True) as connection:
            await own_slices(connection, memory.place, with_past=True)
            async with connection.cursor(name="texts_of_memory") as cursor:
                await cursor.execute(SQL["texts"], params)
                while rows := await cursor.fetchmany(_BATCH_ROWS):
                    for row in rows:
                        yield row["text"]

    async def _grant(self, place: Place) -> Grant:
        """What the operator may there: what an agent allows others is not asked."""
        params = {"tenant_id": place.tenant_id, "agent_id": place.agent_id}
        [row] = await self._rows("settings", **params)
        settings = effective_settings(self._runtime.settings.agent_defaults, row["settings"])
        principal = Principal(place.tenant_id, place.agent_id, place.owner_key)
        return Grant(Caller(place.tenant_id, "admin"), principal, settings)

    async def _rows(self, name: str, **params: object) -> list[DictRow]:
        return await self._runtime.database.maintenance_query(SQL[name], params)

    def _is(self, entry: Entry, *names: str | None) -> bool:
        return entry.subject == self._log.subject(entry.act, *names)
