"""A damaged page: a typed error where it is needed, everything else goes on, and `doctor` says what to do."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from tests.clusters import cluster_directory
from tests.conftest import PLAIN, ServeRuntime
from tests.releases.restore import restored

from reverie_indexer.database.damage import look_for_damage
from reverie_indexer.database.database import Database
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings

PAGE = 8192


@pytest.fixture
def home() -> Iterator[Path]:
    with cluster_directory() as directory:
        yield directory / "home"


@asynccontextmanager
async def served(home: Path, serve: ServeRuntime) -> AsyncIterator[tuple[str, httpx.AsyncClient]]:
    async def load() -> HashingEmbedder:
        return HashingEmbedder(16)

    server = EmbeddedPostgres(home, options={"autovacuum": "off"})
    conninfo = await asyncio.to_thread(server.start)
    try:
        await prepare_database(conninfo)
        async with Database(conninfo) as database:
            slot = ModelSlot(load)
            await slot.fill(database)
            runtime = assemble(Settings(embedder="hashing"), database, slot)
            base_url = await serve(runtime)
            async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=PLAIN) as client:
                yield conninfo, client
            await slot.aclose()
            await runtime.compactions.aclose()
    finally:
        await asyncio.to_thread(server.stop)


def file_of(conninfo: str, home: Path, relation: str) -> Path:
    with psycopg.connect(conninfo) as connection:
        row = connection.execute("SELECT pg_relation_filepath(%s::regclass)", (relation,)).fetchone()
    assert row is not None
    return home / "postgres" / str(row[0])


def damage(path: Path, block: int) -> None:
    """Bytes in the middle of a page are others than were written."""
    with path.open("r+b") as file:
        file.seek(block * PAGE + PAGE // 2)
        held = file.read(64)
        file.seek(block * PAGE + PAGE // 2)
        file.write(bytes(byte ^ 0xFF for byte in held))


async def write(client: httpx.AsyncClient, agent: str) -> None:
    for number in range(4):
        parts = [f"## Part {part}\n\nThe lantern {part} of {agent}. " + "harbour " * 60 for part in range(20)]
        path = f"/api/v1/agents/{agent}/files/notes/{number}.md"
        assert (await client.put(path, json={"content": "\n\n".join(parts)})).status_code == 201


async def search(client: httpx.AsyncClient, agent: str) -> httpx.Response:
    return await client.post(f"/api/v1/agents/{agent}/memory/search", json={"query": "lantern", "max_results": 50})


async def test_pages_have_checksums(home: Path) -> None:
    with EmbeddedPostgres(home) as server, psycopg.connect(server.start()) as connection:
        assert connection.execute("SHOW data_checksums").fetchone() == ("on",)


@pytest.mark.parametrize("table", ["chunks", "documents", "postings_pkey"])
async def test_a_damaged_page_is_a_typed_error_for_whom_it_concerns(
    home: Path, table: str, serve_runtime: ServeRuntime
) -> None:
    async with served(home, serve_runtime) as (conninfo, client):
        await write(client, "wren")
        await write(client, "finch")
        path = file_of(conninfo, home, table)
    # The first page of a table is wren's; of the index all are damaged but the one that says where its root is.
    for block in range(1, path.stat().st_size // PAGE) if table.endswith("_pkey") else [0]:
        damage(path, block)
    async with served(home, serve_runtime) as (conninfo, client):
        answers = [
            await search(client, "wren"),
            await client.post("/api/v1/agents/wren/memory/reindex", json={}),
            await client.get("/api/v1/agents/wren/files/notes/1.md"),
        ]
        assert all(answer.status_code in (200, 202, 500) for answer in answers)
        damaged = [answer.json() for answer in answers if answer.status_code == 500]
        assert damaged
        assert {body["code"] for body in damaged} == {"data_damaged"}
        for body in damaged:
            for inner in ("SELECT", "block", "base/", table, str(home)):
                assert inner not in body["detail"]
        inject = await client.post("/api/v1/agents/wren/memory/inject", json={"message": "where is the lantern?"})
        assert inject.status_code == 200
        if table == "chunks":
            other = await search(client, "finch")
            assert other.status_code == 200, other.text
            assert other.json()["results"]
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "reverie doctor" in ready.json()["reasons"][0]

        report = await look_for_damage(conninfo)
        assert report.by_checkers
        assert report.left_out == []
        assert len(report.damaged) == 1
        if table.endswith("_pkey"):
            assert f"REINDEX INDEX {table}" in report.damaged[0]
            with psycopg.connect(conninfo, autocommit=True) as connection:
                connection.execute(f"REINDEX INDEX {table}".encode())
            assert (await look_for_damage(conninfo)).damaged == []
            assert (await search(client, "wren")).status_code == 200
        else:
            assert report.damaged[0].startswith(f"the table {table} is damaged")
            assert "restore a backup" in report.damaged[0]


@pytest.mark.parametrize("table", ["chunks", "documents", "versions"])
async def test_a_page_of_zeros_which_postgresql_takes_for_an_empty_one_is_found(
    home: Path, table: str, serve_runtime: ServeRuntime
) -> None:
    async with served(home, serve_runtime) as (conninfo, client):
        await write(client, "wren")
        path = file_of(conninfo, home, table)
    with path.open("r+b") as file:
        file.write(bytes(PAGE))
    with EmbeddedPostgres(home) as server:
        report = await look_for_damage(server.start())
    assert any(sentence.startswith(f"the table {table} has lost rows") for sentence in report.damaged)


async def test_what_is_written_forgotten_and_deleted_is_counted_rightly(
    home: Path, serve_runtime: ServeRuntime
) -> None:
    async with served(home, serve_runtime) as (conninfo, client):
        await write(client, "wren")
        files, session = "/api/v1/agents/wren/files/notes", "/api/v1/agents/wren/sessions/web:1"
        messages = [{"role": "user", "content": f"the lantern {number} is blue"} for number in range(6)]
        assert (await client.post(f"{session}/messages", json={"messages": messages})).status_code < 300
        assert (await client.delete(f"{files}/1.md")).status_code < 300
        assert (await client.put(f"{files}/2.md", json={"content": "The harbour is closed."})).status_code < 300
        forgotten = {"text": "the lantern 3 is blue", "dry_run": False}
        assert (await client.post("/api/v1/agents/wren/memory/forget", json=forgotten)).status_code == 200
        assert (await client.post(f"{session}/compact", json={})).status_code < 300
        assert (await look_for_damage(conninfo)).damaged == []
        assert (await client.delete(f"{session}/messages")).status_code < 300
        assert (await look_for_damage(conninfo)).damaged == []


async def test_a_damaged_page_of_long_values_and_of_an_index_over_vectors_is_found(
    home: Path, serve_runtime: ServeRuntime
) -> None:
    async with served(home, serve_runtime) as (conninfo, client):
        # Nothing that gets shorter when it is compressed, so that it goes out of line.
        long = "\n".join(secrets.token_hex(40) for _ in range(400))
        assert (await client.put("/api/v1/agents/wren/files/long.txt", json={"content": long})).status_code == 201
        await write(client, "wren")
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(
                "CREATE INDEX by_meaning ON vectors_0 USING hnsw ((embedding::halfvec(16)) halfvec_l2_ops)"
            )
            row = connection.execute("SELECT reltoastrelid::regclass::text FROM pg_class WHERE relname = 'versions'")
            [long_values] = row.fetchone() or ()
        paths = [file_of(conninfo, home, name) for name in (str(long_values), "by_meaning")]
        report = await look_for_damage(conninfo)
        assert (report.damaged, report.left_out) == ([], [])
    for path in paths:
        damage(path, 0 if path == paths[0] else path.stat().st_size // PAGE - 1)
    async with served(home, serve_runtime) as (conninfo, client):
        answer = await client.get("/api/v1/agents/wren/files/long.txt")
        assert (answer.status_code, answer.json()["code"]) == (500, "data_damaged")
        found = " ".join((await look_for_damage(conninfo)).damaged)
        assert "the table versions is damaged" in found
        assert "REINDEX INDEX by_meaning" in found


async def test_a_file_of_a_table_that_is_gone_is_found(home: Path, serve_runtime: ServeRuntime) -> None:
    async with served(home, serve_runtime) as (conninfo, client):
        await write(client, "wren")
        path = file_of(conninfo, home, "chunks")
    path.unlink()
    async with served(home, serve_runtime) as (conninfo, client):
        answer = await search(client, "wren")
        assert (answer.status_code, answer.json()["code"]) == (500, "data_damaged")
        assert str(path.name) not in answer.text
        assert any("the table chunks is damaged" in each for each in (await look_for_damage(conninfo)).damaged)


async def test_looking_finds_nothing_where_nothing_is_wrong_and_leaves_nothing_behind(conninfo: str) -> None:
    report = await look_for_damage(conninfo)
    assert (report.damaged, report.left_out, report.by_checkers) == ([], [], True)
    assert report.checked > 100
    with psycopg.connect(conninfo) as connection:
        assert connection.execute("SELECT FROM pg_extension WHERE extname = 'amcheck'").fetchone() is None


async def test_looking_ends_in_time_and_says_what_it_left_out(conninfo: str) -> None:
    report = await look_for_damage(conninfo, max_seconds=0)
    assert (report.checked, report.damaged) == (0, [])
    assert "chunks" in report.left_out


async def test_a_login_without_the_checker_reads_the_tables(server_conninfo: str, template_database: str) -> None:
    name = f"login_{secrets.token_hex(6)}"
    with psycopg.connect(server_conninfo, autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN NOSUPERUSER PASSWORD 'x' IN ROLE reverie_app".encode())
        try:
            with restored(server_conninfo, "0.1.0", owner=name) as conninfo:
                own = make_conninfo(conninfo, user=name, password="x")
                await prepare_database(own)
                report = await look_for_damage(own)
                assert (report.by_checkers, report.damaged) == (False, [])
                assert report.checked > 20
                assert "postings_pkey" in report.left_out
        finally:
            admin.execute(f"DROP ROLE {name}".encode())
