"""A program dies by SIGKILL between a counted write and its job, or while it writes SOUL.md: all is there, or none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.chaos.test_crash_inside import die
from tests.consistency import assert_index_consistent
from tests.embedders import MoodyEmbedder, filled_slot
from tests.facts import read_facts
from tests.jobs import jobs_of
from tests.scripted_model import ScriptedModel, says_json
from tests.talks import Talk

from reverie_indexer.database.database import Database
from reverie_server.app.wiring import assemble
from reverie_server.jobs.model import Work
from reverie_server.settings.server import Settings

LINE = "I keep my answers short and to the point, as it is liked here."


async def talk_of(database: Database, **settings: Any) -> Talk:
    slot = await filled_slot(database, MoodyEmbedder(64))
    return Talk(assemble(Settings(embedder="hashing", **settings), database, slot))


async def counted(database: Database) -> int:
    async with database.maintenance() as connection:
        query = "SELECT memory_writes FROM slices WHERE owner_key IS NOT NULL AND NOT past"
        [row] = await (await connection.execute(query)).fetchall()
    return int(row["memory_writes"])


@pytest.mark.parametrize("instant", ["soul_due.count", pytest.param("deferring.defer", marks=pytest.mark.slow)])
async def test_the_twentieth_write_that_dies_is_not_there_and_not_counted(
    database: Database, conninfo: str, instant: str
) -> None:
    talk = await talk_of(database)
    for number in range(19):
        await talk.put(f"notes/{number}.md", f"Note {number}.\n")
    await die(conninfo, "note", instant)
    assert await counted(database) == 19
    assert "soul" not in [job["stage"] for job in await jobs_of(database)]
    assert_index_consistent(conninfo)
    await talk.put("notes/last.md", "The last note.\n")
    assert await counted(database) == 0
    assert [job["stage"] for job in await jobs_of(database)] == ["soul"]


@pytest.mark.parametrize("instant", ["store.add_version", "record.record", "reports.add"])
async def test_a_soul_that_dies_is_not_there_and_is_written_once_the_next_time(
    database: Database, conninfo: str, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch, instant: str
) -> None:
    talk = await talk_of(database, llm_base_url=scripted.base_url, llm_model="scripted")
    await talk.put("MEMORY.md", "# Long-term Memory\n\n## Preferences\n\n- I prefer short answers.\n")
    await read_facts(talk)
    scripted.script = lambda _: says_json({"lines": [{"text": LINE, "facts": [1]}]})
    monkeypatch.setenv("SOUL_MODEL", scripted.base_url)
    await die(conninfo, "soul", instant)
    place = (await talk.grant())[1]
    assert await talk.runtime.workspace.present(place, ["SOUL.md"]) == {}
    assert await talk.runtime.consolidation.reports.page(place, before=None, limit=5) == []
    assert_index_consistent(conninfo)
    outcome = await talk.runtime.consolidation.stages["soul"].run(Work("soul", "default", "wren", talk.owner_key))
    assert outcome.status == "completed"
    found = await talk.runtime.workspace.present(place, ["SOUL.md"])
    assert (found["SOUL.md"][1], found["SOUL.md"][0].version) == (f"# Who I am\n\n- {LINE}\n", 1)
    assert len(await talk.runtime.consolidation.reports.page(place, before=None, limit=5)) == 1
    assert_index_consistent(conninfo)
    assert talk.runtime.llm is not None
    await talk.runtime.llm.aclose()
