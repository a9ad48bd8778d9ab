"""What is refused before any route: nothing is read without a key, wrong keys are slowed down, load has its limits."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.conftest import PLAIN, ServeRuntime
from tests.contract.conftest import check_problem
from tests.scripted_model import ScriptedModel, hangs

from reverie_indexer.database.database import Database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.embed.protocol import Embedding, Role
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SEARCH = "/agents/wren/memory/search"


@pytest.fixture
async def key(runtime: Runtime) -> str:
    _, key = await runtime.keys.create("default", "admin")
    return key


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


def wrong(number: int) -> dict[str, str]:
    return bearer(f"rv_{number:016x}_{'A' * 43}")


@asynccontextmanager
async def sent(base_url: str, head: str, body: bytes = b"") -> AsyncIterator[asyncio.StreamReader]:
    """A request of which so much has been sent."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    try:
        writer.write(head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body)
        yield reader
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", f"/api/v1{SEARCH}"),
        ("POST", "/mcp"),
        ("POST", "/mcp/wren"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("POST", "/api/v1/agents/wren/workspace/memory/import"),
        ("PUT", "/api/v1/agents/wren/files/a.md"),
        ("POST", "/memory/wren/summarize/a"),
        ("POST", "/nowhere"),
    ],
)
@pytest.mark.parametrize("authorization", ["", "Authorization: Bearer rv_0123456789abcdef_" + "A" * 43 + "\n"])
async def test_without_a_valid_key_nothing_of_a_body_is_waited_for(
    client: httpx.AsyncClient, key: str, method: str, path: str, authorization: str
) -> None:
    head = f"{method} {path} HTTP/1.1\nHost: localhost\n{authorization}Content-Length: 8000000"
    async with sent(str(client.base_url), head, b'{"query": ') as reader, asyncio.timeout(5):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"connection: close" in answer.lower()
    assert b'"unauthorized"' in answer


async def test_what_needs_no_key_reads_no_body(client: httpx.AsyncClient, key: str) -> None:
    head = "GET /healthz HTTP/1.1\nHost: localhost\nContent-Length: 8000000"
    async with sent(str(client.base_url), head) as reader, asyncio.timeout(5):
        assert (await reader.read()).startswith(b"HTTP/1.1 200 ")


async def test_wrong_keys_are_slowed_down_and_a_valid_one_never_is(
    client: httpx.AsyncClient, runtime: Runtime, key: str
) -> None:
    statuses = []
    for number in range(60):
        answer = await client.get("/agents", headers=wrong(number))
        statuses.append(answer.status_code)
        if answer.status_code == 429:
            check_problem(answer, 429, "too_many_requests")
            assert int(answer.headers["retry-after"]) >= 1
    assert statuses[:10] == [401] * 10
    assert statuses.count(401) < 20
    # From the same address, and never seen before.
    assert (await client.get("/agents", headers=bearer(key))).status_code == 200
    # One that was made while wrong ones came.
    key_id, newer = await runtime.keys.create("default", "admin")
    assert (await client.get("/agents", headers=wrong(1))).status_code == 429
    deadline = time.monotonic() + 10
    while (await client.get("/agents", headers=bearer(newer))).status_code != 200:
        assert time.monotonic() < deadline
        await asyncio.sleep(0.2)
    await runtime.keys.revoke(key_id)
    assert (await client.get("/agents", headers=bearer(newer))).status_code in (401, 429)
    # The secret of one with the id of another is as wrong as any.
    mixed = f"{key.rsplit('_', 1)[0]}_{newer.split('_', 2)[2]}"
    assert (await client.get("/agents", headers=bearer(mixed))).status_code == 429
    metrics = (await client.get(f"{str(client.base_url).split('/api')[0]}/metrics")).text
    counted = dict(line.rsplit(" ", 1) for line in metrics.splitlines() if line.startswith("reverie_wrong_keys_total"))
    assert float(counted['reverie_wrong_keys_total{outcome="slowed_down"}']) > 40


async def test_no_header_makes_an_address_for_each_wrong_key(client: httpx.AsyncClient, key: str) -> None:
    statuses = [
        (await client.get("/agents", headers={**wrong(n), "X-Forwarded-For": f"192.0.2.{n}"})).status_code
        for n in range(30)
    ]
    assert statuses.count(401) < 20
    assert statuses[-1] == 429


async def test_a_proxy_that_is_trusted_says_whose_wrong_keys_they_are(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime
) -> None:
    runtime = assemble(Settings(embedder="hashing", trusted_proxies="127.0.0.0/8, ::1"), database, models)
    await runtime.keys.create("default", "admin")
    async with httpx.AsyncClient(base_url=await serve_runtime(runtime), verify=PLAIN) as client:
        statuses = [
            (
                await client.get("/api/v1/agents", headers={**wrong(n), "X-Forwarded-For": f"192.0.2.{n % 3}"})
            ).status_code
            for n in range(30)
        ]
        assert statuses.count(401) == 30
        other = await client.get("/api/v1/agents", headers={**wrong(1), "X-Forwarded-For": "192.0.2.1"})
        assert other.status_code == 429


