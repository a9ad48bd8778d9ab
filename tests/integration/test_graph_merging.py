"""Entities that are one: merged by the stage or by a person, told in their history, and taken apart again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.graphs import Graph, answer, answers, day, thing
from tests.scripted_model import ScriptedModel

from reverie_indexer.database.database import Database
from reverie_indexer.embed import Role
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.errors import Conflict, EmbeddingRejected, NotFound, ValidationFailed
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.graph import store
from reverie_server.graph.vectors import embed_waiting
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

PART = "designs the index and the search of the whole memory server and writes its tests and its documents by hand"
# So long that one letter of the name makes the vectors differ by less than 0.02.
LONG = f"{PART}, reviews what others change, keeps the benchmarks honest, answers in the evening, and then {PART}"


def named(name: str, external_id: str, **more: Any) -> dict[str, Any]:
    return {**thing(name, type="person", description=LONG, **more), "external_id": external_id}


async def filled(graph: Graph, model: ScriptedModel) -> None:
    """Two who are one (Ada Lovelace, Ada Lovelacce), and what each of them has."""
    answers(
        model,
        {
            "entities": [
                named("Ada Lovelace", "ada", aliases=["Countess"], properties={"born": 1815}),
                thing("Reverie"),
                thing("Bo"),
            ],
            "relations": answer(("Ada", "works_on", "Reverie"), ("Bo", "manages", "Ada"))["relations"],
        },
        {
            "entities": [
                named("Ada Lovelacce", "ada-2", properties={"born": 1900, "city": "London"}),
                thing("Reverie"),
                thing("Atlas"),
            ],
            "relations": [
                {**relation, "source": "ada-2"}
                for relation in answer(("x", "works_on", "Reverie"), ("x", "works_on", "Atlas"))["relations"]
            ],
        },
        {
            "entities": [named("Ada Lovelace", "ada"), named("Ada Lovelacce", "ada-2")],
            "relations": [{"source": "ada", "target": "ada-2", "name": "related_to", "confidence": 0.9}],
        },
    )
    for number in range(3):
        await graph.hear(
            f"Something of Bo, of Ada Lovelace and Ada Lovelacce, of Reverie and Atlas, {number}.",
            day(number),
            f"web:{number}",
        )


APART = [
    "Ada Lovelace works_on Reverie 0..",
    "Bo manages Ada Lovelace 0..",
    "Ada Lovelacce works_on Reverie 1..",
    "Ada Lovelacce works_on Atlas 1..",
    "Ada Lovelace related_to Ada Lovelacce 2..",
]
ONE = ["Ada Lovelace works_on Reverie 0..", "Bo manages Ada Lovelace 0..", "Ada Lovelace works_on Atlas 1.."]


async def test_near_and_alike_is_merged_with_all_that_both_have_and_may_be_taken_back(
    talking: Runtime, scripted: ScriptedModel
) -> None:
    graph = Graph(talking)
    await filled(graph, scripted)
    assert sorted(await graph.history()) == sorted(APART)
    ids = [await graph.id_of(name) for name in ("Ada Lovelace", "Ada Lovelacce")]
    assert "1 merged" in (await graph.dedup()).reason
    # The relation between the two is none any more, and what both have is one.
    assert sorted(await graph.history()) == sorted(ONE)
    assert await graph.names() == ["Ada Lovelace", "Atlas", "Bo", "Reverie"]
    views = [await talking.consolidation.graph.view.entity(graph.principal, f"ent-{number}") for number in ids]
    assert [view.entity.entity_id for view in views] == [ids[0], ids[0]]
    view = views[0]
    assert set(view.entity.aliases) == {"Countess", "Ada Lovelacce"}
    assert (view.entity.description, view.entity.properties) == (LONG, {"born": 1815, "city": "London"})
    [on_reverie] = [sources for relation, sources in view.relations if relation.target == "Reverie"]
    assert len(on_reverie) == 2
    [merge] = view.merges
    assert (merge.kept_id, merge.absorbed_id, merge.absorbed_name, merge.by) == (*ids, "Ada Lovelacce", "server")
    assert merge.cosine is not None
    assert merge.cosine >= 0.98
    assert merge.jaro_winkler is not None
    assert 0.85 <= merge.jaro_winkler < 1
    # Run again, and by two at once, nothing happens.
    outcomes = await asyncio.gather(graph.dedup(), graph.dedup())
    assert {outcome.reason.split(",")[1] for outcome in outcomes} == {" 0 merged"}
    # What is said of either name goes to the one; taken back, each has its own again and they stay apart.
    answers(
        scripted,
        {
            "entities": [named("Ada Lovelacce", "ada-2"), thing("Redis")],
            "relations": [{"source": "ada-2", "target": "redis", "name": "uses", "confidence": 0.9}],
        },
    )
    await graph.hear("Ada Lovelacce uses Redis.", day(5))
    assert "Ada Lovelace uses Redis 5.." in await graph.history()
    _, place = await talking.gate.for_stage("default", "wren", graph.owner_key)
    upkeep = talking.consolidation.graph.upkeep
    assert await upkeep.undo(place, merge.merge_id, by="user") == tuple(ids)
    assert sorted(await graph.history()) == sorted([*APART, "Ada Lovelacce uses Redis 5.."])
    view = await talking.consolidation.graph.view.entity(graph.principal, str(ids[0]))
    assert (list(view.entity.aliases), view.entity.properties) == (["Countess"], {"born": 1815})
    assert view.merges[0].undone_by == "user"
    assert "0 merged, 0 for a person" in (await graph.dedup()).reason
    with pytest.raises(Conflict):
        await upkeep.undo(place, merge.merge_id, by="user")


async def test_what_is_only_near_is_for_a_person_to_decide(talking: Runtime, scripted: ScriptedModel) -> None:
    graph = Graph(talking)
    pairs = [("Sprint 12", "Sprint 13"), ("Alba", "Zorro")]
    things = [{**thing(name, description=LONG), "type": "event"} for pair in pairs for name in pair]
    other_type = {**thing("Alba", description=LONG), "external_id": "alba-2", "type": "project"}
    answers(scripted, {"entities": [*things, other_type], "relations": []})
    await graph.hear("Sprint 12, Sprint 13, Alba and Zorro.", day(0))
    outcome = await graph.dedup()
    assert " 0 merged" in outcome.reason
    view, upkeep = talking.consolidation.graph.view, talking.consolidation.graph.upkeep
    found = await view.duplicates(graph.principal, state="open", before=None, limit=50)
    both = [{pair.first.name, pair.second.name} for pair in found]
    assert {"Sprint 12", "Sprint 13"} in both
    assert all(pair.first.type == pair.second.type and (pair.cosine or 0) >= 0.90 for pair in found)
    _, place = await talking.gate.for_stage("default", "wren", graph.owner_key)
    sprints = found[both.index({"Sprint 12", "Sprint 13"})]
    await upkeep.dismiss(place, sprints.duplicate_id, by="user")
    others = [pair for pair in found if pair is not sprints]
    for pair in others[1:]:
        await upkeep.dismiss(place, pair.duplicate_id, by="user")
    assert await view.duplicates(graph.principal, state="open", before=None, limit=50) == others[:1]
    await upkeep.merge(place, others[0].first.entity_id, others[0].second.entity_id, by="user")
    decided = {
        pair.duplicate_id: pair.state
        for pair in await view.duplicates(graph.principal, state=None, before=None, limit=50)
    }
    assert decided[sprints.duplicate_id] == "dismissed"
    assert decided[others[0].duplicate_id] == "merged"
    with pytest.raises(Conflict):
        await upkeep.dismiss(place, others[0].duplicate_id, by="user")
    with pytest.raises(ValidationFailed):
        await upkeep.merge(place, 1, 1, by="user")
    for keep, absorb in ((others[0].first.entity_id, others[0].second.entity_id), (sprints.first.entity_id, 10_000)):
        with pytest.raises(NotFound):
            await upkeep.merge(place, keep, absorb, by="user")
    with pytest.raises(NotFound):
        await upkeep.undo(place, 10_000, by="user")


async def test_a_chain_of_merges_comes_apart_link_by_link(talking: Runtime, scripted: ScriptedModel) -> None:
    graph = Graph(talking)
    answers(
        scripted,
        answer(
            ("Ada", "uses", "Redis"), ("Bo", "uses", "Redis"), ("Cy", "uses", "PostgreSQL"), ("Ada", "manages", "Cy")
        ),
    )
    episode_id = await graph.hear("Ada, Bo and Cy, PostgreSQL and Redis.", day(0))
    ada, bo, cy = [await graph.id_of(name) for name in ("Ada", "Bo", "Cy")]
    _, place = await talking.gate.for_stage("default", "wren", graph.owner_key)
    upkeep = talking.consolidation.graph.upkeep
    first = await upkeep.merge(place, bo, cy, by="user")
    second = await upkeep.merge(place, ada, bo, by="user")
    assert sorted(await graph.history()) == ["Ada uses PostgreSQL 0..", "Ada uses Redis 0.."]
    await upkeep.undo(place, first, by="user")
    assert sorted(await graph.history()) == ["Ada manages Cy 0..", "Ada uses Redis 0..", "Cy uses PostgreSQL 0.."]
    await upkeep.undo(place, second, by="user")
    assert len(await graph.history()) == 4
    await upkeep.merge(place, ada, bo, by="user")
    # With the last that was said of them they are gone, merged or not.
    async with talking.database.tenant("default") as connection:
        slice_ = await lock_slice(connection, place)
        assert (
            await store.drop_episodes(store.Graph(connection, place.tenant_id, slice_.slice_id, day(99)), [episode_id])
            == 9
        )
    assert await graph.names() == []
    [left] = await graph.rows(
        "SELECT (SELECT count(*) FROM entities) + (SELECT count(*) FROM relations) + "
        "(SELECT count(*) FROM entity_terms) + (SELECT count(*) FROM merges) AS n"
    )
    assert left["n"] == 0


class Moody(HashingEmbedder):
    """Refuses what is about swordfish, and notes what it was asked."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.asked: list[str] = []

    async def embed(self, texts: Any, role: Role = "passage") -> Any:
        self.asked += texts
        found = await super().embed(texts, role)
        return [EmbeddingRejected("no") if "swordfish" in t else v for t, v in zip(texts, found, strict=True)]


