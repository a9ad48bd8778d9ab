"""Search with a reranker behind a real HTTP endpoint: what it decides, what it does not, and every way it fails."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.facts import read_facts
from tests.forgetting import forget_all
from tests.rerankers import Reply, RerankServer, by, rerank_server, scored
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchOutcome, request_for
from reverie_server.sessions.model import NewMessage
from reverie_server.settings.server import Settings

KEY = "sk-very-secret-key"
PARAGRAPHS = [f"The lantern of pier {number} is {colour}." for number, colour in enumerate(("red", "blue", "green"))]
QUERY = "Which lantern is red?"


@pytest.fixture
def endpoint() -> Iterator[RerankServer]:
    with rerank_server() as server:
        yield server


@asynccontextmanager
async def reranked_runtime(
    database: Database, models: ModelSlot, endpoint: RerankServer, **settings: Any
) -> AsyncIterator[Runtime]:
    chosen = {
        "reranker": "endpoint",
        "reranker_base_url": endpoint.base_url,
        "reranker_model": "tiny",
        "reranker_api_key": KEY,
        **settings,
    }
    runtime = assemble(Settings(embedder="hashing", events_stream_seconds=0.5, **chosen), database, models)
    assert runtime.reranking is not None
    await runtime.reranking.wait()
    yield runtime
    await runtime.reranking.aclose()
    await runtime.compactions.aclose()


@pytest.fixture
async def reranked(database: Database, models: ModelSlot, endpoint: RerankServer) -> AsyncIterator[Runtime]:
    async with reranked_runtime(database, models, endpoint) as runtime:
        yield runtime


async def find(runtime: Runtime, query: str = QUERY, owner: str | None = "user:ada", **options: Any) -> SearchOutcome:
    return await runtime.memory_search.find(OPERATOR, "wren", owner, query, **options)


async def find_without(runtime: Runtime, query: str = QUERY, **options: Any) -> SearchOutcome:
    """The same search, without the reranker."""
    grant = await runtime.gate.read(OPERATOR, "wren", "user:ada")
    return await runtime.search.search(request_for(grant, query, **options))


def texts(outcome: SearchOutcome) -> list[str]:
    return [result.text for result in outcome.results]


def places(outcome: SearchOutcome) -> list[tuple[int, float, float]]:
    return [(r.chunk_id, round(r.score, 5), round(r.relevance, 5)) for r in outcome.results]


def later_number(query: str, document: str) -> float:
    """Prefers what the order without it has last."""
    return -1.0 + sum(map(int, filter(str.isdecimal, document)))


async def test_the_order_is_that_of_the_scores_and_nothing_else_changes(
    reranked: Runtime, endpoint: RerankServer
) -> None:
    await Talk(reranked).put("notes.md", "\n\n".join(PARAGRAPHS))
    endpoint.script = by(later_number)
    plain, found = await find_without(reranked), await find(reranked)
    assert texts(found)[:3] == PARAGRAPHS[::-1]
    assert [result.rerank_score for result in found.results][:3] == [1.0, 0.0, -1.0]
    assert sorted(places(found)) == sorted(places(plain))
    assert (found.warnings, found.mode, found.fallback) == ([], plain.mode, plain.fallback)
    assert {result.rerank_score for result in plain.results} == {None}
    [request] = endpoint.requests
    assert (request["path"], request["key"], request["model"]) == ("/v1/rerank", f"Bearer {KEY}", "tiny")
    assert (request["query"], request["top_n"]) == (QUERY, len(request["documents"]))
    assert request["documents"] == texts(plain)


async def test_results_are_taken_from_the_candidates_and_cut_to_what_was_asked_for(
    database: Database, models: ModelSlot, endpoint: RerankServer
) -> None:
    async with reranked_runtime(database, models, endpoint, reranker_candidates=12) as runtime:
        lines = [f"The lantern of pier {number} hangs over {'deep ' * number}water." for number in range(1, 21)]
        await Talk(runtime).put("notes.md", "\n\n".join(lines))
        endpoint.script = by(later_number)
        twelve = texts(await find_without(runtime, "lantern pier", max_results=12))
        found = await find(runtime, "lantern pier", max_results=2)
        assert texts(found) == sorted(twelve, key=lambda text: -later_number("", text))[:2]
        assert len(endpoint.requests[-1]["documents"]) == 12
        all_of_them = await find(runtime, "lantern pier", max_results=20)
        plain = texts(await find_without(runtime, "lantern pier", max_results=20))
        assert texts(all_of_them)[12:] == plain[12:], "what the reranker did not look at stays where it was"
        assert {result.rerank_score for result in all_of_them.results[12:]} == {None}


async def test_what_filters_exclude_is_neither_shown_nor_sent(reranked: Runtime, endpoint: RerankServer) -> None:
    await Talk(reranked).put("here/notes.md", PARAGRAPHS[0])
    await Talk(reranked).put("there/notes.md", PARAGRAPHS[1])
    await Talk(reranked, owner_key="user:bea").put("here/notes.md", PARAGRAPHS[2])
    endpoint.script = by(later_number)
    assert texts(await find(reranked, path_prefix="here/")) == [PARAGRAPHS[0]]
    assert PARAGRAPHS[2] not in texts(await find(reranked))
    assert texts(await find(reranked, min_relevance=0.99)) == []
    sent = {document for request in endpoint.requests for document in request["documents"]}
    assert PARAGRAPHS[2] not in sent


async def test_what_was_said_takes_half_of_the_places_while_files_match(
    reranked: Runtime, endpoint: RerankServer
) -> None:
    await Talk(reranked).put("notes.md", "\n\n".join(PARAGRAPHS))
    said = [f"I painted the lantern of pier {number} myself." for number in range(10, 20)]
    await Talk(reranked).add([NewMessage("user", text) for text in said])
    endpoint.script = by(later_number)
    found = await find(reranked, "Which lantern of a pier?", max_results=4)
    assert sorted(result.tier for result in found.results) == ["document", "document", "message", "message"]
    assert found.results[0].text == said[-1]


async def test_what_no_longer_holds_stays_behind_what_replaced_it(reranked: Runtime, endpoint: RerankServer) -> None:
    old, new, at = "I live in Oslo near the harbour.", "I moved to Bergen last week.", datetime(2026, 3, 3, tzinfo=UTC)
    for number, text in enumerate((old, new, "The harbour of Oslo is closed in winter.")):
        await Talk(reranked, f"web:{number}").add([NewMessage("user", text, at=at + timedelta(days=90 * number))])
    await read_facts(Talk(reranked))
    endpoint.script = by(lambda query, document: 1.0 if document == old else -9.0 if document == new else -1.0)
    for limit in (1, 20):
        found = texts(await find(reranked, "Where do I live near the harbour, in Oslo?", max_results=limit))
        assert found[:2] == [new, old][:limit]


NO_SCORES = "not a score for each text"


def numbers(number: str) -> Reply:
    """Three results with a score that Python's own JSON would not write."""
    results = ", ".join(f'{{"index": {index}, "relevance_score": {number}}}' for index in range(3))
    return Reply(f'{{"results": [{results}]}}'.encode())


