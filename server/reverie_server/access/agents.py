"""Creates, changes, lists and deletes agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from psycopg import sql
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, NotFound, ValidationFailed
from reverie_indexer.index import store
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.settings.agent import AgentSettings, effective_settings

SQL = Queries(__file__)

DELETE_STEPS = (
    "forget_cache",
    "delete_postings",
    "delete_vectors",
    "delete_fact_chunks",
    "delete_agent",
    "delete_jobs",
)


@dataclass(frozen=True, slots=True)
class Agent:
    """An agent. `settings` are its own. With a leader it is a team member, whose memory is read-only."""

    agent_id: str
    name: str
    leader_agent_id: str | None
    settings: dict[str, Any]
    created_at: datetime
    updated_at: datetime


class Agents:
    """The agents of tenants."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        defaults: AgentSettings,
        on_delete: Callable[[Connection, str, str], Awaitable[None]] | None = None,
    ) -> None:
        """`on_delete` is called in the transaction that deletes an agent, as the last thing of it."""
        self._database = database
        self._pipeline = pipeline
        self._defaults = defaults
        self._on_delete = on_delete

    async def get(self, tenant_id: str, agent_id: str) -> Agent:
        """One agent; NotFound for an unknown one."""
        async with self._database.tenant(tenant_id) as connection:
            return await self._get(connection, tenant_id, agent_id)

    async def listing(
        self, tenant_id: str, agent_ids: Sequence[str] | None, *, after: str | None, limit: int, part: str | None = None
    ) -> list[Agent]:
        """A page of agents by id, of all or of `agent_ids`, after the id `after`.

        With `part` only those whose id or name has it, in any case.
        """
        async with self._database.tenant(tenant_id) as connection:
            cursor = await connection.execute(
                SQL["agents"],
                {
                    "tenant_id": tenant_id,
                    "agent_ids": None if agent_ids is None else list(agent_ids),
                    "after": after,
                    "limit": limit,
                    "part": part,
                },
            )
            return [Agent(**row) for row in await cursor.fetchall()]

    async def put(
        self, tenant_id: str, agent_id: str, name: str | None, leader_agent_id: str | None, settings: dict[str, Any]
    ) -> tuple[Agent, bool]:
        """Create or replace an agent; the agent, and whether it is new. A new one without a leader gets seed files.

        ValidationFailed for settings that do not fit together, and for a leader that is unknown, the agent
        itself, or a member; Conflict when the agent leads others and would become a member.
        """
        effective_settings(self._defaults, settings)
        async with self._database.tenant(tenant_id) as connection:
            is_new = await store.read_agent(connection, tenant_id, agent_id) is None
        if is_new and leader_agent_id is None:
            await self._pipeline.write_many(Place(tenant_id, agent_id, "team"), [])
        async with self._database.tenant(tenant_id) as connection:
            if leader_agent_id is not None:
                await self._check_leader(connection, tenant_id, agent_id, leader_agent_id)
            await store.ensure_agent(connection, Place(tenant_id, agent_id, "team"))
            await connection.execute(
                SQL["update_agent"],
                {
                    "tenant_id": tenant_id,
                    "agent_id": agent_id,
                    "name": name or agent_id,
                    "leader_agent_id": leader_agent_id,
                    "settings": Jsonb(settings),
                },
            )
            return await self._get(connection, tenant_id, agent_id), is_new

    async def delete(self, tenant_id: str, agent_id: str) -> None:
        """Delete an agent with the memory of all its owners, history included.

        NotFound for an unknown agent; Conflict while it leads others.
        """
        attempt = partial(self._delete, tenant_id, agent_id)
        await until_stable(attempt, attempts=10, what=f"the memories of agent {agent_id!r}")

    async def _delete(self, tenant_id: str, agent_id: str) -> None:
        """Raises Superseded where the agent got a new slice while its others were locked.

        Slices are locked before the agent: a writer that changes its slice twice in one transaction has the agent's
        row checked at the second time, and would wait for the one that waits for it.
        """
        key = {"tenant_id": tenant_id, "agent_id": agent_id}
        async with self._database.maintenance() as connection:
            await self._get(connection, tenant_id, agent_id)
            slices = await (await connection.execute(SQL["lock_agent_slices"], key)).fetchall()
            params = {**key, "slice_ids": [row["slice_id"] for row in slices]}
            await connection.execute(SQL["lock_agent"], key)
            if await (await connection.execute(SQL["other_slice"], params)).fetchone():
                raise Superseded
            members = await (await connection.execute(SQL["members"], key)).fetchall()
            if members:
                raise Conflict(f"agent {agent_id!r} leads {len(members)} others: give them another leader first")
            for step in DELETE_STEPS:
                await connection.execute(SQL[step], params)
            for row in slices:
                if row["partition_id"]:
                    await connection.execute(
                        sql.SQL("DROP TABLE {}").format(sql.Identifier(f"vectors_{row['partition_id']}"))
                    )
            if self._on_delete is not None:
                await self._on_delete(connection, tenant_id, agent_id)

    async def _get(self, connection: Connection, tenant_id: str, agent_id: str) -> Agent:
        row = await store.read_agent(connection, tenant_id, agent_id)
        if row is None:
            raise NotFound(f"there is no agent {agent_id!r}")
        return Agent(**row)

    async def _check_leader(self, connection: Connection, tenant_id: str, agent_id: str, leader_id: str) -> None:
        if leader_id == agent_id:
            raise ValidationFailed("an agent cannot lead itself")
        leader = await store.read_agent(connection, tenant_id, leader_id)
        if leader is None:
            raise ValidationFailed(f"there is no agent {leader_id!r} to lead")
        if leader["leader_agent_id"] is not None:
            raise ValidationFailed(f"agent {leader_id!r} is a member itself and cannot lead")
        members = await (
            await connection.execute(SQL["members"], {"tenant_id": tenant_id, "agent_id": agent_id})
        ).fetchall()
        if members:
            raise Conflict(f"agent {agent_id!r} leads {len(members)} others and cannot become a member")
