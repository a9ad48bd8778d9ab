"""Keyword search reads the files of the reader's slices by their indexes, and no others, as the unprivileged role."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.file_rules import BACKUP
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.analyse import IGNORED
from reverie_server.files import keyword_search as keyword_module

FILES = 12


async def plan_of(database: Database) -> list[dict[str, Any]]:
    """The nodes of the candidates' plan for one owner."""
    async with database.tenant("default", snapshot=True) as connection:
        own = await visible_slices(connection, "default", "wren", "user:1")
        params = {
            "tenant_id": "default",
            "slice_ids": [s.slice_id for s in own],
            "ranks": [0 if s.owner_key else 1 for s in own],
            "hidden_paths": [],
            "backup_pattern": BACKUP,
            "ignored": IGNORED,
            "any_pattern": "[lL]antern|[fF]lour",
            "patterns": ["[lL]antern", "[fF]lour"],
            "sizes": [1, 1],
        }
        return list(nodes(await explained(connection, keyword_module.SQL["candidates"], params)))


@pytest.mark.parametrize("with_statistics", [False, True])
async def test_only_the_readers_files_are_read(
    database: Database, pipeline: Pipeline, conninfo: str, with_statistics: bool
) -> None:
    for number in range(40):
        place = Place("default" if number % 2 else "other", f"agent-{number}", "team")
        await pipeline.write(place, overwrite("notes.md", f"Flour {number}", by="test", reason="test"))
    mine = [overwrite(f"notes/{n}.md", f"Flour {n}", by="test", reason="test") for n in range(FILES)]
    await pipeline.write_many(Place("default", "wren", "personal", "user:1"), mine)
    if with_statistics:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    nodes = await plan_of(database)
    scans = {node["Relation Name"]: node for node in nodes if "Relation Name" in node}
    assert {name: node["Node Type"] for name, node in scans.items()} == {
        "documents": "Index Scan",
        "versions": "Index Scan",
    }
    # The seeds of the team's slice are read too.
    read = {name: node["Actual Rows"] * node["Actual Loops"] for name, node in scans.items()}
    assert FILES < read["documents"] <= FILES + 4
    assert read["versions"] == read["documents"]
