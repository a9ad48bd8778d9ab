"""Connections byte by byte: what is no strict HTTP is refused, what is slow is ended, and too many make room."""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from urllib.parse import urlsplit

import pytest
from tests.conftest import ServeRuntime

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Awaitable[Stream]]
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
async def serve_with(
    serve_runtime: ServeRuntime, database: Database, models: ModelSlot
) -> Callable[[Settings], Awaitable[Connect]]:
    """Serve with settings; how to connect."""

    async def serve(settings: Settings) -> Connect:
        address = urlsplit(await serve_runtime(assemble(settings, database, models)))
        return lambda: asyncio.open_connection(address.hostname, address.port)

    return serve


@pytest.fixture
async def connect(serve_with: Callable[[Settings], Awaitable[Connect]]) -> Connect:
    return await serve_with(
        Settings(
            embedder="hashing",
            max_connections=16,
            header_timeout_seconds=0.5,
            body_timeout_seconds=1.0,
            response_timeout_seconds=1.0,
            keep_alive_seconds=1,
        )
    )


@asynccontextmanager
async def opened(connect: Connect) -> AsyncIterator[Stream]:
    """A connection that is closed in the end."""
    reader, writer = await connect()
    try:
        yield reader, writer
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


async def answer_to(connect: Connect, *pieces: bytes) -> bytes:
    """All that is answered until the server ends the connection."""
    async with opened(connect) as (reader, writer):
        for piece in pieces:
            writer.write(piece)
            with suppress(ConnectionError):
                await writer.drain()
            await asyncio.sleep(0.02)
        received = b""
        async with asyncio.timeout(10):
            # A connection that is reset may have been answered before.
            with suppress(ConnectionError):
                while data := await reader.read(65_536):
                    received += data
        return received


def head(*lines: str, end: str = "\r\n") -> bytes:
    return (end.join(["POST /api/v1/agents/wren/memory/search HTTP/1.1", "Host: localhost", *lines]) + end * 2).encode()


@pytest.mark.parametrize(
    "request_bytes",
    [
        head("Content-Length: 2", "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n\r\n",
        head("Transfer-Encoding: chunked", "Content-Length: 2") + b"{}",
        head("Content-Length: 2", "Content-Length: 3") + b"{}",
        head("Content-Length: 2, 3") + b"{}",
        head("Content-Length: +2") + b"{}",
        head("Content-Length: 2", end="\n") + b"{}",
        b"GET /healthz HTTP/1.1\nHost: localhost\n\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-A: 1\nX-B: 2\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n",
        head("X-Folded: one\r\n two", "Content-Length: 2") + b"{}",
        head("Content-Length : 2") + b"{}",
        head(" Content-Length: 2") + b"{}",
        b"GET /healthz HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\n\r\n",
        head("Transfer-Encoding: chunked") + b"2\n{}\n0\n\n",
    ],
    ids=lambda value: repr(value)[40:90],
)
async def test_a_request_that_two_readers_could_read_in_two_ways_is_refused_and_its_connection_ends(
    connect: Connect, request_bytes: bytes
) -> None:
    answer = await answer_to(connect, request_bytes, GET)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"Connection: close" in answer
    assert b'"code": "malformed_request"' in answer
    assert answer.count(b"HTTP/1.1") == 1, "nothing after it is taken for a request"


async def test_the_next_request_of_a_connection_is_read_as_strictly(connect: Connect) -> None:
    answer = await answer_to(connect, GET + b"GET /healthz HTTP/1.1\nHost: localhost\n\n")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"HTTP/1.1 400 " in answer


async def test_an_encoding_of_a_body_that_nobody_knows_is_501(connect: Connect) -> None:
    assert (await answer_to(connect, head("Transfer-Encoding: gzip, chunked"))).startswith(b"HTTP/1.1 501 ")


@pytest.mark.parametrize(
    "lines", [["X-Long: " + "a" * 100_000], [f"X-{n}: a" for n in range(101)], [f"X-{n}: {n}" for n in range(5_000)]]
)
async def test_heads_are_limited_in_length_and_number(connect: Connect, lines: list[str]) -> None:
    assert (await answer_to(connect, head(*lines))).startswith(b"HTTP/1.1 431 ")


async def test_a_body_in_tiny_chunks_is_refused(connect: Connect) -> None:
    answer = await answer_to(connect, head("Transfer-Encoding: chunked"), b"1\r\na\r\n" * 2_000)
    assert answer.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("pieces", "status"),
    [
        ([], b""),
        ([b"GET /healthz HTT"], b"HTTP/1.1 408 "),
        ([GET, b"GET /hea"], b"HTTP/1.1 200 "),
    ],
)
async def test_a_head_that_does_not_come_ends_its_connection(
    connect: Connect, pieces: list[bytes], status: bytes
) -> None:
    began = time.monotonic()
    answer = await answer_to(connect, *pieces)
    assert answer.startswith(status)
    assert time.monotonic() - began < 5


