"""The one gate in front of every agent's memory. It decides who may read or write, and under which settings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from psycopg.rows import DictRow

from reverie_indexer.database.database import ALL_OWNERS, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.request_reads import begins_to_read, begins_to_write
from reverie_indexer.errors import Forbidden, MemoryDisabled, NotFound, OwnerRequired, ReadOnlyMember
from reverie_indexer.file_rules import check_owner_key
from reverie_indexer.model import Place, Scope
from reverie_server.access.audit import Action, Audit, Entry
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal, check_place, place_for
from reverie_server.settings.agent import AgentSettings, effective_settings
from reverie_server.text.spans import span

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Grant:
    """A permitted request: the caller, the principal that it acts as, and the settings in force there.

    `is_new`: the agent does not exist yet. It sees the memory that the tenant's agents share, and has none of its own.
    """

    caller: Caller
    principal: Principal
    settings: AgentSettings
    is_new: bool = False

    @property
    def author(self) -> str:
        """The author in the history of files: the key by its id, or `user` where there are no keys."""
        return "user" if self.caller.key_id is None else f"key:{self.caller.key_id}"


class Gate:
    """Checks every request of every interface, and notes it in the audit.

    `defaults` are the settings of an agent that sets none. In its methods `action` is the action for the audit.
    """

    def __init__(self, database: Database, defaults: AgentSettings, audit: Audit) -> None:
        self._database = database
        self._defaults = defaults
        self._audit = audit

    async def read(self, caller: Caller, agent_id: str, owner_key: str | None, *, action: Action = "read") -> Grant:
        """Permission to read an owner's memory with the agent, or (`owner_key` None) the shared memory.

        Raises Forbidden for an agent or owner that the key is not for, NotFound for an unknown agent, MemoryDisabled,
        and OwnerRequired where the settings require an owner and none is named.
        """
        with self._attempt(caller, agent_id, owner_key, action):
            owner_key = acting_owner(caller, agent_id, owner_key)
            row = await self._agent(caller.tenant_id, agent_id)
            if row is None:
                raise NotFound(f"there is no agent {agent_id!r}")
            return self._readable(self._grant_for_request(caller, agent_id, owner_key, row), row)

    async def for_turn(self, caller: Caller, agent_id: str, owner_key: str | None) -> Grant:
        """Permission to make the prompt of a turn: as `read`, but a key that may write gets one for a new agent, too.

        An agent's first prompt comes before its first write. It has no memory and stores nothing. Raises what `read`
        raises.
        """
        with self._attempt(caller, agent_id, owner_key, "read"):
            owner_key = acting_owner(caller, agent_id, owner_key)
            row = await self._agent(caller.tenant_id, agent_id)
            if row is not None:
                return self._readable(self._grant_for_request(caller, agent_id, owner_key, row), row)
            if caller.role == "viewer":
                raise NotFound(f"there is no agent {agent_id!r}")
            return replace(self._grant_for_request(caller, agent_id, owner_key, None), is_new=True)

    async def every_owner(self, caller: Caller, agent_id: str, *, action: Action = "read") -> Grant:
        """Permission to list or clear the memory of all owners with an agent, for an admin's key bound to no owner.

        Raises what `read` raises.
        """
        with self._attempt(caller, agent_id, ALL_OWNERS, action):
            if caller.role != "admin":
                raise Forbidden("all owners at once are a matter of an admin's key that is bound to none")
            return await self._grant_for_all_owners(caller, agent_id)

    async def background_work(self, caller: Caller, agent_id: str) -> Grant:
        """Permission to see the state of an agent's jobs, without texts, for any key bound to no owner.

        Raises what `read` raises.
        """
        with self._attempt(caller, agent_id, ALL_OWNERS, "read"):
            return await self._grant_for_all_owners(caller, agent_id)

    async def _grant_for_all_owners(self, caller: Caller, agent_id: str) -> Grant:
        check_agent(caller, agent_id)
        if caller.owner_key is not None:
            raise Forbidden("all owners at once are a matter of an admin's key that is bound to none")
        row = await self._agent(caller.tenant_id, agent_id)
        if row is None:
            raise NotFound(f"there is no agent {agent_id!r}")
        return self._readable(self._grant(caller, agent_id, ALL_OWNERS, row), row)

    async def write(
        self,
        caller: Caller,
        agent_id: str,
        owner_key: str | None,
        scope: Scope | None,
        *,
        action: Action = "write",
    ) -> tuple[Grant, Place]:
        """Permission to write, and the place of the write. The write may be the one that creates the agent.

        Raises what `read` raises, ReadOnlyMember for a team member, and Forbidden for a viewer, for a `global` write by
        anyone but an admin whose key is bound to nothing, and for a key that is bound to an owner where others read
        what it writes.
        """
        with self._attempt(caller, agent_id, owner_key, action) as entry:
            grant, place = await self._check_write(caller, agent_id, owner_key, scope)
            entry.owner_key = place.owner_key
            return grant, place

    async def converse(
        self, caller: Caller, agent_id: str, owner_key: str | None, *, action: Action = "write"
    ) -> tuple[Grant, Place]:
        """Permission to write to sessions, and the place of a new one. A team member has sessions of its own.

        Raises what `write` raises but ReadOnlyMember.
        """
        with self._attempt(caller, agent_id, owner_key, action) as entry:
            grant, place = await self._check_write(caller, agent_id, owner_key, None, to_memory=False)
            entry.owner_key = place.owner_key
            return grant, place

    async def _check_write(
        self,
        caller: Caller,
        agent_id: str,
        owner_key: str | None,
        scope: Scope | None,
        *,
        to_memory: bool = True,
    ) -> tuple[Grant, Place]:
        begins_to_write()
        owner_key = acting_owner(caller, agent_id, owner_key)
        if caller.role == "viewer":
            raise Forbidden("a viewer's key reads; writing needs a member's")
        if scope == "global" and (caller.role != "admin" or caller.agent_ids is not None):
            raise Forbidden("writing global memory needs an admin's key that is bound to no agents")
        row = await self._agent(caller.tenant_id, agent_id)
        grant = self._grant_for_request(caller, agent_id, owner_key, row)
        if to_memory and row is not None and row["leader_agent_id"] is not None:
            raise ReadOnlyMember("memory is read-only for team members")
        # Without isolation all users of the agent share one memory.
        place = place_for(grant.principal, scope if grant.settings.memory_isolation else "team")
        check_place(grant.principal, place)
        return grant, place

    def administer(self, caller: Caller, action: Action, owner_key: str | None = None) -> None:
        """Permission for what concerns a whole tenant, such as its keys; Forbidden without an unbound admin's key."""
        with self._attempt(caller, None, owner_key, action):
            if caller.role != "admin" or caller.is_bound:
                raise Forbidden("this takes an admin's key that is bound to no owner and to no agents")

    def of_person(self, caller: Caller, owner_key: str, action: Action) -> None:
        """Permission for one person's memory with all agents, for an unbound admin's key or that person's key.

        That person's key must be bound to no agents. Raises Forbidden, and ValidationFailed for a malformed owner key.
        """
        with self._attempt(caller, None, owner_key, action):
            check_owner_key(owner_key)
            if caller.agent_ids is None and caller.owner_key == owner_key:
                if action == "forget" and caller.role == "viewer":
                    raise Forbidden("a viewer's key reads; removing needs a member's")
            elif caller.role != "admin" or caller.is_bound:
                raise Forbidden("this takes an admin's key that is bound to nothing, or a key of that owner's own")

    def manage(self, caller: Caller, agent_id: str, *leaders: str | None, action: Action = "settings") -> None:
        """Permission to make, change or delete an agent, with its leader; Forbidden for all but its admins."""
        with self._attempt(caller, agent_id, None, action):
            check_agent(caller, agent_id)
            if caller.role != "admin":
                raise Forbidden("agents are made, changed and deleted with an admin's key")
            if caller.owner_key is not None:
                raise Forbidden(
                    "an agent is everybody's who uses it: changing it takes an admin's key that is bound to none"
                )
            for leader in leaders:
                # Whoever reads a member's memory reads its leader's.
                if leader is not None:
                    check_agent(caller, leader)

    async def for_stage(self, tenant_id: str, agent_id: str, owner_key: str | None) -> tuple[Grant, Place]:
        """The grant of a stage of consolidation for a slice, and the slice's place. No key is involved.

        `owner_key` is the slice's, None for the team's. Raises NotFound for a deleted agent, and MemoryDisabled.
        """
        row = await self._agent(tenant_id, agent_id)
        if row is None:
            raise NotFound(f"there is no agent {agent_id!r}")
        grant = self._grant(Caller(tenant_id, "admin"), agent_id, owner_key, row)
        return grant, place_for(grant.principal, None)

    @contextmanager
    def _attempt(self, caller: Caller, agent_id: str | None, owner_key: str | None, action: Action) -> Iterator[Entry]:
        with span("gate"), self._audit.attempt(caller, agent_id, owner_key or caller.owner_key, action) as entry:
            yield entry

    def _readable(self, grant: Grant, row: DictRow) -> Grant:
        """The grant, without a leader whose memory is switched off: its members may not read that memory either."""
        begins_to_read()
        leader = row["leader_settings"]
        if leader is None or effective_settings(self._defaults, leader).memory_enabled:
            return grant
        return replace(grant, principal=replace(grant.principal, leader_agent_id=None))

    async def _agent(self, tenant_id: str, agent_id: str) -> DictRow | None:
        rows = await self._database.query(tenant_id, SQL["agent"], {"tenant_id": tenant_id, "agent_id": agent_id})
        return rows[0] if rows else None

    def _grant_for_request(self, caller: Caller, agent_id: str, owner_key: str | None, row: DictRow | None) -> Grant:
        grant = self._grant(caller, agent_id, owner_key, row)
        if owner_key is None and grant.settings.require_owner:
            raise OwnerRequired("name the owner whose memory this is (owner_key or end_user_id): require_owner is on")
        return grant

    def _grant(self, caller: Caller, agent_id: str, owner_key: str | None, row: DictRow | None) -> Grant:
        settings = effective_settings(self._defaults, row["settings"] if row else {})
        if not settings.memory_enabled:
            raise MemoryDisabled(f"the memory of agent {agent_id!r} is switched off")
        leader = row["leader_agent_id"] if row else None
        principal = Principal(caller.tenant_id, agent_id, owner_key, leader, is_bound=caller.owner_key is not None)
        return Grant(caller, principal, settings)


def check_agent(caller: Caller, agent_id: str) -> None:
    """Forbidden when the key is bound to other agents."""
    if caller.agent_ids is not None and agent_id not in caller.agent_ids:
        raise Forbidden("the key is bound to other agents")


def acting_owner(caller: Caller, agent_id: str, owner_key: str | None) -> str | None:
    """The owner that a request acts for: the owner of a bound key, else the owner in the request.

    Raises Forbidden for an agent or owner that the key is not for, ValidationFailed for a malformed owner.
    """
    check_agent(caller, agent_id)
    if owner_key is not None:
        # For every interface: ALL_OWNERS, above all, is no owner's key.
        check_owner_key(owner_key)
    if caller.owner_key is None:
        return owner_key
    if owner_key not in (None, caller.owner_key):
        raise Forbidden("the key is bound to another owner")
    return caller.owner_key
