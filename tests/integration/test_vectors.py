"""When the model is called, what happens when it cannot be, and that what waits is embedded in the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import psycopg
import pytest
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import EmbedderUnavailable
from reverie_indexer.index import vectors
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules
from reverie_server.search.request import SearchOutcome, SearchRequest, SearchRules
from reverie_server.search.search import Search

TEAM = Place("default", "wren", "team")


def put(text: str, path: str = "notes/a.md") -> Change:
    return overwrite(path, text, by="user", reason="put")


@pytest.fixture
def embedder() -> MoodyEmbedder:
    return MoodyEmbedder()


@pytest.fixture
async def models(database: Database, embedder: MoodyEmbedder) -> AsyncIterator[ModelSlot]:
    slot = await filled_slot(database, embedder)
    yield slot
    await slot.aclose()


@pytest.fixture
async def pipeline(database: Database, models: ModelSlot, embedder: MoodyEmbedder) -> Pipeline:
    """A pipeline whose agent exists already: its seeds' model calls are over."""
    pipeline = Pipeline(database, models, Rules(embed_wait_seconds=0.5))
    await pipeline.write(TEAM, put("seed", "notes/seed.md"))
    embedder.calls = 0
    embedder.texts.clear()
    return pipeline


Look = Callable[..., Awaitable[SearchOutcome]]


@pytest.fixture
def look(database: Database, models: ModelSlot) -> Look:
    search = Search(database, models, SearchRules())

    async def run(query: str, **request: object) -> SearchOutcome:
        return await search.search(SearchRequest("default", "wren", query, path_prefix="notes/a", **request))

    return run


async def test_unchanged_passages_cost_no_model_call(pipeline: Pipeline, embedder: MoodyEmbedder) -> None:
    await pipeline.write(TEAM, put("one\n\ntwo\n\nthree\n"))
    assert embedder.texts == ["one", "two", "three"]
    embedder.texts.clear()
    await pipeline.write(TEAM, put("one\n\ntwo\n\nthree\n"))
    await pipeline.write(TEAM, put("three\n\none\n\nnew\n"))
    await pipeline.write(TEAM, put("one\n\ntwo\n\nthree\n"))
    await pipeline.delete(TEAM, "notes/a.md", by="user", reason="delete")
    await pipeline.write(TEAM, put("two\n", "notes/another.md"))
    assert embedder.texts == ["new"]


async def test_equal_passages_of_a_batch_are_embedded_once(
    pipeline: Pipeline, embedder: MoodyEmbedder, conninfo: str
) -> None:
    changes = [put("same\n\nsame\n\nother\n", f"notes/{number}.md") for number in range(3)]
    assert all(written.embedded for written in await pipeline.write_many(TEAM, changes))
    assert sorted(embedder.texts) == ["other", "same"]
    assert_index_consistent(conninfo)


async def test_text_written_while_the_model_is_down_is_found_by_words_and_later_by_meaning(
    pipeline: Pipeline, embedder: MoodyEmbedder, look: Look, conninfo: str
) -> None:
    embedder.down = True
    written = await pipeline.write(TEAM, put("the lantern hangs at the gate"))
    assert (written.embedded, pipeline.backfill_wanted.is_set()) == (False, True)
    outcome = await look("lantern")
    assert ([r.similarity for r in outcome.results], outcome.mode) == ([None], "text")
    assert_index_consistent(conninfo)
    with pytest.raises(EmbedderUnavailable):
        await pipeline.backfill()
    embedder.down = False
    # In vector mode only a passage with a vector can be found.
    assert not (await look("lantern at the gate", mode="vector")).results
    assert (await pipeline.backfill(), await pipeline.backfill()) == (1, 0)
    [result] = (await look("lantern at the gate", mode="vector")).results
    assert result.similarity is not None
    assert result.similarity > 0.3
    assert_index_consistent(conninfo)


async def test_without_any_model_text_is_stored_and_embedded_when_one_comes(database: Database, conninfo: str) -> None:
    none = ModelSlot(None)
    written = await Pipeline(database, none, Rules()).write(TEAM, put("the lantern"))
    assert not written.embedded
    embedder = MoodyEmbedder()
    slot = await filled_slot(database, embedder)
    pipeline = Pipeline(database, slot, Rules())
    while await pipeline.backfill(limit=2):
        pass
    assert "the lantern" in embedder.texts
    assert_index_consistent(conninfo)
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT count(*) FROM chunks WHERE NOT embedded").fetchone() == (0,)
    await slot.aclose()


async def test_one_bad_text_never_loses_the_batch_and_is_asked_for_once_by_the_back_fill(
    pipeline: Pipeline, embedder: MoodyEmbedder, look: Look, conninfo: str
) -> None:
    embedder.rejects = lambda text: "poison" in text
    written = await pipeline.write(TEAM, put("good lantern\n\npoison lantern\n\nanother lantern\n"))
    assert not written.embedded
    results = (await look("lantern")).results
    assert sorted((r.text, r.similarity is not None) for r in results) == [
        ("another lantern", True),
        ("good lantern", True),
        ("poison lantern", False),
    ]
    embedder.texts.clear()
    while await pipeline.backfill():
        pass
    assert embedder.texts == ["poison lantern"]
    assert_index_consistent(conninfo)