async def test_a_head_that_comes_byte_by_byte_ends_all_the_same(connect: Connect) -> None:
    async with opened(connect) as (reader, writer):

        async def dribble() -> None:
            for byte in GET * 10:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.1)

        dribbling = asyncio.create_task(dribble())
        async with asyncio.timeout(5):
            assert (await reader.readline()).startswith(b"HTTP/1.1 408 ")
        dribbling.cancel()
        await asyncio.gather(dribbling, return_exceptions=True)


async def test_a_body_that_does_not_come_is_408_and_its_connection_ends(connect: Connect) -> None:
    answer = await answer_to(connect, head("Content-Type: application/json", "Content-Length: 1000"), b'{"query": ')
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"code": "request_timeout"' in answer


async def test_a_response_that_nobody_reads_ends_its_connection(
    serve_with: Callable[[Settings], Awaitable[Connect]],
) -> None:
    connect = await serve_with(Settings(embedder="hashing", response_timeout_seconds=1.0))
    text = b'{"content": "' + b"x" * 1_000_000 + b'"}'
    path = b"/api/v1/agents/wren/files/big.md"
    async with opened(connect) as (reader, writer):
        writer.write(
            b"PUT %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
            % (path, len(text), text)
        )
        assert (await reader.readline()).startswith(b"HTTP/1.1 201 ")
    request = b"GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n" % path
    async with opened(connect) as (_, writer), asyncio.timeout(20):
        # The client's buffers hold some answers; then nobody reads on.
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(request)
                await writer.drain()
                await asyncio.sleep(0.05)


async def test_over_the_limit_of_connections_those_that_wait_for_nothing_make_room(connect: Connect) -> None:
    async with AsyncExitStack() as stack:
        idle = []
        for _ in range(40):
            reader, _ = await stack.enter_async_context(opened(connect))
            idle.append(reader)
        reader, writer = await stack.enter_async_context(opened(connect))
        writer.write(GET)
        async with asyncio.timeout(5):
            assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
            assert await idle[0].read() == b"", "the oldest is gone"


async def test_bodies_that_do_not_come_make_room_too(connect: Connect) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(16):
            _, writer = await stack.enter_async_context(opened(connect))
            writer.write(head("Content-Type: application/json", "Content-Length: 1000"))
            await writer.drain()
        await asyncio.sleep(0.1)
        assert (await answer_to(connect, GET.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))).startswith(
            b"HTTP/1.1 200 "
        )


async def test_who_still_sends_a_body_sees_why_it_is_refused(connect: Connect) -> None:
    async with opened(connect) as (reader, writer):
        writer.write(head("Content-Type: application/json", "Content-Length: 1000000000"))
        for _ in range(64):
            writer.write(b" " * 65_536)
            await writer.drain()
        async with asyncio.timeout(10):
            assert (await reader.readline()).startswith(b"HTTP/1.1 413 ")


async def test_a_client_that_asks_before_it_sends_its_body_is_not_late_while_it_waits_for_its_turn(
    serve_with: Callable[[Settings], Awaitable[Connect]], database: Database
) -> None:
    settings = Settings(embedder="hashing", max_in_flight=1, max_answer_seconds=20.0, body_timeout_seconds=1.0)
    connect = await serve_with(settings)
    body = b'{"content": "The lantern."}'
    asks = b"PUT /api/v1/agents/wren/files/%d.md HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    asks += b"Content-Length: %d\r\n%s\r\n"
    async with opened(connect) as (first, working), opened(connect) as (second, waiting), asyncio.timeout(30):
        async with database.maintenance() as connection:
            await connection.execute("LOCK TABLE slices IN ACCESS EXCLUSIVE MODE")
            working.write(asks % (1, len(body), b"") + body)
            await asyncio.sleep(0.3)
            waiting.write(asks % (2, len(body), b"Expect: 100-continue\r\n"))
            await asyncio.sleep(2.5)
        assert (await second.readline()) == b"HTTP/1.1 100 Continue\r\n"
        waiting.write(body)
        assert (await first.readline()).startswith(b"HTTP/1.1 201 ")
        assert (await second.readuntil(b"HTTP/1.1 201 ")).count(b"HTTP/1.1") == 1


async def test_while_a_server_runs_what_was_loaded_before_is_left_out_of_the_garbage_collectors_rounds(
    connect: Connect,
) -> None:
    assert (await answer_to(connect, GET)).startswith(b"HTTP/1.1 200 ")
    assert gc.get_freeze_count() > 50_000
