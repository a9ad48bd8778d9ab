"""Emergence where MEMORY.md is full, without a model: what makes room for what is new, and what never does."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.facts import read_facts
from tests.nights import ADA, TEA, Nights, lines, nights
from tests.talks import Talk

from reverie_indexer.change import Change, overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.model_slot import ModelSlot
from reverie_server.jobs.model import Work, message_source
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance import record as derive
from reverie_server.provenance.record import Derived

MINE = "I never work on Fridays."
SAVED = "I keep the spare key under the green pot."
ASKED = "My locker at the pool has the number 4711."
VALUED = "My sister Nora lives in Porto."
OLD = [VALUED, *(f"The shelf number {n} of the barn holds tools of kind {n}." for n in range(150))]


@pytest.fixture
async def ada(database: Database, models: ModelSlot) -> Nights:
    return await nights(database, models)


async def test_what_the_server_wrote_and_is_worth_least_makes_room(ada: Nights) -> None:
    """*(Found)*: the oldest lines stood in every prompt for good, while the newest decisions aged out of the notes."""
    await ada.memory(f"# Long-term Memory\n\n## Notes\n\n- {MINE}\n")
    await ada.runtime.long_term.save(ada.place, SAVED, None, by="tool")
    await asked_to_remember(ada, ASKED)
    await add_by_server(ada, OLD)
    await vote_for(ada, VALUED)
    assert len(await ada.text("MEMORY.md") or "") > 8000
    await ada.ready()
    assert (await ada.emerge()).status == "completed"
    memory = lines(await ada.text("MEMORY.md"))
    assert {TEA, SAVED, ASKED, MINE, VALUED} <= set(memory)
    archived = lines(await ada.text("memory/archive/2026-04.md"))
    assert archived == OLD[1:3]
    assert set(memory) >= {*OLD} - {*archived}
    [report] = await ada.reports()
    assert f"-- {archived[0]}" in report.diff
    assert f"Left the memory for the archive: {archived[0]}" in (await ada.text("DREAMS.md") or "")


async def asked_to_remember(ada: Nights, text: str) -> None:
    """A user says so, long ago, and extraction keeps it."""
    ada.later(days=-200)
    talk = Talk(ada.runtime, owner_key=ADA, agent_id=ada.agent_id)
    await talk.say(f"Please remember this: {text}", "I will.")
    await ada.runtime.sessions.complete(talk.principal, talk.session_id, "api")
    await read_facts(talk)
    await ada.runtime.consolidation.stages["extraction"].run(Work("extraction", "default", ada.agent_id, ADA))
    ada.later(days=200)
    assert text in lines(await ada.text("MEMORY.md"))


async def add_by_server(ada: Nights, added: list[str]) -> None:
    """Lines of MEMORY.md that a stage wrote, each newer than the one before."""
    change = Change("MEMORY.md", lambda text: (text or "") + "".join(f"- {line}\n" for line in added), "server", "test")
    source = message_source("web:gone", [(1, None)])
    async with ada.runtime.pipeline.unit_of_work(ada.place, [change]) as unit:
        for number, line in enumerate(added):
            derived = Derived("MEMORY.md", [f"- {line}"], EXTRACTIVE, "emergence", [source])
            at = ada.at - timedelta(days=90) + timedelta(minutes=number)
            await derive.record(unit.connection, "default", unit.slice_.slice_id, [derived], at=at)


async def vote_for(ada: Nights, text: str) -> None:
    """Somebody says that what a line of the memory states is of use."""
    await read_facts(Talk(ada.runtime, owner_key=ADA, agent_id=ada.agent_id))
    async with ada.runtime.database.maintenance() as connection:
        await connection.execute("SET LOCAL reverie_checks.off = 'on'")
        await connection.execute("UPDATE facts SET helpful = 3 WHERE text = %(text)s", {"text": text})
        row = await (await connection.execute("SELECT count(*) > 0 AS found FROM facts WHERE helpful = 3")).fetchone()
    assert row == {"found": True}


async def test_what_leaves_goes_on_in_another_part_of_the_archive_where_one_is_full(ada: Nights) -> None:
    """*(Found)*: a full archive refused, and the memory that entries were to leave stayed as it was."""
    await ada.memory("# Long-term Memory\n\n## Notes\n\n")
    await add_by_server(ada, OLD)
    full = "# Left the memory in 2026-04\n\n## 2026-04-01\n\n" + f"- {'old ' * 50}\n" * 500
    await ada.runtime.pipeline.write_many(
        ada.place, [overwrite("memory/archive/2026-04.md", full, by="server", reason="test")]
    )
    await ada.ready()
    assert (await ada.emerge()).status == "completed"
    assert await ada.text("memory/archive/2026-04.md") == full
    assert lines(await ada.text("memory/archive/2026-04-part02.md")) == OLD[:2]
