"""Episodes that speak of people and things, and the graph that comes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import DictRow
from tests.scripted_model import Asked, Reply, ScriptedModel, says_json
from tests.talks import ADA, Talk

from reverie_server.access.principal import Principal
from reverie_server.graph.search import GraphFound, GraphRequest
from reverie_server.jobs.model import Outcome, Work
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
TYPES = {
    **dict.fromkeys(("Ada", "Bo", "Cy", "Eve"), "person"),
    **dict.fromkeys(("Acme", "Globex"), "organization"),
    **dict.fromkeys(("Reverie", "Atlas", "Indexer"), "project"),
    **dict.fromkeys(("PostgreSQL", "Redis"), "technology"),
    **dict.fromkeys(("Lisbon", "Portugal", "Rome"), "location"),
}
Fact = tuple[str, str, str]


def day(number: int) -> datetime:
    return START + timedelta(days=number)


def answer(*facts: Fact, entities: Sequence[Mapping[str, Any]] = (), **of_relations: Any) -> dict[str, Any]:
    """What a model would say of some facts: (source, relation, target) by name."""
    names = dict.fromkeys(end for source, _, target in facts for end in (source, target))
    given = {one["name"] for one in entities}
    return {
        "entities": [*entities, *(thing(name) for name in names if name not in given)],
        "relations": [
            {"source": source.lower(), "name": name, "target": target.lower(), "confidence": 0.9, **of_relations}
            for source, name, target in facts
        ],
    }


def thing(name: str, **more: Any) -> dict[str, Any]:
    return {"external_id": name.lower(), "name": name, "type": TYPES.get(name, "concept"), "confidence": 0.9, **more}


def answers(model: ScriptedModel, *given: Mapping[str, Any]) -> None:
    """What the model answers to the next questions for the graph; afterwards, that there is nothing."""
    left = list(given)

    def script(asked: Asked) -> Reply:
        if "knowledge graph" not in asked.texts("system"):
            return says_json({"summary": "They talked.", "key_topics": []})
        return says_json(left.pop(0) if left else {"entities": [], "relations": []})

    model.script = script


@dataclass(frozen=True)
class Graph:
    """The graph of one owner's memory with an agent, filled through the stage."""

    runtime: Runtime
    owner_key: str | None = ADA
    agent_id: str = "wren"

    @property
    def principal(self) -> Principal:
        return Principal("default", self.agent_id, self.owner_key)

    async def episode(self, text: str, at: datetime, session_id: str = "web:1") -> int:
        """An episode of one exchange that was not read yet."""
        talk = Talk(self.runtime, session_id, self.owner_key, self.agent_id)
        later = at + timedelta(seconds=1)
        session = await talk.add([NewMessage("user", text, at=at), NewMessage("assistant", "I see.", at=later)])
        params = {"key": session.session_key, "through": session.last_seq, "from": session.last_seq - 1, "at": at}
        async with self.runtime.database.maintenance() as connection:
            cursor = await connection.execute(
                "INSERT INTO episodes (tenant_id, slice_id, agent_id, owner_key, session_key, session_id, from_seq, "
                "through_seq, compactions, summary, abstract, key_topics, method, started_at, ended_at, expires_at) "
                "SELECT tenant_id, slice_id, agent_id, owner_key, session_key, session_id, %(from)s, %(through)s, 0, "
                "'They talked.', 'They talked.', '{}', 'extractive', %(at)s, %(at)s, now() + interval '1 day' "
                "FROM sessions WHERE session_key = %(key)s RETURNING episode_id",
                params,
            )
            return int((await cursor.fetchone() or {})["episode_id"])

    async def read(self, episode_id: int) -> Outcome:
        work = Work("semantic", "default", self.agent_id, self.owner_key, episode_id=episode_id)
        return await self.runtime.consolidation.stages["semantic"].run(work)

    async def hear(self, text: str, at: datetime, session_id: str = "web:1") -> int:
        """An episode that was read; its number."""
        episode_id = await self.episode(text, at, session_id)
        outcome = await self.read(episode_id)
        assert outcome.status == "completed", outcome
        return episode_id

    async def dedup(self) -> Outcome:
        return await self.runtime.consolidation.stages["dedup"].run(
            Work("dedup", "default", self.agent_id, self.owner_key)
        )

    async def search(self, query: str | None = None, **asked: Any) -> GraphFound:
        rules = self.runtime.search.rules
        return await self.runtime.consolidation.graph.search.search(
            self.principal, GraphRequest(query, **asked), language=rules.language, weights=rules.weights
        )

    async def id_of(self, name: str) -> int:
        page = await self.runtime.consolidation.graph.view.entities(
            self.principal, entity_type=None, after=None, limit=500
        )
        [found] = [entity.entity_id for _, entity in page if entity.name == name]
        return found

    async def names(self) -> list[str]:
        page = await self.runtime.consolidation.graph.view.entities(
            self.principal, entity_type=None, after=None, limit=500
        )
        return [entity.name for _, entity in page]

    async def history(self) -> list[str]:
        """All relations of now and of before, as `Ada works_on Reverie 3..`, by their beginning."""
        rows = await self.rows(
            "SELECT a.name AS source, r.name, b.name AS target, r.valid_from, r.valid_to FROM relations r "
            "JOIN entities a ON a.tenant_id = r.tenant_id AND a.entity_id = r.source_id "
            "JOIN entities b ON b.tenant_id = r.tenant_id AND b.entity_id = r.target_id "
            "JOIN slices s ON s.tenant_id = r.tenant_id AND s.slice_id = r.slice_id "
            "WHERE s.owner_key IS NOT DISTINCT FROM %(owner)s "
            "ORDER BY r.valid_from, r.relation_id"
        )
        return [
            f"{row['source']} {row['name']} {row['target']} {_day(row['valid_from'])}..{_day(row['valid_to'])}"
            for row in rows
        ]

    async def rows(self, statement: str, **params: Any) -> list[DictRow]:
        async with self.runtime.database.maintenance() as connection:
            cursor = await connection.execute(statement.encode(), {"owner": self.owner_key, **params})
            return await cursor.fetchall()


def _day(at: datetime | None) -> str:
    return "" if at is None else str((at - START).days)
