"""The primary of a small cluster of Patroni dies while people write; the short form, which measures no times."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.chaos.kept import check_messages
from tests.chaos.supervised import Program
from tests.clusters import cluster_directory
from tests.conftest import PLAIN
from tests.consistency import assert_index_consistent
from tests.ha.load import Load, check_files
from tests.ha.patroni import HANGS_SECONDS, Patroni, program

pytestmark = pytest.mark.ha
# Acknowledged writes before and after.
ENOUGH = 30


@pytest.fixture
def patroni() -> Iterator[Patroni]:
    """A primary, and the standby without which it acknowledges nothing."""
    for name in ("etcd", "patroni"):
        program(name)
    with cluster_directory() as directory:
        cluster = Patroni(directory, ("a", "b"))
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture
def agent_url(patroni: Patroni, tmp_path: Path) -> Iterator[str]:
    """An agent of a server that knows both nodes."""
    settings = {"REVERIE_DATABASE_URL": patroni.url, "REVERIE_DATA_DIR": str(tmp_path), "REVERIE_STALL_SECONDS": "60"}
    server = Program("serve", "--no-worker", "--port", "0", module="reverie_server.cli.main", **settings)
    try:
        server.until(lambda: any("listens on" in line for line in server.lines), HANGS_SECONDS)
        yield f"{server.url()}/api/v1/agents/wren/"
    finally:
        server.stop()


async def test_nothing_acknowledged_is_lost_or_doubled_when_the_primary_dies(patroni: Patroni, agent_url: str) -> None:
    load = Load(agent_url)
    running = asyncio.create_task(load.run())
    try:
        async with asyncio.timeout(HANGS_SECONDS):
            await load.reached(ENOUGH)
        await asyncio.to_thread(patroni.until_whole)
        dead = await asyncio.to_thread(patroni.kill_primary)
        acknowledged = len(load.acknowledged_at)
        async with asyncio.timeout(HANGS_SECONDS):
            await load.reached(acknowledged + ENOUGH)
    finally:
        load.ends.set()
        async with asyncio.timeout(HANGS_SECONDS):
            await running
    assert patroni.primary() is not dead
    assert load.wrong == []
    async with httpx.AsyncClient(base_url=agent_url, timeout=HANGS_SECONDS, verify=PLAIN) as http:
        await check_messages(http, load.messages)
        await check_files(http, load.files)
    await asyncio.to_thread(assert_index_consistent, patroni.superuser_url)
