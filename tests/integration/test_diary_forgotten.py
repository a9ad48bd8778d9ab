"""Forgetting reaches the diary, its archives and their versions, also where earlier releases cut a statement there."""

from __future__ import annotations

import pytest
from tests.consistency import assert_index_consistent
from tests.forgetting import forget_all
from tests.nights import nights
from tests.rows import leftovers
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.nights import diary
from reverie_server.runtime import Runtime

STATED = (
    "The safe in the cellar of the house at the end of the lane stands behind the shelf with the jars of last year, "
    "is opened by turning it three times to the left and then once to the right, and its combination is 48-17-93 now."
)
SAID = f"Please remember that t{STATED[1:]}"
HEADING = "## 2026-04-02 02:00 emergence: 1 of 7 candidates entered MEMORY.md (report 5f2c9a01d4b7e683)"


@pytest.mark.parametrize("path", [diary.PATH, diary.archive_path("2026-04")])
async def test_the_beginning_that_an_earlier_release_left_goes(runtime: Runtime, conninfo: str, path: str) -> None:
    talk = Talk(runtime)
    await talk.say(SAID, "I will.")
    entry = f"{HEADING}\n\nSeen: 7 notes\nConcluded: {STATED[:199]}…\nRewrote: MEMORY.md, which is new\n"
    await talk.put(path, f"# Dreams\n\n{entry}")
    await talk.put(path, f"# Dreams\n\n{HEADING}\n")
    await talk.put(path, f"# Dreams\n\n{entry}\nMy own words.\n")
    grant, place = await talk.grant()
    await forget_all(runtime, grant, place, text=SAID)
    assert leftovers(conninfo, "safe in the cellar") == leftovers(conninfo, "jars") == []
    written = (await runtime.workspace.present(place, [path]))[path][1]
    assert written == (f"# Dreams\n\n{HEADING}\n\nSeen: 7 notes\nRewrote: MEMORY.md, which is new\n\nMy own words.\n")
    assert_index_consistent(conninfo)


async def test_the_diary_has_whole_statements_and_loses_them(
    database: Database, models: ModelSlot, conninfo: str
) -> None:
    ada = await nights(database, models)
    await ada.ready(STATED)
    await ada.emerge()
    assert f"Concluded: {STATED}" in (await ada.text(diary.PATH) or "")
    talk = Talk(ada.runtime)
    grant, place = await talk.grant()
    await forget_all(ada.runtime, grant, place, text=STATED)
    assert leftovers(conninfo, "safe in the cellar") == []
