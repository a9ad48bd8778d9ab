"""One owner, across all agents of a tenant: counts their data, exports it as an archive, and deletes it."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import zipfile
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import quote

from psycopg import sql
from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_server.access.agents import SQL as AGENTS
from reverie_server.access.principal import Principal
from reverie_server.files.snapshots import Export
from reverie_server.provenance.forgotten_log import ForgottenLog
from reverie_server.provenance.removed_turns import note_removed_turns
from reverie_server.sessions.sessions import Sessions

SQL = Queries(__file__)
# Takes the next piece of a text.
Write = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class OwnerHome:
    """The counts of an owner's data with one agent."""

    agent_id: str
    files: int
    sessions: int
    messages: int
    episodes: int
    facts: int
    entities: int
    relations: int
    reports: int


COUNTED = tuple(each.name for each in fields(OwnerHome) if each.name != "agent_id")


@dataclass(frozen=True, slots=True)
class OwnerReceipt:
    """The data of an owner that was removed, or with `dry_run` would be; `keys` are those bound to the owner."""

    owner_key: str
    dry_run: bool
    agents: Sequence[OwnerHome]
    keys: int

    @property
    def removed(self) -> dict[str, int]:
        """The counts of all agents together."""
        return {name: sum(getattr(home, name) for home in self.agents) for name in COUNTED}


class Owners:
    """The owners of tenants. An export has `export_rows` rows in memory at a time: a message may have a megabyte."""

    def __init__(
        self,
        database: Database,
        sessions: Sessions,
        *,
        forgotten_log: ForgottenLog | None = None,
        export_rows: int = 50,
    ) -> None:
        self._database = database
        self._sessions = sessions
        self._forgotten_log = forgotten_log
        self._export_rows = export_rows

    async def delete(self, tenant_id: str, owner_key: str, *, dry_run: bool) -> OwnerReceipt:
        """Remove an owner's data with every agent (history, graph, index and cache included) and the owner's keys.

        Conversations in a team's memory go first, each in a transaction of its own; one transaction removes the rest.
        Lines that a team's notes have from them stay. After an interruption, call it again to go on.
        """
        key = {"tenant_id": tenant_id, "owner_key": owner_key}
        homes = [OwnerHome(**row) for row in await self._database.maintenance_query(SQL["homes"], key)]
        [row] = await self._database.maintenance_query(SQL["of_keys"], key)
        receipt = OwnerReceipt(owner_key, dry_run, homes, row["keys"])
        if not dry_run:
            async with self._database.maintenance() as connection:
                await connection.execute(SQL["delete_origins"], key)
                await note_removed_turns(connection, tenant_id, "owner", owner_key)
            async with self._database.maintenance() as connection:
                # Who looked before that was noted, and writes turns of a team, has written them when this is locked.
                await connection.execute(SQL["wait_for_teams"], key)
            for row in await self._database.maintenance_query(SQL["shared_sessions"], key):
                # One that somebody else deleted meanwhile is gone, too.
                with suppress(NotFound):
                    await self._sessions.delete(Principal(tenant_id, row["agent_id"], owner_key), row["session_id"])
            await self._erase(key)
        return receipt

    async def _erase(self, key: dict[str, str]) -> None:
        async with self._database.maintenance() as connection:
            slices = await (await connection.execute(SQL["lock_slices"], key)).fetchall()
            locked = {**key, "agent_ids": [row["agent_id"] for row in slices]}
            slices += await (await connection.execute(SQL["lock_past_slices"], locked)).fetchall()
            await connection.execute(SQL["without_limit"])
            params = {**key, "slice_ids": [row["slice_id"] for row in slices]}
            for step in ("forget_cache", "delete_postings", "delete_vectors", "delete_fact_chunks"):
                await connection.execute(AGENTS[step], params)
            for step in ("delete_turns", "delete_slices", "delete_views", "delete_events", "close_keys", "delete_jobs"):
                await connection.execute(SQL[step], params)
            for row in slices:
                if row["partition_id"]:
                    await connection.execute(
                        sql.SQL("DROP TABLE {}").format(sql.Identifier(f"vectors_{row['partition_id']}"))
                    )
            if self._forgotten_log is not None:
                await self._forgotten_log.note(connection, "owner", key["tenant_id"], key["owner_key"])

    async def export(self, tenant_id: str, owner_key: str) -> Export:
        """An archive of an owner's data with every agent at one instant: files, conversations with their messages,
        episodes, facts, turns, graph, reports of the nights (of the archive, too). NotFound where there is none.

        It has a folder for each agent: `files/` has the files as they are, the rest is JSON.
        """
        key = {"tenant_id": tenant_id, "owner_key": owner_key}
        homes = [OwnerHome(**row) for row in await self._database.maintenance_query(SQL["homes"], key)]
        if not homes:
            raise NotFound("there is nothing of this owner")
        at = datetime.now(UTC)
        manifest = {
            "owner_key": owner_key,
            "exported_at": at,
            "agents": [{name: getattr(home, name) for name in ("agent_id", *COUNTED)} for home in homes],
        }
        file = tempfile.TemporaryFile(prefix="reverie-export-")  # noqa: SIM115  # handed to the caller
        try:
            archive = _Archive(file)
            await archive.add("manifest.json", _json(manifest))
            async with self._database.tenant(tenant_id, snapshot=True) as connection:
                for home in homes:
                    await self._write(connection, archive, Principal(tenant_id, home.agent_id, owner_key))
            await archive.close()
            size = file.tell()
            file.seek(0)
        except BaseException:
            file.close()
            raise
        count = sum(getattr(home, each) for home in homes for each in COUNTED)
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", owner_key).strip("-")
        return Export(file, size, f"reverie-{name or 'owner'}-{at:%Y-%m-%d}.zip", count)

    async def _write(self, connection: Connection, archive: _Archive, principal: Principal) -> None:
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        rows = _Rows(
            connection,
            {
                "tenant_id": principal.tenant_id,
                "agent_id": principal.agent_id,
                "owner_key": principal.owner_key,
                "slice_ids": [each.slice_id for each in visible if each.owner_key is not None],
            },
            self._export_rows,
        )
        # An id of dots alone would name the folder itself or its parent.
        folder = quote(principal.agent_id, safe="").replace(".", "%2E")

        async def add_file(row: DictRow) -> None:
            await archive.add(f"{folder}/files/{row['path']}", row["content"])

        await rows.each("files", add_file)
        async with archive.entry(f"{folder}/sessions.json") as write:
            between = ""

            async def add_session(row: DictRow) -> None:
                nonlocal between
                session_key = row.pop("session_key")
                # The messages are the last field of their session's object.
                await write(f'{between}{_json(row).removesuffix("}")}, "messages": ')
                await rows.listed("messages", write, session_key=session_key)
                await write("}")
                between = ",\n"

            await write("[")
            await rows.each("sessions", add_session)
            await write("]")
        async with archive.entry(f"{folder}/episodes.json") as write:
            await rows.listed("episodes", write)
        async with archive.entry(f"{folder}/facts.json") as write:
            await rows.listed("facts", write)
        async with archive.entry(f"{folder}/turns.json") as write:
            await rows.listed("turns", write)
        async with archive.entry(f"{folder}/graph.json") as write:
            await write('{"entities": ')
            await rows.listed("entities", write)
            await write(', "relations": ')
            await rows.listed("relations", write)
            await write("}")
        async with archive.entry(f"{folder}/reports.json") as write:
            await rows.listed("reports", write)


