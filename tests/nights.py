"""The nights of one owner: notes, what is asked for, and what emerges, at a time that tests choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble
from reverie_server.files.files import Write
from reverie_server.jobs.model import Outcome, Trigger, Work
from reverie_server.nights.reports import Report
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for
from reverie_server.settings.server import Settings

ADA = "user:ada"
TEA = "Prefers tea to coffee in the morning."
# A Friday.
START = datetime(2026, 4, 3, 2, 0, tzinfo=UTC)


@dataclass
class Nights:
    """One owner of the agent `wren`; `at` is the time it is."""

    runtime: Runtime
    clock: list[datetime]
    owner_key: str | None = ADA
    agent_id: str = "wren"
    tenant_id: str = "default"
    asked: list[str] = field(default_factory=list)

    @property
    def at(self) -> datetime:
        return self.clock[0]

    def of(self, owner_key: str | None) -> Nights:
        return replace(self, owner_key=owner_key)

    def later(self, **time: float) -> None:
        self.clock[0] += timedelta(**time)

    @property
    def place(self) -> Place:
        scope = "team" if self.owner_key is None else "personal"
        return Place(self.tenant_id, self.agent_id, scope, self.owner_key)

    async def grant(self) -> Grant:
        return await self.runtime.gate.read(OPERATOR, self.agent_id, self.owner_key)

    async def note(self, days_ago: int, *lines: str) -> None:
        """A daily note with these lines as a list; those that it has stay."""
        day = (self.at - timedelta(days=days_ago)).date().isoformat()
        path = f"memory/{day}.md"
        present = await self.text(path) or f"# {day}\n"
        text = present + "".join(f"\n- {line}\n" for line in lines)
        await self.runtime.pipeline.write_many(self.place, [overwrite(path, text, by="server", reason="test")])

    async def memory(self, text: str, by: str = "user") -> None:
        await self.runtime.workspace.put(self.place, Write("MEMORY.md", by, "put"), text)

    async def text(self, path: str) -> str | None:
        found = await self.runtime.workspace.present(self.place, [path])
        return found[path][1] if path in found else None

    async def ask(self, *queries: str, days_ago: float = 1) -> None:
        """Search for each, as somebody who looks for it: what is found is recalled."""
        at = self.clock[0]
        for number, query in enumerate(queries):
            self.clock[0] = at - timedelta(days=days_ago) + timedelta(minutes=number)
            grant = await self.grant()
            outcome = await self.runtime.search.search(request_for(grant, query, max_results=6))
            self.runtime.recalls.note(self.tenant_id, query, outcome.relevances(), "search")
        self.clock[0] = at
        await self.runtime.recalls.flush()

    async def ready(self, line: str = TEA) -> None:
        """A line that passes every gate: noted two days ago, asked for in three ways since."""
        await self.note(2, line)
        await self.ask(line, f"{line} again", f"what about {line}")

    async def emerge(self, trigger: Trigger = "cron", topic: str | None = None, **more: Any) -> Outcome:
        work = Work("emergence", self.tenant_id, self.agent_id, self.owner_key, trigger=trigger, topic=topic, **more)
        return await self.runtime.consolidation.stages["emergence"].run(work)

    async def dream(self, **more: Any) -> Outcome:
        work = Work("dreaming", self.tenant_id, self.agent_id, self.owner_key, **more)
        return await self.runtime.consolidation.stages["dreaming"].run(work)

    async def reports(self) -> list[Report]:
        """Newest first."""
        return await self.runtime.consolidation.reports.page(self.place, before=None, limit=100)

    async def episode(self, session_id: str, summary: str, *, days_ago: float = 0) -> int:
        """An episode of a session of its own."""
        ended = self.at - timedelta(days=days_ago)
        params = {
            "tenant_id": self.tenant_id,
            "agent_id": self.agent_id,
            "owner_key": self.owner_key,
            "session_id": session_id,
            "summary": summary,
            "at": ended,
            "expires_at": ended + timedelta(days=90),
        }
        async with self.runtime.database.tenant(self.tenant_id) as connection:
            params["slice_id"] = (await lock_slice(connection, self.place)).slice_id
            row = await (await connection.execute(_SESSION, params)).fetchone()
            params["session_key"] = (row or {})["session_key"]
            row = await (await connection.execute(_EPISODE, params)).fetchone()
        return int((row or {})["episode_id"])

    async def unpromoted(self) -> list[int]:
        async with self.runtime.database.maintenance() as connection:
            rows = await (await connection.execute(_UNPROMOTED)).fetchall()
        return [row["episode_id"] for row in rows]

    @property
    def principal(self) -> Principal:
        return Principal(self.tenant_id, self.agent_id, self.owner_key)


async def nights(
    database: Database,
    models: ModelSlot,
    *,
    at: datetime = START,
    agent_settings: dict[str, Any] | None = None,
    **settings: Any,
) -> Nights:
    """An owner without a memory, at the beginning of a night."""
    clock = [at]
    own = Settings(embedder="hashing", **settings)
    found = Nights(assemble(own, database, models, now=lambda: clock[0]), clock)
    await found.runtime.workspace.put(found.place, Write("PROFILE.md", "user", "put"), "# Profile\n\nAda.\n")
    return found


def lines(text: str | None) -> Sequence[str]:
    """The items of a markdown text."""
    return [line[2:] for line in (text or "").splitlines() if line.startswith("- ")]


_SESSION = b"""
INSERT INTO sessions (tenant_id, slice_id, agent_id, owner_key, session_id, last_seq, message_count)
VALUES (%(tenant_id)s, %(slice_id)s, %(agent_id)s, %(owner_key)s, %(session_id)s, 2, 2)
ON CONFLICT (tenant_id, agent_id, session_id, owner_key) DO UPDATE SET last_seq = sessions.last_seq + 2
RETURNING session_key
"""
_EPISODE = b"""
INSERT INTO episodes (tenant_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, through_seq,
                      compactions, summary, abstract, key_topics, method, started_at, ended_at, created_at, expires_at)
SELECT %(tenant_id)s, %(slice_id)s, %(agent_id)s, %(owner_key)s, session_key, session_id, last_seq - 1, last_seq, 0,
       %(summary)s, 'abstract', '{}', 'extractive', %(at)s, %(at)s, %(at)s, %(expires_at)s
FROM sessions WHERE tenant_id = %(tenant_id)s AND session_key = %(session_key)s
RETURNING episode_id
"""
_UNPROMOTED = b"SELECT episode_id FROM episodes WHERE promoted_at IS NULL ORDER BY ended_at, episode_id"