@pytest.mark.parametrize("path", ["/metrics", "/openapi.json"])
async def test_wrong_keys_are_slowed_down_where_none_is_asked_for_at_the_entrance(
    database: Database, models: ModelSlot, serve_runtime: ServeRuntime, path: str
) -> None:
    settings = Settings(embedder="hashing", public_metrics=False, public_docs=False)
    runtime = assemble(settings, database, models)
    _, key = await runtime.keys.create("default", "admin")
    async with httpx.AsyncClient(base_url=await serve_runtime(runtime), verify=PLAIN) as client:
        statuses = [(await client.get(path, headers=wrong(number))).status_code for number in range(30)]
        assert statuses[:10] == [401] * 10
        assert statuses.count(401) < 20
        assert (await client.get(path, headers=bearer(key))).status_code == 200


async def test_json_of_many_values_or_levels_is_refused_at_once(client: httpx.AsyncClient) -> None:
    many = json.dumps({f"f{number}": 0 for number in range(500_000)}, separators=(",", ":"))
    deep = '{"query": ' + "[" * 100_000 + "]" * 100_000 + "}"
    hidden = f'{{"\u2200": [{"0," * 500_000}0]}}'.encode("utf-16-le")
    for body in (many, deep, hidden):
        answer = await client.post(SEARCH, content=body, headers={"Content-Type": "application/json"})
        check_problem(answer, 422, "validation_error")
        assert len(answer.content) < 1000


async def test_of_many_errors_some_are_told_and_all_are_counted(client: httpx.AsyncClient) -> None:
    answer = await client.post(SEARCH, json={"query": "lantern", **{f"field_{n}": n for n in range(5_000)}})
    body = check_problem(answer, 422, "validation_error")
    assert (len(body["errors"]), body["error_count"]) == (20, 5_000)


async def test_a_file_of_the_largest_size_passes_whatever_it_says(client: httpx.AsyncClient) -> None:
    for number, text in enumerate(('[{"a": 1},' * 120_000, "," * 1_048_576)):
        answer = await client.put(f"/agents/wren/files/{number}.json", json={"content": text[:1_048_576]})
        assert answer.status_code == 201, answer.text


async def test_a_query_of_many_parameters_is_refused(client: httpx.AsyncClient) -> None:
    answer = await client.get("/agents?" + "&".join(f"a{number}=1" for number in range(1_000)))
    check_problem(answer, 422, "validation_error")
    # Of more the head itself is too long.
    answer = await client.get("/agents?" + "&".join(f"a{number}=1" for number in range(5_000)))
    assert answer.status_code == 431


@pytest.fixture
async def busy(database: Database, models: ModelSlot, scripted: ScriptedModel) -> AsyncIterator[Runtime]:
    """A server that does two things at once, with a language model."""
    settings = Settings(
        embedder="hashing",
        llm_base_url=scripted.base_url,
        llm_model="scripted",
        max_in_flight=2,
        max_in_flight_per_key=1,
        max_waiting=2,
        max_answer_seconds=0.5,
        max_body_memory_bytes=12 * 1024 * 1024,
        max_body_memory_bytes_per_key=8 * 1024 * 1024,
    )
    runtime = assemble(settings, database, models)
    yield runtime
    assert runtime.llm is not None
    assert runtime.proxy is not None
    await runtime.proxy.aclose()
    await runtime.compactions.aclose()
    await runtime.llm.aclose()


async def test_over_the_limit_requests_are_answered_soon_by_a_refusal_and_health_at_once(
    busy: Runtime, serve_runtime: ServeRuntime
) -> None:
    base_url = await serve_runtime(busy)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", verify=PLAIN, timeout=30) as client:
        assert (await client.put("/agents/wren/files/a.md", json={"content": "The lantern."})).status_code == 201

        async def ask() -> httpx.Response:
            return await client.post(SEARCH, json={"query": "lantern"})

        answers = await asyncio.gather(*(ask() for _ in range(60)))
        statuses = {answer.status_code for answer in answers}
        assert statuses <= {200, 503}
        assert statuses == {200, 503}
        refused = next(answer for answer in answers if answer.status_code == 503)
        check_problem(refused, 503, "overloaded")
        assert refused.headers["retry-after"] == "1"
        assert (await client.get(f"{base_url}/healthz")).status_code == 200
        assert (await ask()).status_code == 200
        metrics = (await client.get(f"{base_url}/metrics")).text
        assert 'reverie_requests_refused_total{code="overloaded"}' in metrics
        assert 'reverie_requests{state="working"} 0.0' in metrics


