"""A hundred tenants over all shards: each finds and reads its own texts, and never another's."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path

import psycopg
from tests.citus.memories import Tenant, tenants

NAMES = tuple(f"tenant{number:02}" for number in range(100))
AT_ONCE = 6
SHARDS = """
SELECT (SELECT count(*) FROM citus_shards WHERE table_name = 'chunks'::regclass),
       count(DISTINCT get_shard_id_for_distribution_column('chunks', name))
FROM unnest(%s::text[]) AS n (name)"""


def mark_of(name: str) -> str:
    """A word that is in the texts of one tenant alone."""
    return f"canary{sha256(name.encode()).hexdigest()[:12]}"


def marks(text: str) -> set[str]:
    """The marks in an answer."""
    return set(re.findall(r"canary[0-9a-f]{12}", text))


async def for_each(memories: list[Tenant], do: Callable[[Tenant], Awaitable[None]]) -> None:
    """Do something for each tenant, a few at once, so that connections pass from one to the next."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(tenant: Tenant) -> None:
        async with room:
            await do(tenant)

    await asyncio.gather(*(one(tenant) for tenant in memories))


async def test_no_tenant_of_a_hundred_is_shown_what_is_anothers(distributed: str, tmp_path: Path) -> None:
    with psycopg.connect(distributed) as connection:
        [shards, used] = connection.execute(SHARDS.encode(), [list(NAMES)]).fetchone() or (0, 1)
    assert shards == used > 1

    async def write(tenant: Tenant) -> None:
        mark = mark_of(tenant.name)
        note = (
            f"# Notes\n\n- The heron keeps its lantern in the boathouse, {mark}.\n- The locker code is {mark} 4471.\n"
        )
        await tenant.do("PUT", "files/notes.md", content=note)
        messages = [{"role": "user", "content": f"I live in Bergen, and my word is {mark}."}]
        await tenant.do("POST", "sessions/web:1/messages", messages=messages)

    async def read(tenant: Tenant) -> None:
        mine = {mark_of(tenant.name)}
        for path, body in (
            ("memory/search", {"query": "Where does the heron keep its lantern?", "max_results": 50}),
            ("memory/search", {"query": "locker code", "max_results": 50}),
            ("context", {"message": "Where is the heron's lantern?", "session_id": "web:1"}),
        ):
            answer = await tenant.ask("POST", path, **body)
            assert (answer.status_code, marks(answer.text)) == (200, mine), (tenant.name, path, answer.text)
        for path in ("files/notes.md", "sessions/web:1/messages"):
            assert marks((await tenant.ask("GET", path)).text) == mine, (tenant.name, path)
        # The next one's word, asked for by name: the answer has what was asked at most.
        others = NAMES[(NAMES.index(tenant.name) + 1) % len(NAMES)]
        found = await tenant.ask("POST", "memory/search", query=mark_of(others), max_results=50)
        assert found.status_code == 200
        assert marks("\n".join(result["text"] for result in found.json()["results"])) <= mine, tenant.name

    async with tenants(distributed, tmp_path, NAMES) as (_, memories):
        await for_each(memories, write)
        await for_each(memories, read)
