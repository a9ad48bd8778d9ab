"""Episodes of conversations, made and read through the running system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import DictRow
from tests.scripted_model import Asked, Reply, says, says_json
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.browse.episodes import SourcedEpisode
from reverie_server.jobs.model import Outcome, Work
from reverie_server.search.request import request_for


@dataclass
class Clock:
    """A time that stands still until it is told otherwise."""

    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def __call__(self) -> datetime:
        return self.at

    def pass_days(self, days: float) -> None:
        self.at += timedelta(days=days)


async def session_row(database: Database, session_id: str = "web:1") -> DictRow:
    async with database.maintenance() as connection:
        cursor = await connection.execute("SELECT * FROM sessions WHERE session_id = %s", [session_id])
        row = await cursor.fetchone()
    assert row is not None
    return row


async def work_of(talk: Talk, *, slice_owner: bool = True) -> Work:
    """What a job of the talk's session is for; without `slice_owner` the slice is the team's."""
    row = await session_row(talk.runtime.database, talk.session_id)
    owner = talk.owner_key if slice_owner else None
    return Work("episodic", "default", talk.agent_id, owner, session_key=row["session_key"])


async def complete(talk: Talk) -> None:
    await talk.runtime.sessions.complete(talk.principal, talk.session_id, "web")


async def run(talk: Talk, *, slice_owner: bool = True) -> Outcome:
    work = await work_of(talk, slice_owner=slice_owner)
    return await talk.runtime.consolidation.stages["episodic"].run(work)


async def summarised(talk: Talk, *texts: str) -> SourcedEpisode:
    """Say something, complete the session and make its episode."""
    await talk.say(*texts)
    await complete(talk)
    await run(talk)
    return (await shown(talk))[0]


async def shown(talk: Talk, limit: int = 100) -> list[SourcedEpisode]:
    return await talk.runtime.consolidation.episodes.page(talk.principal, before=None, limit=limit)


async def episode_rows(database: Database) -> list[DictRow]:
    async with database.maintenance() as connection:
        return await (await connection.execute("SELECT * FROM episodes ORDER BY episode_id")).fetchall()


async def events(database: Database, kind: str = "episodic.created") -> list[Mapping[str, Any]]:
    async with database.maintenance() as connection:
        cursor = await connection.execute("SELECT payload FROM events WHERE kind = %s ORDER BY event_id", [kind])
        return [row["payload"] for row in await cursor.fetchall()]


async def tiers(talk: Talk, query: str, **asked: Any) -> list[str]:
    """The tiers of what a search finds, best first."""
    grant, _ = await talk.grant()
    outcome = await talk.runtime.search.search(request_for(grant, query, **asked))
    return [result.tier for result in outcome.results]


def of_prompt(asked: Asked, name: str) -> bool:
    """Whether a request is one of a prompt, by a word of its instructions."""
    return {"episodic": "You write down what a conversation came to"}[name] in asked.texts("system")


def answers(summary: str, *topics: str) -> Reply:
    """A model's answer to the prompt `episodic`."""
    return says_json({"summary": summary, "key_topics": list(topics)})


def hanging(summary: str) -> Reply:
    """The same, once it is released."""
    return replace(answers(summary), hangs=True)


def garbage() -> Reply:
    return says("No idea, sorry :)")