async def test_without_a_model_nothing_is_merged_and_vectors_follow_later(database: Database) -> None:
    without = assemble(Settings(embedder="none"), database, ModelSlot(None))
    graph = Graph(without)
    await graph.hear("Ada works on Reverie. The swordfish project uses Redis. Ada works on Reveries.", day(0))
    outcome = await graph.dedup()
    assert outcome.status == "skipped"
    assert (await graph.search("Ada", max_depth=1)).entities[0].entity.name == "Ada"
    embedder = Moody(64)

    async def load() -> Moody:
        return embedder

    slot = ModelSlot(load)
    await slot.fill(database)
    assert slot.ready is not None
    with_model = assemble(Settings(embedder="hashing"), database, slot)
    assert await embed_waiting(database, slot.ready) == len(await graph.names())
    assert await embed_waiting(database, slot.ready) == 0
    jobs = await graph.rows("SELECT args FROM procrastinate_jobs WHERE task_name = 'dedup'")
    assert [job["args"]["owner_key"] for job in jobs] == [
        graph.owner_key,
    ][: len(jobs)]
    assert jobs
    assert (await Graph(with_model).dedup()).status == "completed"
    [waiting] = await graph.rows("SELECT count(*) AS n FROM entities WHERE deduped_at IS NULL")
    assert waiting["n"] == 0

    # Another model's vectors are not compared with these, and made anew.
    async def other() -> HashingEmbedder:
        return HashingEmbedder(32)

    moved = ModelSlot(other, check_active=False)
    await moved.fill(database)
    assert moved.ready is not None
    async with database.maintenance() as connection:
        await connection.execute("UPDATE models SET active = false")
        await connection.execute("UPDATE models SET active = true WHERE model_id = %s", [moved.ready.model_id])
    assert await embed_waiting(database, slot.ready) == 0
    assert await embed_waiting(database, moved.ready) == len(await graph.names())
    [dimensions] = await graph.rows("SELECT array_agg(DISTINCT vector_dims(embedding)) AS d FROM entity_vectors")
    assert dimensions["d"] == [32]
    await slot.aclose()
    await moved.aclose()