async def test_a_refusal_never_waits_in_a_circle_with_a_writer(
    pipeline: Pipeline, database: Database, embedder: MoodyEmbedder, conninfo: str
) -> None:
    """Refused chunks are marked without their slice's lock, while writers remove and make the same ones."""
    embedder.rejects = lambda text: "poison" in text
    text = "poison\n\npoison\n\npoison\n\npoison\n"

    async def write() -> None:
        for number in range(15):
            await pipeline.write(TEAM, put(text if number % 2 else "clean"))

    async def fill() -> None:
        for _ in range(25):
            await pipeline.backfill()

    await asyncio.gather(write(), fill(), fill())
    assert_index_consistent(conninfo)


async def test_a_slow_model_keeps_a_write_no_longer_than_it_may(
    pipeline: Pipeline, embedder: MoodyEmbedder, look: Look, conninfo: str
) -> None:
    embedder.delay_seconds = 30
    started = time.perf_counter()
    written = await pipeline.write(TEAM, put("the lantern"))
    assert 0.5 <= time.perf_counter() - started < 3
    assert (written.embedded, pipeline.backfill_wanted.is_set()) == (False, True)
    embedder.delay_seconds = 0
    assert [r.text for r in (await look("lantern")).results] == ["the lantern"]
    assert await pipeline.backfill() == 1
    assert_index_consistent(conninfo)


async def test_a_model_that_still_loads_keeps_a_write_no_longer_than_it_may(database: Database) -> None:
    loaded = asyncio.Event()

    async def load() -> MoodyEmbedder:
        await loaded.wait()
        return MoodyEmbedder()

    slot = ModelSlot(load)
    loading = asyncio.create_task(slot.fill(database))
    pipeline = Pipeline(database, slot, Rules(embed_wait_seconds=0.3))
    assert not (await pipeline.write(TEAM, put("early"))).embedded
    assert await pipeline.backfill() == 0
    writing = asyncio.create_task(Pipeline(database, slot, Rules()).write(TEAM, put("late", "notes/late.md")))
    await asyncio.sleep(0.1)
    loaded.set()
    assert (await writing).embedded
    await loading
    while await pipeline.backfill():
        pass
    await slot.aclose()


async def test_what_a_slow_batch_had_done_is_not_asked_for_again(
    database: Database, models: ModelSlot, embedder: MoodyEmbedder, conninfo: str
) -> None:
    """Each batch is kept as it comes: a write that ran out of time does not start from nothing."""
    await Pipeline(database, models, Rules()).write(TEAM, put("seed", "notes/seed.md"))
    embedder.texts.clear()
    embedder.delay_seconds = 0.2
    pipeline = Pipeline(database, models, Rules(embed_wait_seconds=0.7, batch_size=1))
    text = "\n\n".join(f"passage number{number}" for number in range(8))
    assert not (await pipeline.write(TEAM, put(text))).embedded
    done = len(embedder.texts)
    assert 2 <= done < 8
    embedder.delay_seconds = 0
    while await pipeline.backfill():
        pass
    # The batch that was cut off is asked for twice, no other.
    assert len(embedder.texts) - len(set(embedder.texts)) <= 1
    assert_index_consistent(conninfo)


async def test_back_fills_and_writers_at_once_leave_no_orphans(
    pipeline: Pipeline, embedder: MoodyEmbedder, conninfo: str
) -> None:
    """Texts are stored without vectors and replaced while two back-fills embed them."""
    embedder.delay_seconds = 0.01

    async def write(part: int) -> None:
        for number in range(12):
            embedder.down = number % 3 != 2
            await pipeline.write(TEAM, put(f"part {part} take {number}\n\nand common text\n", f"notes/{part}.md"))

    async def fill() -> None:
        for _ in range(25):
            try:
                await pipeline.backfill(limit=4)
            except EmbedderUnavailable:
                await asyncio.sleep(0.005)

    await asyncio.gather(write(0), write(1), write(1), fill(), fill())
    embedder.down = False
    while await pipeline.backfill():
        pass
    assert_index_consistent(conninfo)
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT count(*) FROM chunks WHERE NOT embedded").fetchone() == (0,)


async def test_vectors_of_one_tenant_are_cached_apart_from_anothers(
    pipeline: Pipeline, embedder: MoodyEmbedder, conninfo: str
) -> None:
    """Otherwise the time of a write would tell whether another tenant has the text."""
    await pipeline.write(TEAM, put("secret plan"))
    embedder.texts.clear()
    await pipeline.write(Place("other", "wren", "team"), put("secret plan"))
    assert "secret plan" in embedder.texts
    assert_index_consistent(conninfo)


async def test_two_programs_that_embed_the_same_passages_do_not_wait_in_a_circle(
    database: Database, models: ModelSlot, conninfo: str
) -> None:
    ready = models.ready
    assert ready is not None
    texts = [f"passage {number}" for number in range(40)]
    answers = await ready.embedder.embed(texts)
    found = {text.encode(): vector for text, vector in zip(texts, answers, strict=True)}
    backwards = dict(reversed(found.items()))
    await asyncio.gather(
        *(
            vectors.remember(database, "default", ready.model_id, half)  # type: ignore[arg-type]
            for half in (found, backwards) * 4
        )
    )
    assert await vectors.cached(database, "default", ready.model_id, found) == set(found)
