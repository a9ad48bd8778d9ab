"""One person, across all agents of a tenant: what there is of them, all of it as an archive, and its end."""

from __future__ import annotations

import asyncio
import json
import re
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any, BinaryIO
from urllib.parse import quote

from psycopg import sql

from reverie_indexer.db import Connection, Database, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.queries import Queries
from reverie_server.agents.agents import SQL as AGENTS
from reverie_server.turns.sessions import Sessions
from reverie_server.workspace.files import Reader
from reverie_server.workspace.snapshots import Export

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class OwnerHome:
    """What an owner has with one agent: how many of each."""

    agent_id: str
    files: int
    sessions: int
    messages: int
    episodes: int
    entities: int
    relations: int
    reports: int


COUNTED = tuple(each.name for each in fields(OwnerHome) if each.name != "agent_id")


@dataclass(frozen=True, slots=True)
class OwnerReceipt:
    """What of an owner is there, or was removed; `keys` are those that were bound to the owner."""

    owner_key: str
    dry_run: bool
    agents: Sequence[OwnerHome]
    keys: int

    @property
    def removed(self) -> dict[str, int]:
        """The counts of all agents together."""
        return {name: sum(getattr(home, name) for home in self.agents) for name in COUNTED}


class Owners:
    """The people of tenants."""

    def __init__(self, database: Database, sessions: Sessions) -> None:
        self._database = database
        self._sessions = sessions

    async def delete(self, tenant_id: str, owner_key: str, *, dry_run: bool) -> OwnerReceipt:
        """Remove all that an owner has with any agent, history, graph, index and cache included, and the owner's keys.

        Conversations in the memory of a team go first, each in a transaction of its own; the rest is one. Lines that a
        team's notes have of them are the team's. What is begun again after it was broken off goes on.
        """
        key = {"tenant_id": tenant_id, "owner_key": owner_key}
        homes = [OwnerHome(**row) for row in await self._database.maintenance_query(SQL["homes"], key)]
        [row] = await self._database.maintenance_query(SQL["of_keys"], key)
        receipt = OwnerReceipt(owner_key, dry_run, homes, row["keys"])
        if not dry_run:
            async with self._database.maintenance() as connection:
                await connection.execute(SQL["delete_origins"], key)
            for row in await self._database.maintenance_query(SQL["shared_sessions"], key):
                await self._sessions.delete(Reader(tenant_id, row["agent_id"], owner_key), row["session_id"])
            await self._erase(key)
        return receipt

    async def _erase(self, key: dict[str, str]) -> None:
        async with self._database.maintenance() as connection:
            slices = await (await connection.execute(SQL["lock_slices"], key)).fetchall()
            locked = {**key, "agent_ids": [row["agent_id"] for row in slices]}
            slices += await (await connection.execute(SQL["lock_past_slices"], locked)).fetchall()
            params = {**key, "slice_ids": [row["slice_id"] for row in slices]}
            for step in ("forget_cache", "delete_postings", "delete_vectors"):
                await connection.execute(AGENTS[step], params)
            for step in ("delete_slices", "delete_views", "delete_events", "close_keys", "delete_jobs"):
                await connection.execute(SQL[step], params)
            for row in slices:
                if row["partition_id"]:
                    await connection.execute(
                        sql.SQL("DROP TABLE {}").format(sql.Identifier(f"vectors_{row['partition_id']}"))
                    )

    async def export(self, tenant_id: str, owner_key: str) -> Export:
        """All that an owner has with any agent as one archive, as it stood at one instant: files, conversations with
        their messages, episodes, graph. NotFound where there is nothing.

        A folder for each agent, `files/` in it as they are, the rest as JSON.
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
                    await self._write(connection, archive, Reader(tenant_id, home.agent_id, owner_key))
            await archive.close()
            size = file.tell()
            file.seek(0)
        except BaseException:
            file.close()
            raise
        count = sum(getattr(home, each) for home in homes for each in COUNTED)
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", owner_key).strip("-")
        return Export(file, size, f"reverie-{name or 'owner'}-{at:%Y-%m-%d}.zip", count)

    async def _write(self, connection: Connection, archive: _Archive, reader: Reader) -> None:
        visible = await visible_slices(connection, reader.tenant_id, reader.agent_id, reader.owner_key)
        key = {"tenant_id": reader.tenant_id, "agent_id": reader.agent_id, "owner_key": reader.owner_key}
        key_of_own = {**key, "slice_ids": [each.slice_id for each in visible if each.owner_key is not None]}
        # An id of dots alone is a folder that there is already.
        folder = quote(reader.agent_id, safe="").replace(".", "%2E")

        async def rows(name: str, **more: Any) -> list[dict[str, Any]]:
            return await (await connection.execute(SQL[name], {**key_of_own, **more})).fetchall()

        for row in await rows("files"):
            await archive.add(f"{folder}/files/{row['path']}", row["content"])
        sessions = []
        for row in await rows("sessions"):
            said = await rows("messages", session_key=row.pop("session_key"))
            sessions.append({**row, "messages": said})
        await archive.add(f"{folder}/sessions.json", _json(sessions))
        await archive.add(f"{folder}/episodes.json", _json(await rows("episodes")))
        graph = {"entities": await rows("entities"), "relations": await rows("relations")}
        await archive.add(f"{folder}/graph.json", _json(graph))


class _Archive:
    """A ZIP that is being written, each entry in a thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)

    async def add(self, name: str, text: str) -> None:
        """Add an entry."""
        await asyncio.to_thread(self._zip.writestr, name, text.encode())

    async def close(self) -> None:
        """Write the directory of entries."""
        await asyncio.to_thread(self._zip.close)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1, default=_as_text)


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