class _Rows:
    """The rows of the export's SQL statements, a batch at a time: all of them may not fit into memory."""

    def __init__(self, connection: Connection, params: dict[str, Any], batch_rows: int) -> None:
        self._connection = connection
        self._params = params
        self._batch_rows = batch_rows

    async def each(self, name: str, take: Callable[[DictRow], Awaitable[None]], **more: Any) -> None:
        """Hand over the rows of a statement one by one."""
        async with self._connection.cursor(name=f"export_{name}") as cursor:
            await cursor.execute(SQL[name], {**self._params, **more})
            while batch := await cursor.fetchmany(self._batch_rows):
                for row in batch:
                    await take(row)

    async def listed(self, name: str, write: Write, **more: Any) -> None:
        """Write the rows of a statement as a list of JSON, a batch at a time."""
        async with self._connection.cursor(name=f"export_{name}") as cursor:
            await cursor.execute(SQL[name], {**self._params, **more})
            between = "["
            while batch := await cursor.fetchmany(self._batch_rows):
                await write(between + await asyncio.to_thread(_json_items, batch))
                between = ",\n"
        await write("[]" if between == "[" else "]")


class _Archive:
    """A ZIP that is being written, in threads."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    async def add(self, name: str, text: str) -> None:
        """Add an entry."""
        await asyncio.to_thread(self._zip.writestr, name, text.encode())

    @asynccontextmanager
    async def entry(self, name: str) -> AsyncIterator[Write]:
        """An entry that comes in pieces; no other is added meanwhile."""
        with self._zip.open(name, "w", force_zip64=True) as entry:

            async def write(text: str) -> None:
                await asyncio.to_thread(entry.write, text.encode())

            yield write

    async def close(self) -> None:
        """Write the directory of entries."""
        await asyncio.to_thread(self._zip.close)


def _json_items(rows: Sequence[DictRow]) -> str:
    return ",\n".join(map(_json, rows))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_as_text)


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
