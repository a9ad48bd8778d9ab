"""The tests' own guard: what changes an index without the next revision of its slice fails."""

from __future__ import annotations

import psycopg
import pytest

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline

PLACE = Place("default", "wren", "personal", "user:1")
CHANGES = (
    "UPDATE documents SET updated_at = updated_at + interval '1 day' WHERE path = 'a.md'",
    "UPDATE chunks SET ordinal = ordinal + 1",
    "DELETE FROM postings WHERE term = 'lantern'",
    "DELETE FROM vectors",
    "DELETE FROM documents WHERE path = 'a.md'",
)


async def write(pipeline: Pipeline, text: str = "The lantern is green.") -> None:
    await pipeline.write(PLACE, overwrite("a.md", text, by="test", reason="test"))


async def revision(database: Database) -> int:
    async with database.tenant("default") as connection:
        slices = await visible_slices(connection, "default", "wren", "user:1")
        return next(s.revision for s in slices if s.owner_key == "user:1")


@pytest.mark.parametrize("change", CHANGES)
async def test_a_change_without_a_revision_fails(database: Database, pipeline: Pipeline, change: str) -> None:
    await write(pipeline)
    with pytest.raises(psycopg.errors.RaiseException, match="without a revision"):
        async with database.maintenance() as connection:
            await connection.execute(change)  # type: ignore[arg-type]
    async with database.tenant("default") as connection:
        await lock_slice(connection, PLACE)
        await connection.execute(change)  # type: ignore[arg-type]


async def test_each_write_gives_a_slice_a_later_revision(database: Database, pipeline: Pipeline) -> None:
    await write(pipeline)
    first = await revision(database)
    await write(pipeline, "The lantern is blue.")
    assert await revision(database) > first
