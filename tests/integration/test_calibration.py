"""Relevance by a model without constants: learnt once a model, measured as a memory grows, while nobody waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.embed.deterministic import HashingEmbedder, hashed_vector
from reverie_indexer.embed.query_cache import CachedQueries
from reverie_indexer.embedding import migrate
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.model import ModelIdentity, Place
from reverie_indexer.model_slot import ModelSlot, Ready
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.app.wiring import assemble
from reverie_server.search.calibration.renew import Calibration
from reverie_server.search.calibration.scale import nearness_of
from reverie_server.search.calibration.store import learnt_of
from reverie_server.search.labelled_messages import IMPERSONAL, PERSONAL, labelled_messages
from reverie_server.search.request import SearchOutcome, SearchRequest, SearchRules
from reverie_server.search.search import Search
from reverie_server.settings.server import Settings

ADA = Place("acme", "wren", "personal", "user:ada")
BO = Place("acme", "wren", "personal", "user:bo")
TEAM = Place("acme", "wren", "team")
GLOBAL = Place("umbra", "wren", "global")
NOTES = ["Marta keeps the boat in Lisbon", "The boiler is serviced in May", "Paul is allergic to walnuts"]
MESSAGES = {message for label in (*PERSONAL, *IMPERSONAL) for message in labelled_messages(label)}


@pytest.fixture
def embedder() -> MoodyEmbedder:
    return MoodyEmbedder()


@pytest.fixture
async def models(database: Database, embedder: MoodyEmbedder) -> AsyncIterator[ModelSlot]:
    slot = await filled_slot(database, embedder)
    yield slot
    await slot.aclose()


@pytest.fixture
def ready(models: ModelSlot) -> Ready:
    assert models.ready is not None
    return models.ready


@pytest.fixture
def pipeline(database: Database, models: ModelSlot) -> Pipeline:
    return Pipeline(database, models, Rules(embed_wait_seconds=60))


async def write(pipeline: Pipeline, place: Place, texts: Sequence[str], path: str = "notes/a.md") -> None:
    await pipeline.write(place, overwrite(path, "\n\n".join(texts) + "\n", by="user", reason="put"))


def rows(conninfo: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(conninfo) as connection:
        return connection.execute(query.encode()).fetchall()


def measured(conninfo: str) -> dict[str, tuple[float, int]]:
    """The nearness and the number of passages, by the owner."""
    query = """SELECT coalesce(s.owner_key, s.tenant_id), n.nearness, n.chunk_count
               FROM slice_nearness n JOIN slices s USING (tenant_id, slice_id)"""
    return {owner: (nearness, count) for owner, nearness, count in rows(conninfo, query)}


async def look(search: Search, query: str, place: Place = ADA) -> SearchOutcome:
    return await search.search(SearchRequest(place.tenant_id, place.agent_id, query, owner_key=place.owner_key))


async def test_a_model_is_learnt_once_and_kept_over_restarts(
    database: Database, pipeline: Pipeline, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    embedder.texts.clear()
    calibration = Calibration(database)
    assert (calibration.state, await calibration.renew(ready), calibration.state) == ("none", 1, "learnt")
    assert sorted(embedder.texts) == sorted(MESSAGES)
    embedder.texts.clear()
    await write(pipeline, BO, NOTES)
    written = len(embedder.texts)
    # Another process, or this one after a restart.
    again = Calibration(database)
    assert (await again.renew(ready), again.state) == (1, "learnt")
    assert (await again.renew(ready), await calibration.renew(ready)) == (0, 0)
    assert len(embedder.texts) == written
    assert measured(conninfo).keys() == {"user:ada", "user:bo"}
    async with database.tenant("acme") as connection:
        learnt = await learnt_of(connection, ready.model_id)
        assert await learnt_of(connection, ready.model_id + 1) is None
    assert learnt is not None
    # It tells the messages that it has learnt from apart.
    answers = [hashed_vector(labelled_messages(label)[0], 64) for label in ("personal", "neutral")]
    assert learnt.direction.log_odds(answers[0]) > learnt.direction.log_odds(answers[1])


async def test_a_memory_is_measured_again_as_it_grows_and_shrinks(
    database: Database, pipeline: Pipeline, ready: Ready, conninfo: str
) -> None:
    calibration = Calibration(database)
    await write(pipeline, ADA, NOTES)
    await write(pipeline, ADA, ["one more"], "notes/b.md")
    assert await calibration.renew(ready) == 1
    assert measured(conninfo)["user:ada"][1] == 4
    await write(pipeline, ADA, ["one more", "and another"], "notes/b.md")
    assert await calibration.renew(ready) == 0
    await write(pipeline, ADA, ["one more", "and another", "and a third"], "notes/b.md")
    assert await calibration.renew(ready) == 1
    assert measured(conninfo)["user:ada"][1] == 6
    await write(pipeline, ADA, ["one more"], "notes/b.md")
    assert await calibration.renew(ready) == 0
    await pipeline.delete(ADA, "notes/a.md", by="user", reason="delete")
    assert await calibration.renew(ready) == 1
    assert measured(conninfo)["user:ada"][1] == 1
    # Of nothing nothing is kept.
    await pipeline.delete(ADA, "notes/b.md", by="user", reason="delete")
    assert await calibration.renew(ready) == 0
    assert measured(conninfo) == {}


async def test_nothing_is_embedded_for_a_search_but_its_query(
    database: Database, pipeline: Pipeline, models: ModelSlot, ready: Ready, embedder: MoodyEmbedder
) -> None:
    await write(pipeline, ADA, NOTES)
    search = Search(database, models, SearchRules())
    embedder.texts.clear()
    before = await look(search, "where is the boat of Marta")
    assert embedder.texts == ["where is the boat of Marta"]
    assert before.personal == 0.0
    embedder.texts.clear()
    await Calibration(database).renew(ready)
    embedder.texts.clear()
    after = await look(search, "where is the boat of Marta")
    assert embedder.texts == []
    assert after.personal != 0.0
    assert [r.path for r in after.results] == [r.path for r in before.results]
    assert after.results[0].relevance != before.results[0].relevance


async def test_an_endpoint_that_goes_down_is_asked_later_for_the_rest(
    database: Database, pipeline: Pipeline, models: ModelSlot, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    embedder.calls, embedder.down_after = 0, 3
    embedder.texts.clear()
    calibration = Calibration(database)
    with pytest.raises(EmbedderUnavailable):
        await calibration.renew(ready)
    assert (calibration.state, measured(conninfo)) == ("waiting", {})
    [result, *_] = (await look(Search(database, models, SearchRules()), "the boat of Marta")).results
    assert result.relevance > 0
    embedder.down_after = None
    assert await calibration.renew(ready) == 1
    asked = [text for text in embedder.texts if text in MESSAGES]
    # The batch that failed is asked for again, and no other.
    assert len(asked) == len(MESSAGES) + 64


async def test_a_round_ends_when_there_is_other_work(
    database: Database, pipeline: Pipeline, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    for place in (ADA, BO, TEAM):
        await write(pipeline, place, NOTES)
    calibration = Calibration(database)
    embedder.calls = 0
    rounds = 1
    while await calibration.renew(ready, lambda: False) == 0:
        assert embedder.calls == rounds
        rounds += 1
    assert rounds == -(-len(MESSAGES) // 64)
    assert len(measured(conninfo)) == 1
    assert [await calibration.renew(ready, lambda: False) for _ in range(4)] == [1, 1, 0, 0]


async def test_a_model_that_refuses_the_messages_is_asked_once(
    database: Database, pipeline: Pipeline, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    embedder.rejects = lambda text: not text.isascii()
    calibration = Calibration(database)
    # Half of each label in languages that are written otherwise.
    assert (await calibration.renew(ready), calibration.state) == (0, "refused")
    calls = embedder.calls
    assert (await calibration.renew(ready), embedder.calls) == (0, calls)
    assert rows(conninfo, "SELECT FROM model_relevance") == []


async def test_the_nearness_of_a_memory_is_of_its_own_vectors_alone_and_seen_by_its_owner(
    database: Database, pipeline: Pipeline, ready: Ready, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    await write(pipeline, GLOBAL, NOTES[:1])
    calibration = Calibration(database)
    assert await calibration.renew(ready) == 2
    alone = measured(conninfo)["user:ada"]
    # What others have says nothing about Ada, not even where it is what a neutral message says.
    await write(pipeline, BO, labelled_messages("neutral")[:20])
    await write(pipeline, TEAM, labelled_messages("neutral")[20:40])
    assert await calibration.renew(ready) == 2
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE slice_nearness n SET chunk_count = 1000 FROM slices s"
                           " WHERE s.tenant_id = n.tenant_id AND s.slice_id = n.slice_id"
                           " AND s.owner_key = 'user:ada'")  # fmt: skip
    assert await calibration.renew(ready) == 1
    found = measured(conninfo)
    assert found["user:ada"] == alone
    neutral = np.stack([hashed_vector(text, 64) for text in labelled_messages("neutral")])
    vectors = np.stack([hashed_vector(text, 64) for text in NOTES])
    [(usual,)] = rows(conninfo, "SELECT usual_similarity FROM model_relevance")
    assert alone[0] == pytest.approx(nearness_of(neutral, vectors, usual, 200), abs=1e-3)
    assert found["user:bo"][0] > alone[0]

    async def seen(tenant_id: str, owner_key: str | None) -> set[float]:
        async with database.tenant(tenant_id) as connection:
            await visible_slices(connection, tenant_id, "wren", owner_key)
            cursor = await connection.execute(b"SELECT nearness FROM slice_nearness")
            return {row["nearness"] for row in await cursor.fetchall()}

    assert await seen("acme", "user:ada") == {found["user:ada"][0], found["acme"][0]}
    assert await seen("acme", None) == {found["acme"][0]}
    assert await seen("umbra", "user:ada") == {found["umbra"][0]}


async def test_a_search_goes_by_the_largest_nearness_of_what_it_sees(
    database: Database, pipeline: Pipeline, models: ModelSlot, ready: Ready, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    await Calibration(database).renew(ready)
    search = Search(database, models, SearchRules())

    async def relevance() -> float:
        return max(r.relevance for r in (await look(search, "where is the boat of Marta")).results)

    before = await relevance()
    # Memories that she does not see change nothing for her, whatever their figures.
    await write(pipeline, BO, NOTES)
    await Calibration(database).renew(ready)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE slice_nearness n SET nearness = 5 FROM slices s"
                           " WHERE s.tenant_id = n.tenant_id AND s.slice_id = n.slice_id"
                           " AND s.owner_key = 'user:bo'")  # fmt: skip
    assert await relevance() == before
    await write(pipeline, TEAM, ["the office has a coffee machine"])
    assert await relevance() == pytest.approx(before, abs=0.1)
    await Calibration(database).renew(ready)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE slice_nearness n SET nearness = 5 FROM slices s"
                           " WHERE s.tenant_id = n.tenant_id AND s.slice_id = n.slice_id"
                           " AND s.owner_key IS NULL")  # fmt: skip
    assert await relevance() < before - 0.1


async def test_passages_that_wait_for_their_vectors_are_waited_for(
    database: Database, pipeline: Pipeline, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    calibration = Calibration(database)
    await calibration.renew(ready)
    embedder.down = True
    await write(pipeline, BO, [f"{note}, says Bo" for note in NOTES])
    embedder.down = False
    assert await calibration.renew(ready) == 0
    await pipeline.backfill()
    assert await calibration.renew(ready) == 1
    assert measured(conninfo)["user:bo"][1] == 3


async def test_after_a_migration_memories_are_measured_with_the_new_model(
    database: Database, pipeline: Pipeline, ready: Ready, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    old = Calibration(database)
    await old.renew(ready)
    slot = await filled_slot(database, MoodyEmbedder(32), check_active=False)
    assert slot.ready is not None
    new = Calibration(database)
    # It is learnt already, and no memory has a vector of it.
    assert (await new.renew(slot.ready), new.state) == (0, "learnt")
    assert rows(conninfo, "SELECT model_id FROM slice_nearness") == [(ready.model_id,)]
    await migrate(database, slot.ready)
    assert (await old.renew(ready), await new.renew(slot.ready)) == (0, 1)
    assert rows(conninfo, "SELECT model_id FROM slice_nearness") == [(slot.ready.model_id,)]
    await slot.aclose()


async def test_what_was_measured_goes_with_the_memory_and_what_was_learnt_with_the_model(
    database: Database, models: ModelSlot, ready: Ready, conninfo: str
) -> None:
    runtime = assemble(Settings(embedder="hashing"), database, models)
    await write(runtime.pipeline, ADA, NOTES)
    assert await runtime.calibration.renew(ready) == 1
    await runtime.agents.delete("acme", "wren")
    assert measured(conninfo) == {}
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for table in ("vectors", "embedding_cache", "models"):
            connection.execute(f"DELETE FROM {table}".encode())
    assert rows(conninfo, "SELECT FROM model_relevance") == []
    await runtime.compactions.aclose()


async def test_what_was_learnt_of_other_messages_is_learnt_again(
    database: Database, pipeline: Pipeline, ready: Ready, embedder: MoodyEmbedder, conninfo: str
) -> None:
    await write(pipeline, ADA, NOTES)
    await Calibration(database).renew(ready)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(b"UPDATE model_relevance SET messages_sha256 = '\\x00', usual_similarity = 5")
    embedder.texts.clear()
    assert await Calibration(database).renew(ready) == 1
    assert len(embedder.texts) == len(MESSAGES)
    [(usual,)] = rows(conninfo, "SELECT usual_similarity FROM model_relevance")
    assert usual < 1


async def test_the_sample_of_a_large_memory_is_always_the_same(
    database: Database, pipeline: Pipeline, ready: Ready, monkeypatch: pytest.MonkeyPatch, conninfo: str
) -> None:
    monkeypatch.setattr("reverie_server.search.calibration.store.SAMPLE_PASSAGES", 10)
    await write(pipeline, ADA, [f"note {number} of {number * 7}" for number in range(40)])
    calibration = Calibration(database)
    assert await calibration.renew(ready) == 1
    first = measured(conninfo)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(b"DELETE FROM slice_nearness")
    assert await calibration.renew(ready) == 1
    assert measured(conninfo) == first


async def test_a_built_in_model_is_neither_learnt_nor_asked(database: Database, embedder: MoodyEmbedder) -> None:
    class BuiltIn(HashingEmbedder):
        @property
        def identity(self) -> ModelIdentity:
            return ModelIdentity("local", "all-MiniLM-L6-v2", "1", 384, True)

    model = BuiltIn()
    ready = Ready(model, CachedQueries(model), 1)
    calibration = Calibration(database)
    assert (await calibration.renew(None), calibration.state) == (0, "none")
    assert (await calibration.renew(ready), calibration.state) == (0, "built_in")
    await model.aclose()
