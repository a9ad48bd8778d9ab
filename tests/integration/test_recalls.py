"""Recalls: which memories were shown to somebody. Written beside the requests, never by the system's own work."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model import Place
from reverie_indexer.reindex import reindex
from reverie_server.access.connection import Connection
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.app.wiring import assemble, open_runtime
from reverie_server.forgetting.selection import Target
from reverie_server.inject.inject import InjectRequest
from reverie_server.runtime import Runtime
from reverie_server.search.recall_log import RecallLog, query_hash
from reverie_server.search.request import SearchRequest
from reverie_server.settings.agent import AgentSettings
from reverie_server.settings.server import Settings
from reverie_server.tools.catalogue import REGISTRY

MINE = Place("default", "wren", "personal", "user:1")
GRANT = Grant(OPERATOR, Principal("default", "wren", "user:1"), AgentSettings())
REVIEW = "Ada moved the quarterly review to Thursday."
QUESTION = "When is the quarterly review that Ada moved?"
NOW = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)


async def put(runtime: Runtime, path: str, text: str) -> None:
    await runtime.pipeline.write(MINE, overwrite(path, text, by="test", reason="test"))


def rows(conninfo: str) -> list[dict[str, Any]]:
    """All recalls with the text of their passages, as they were written."""
    with psycopg.connect(conninfo, row_factory=dict_row) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        return connection.execute(
            "SELECT r.*, c.text FROM recalls r JOIN chunks c USING (tenant_id, chunk_id) ORDER BY r.recall_id"
        ).fetchall()


async def found(runtime: Runtime, query: str = "quarterly review") -> list[tuple[int, float]]:
    outcome = await runtime.search.search(SearchRequest("default", "wren", query, "user:1", max_results=1))
    return outcome.relevances()


async def test_what_is_injected_is_a_recall(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", f"{REVIEW}\n\nThe boiler makes noises.")
    injection = await runtime.injector.inject(GRANT, InjectRequest(QUESTION))
    assert rows(conninfo) == []  # not before the answer
    await runtime.recalls.flush()
    [row] = rows(conninfo)
    assert (row["text"], row["source"], row["tenant_id"]) == (REVIEW, "inject", "default")
    assert row["score"] == pytest.approx(injection.memories[0].score)
    assert bytes(row["query_hash"]) == query_hash(await runtime.tombstones.load_secret(), "default", QUESTION)
    assert runtime.recalls.written == 1


async def test_what_the_tool_returns_is_a_recall(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", f"{REVIEW}\n\nThe boiler makes noises.")
    connection = Connection(OPERATOR, "wren", "user:1")
    answer = await REGISTRY.run(runtime, connection, "memory_search", {"query": "boiler", "max_results": 2})
    assert answer.result is not None
    await runtime.recalls.flush()
    assert len(answer.result["results"]) == 2
    assert [row["text"] for row in rows(conninfo)] == ["The boiler makes noises."], "the other only fills the list"
    assert {row["source"] for row in rows(conninfo)} == {"search"}


async def test_the_systems_own_work_is_no_recall(runtime: Runtime, conninfo: str) -> None:
    """Seen elsewhere: sweeps counted as recalls, and what nobody asked for became a habit."""
    await put(runtime, "a.md", REVIEW)
    await found(runtime)
    await runtime.forgetting.forget(GRANT, MINE, Target("quarterly review", None, None), dry_run=True)
    await reindex(runtime.database, runtime.pipeline, MINE)
    await runtime.injector.inject(GRANT, InjectRequest("ok thanks"))
    await runtime.injector.inject(GRANT, InjectRequest(QUESTION, in_prompt=["a.md"]))
    await runtime.recalls.flush()
    assert rows(conninfo) == []


async def test_equal_questions_have_one_hash_which_tells_nothing() -> None:
    one = query_hash(b"key", "t", "When is the  REVIEW?")
    assert one == query_hash(b"key", "t", " when is the ｒｅｖｉｅｗ?")
    others = (query_hash(b"key", "t", "when is it?"), query_hash(b"other", "t", "When is the review?"),
              query_hash(b"key", "u", "When is the review?"))  # fmt: skip
    assert one not in others
    assert len(one) == 32


async def test_forgetting_leaves_no_recall(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", f"{REVIEW}\n\nThe boiler makes noises.")
    runtime.recalls.note("default", "review", [*await found(runtime), *await found(runtime, "boiler")], "search")
    await runtime.recalls.flush()
    assert len(rows(conninfo)) == 2
    await runtime.forgetting.forget(GRANT, MINE, Target(None, None, REVIEW), dry_run=False)
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        assert connection.execute("SELECT count(*) FROM recalls").fetchone() == (1,)
    assert [row["text"] for row in rows(conninfo)] == ["The boiler makes noises."]


async def test_an_unchanged_passage_keeps_its_recalls(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    runtime.recalls.note("default", "review", await found(runtime), "search")
    await runtime.recalls.flush()
    await put(runtime, "a.md", f"Something new before it.\n\n{REVIEW}")
    await reindex(runtime.database, runtime.pipeline, MINE)
    assert [row["text"] for row in rows(conninfo)] == [REVIEW]


async def test_what_is_gone_meanwhile_is_left_out(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", f"{REVIEW}\n\nThe boiler makes noises.")
    [review], [boiler] = await found(runtime), await found(runtime, "boiler")
    runtime.recalls.note("default", "x", [review, (9_999_999, 0.5), boiler], "search")
    runtime.recalls.note("another", "x", [review], "search")
    await runtime.forgetting.forget(GRANT, MINE, Target(None, None, REVIEW), dry_run=False)
    assert await runtime.recalls.flush()
    assert [row["text"] for row in rows(conninfo)] == ["The boiler makes noises."]
    assert (runtime.recalls.written, runtime.recalls.lost) == (1, 0)


async def test_a_passage_that_is_being_removed_is_not_waited_for(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    shown = await found(runtime)
    runtime.recalls.note("default", "x", shown, "search")
    async with runtime.database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute("DELETE FROM chunks WHERE chunk_id = %s", [shown[0][0]])
        assert await runtime.recalls.flush()
    assert rows(conninfo) == []


async def test_many_batches_and_no_more_than_the_buffer_holds(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    [(chunk_id, _)] = await found(runtime)
    recalls = RecallLog(runtime.database, runtime.tombstones.load_secret, max_waiting=1500, now=lambda: NOW)
    for number in range(400):
        recalls.note("default", f"query {number}", [(chunk_id, 0.5)] * 5, "inject")
    assert await recalls.flush()
    assert (recalls.written, recalls.lost) == (1500, 500)
    written = rows(conninfo)
    assert len(written) == 1500
    assert {row["at"] for row in written} == {NOW}
    assert len({bytes(row["query_hash"]) for row in written}) == 300


async def test_a_database_that_does_not_answer_is_tried_again(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    shown = await found(runtime)
    async with Database(conninfo, pool_size=2, statement_timeout_seconds=0.2, patience_seconds=0) as impatient:
        recalls = RecallLog(impatient, runtime.tombstones.load_secret)
        recalls.note("default", "x", shown, "search")
        async with runtime.database.maintenance() as connection:
            await connection.execute("LOCK TABLE recalls IN ACCESS EXCLUSIVE MODE")
            assert not await recalls.flush()
        assert (recalls.written, recalls.failures) == (0, 1)
        assert await recalls.flush()
    assert len(rows(conninfo)) == 1


async def test_what_cannot_be_stored_does_not_hold_up_the_rest(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    [(chunk_id, _)] = await found(runtime)
    runtime.recalls.note("default", "x", [(2**70, 0.5)], "search")
    assert await runtime.recalls.flush()
    assert (runtime.recalls.written, runtime.recalls.lost) == (0, 1)
    runtime.recalls.note("default", "x", [(chunk_id, 0.5)], "search")
    assert await runtime.recalls.flush()
    assert len(rows(conninfo)) == 1


async def test_an_error_that_nobody_expected_costs_its_batch_and_not_the_recorder(
    runtime: Runtime, conninfo: str
) -> None:
    await put(runtime, "a.md", REVIEW)
    shown = await found(runtime)
    recording = asyncio.create_task(runtime.recalls.run())
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("ALTER TABLE recalls RENAME TO elsewhere")
        runtime.recalls.note("default", "x", shown, "search")
        async with asyncio.timeout(30):
            while not runtime.recalls.lost:  # noqa: ASYNC110 - another task counts it
                await asyncio.sleep(0.05)
        connection.execute("ALTER TABLE elsewhere RENAME TO recalls")
    runtime.recalls.note("default", "y", shown, "search")
    async with asyncio.timeout(30):
        while not rows(conninfo):  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.05)
    assert (runtime.recalls.written, runtime.recalls.lost) == (1, 1)
    runtime.recalls.stop()
    await recording


async def test_the_running_system_writes_them_by_itself_and_at_last_when_it_ends(
    runtime: Runtime, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await put(runtime, "a.md", REVIEW)
    shown = await found(runtime)
    settings = Settings(embedder="none", database_url=conninfo)
    async with open_runtime(settings) as running:
        running.recalls.note("default", "x", shown, "search")
        while not rows(conninfo):  # noqa: ASYNC110 - what is waited for is in the database
            await asyncio.sleep(0.05)
        monkeypatch.setattr("reverie_server.search.recall_log.INTERVAL_SECONDS", 3600.0)
        running.recalls.note("default", "y", shown, "search")
    assert len(rows(conninfo)) == 2


async def test_two_writers_of_one_buffer_write_it_once(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    runtime.recalls.note("default", "x", await found(runtime) * 10, "search")
    await asyncio.gather(runtime.recalls.flush(), runtime.recalls.flush())
    assert len(rows(conninfo)) == 10


async def test_row_level_security_hides_the_recalls_of_others(runtime: Runtime, conninfo: str) -> None:
    await put(runtime, "a.md", REVIEW)
    runtime.recalls.note("default", "x", await found(runtime), "search")
    await runtime.recalls.flush()
    async with runtime.database.tenant("default") as connection:
        assert await (await connection.execute("SELECT * FROM recalls")).fetchall() == []
    assert assemble(Settings(embedder="none"), runtime.database, runtime.models).recalls.written == 0
