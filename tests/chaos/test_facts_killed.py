"""A program dies by SIGKILL in the middle of reading facts: none is there, and the next run reads each once."""

from __future__ import annotations

import pytest
from tests.chaos.test_crash_inside import die
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot
from tests.facts import read_facts, rows
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings


@pytest.mark.parametrize(
    "instant",
    ["facts_store.add_sources", "facts_settle.set_chunks"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            "facts_store.mark_session",
            "facts_store.upsert",
            "facts_store.add_sentences",
            "facts_settle.write",
        )
    ],
)
async def test_a_reading_of_facts_that_dies_has_read_nothing_and_reads_each_once_the_next_time(
    database: Database, conninfo: str, instant: str
) -> None:
    slot = await filled_slot(database, MoodyEmbedder(64))
    talk = Talk(assemble(Settings(embedder="hashing"), database, slot))
    await talk.say("I live in Oslo.", "I see.", "My boss is Petra Lindqvist.", "I see.", "I moved to Malmö.")
    await die(conninfo, "facts", instant)
    assert [await rows(talk, table) for table in ("facts", "fact_sources", "fact_sentences", "chunks")] == [[]] * 4
    async with database.maintenance() as connection:
        [session] = await (await connection.execute("SELECT facts_through FROM sessions")).fetchall()
    assert session["facts_through"] == 0
    assert_index_consistent(conninfo)
    for _ in range(2):
        await read_facts(talk)
        found = {row["object"]: row["state"] for row in await rows(talk)}
        assert found == {"Oslo": "superseded", "Petra Lindqvist": "current", "Malmö": "current"}
        assert len(await rows(talk, "fact_sources")) == len(await rows(talk, "chunks")) == 3
    assert_index_consistent(conninfo)
