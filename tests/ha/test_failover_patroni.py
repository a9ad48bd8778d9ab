"""The primary is lost, frozen, or changed in good order, under load: what was acknowledged is there, and once."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from tests.chaos.kept import check_conversations
from tests.chaos.supervised import Program
from tests.clusters import cluster_directory
from tests.conftest import PLAIN
from tests.consistency import assert_index_consistent
from tests.ha.load import Load, check_files
from tests.ha.patroni import Patroni, program

pytestmark = [pytest.mark.ha, pytest.mark.slow]
# What Reverie may take, on top of the time in which Patroni makes a primary.
MARGIN_SECONDS = 15.0
FROZEN_SECONDS = 30.0
# Acknowledged writes before and after.
ENOUGH = 60


@pytest.fixture(scope="module")
def patroni() -> Iterator[Patroni]:
    """A cluster with all its nodes."""
    for name in ("etcd", "patroni", "patronictl"):
        program(name)
    with cluster_directory() as directory:
        cluster = Patroni(directory)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.stop()


@pytest.fixture
def server(patroni: Patroni, tmp_path: Path) -> Iterator[Program]:
    """A server of the cluster, with a worker in another program."""
    patroni.until_whole()
    settings = {
        "REVERIE_DATABASE_URL": patroni.url,
        "REVERIE_DATA_DIR": str(tmp_path),
        "REVERIE_STALL_SECONDS": "20",
    }
    with ExitStack() as stack:
        programs = []
        for arguments in (("serve", "--no-worker", "--port", "0"), ("worker",)):
            programs.append(Program(*arguments, module="reverie_server.cli.main", **settings))
            stack.callback(programs[-1].stop)
            programs[0].url()
        programs[1].until(lambda: programs[1].pid_of("worker"))
        yield programs[0]
        for each in programs:
            assert not any("Traceback" in line for line in each.lines), "\n".join(each.lines[-200:])


@dataclass
class Change:
    """When something happened to the primary, and when another node was it, on the monotonic clock."""

    began: float
    promoted: float | None = None


@asynccontextmanager
async def change_of_primary(patroni: Patroni) -> AsyncIterator[Change]:
    """Watch for the node that takes over from the present primary."""
    before = await asyncio.to_thread(patroni.primary)
    change = Change(time.monotonic())
    ended = asyncio.Event()

    async def watch() -> None:
        while change.promoted is None and not ended.is_set():
            for node in patroni.nodes:
                if node is not before and await asyncio.to_thread(node.leads):
                    change.promoted = time.monotonic()
            await asyncio.sleep(0.1)

    watching = asyncio.create_task(watch())
    try:
        yield change
    finally:
        ended.set()
        await watching


async def kill(patroni: Patroni) -> None:
    """The primary and its Patroni, as a machine that loses its power; it comes back when another is the primary."""
    node = await asyncio.to_thread(patroni.kill_primary)
    await asyncio.sleep(5)
    patroni.start_node(node)


async def freeze(patroni: Patroni) -> None:
    """The primary and its Patroni, as a machine that stands still for a while, and then thinks itself the primary."""
    node = patroni.primary()
    try:
        node.signal(signal.SIGSTOP)
        await asyncio.sleep(FROZEN_SECONDS)
    finally:
        node.signal(signal.SIGCONT)


async def switch_over(patroni: Patroni) -> None:
    await asyncio.to_thread(patroni.switch_over)


@pytest.mark.parametrize("happens", [kill, freeze, switch_over], ids=lambda each: each.__name__)
async def test_nothing_acknowledged_is_lost_or_doubled(
    patroni: Patroni, server: Program, happens: Callable[[Patroni], Awaitable[None]]
) -> None:
    name = happens.__name__
    agent_url = f"{server.url()}/api/v1/agents/{name.replace('_', '-')}/"
    load = Load(agent_url)
    running = asyncio.create_task(load.run())
    try:
        await load.reached(ENOUGH)
        async with change_of_primary(patroni) as change:
            await happens(patroni)
            await asyncio.to_thread(patroni.until_whole)
        await load.reached(len(load.acknowledged_at) + ENOUGH)
    finally:
        load.ends.set()
        await running
    stopped, accepted = load.pause(change.began)
    assert change.promoted is not None
    told = {
        "acknowledged": len(load.acknowledged_at),
        "answers": dict(load.answers),
        "promoted after": round(change.promoted - change.began, 1),
        "nothing accepted for": round(accepted - stopped, 1),
        "accepted after": round(accepted - change.began, 1),
        "slowest request": round(load.slowest_seconds, 1),
    }
    print(f"\n{name}: {told}")
    assert load.wrong == []
    assert stopped - change.began < MARGIN_SECONDS
    assert accepted - change.promoted < MARGIN_SECONDS
    async with httpx.AsyncClient(base_url=agent_url, timeout=60, verify=PLAIN) as http:
        await check_conversations(http, load.messages)
        await check_files(http, load.files)
    await asyncio.to_thread(assert_index_consistent, patroni.superuser_url)