async def test_turns_that_wait_for_a_model_leave_room_for_others(
    busy: Runtime, serve_runtime: ServeRuntime, scripted: ScriptedModel
) -> None:
    base_url = await serve_runtime(busy)
    scripted.plan(*[hangs() for _ in range(4)])
    chat: dict[str, Any] = {"messages": [{"role": "user", "content": "Where is the lantern?"}]}
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", verify=PLAIN, timeout=30) as client:
        assert (await client.put("/agents/wren/files/a.md", json={"content": "The lantern."})).status_code == 201
        turns, deadline = [], time.monotonic() + 30
        for _ in range(4):
            turns.append(asyncio.create_task(client.post(f"{base_url}/v1/chat/completions", json=chat)))
            while len(scripted.requests) < len(turns):
                assert time.monotonic() < deadline
                await asyncio.sleep(0.02)
        answer = await client.post(SEARCH, json={"query": "lantern"})
        assert answer.status_code == 200
        for turn in turns:
            turn.cancel()
        await asyncio.gather(*turns, return_exceptions=True)
        scripted.release()


async def test_bodies_that_take_their_time_have_no_turn_and_limited_memory(
    busy: Runtime, serve_runtime: ServeRuntime
) -> None:
    base_url = await serve_runtime(busy)
    head = f"POST /api/v1{SEARCH} HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 8000000"
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", verify=PLAIN, timeout=30) as client:
        await client.put("/agents/wren/files/a.md", json={"content": "The lantern."})
        async with (
            sent(base_url, head, b" " * 6_000_000),
            sent(base_url, head, b" " * 6_000_000) as second,
            asyncio.timeout(20),
        ):
            assert (await second.readline()).startswith((b"HTTP/1.1 429 ", b"HTTP/1.1 503 "))
            assert (await client.post(SEARCH, json={"query": "lantern"})).status_code == 200


async def test_who_does_not_read_on_has_no_turn_meanwhile(busy: Runtime, serve_runtime: ServeRuntime) -> None:
    base_url = await serve_runtime(busy)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", verify=PLAIN, timeout=30) as client:
        content = "The lantern.\n" + "x" * 1_000_000
        assert (await client.put("/agents/wren/files/a.md", json={"content": content})).status_code == 201
        request = "GET /api/v1/agents/wren/files/a.md HTTP/1.1\nHost: localhost"
        pipelined = (request.replace("\n", "\r\n") + "\r\n\r\n").encode() * 30
        async with sent(base_url, request, pipelined), sent(base_url, request, pipelined):
            # The buffers of both ends hold some answers.
            await asyncio.sleep(2)
            for _ in range(5):
                assert (await client.get("/agents/wren/files/a.md")).status_code == 200
            metrics = (await client.get(f"{base_url}/metrics")).text
            assert 'reverie_requests{state="working"} 0.0' in metrics


class HangingEmbedder(HashingEmbedder):
    """Answers nothing until it is released."""

    def __init__(self) -> None:
        super().__init__(64)
        self.released = asyncio.Event()

    async def embed(self, texts: Sequence[str], role: Role = "passage") -> list[Embedding]:
        await self.released.wait()
        return await super().embed(texts, role)


async def test_who_waits_for_vectors_leaves_room_for_others_and_does_not_wait_for_long(
    database: Database, serve_runtime: ServeRuntime
) -> None:
    embedder = HangingEmbedder()

    async def load() -> HangingEmbedder:
        return embedder

    models = ModelSlot(load)
    await models.fill(database)
    runtime = assemble(Settings(embedder="hashing", max_in_flight=2, max_in_flight_per_key=2), database, models)
    base_url = await serve_runtime(runtime)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", verify=PLAIN, timeout=30) as client:
        began = time.monotonic()
        writes = [
            asyncio.create_task(client.put(f"/agents/wren/files/{n}.md", json={"content": "The lantern."}))
            for n in range(4)
        ]
        await asyncio.sleep(2)
        for _ in range(5):
            assert (await client.get("/agents")).status_code == 200
        assert {(await write).status_code for write in writes} <= {201, 503}
        searches = [asyncio.create_task(client.post(SEARCH, json={"query": f"lantern {n}"})) for n in range(4)]
        await asyncio.sleep(2)
        assert (await client.get("/agents")).status_code == 200
        answers = [await search for search in searches]
        found = [answer.json() for answer in answers if answer.status_code == 200]
        assert found
        assert all("searched by words" in body["warnings"][0] for body in found)
        assert time.monotonic() - began < 25
    embedder.released.set()
    await models.aclose()
