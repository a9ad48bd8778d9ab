"""A turn's prompt reads the files that go into it by their indexes, however many others there are."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes
from tests.talks import ADA, Talk

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.model import Place
from reverie_server.prompt import context_files
from reverie_server.runtime import Runtime

DISABLED, SESSIONS = 60, 10


async def plan_of(database: Database) -> tuple[list[dict[str, Any]], int]:
    """The nodes of the plan for one owner, and how many files it gives."""
    async with database.tenant("default", snapshot=True) as connection:
        await visible_slices(connection, "default", "wren", ADA)
        params = {
            "tenant_id": "default",
            "paths": ["MEMORY.md", "memory.md"],
            "notes_from": "memory/2026-04-02",
            "notes_to": "memory/2026-04-03/",
        }
        found = await (await connection.execute(context_files.SQL["prompt_files"], params)).fetchall()
        plan = await explained(connection, context_files.SQL["prompt_files"], params)
    return list(nodes(plan)), len(found)


@pytest.mark.parametrize("with_statistics", [False, True])
async def test_only_what_goes_into_the_prompt_is_read(
    runtime: Runtime, database: Database, conninfo: str, with_statistics: bool
) -> None:
    mine = Place("default", "wren", "personal", ADA)
    changes = [overwrite(f"notes/{n}.md", f"Flour {n}", by="test", reason="test") for n in range(DISABLED)]
    changes += [overwrite("memory/2026-04-03.md", "A note.", by="test", reason="test")]
    changes += [overwrite("house.md", "A house.", by="test", reason="test", enabled=True)]
    await runtime.pipeline.write_many(mine, changes)
    for number in range(SESSIONS):
        await Talk(runtime, f"web:{number}").chat(1)
    if with_statistics:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    nodes, count = await plan_of(database)
    assert count == 6, "four seeds, a note and a house"
    scans = [node for node in nodes if node.get("Relation Name") in ("documents", "versions")]
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan"}
    read = [node["Actual Rows"] * node["Actual Loops"] + node.get("Rows Removed by Filter", 0) for node in scans]
    assert max(read) <= count