FAILURES: dict[str, tuple[Reply, str]] = {
    "wrong index": (Reply({"results": [{"index": 7, "relevance_score": 1.0}] * 3}), NO_SCORES),
    "index that is no number": (Reply({"results": [{"index": [], "relevance_score": 1.0}] * 3}), NO_SCORES),
    "one index thrice": (Reply({"results": [{"index": 0, "relevance_score": 1.0}] * 3}), NO_SCORES),
    "missing results": (scored([0.5]), "answered 1 scores to 3 texts"),
    "too many results": (scored([0.5] * 5), "answered 5 scores to 3 texts"),
    "no results": (Reply({"message": KEY}), NO_SCORES),
    "a list": (Reply([]), NO_SCORES),
    "no JSON": (Reply(b"<html>"), NO_SCORES),
    "deep JSON": (Reply(b"[" * 100_000), NO_SCORES),
    "NaN": (numbers("NaN"), NO_SCORES),
    "infinite": (numbers("1e999"), NO_SCORES),
    "words": (numbers('"good"'), NO_SCORES),
    "too large a number": (numbers("1" + "0" * 999), NO_SCORES),
    "500": (Reply({"detail": KEY}, 500), "answered HTTP 500"),
    "401": (Reply({"detail": KEY}, 401), "answered HTTP 401"),
    "redirect": (Reply({}, 307, {"Location": "/v2/rerank"}), "answered HTTP 307"),
    "40 MB": (Reply(b" " * 40_000_000), "answered with too much"),
    "40 MB without a length": (Reply(b" " * 40_000_000, has_length=False), "answered with too much"),
    "compressed": (Reply(b"\x1f\x8b", headers={"Content-Encoding": "gzip"}), "answered with too much, or compressed"),
}


@pytest.mark.parametrize("failure", FAILURES)
async def test_a_reranker_that_fails_leaves_the_order_and_a_warning(
    reranked: Runtime, endpoint: RerankServer, failure: str
) -> None:
    await Talk(reranked).put("notes.md", "\n\n".join(PARAGRAPHS))
    reply, reason = FAILURES[failure]
    endpoint.script = lambda query, documents: reply
    plain, found = (await find_without(reranked, path_prefix="notes.md"), await find(reranked, path_prefix="notes.md"))
    assert len(endpoint.requests) == 1
    assert places(found) == places(plain)
    [warning] = found.warnings
    assert reason in warning
    assert warning.endswith("in the order without it")
    assert KEY not in warning


