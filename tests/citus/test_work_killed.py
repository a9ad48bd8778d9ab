"""Nodes and workers are killed while jobs run and while something is forgotten: each job is done once, and what was
forgotten is forgotten as a whole."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from tests.citus.failures import node_of, prepared, wait_until
from tests.citus.memories import Tenant, tenants
from tests.citus.nodes import Nodes
from tests.citus.writers import Writer

NAMES = ("acme", "birch")
SECRET = "The word of the vault is osprey77."
WAITING = """
SELECT count(*) FROM procrastinate_jobs WHERE task_name = 'episodic' AND status IN ('todo', 'doing')"""
FAILED = "SELECT task_name FROM procrastinate_jobs WHERE status = 'failed'"
SUMMARISED = """
SELECT s.tenant_id, s.session_id, count(e.episode_id), sum(e.through_seq - e.from_seq + 1)
FROM sessions s LEFT JOIN episodes e ON e.tenant_id = s.tenant_id AND e.session_key = s.session_key GROUP BY 1, 2"""
# Wherever the secret may be, of a tenant.
LEFT = """
SELECT (SELECT count(*) FROM versions WHERE tenant_id = %(tenant)s AND content LIKE '%%osprey77%%')
     + (SELECT count(*) FROM chunks WHERE tenant_id = %(tenant)s AND text LIKE '%%osprey77%%')
     + (SELECT count(*) FROM messages WHERE tenant_id = %(tenant)s AND content LIKE '%%osprey77%%')
     + (SELECT count(*) FROM postings WHERE tenant_id = %(tenant)s AND term = 'osprey77')"""


@contextmanager
def worker(conninfo: str, directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker of its own, killed in the end where it was not before."""
    given = {name: value for name, value in os.environ.items() if not name.startswith("REVERIE_")}
    settings = {
        "DATABASE_URL": conninfo,
        "DATA_DIR": str(directory),
        "EMBEDDER": "none",
        "JOB_RETRY_SECONDS": "0.5",
        "WORKER_POLL_SECONDS": "0.5",
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "reverie_server.cli.main", "worker"],
        env={**given, **{f"REVERIE_{name}": value for name, value in settings.items()}},
        stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def rows(conninfo: str, statement: str) -> list[tuple[object, ...]]:
    """What an operator is answered, of all tenants."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        return connection.execute(statement.encode()).fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [1, 6])
async def test_each_session_is_summarised_once_whatever_is_killed(
    recovering: str, database_name: str, nodes: Nodes, tmp_path: Path, rounds: int
) -> None:
    chance = random.Random(rounds)
    assert {node_of(recovering, name) for name in NAMES} == {"east", "west"}
    async with tenants(recovering, tmp_path, NAMES) as (_, memories):
        writers = [Writer(tenant) for tenant in memories]
        ending = asyncio.Event()
        writing = asyncio.gather(*(writer.write(ending) for writer in writers))
        for _ in range(rounds):
            with worker(recovering, tmp_path):
                await asyncio.to_thread(
                    wait_until,
                    lambda: bool(rows(recovering, SUMMARISED + " HAVING count(e.episode_id) > 0")),
                    "it works",
                )
                for node in ("west", "coordinator"):
                    await asyncio.sleep(chance.uniform(0.5, 1.5))
                    await asyncio.to_thread(nodes.kill, node)
                    await asyncio.sleep(chance.uniform(0.0, 0.5))
                    await asyncio.to_thread(nodes.start, node)
                await asyncio.sleep(chance.uniform(0.5, 1.5))
            # It was killed in the middle of its jobs, which the next one takes over.
        ending.set()
        await writing
        await asyncio.to_thread(
            wait_until, lambda: not any(prepared(nodes, database_name).values()), "Citus ends what is prepared"
        )
        with worker(recovering, tmp_path):
            await asyncio.to_thread(wait_until, lambda: rows(recovering, WAITING) == [(0,)], "no session waits")
        assert rows(recovering, FAILED) == []
        assert sorted(rows(recovering, SUMMARISED)) == sorted(
            (writer.tenant.name, session, 1, 1) for writer in writers for session in writer.said
        )


@pytest.mark.parametrize("kills", [2, pytest.param(12, marks=pytest.mark.slow)])
async def test_what_was_being_forgotten_is_there_as_a_whole_or_gone(
    recovering: str, database_name: str, nodes: Nodes, tmp_path: Path, kills: int
) -> None:
    node = node_of(recovering, "acme")
    chance = random.Random(kills)
    async with tenants(recovering, tmp_path, NAMES) as (_, [acme, birch]):
        await say_it(birch)
        for number in range(kills):
            await say_it(acme)
            whole = left(recovering, "acme")
            assert whole > 3
            forgetting = asyncio.create_task(acme.ask("POST", "memory/forget", text=SECRET, dry_run=False))
            await asyncio.sleep(chance.uniform(0.0, 0.3))
            victim = (node, "coordinator")[number % 2]
            await asyncio.to_thread(nodes.kill, victim)
            await asyncio.to_thread(nodes.start, victim)
            answer = await forgetting
            await asyncio.to_thread(
                wait_until, lambda: not any(prepared(nodes, database_name).values()), "Citus ends what is prepared"
            )
            assert answer.status_code in (200, 503)
            assert left(recovering, "acme") == (0 if answer.status_code == 200 else whole)
            await acme.do("POST", "memory/forget", text=SECRET, dry_run=False)
            assert left(recovering, "acme") == 0
        assert left(recovering, "birch") > 3


async def say_it(tenant: Tenant) -> None:
    """Put the secret into a file and a conversation."""
    await tenant.do("PUT", "files/vault.md", content=f"# Vault\n\n- {SECRET}\n- It is locked at night.\n")
    await tenant.do("POST", "sessions/web:1/messages", messages=[{"role": "user", "content": SECRET}])


def left(conninfo: str, tenant: str) -> int:
    """In how many rows the secret of a tenant is."""
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        [count] = connection.execute(LEFT.encode(), {"tenant": tenant}).fetchone() or (-1,)
    return int(count)
