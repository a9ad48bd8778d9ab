"""A program dies by SIGKILL in the middle of compacting a session: no message is lost, and no note is doubled."""

from __future__ import annotations

import pytest
from tests.chaos.test_crash_inside import die
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot
from tests.talks import Talk, contents

from reverie_indexer.database.database import Database
from reverie_server.app.wiring import assemble
from reverie_server.settings.server import Settings

DECISION = "We decided to use PostgreSQL 17 for the kite project."
SAID = [DECISION, "Noted.", "asking", "answering"]


@pytest.mark.parametrize(
    "instant",
    ["remember", "store.add_version", "sessions.compact_session"]
    + [
        pytest.param(name, marks=pytest.mark.slow)
        for name in (
            "document_index.add_postings",
            "message_range.digest",
            "sessions.add_compaction",
            "sessions.drop_window_summary",
        )
    ],
)
async def test_a_compaction_that_dies_has_done_nothing_and_is_done_whole_the_next_time(
    database: Database, conninfo: str, instant: str
) -> None:
    slot = await filled_slot(database, MoodyEmbedder(64))
    talk = Talk(assemble(Settings(embedder="hashing"), database, slot))
    await talk.say(*SAID)
    before = await talk.session()
    await die(conninfo, "compact", instant)
    assert await talk.session() == before
    assert contents(await talk.live()) == SAID
    assert DECISION not in await talk.notes()
    assert_index_consistent(conninfo)
    done = await talk.compact()
    assert (done.removed, done.kept, done.flushed) == (2, 2, 1)
    assert contents(await talk.everything()) == SAID
    assert (await talk.notes()).count(DECISION) == 1
    assert (await talk.session()).compactions == 1
    assert_index_consistent(conninfo)