async def test_one_that_hangs_is_left_alone_for_a_while(
    database: Database, models: ModelSlot, endpoint: RerankServer
) -> None:
    async with reranked_runtime(database, models, endpoint, reranker_timeout_seconds=0.2) as runtime:
        await Talk(runtime).put("notes.md", "\n\n".join(PARAGRAPHS))
        endpoint.released.clear()
        plain, first, second = await find_without(runtime), await find(runtime), await find(runtime)
        assert places(first) == places(second) == places(plain)
        assert "did not answer in time" in first.warnings[0]
        assert "is not asked for a while" in second.warnings[0]
        assert len(endpoint.requests) == 1


async def test_one_that_is_not_there(database: Database, models: ModelSlot) -> None:
    with rerank_server() as gone:
        pass
    async with reranked_runtime(database, models, gone) as runtime:
        await Talk(runtime).put("notes.md", "\n\n".join(PARAGRAPHS))
        for _ in range(3):
            assert "cannot be reached" in (await find(runtime)).warnings[0]
        assert runtime.reranking is not None
        assert runtime.reranking.breaker.state == "open"


@pytest.mark.parametrize(
    "wrong",
    [
        {"reranker_base_url": "ftp://host"},
        {"reranker_base_url": "http://"},
        {"reranker_base_url": "http://host:99999"},
        {"reranker_model": None},
    ],
)
async def test_settings_that_cannot_work_are_told_of(
    database: Database, models: ModelSlot, endpoint: RerankServer, wrong: dict[str, Any]
) -> None:
    async with reranked_runtime(database, models, endpoint, **wrong) as runtime:
        await Talk(runtime).put("notes.md", "\n\n".join(PARAGRAPHS))
        plain, found = await find_without(runtime), await find(runtime)
        assert places(found) == places(plain)
        assert "the reranker could not be loaded (" in found.warnings[0]


async def test_no_connection_is_held_while_it_is_asked(
    conninfo: str, models: ModelSlot, endpoint: RerankServer
) -> None:
    async with (
        Database(conninfo, pool_size=1, patience_seconds=5) as database,
        reranked_runtime(database, models, endpoint, reranker_timeout_seconds=30) as runtime,
    ):
        await Talk(runtime).put("notes.md", "\n\n".join(PARAGRAPHS))
        endpoint.released.clear()
        searching = asyncio.create_task(find(runtime))
        await asyncio.to_thread(endpoint.asked.wait)
        assert texts(await find_without(runtime)), "the only connection is free"
        assert not searching.done()
        endpoint.released.set()
        assert (await searching).warnings == []


async def test_what_is_forgotten_meanwhile_is_no_result(
    database: Database, models: ModelSlot, endpoint: RerankServer
) -> None:
    async with reranked_runtime(database, models, endpoint, reranker_timeout_seconds=30) as runtime:
        talk = Talk(runtime)
        await talk.put("notes.md", "\n\n".join(PARAGRAPHS))
        endpoint.released.clear()
        searching = asyncio.create_task(find(runtime))
        await asyncio.to_thread(endpoint.asked.wait)
        await forget_all(runtime, *await talk.grant(), text=PARAGRAPHS[0])
        endpoint.released.set()
        found = texts(await searching)
        assert PARAGRAPHS[0] in endpoint.requests[0]["documents"]
        assert PARAGRAPHS[0] not in found
        assert PARAGRAPHS[1] in found


async def test_only_a_search_that_somebody_reads_is_reranked_and_explains_it(
    reranked: Runtime, endpoint: RerankServer, serve_runtime: ServeRuntime
) -> None:
    await Talk(reranked).put("notes.md", "\n\n".join(PARAGRAPHS))
    await Talk(reranked).context(QUERY)
    assert endpoint.requests == []
    endpoint.script = by(later_number)
    async with httpx.AsyncClient(base_url=f"{await serve_runtime(reranked)}/api/v1", verify=PLAIN) as client:
        body = {"query": QUERY, "owner_key": "user:ada", "explain": True}
        answer = (await client.post("/agents/wren/memory/search", json=body)).raise_for_status().json()
        metrics = (await client.get("/../../metrics")).text
    assert answer["warnings"] == []
    assert [result["explain"]["rerank_score"] for result in answer["results"]][:3] == [1.0, 0.0, -1.0]
    assert "rerank_score" not in answer["results"][0]
    assert 'reverie_endpoint_paused{endpoint="reranker"} 0.0' in metrics
