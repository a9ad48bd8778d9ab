"""The disk of the database is full: writes are refused, reads go on, nothing that was acknowledged is lost.

As root the database is on a small disk of its own (tmpfs), which is really full. Where nothing can be mounted, a file
takes the space down to what the server is told to leave free: PostgreSQL itself then never meets the end.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.clusters import cluster_directory
from tests.conftest import PLAIN, ServeRuntime

from reverie_indexer.database.database import Database
from reverie_indexer.database.faults import Faults
from reverie_indexer.database.preparing import prepare_database
from reverie_indexer.embed.deterministic import HashingEmbedder
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.postgres.embedded import EmbeddedPostgres
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings

AS_ROOT = os.geteuid() == 0
MIB = 1 << 20


@pytest.fixture
def disk() -> Iterator[Path]:
    """A directory on a disk of 220 MiB, or where that cannot be had, on any disk."""
    with cluster_directory() as directory:
        mounted = directory / "disk"
        mounted.mkdir()
        if AS_ROOT:
            options = ["-o", "size=220m,mode=755"]
            done = subprocess.run(["mount", "-t", "tmpfs", *options, "tmpfs", mounted], check=False)
            # 32: nothing can be mounted here, as in most containers.
            assert done.returncode in (0, 32)
        try:
            yield mounted
        finally:
            if mounted.is_mount():
                subprocess.run(["umount", "-l", mounted], check=True)


def fill(disk: Path, leave: int) -> Path:
    """A file that leaves so many bytes free."""
    ballast = disk / "ballast"
    with suppress(OSError), ballast.open("wb") as file:
        while shutil.disk_usage(disk).free > leave:
            file.write(b"x" * min(MIB, shutil.disk_usage(disk).free - leave))
            file.flush()
    return ballast


@asynccontextmanager
async def served(disk: Path, serve: ServeRuntime, min_free: int) -> AsyncIterator[httpx.AsyncClient]:
    async def load() -> HashingEmbedder:
        return HashingEmbedder(16)

    server = EmbeddedPostgres(disk / "data", options={"autovacuum": "off", "shared_buffers": "16MB"})
    conninfo = await asyncio.to_thread(server.start)
    try:
        await prepare_database(conninfo)

        async def recover() -> None:
            await asyncio.to_thread(server.start)

        async with Database(conninfo, recover=recover, faults=Faults(disk / "data", min_free)) as database:
            slot = ModelSlot(load)
            await slot.fill(database)
            runtime = assemble(Settings(embedder="hashing"), database, slot)
            recording = asyncio.create_task(runtime.recalls.run())
            base_url = await serve(runtime)
            try:
                async with httpx.AsyncClient(base_url=base_url, timeout=30, verify=PLAIN) as client:
                    yield client
            finally:
                recording.cancel()
                await asyncio.gather(recording, return_exceptions=True)
            await slot.aclose()
            await runtime.compactions.aclose()
    finally:
        await asyncio.to_thread(server.stop)


async def put(client: httpx.AsyncClient, number: int) -> httpx.Response:
    content = f"The lantern {number} of the harbour.\n\n" * 200
    return await client.put(f"/api/v1/agents/wren/files/notes/{number}.md", json={"content": content})


async def search(client: httpx.AsyncClient) -> dict[str, Any]:
    response = await client.post("/api/v1/agents/wren/memory/search", json={"query": "lantern harbour"})
    assert response.status_code == 200, response.text
    return dict(response.json())


@pytest.mark.parametrize("guarded", [True, False], ids=["before the end", "at the end"])
async def test_a_full_disk_refuses_writes_and_nothing_else(
    disk: Path, serve_runtime: ServeRuntime, guarded: bool
) -> None:
    """Guarded by the space that is left free; and where another program took the last byte, by PostgreSQL's errors."""
    small = shutil.disk_usage(disk).total < 300 * MIB
    free = shutil.disk_usage(disk).free
    min_free = 32 * MIB if small else free - 160 * MIB
    async with served(disk, serve_runtime, min_free if guarded or not small else 0) as client:
        acknowledged = []
        for number in range(5):
            assert (await put(client, number)).status_code == 201
            acknowledged.append(number)
        assert (await client.get("/readyz")).json()["status"] == "ready"
        ballast = fill(disk, leave=0 if small and not guarded else min_free - 4 * MIB)
        await asyncio.sleep(0.6)
        refused = 0
        for number in range(100, 160):
            answer = await put(client, number)
            if answer.status_code == 201:
                # PostgreSQL had room of its own left.
                acknowledged.append(number)
                continue
            refused += 1
            assert (answer.status_code, answer.json()["code"]) == (503, "storage_full"), answer.text
            assert int(answer.headers["Retry-After"]) >= 5
            assert "SQL" not in answer.json()["detail"].replace("PostgreSQL", "")
            assert (await search(client))["results"]
        assert refused >= 30
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (200, "degraded")
        assert "disk of the database is full" in ready.json()["reasons"][0]
        session = "/api/v1/agents/wren/sessions/web:1/messages"
        messages = {"messages": [{"role": "user", "content": "hello"}]}
        assert (await client.post(session, json=messages)).json()["code"] == "storage_full"
        listed = await client.get("/api/v1/agents/wren/files")
        assert listed.status_code == 200

        ballast.unlink()
        async with asyncio.timeout(30):
            while (answer := await put(client, 999)).status_code != 201:
                assert answer.json()["code"] == "storage_full"
                await asyncio.sleep(0.25)
        assert (await client.get("/readyz")).json()["status"] == "ready"
        for number in acknowledged:
            found = await client.get(f"/api/v1/agents/wren/files/notes/{number}.md")
            assert found.status_code == 200, number
