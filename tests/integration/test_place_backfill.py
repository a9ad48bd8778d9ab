"""A back-fill of one place leaves the backlog of others to the server."""

import psycopg

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model import Place
from reverie_indexer.model_slot import ModelSlot
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.text.passages import Rules


async def test_a_place_is_embedded_and_others_wait(
    database: Database, models: ModelSlot, pipeline: Pipeline, conninfo: str
) -> None:
    without = Pipeline(database, ModelSlot(None), Rules())
    for agent in ("wren", "crow"):
        place = Place("default", agent, "team")
        await without.write(place, overwrite("a.md", f"lantern of {agent}", by="test", reason="test"))
    while await pipeline.backfill(place=Place("default", "wren", "team")):
        pass
    with psycopg.connect(conninfo) as connection:
        waiting = connection.execute(
            "SELECT DISTINCT s.agent_id FROM chunks c JOIN slices s USING (tenant_id, slice_id) WHERE NOT c.embedded"
        ).fetchall()
    assert waiting == [("crow",)]
