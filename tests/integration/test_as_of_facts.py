"""Facts as of a time: what a heading states with its line holds since it stood there, and not since ever."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from tests.facts import read_facts, rows
from tests.talks import Talk

from reverie_indexer.database.upgrade import load_migrations
from reverie_server.access.keys import OPERATOR
from reverie_server.facts.view import FactFilter
from reverie_server.runtime import Runtime
from reverie_server.search.request import request_for

MIGRATIONS = Path(__file__).parents[2] / "migrations"
YEAR_ONE = datetime(1, 1, 1, tzinfo=UTC)
FIRST = "## Vendor\n\nAcme Pumps of Bremen\n"
SECOND = "## Vendor\n\nZenith Hydraulics of Kiel\n"
STATED = "Vendor: Zenith Hydraulics of Kiel"


@pytest.fixture
def talk(runtime: Runtime) -> Talk:
    return Talk(runtime)


async def known(talk: Talk, as_of: datetime | None) -> list[str]:
    """The facts that a search and the list of facts give, which have to agree."""
    grant = await talk.runtime.gate.read(OPERATOR, talk.agent_id, talk.owner_key)
    request = request_for(grant, "pump vendor", tiers=["fact"], as_of=as_of)
    found = [result.text for result in (await talk.runtime.search.search(request)).results]
    listed = await talk.runtime.facts.view.facts(grant.principal, FactFilter(as_of=as_of), after=None, limit=10)
    assert found == [fact.text for fact in listed]
    return found


async def test_what_a_heading_states_is_not_known_before_it_was_written(talk: Talk) -> None:
    await talk.put("notes/tools.md", FIRST)
    await read_facts(talk)
    [first] = await rows(talk)
    await talk.put("notes/tools.md", SECOND)
    await read_facts(talk)
    assert await known(talk, None) == [STATED]
    assert await known(talk, first["said_at"]) == []
    [fact], [source], [chunk] = [await rows(talk, table) for table in ("facts", "fact_sources", "chunks")]
    assert fact["valid_from"] == source["valid_from"] == chunk["valid_from"] == fact["said_at"] > first["said_at"]
    # The third time it is held in memory.
    assert await known(talk, None) == await known(talk, None) == [STATED]


async def test_what_was_stored_with_the_first_year_gets_the_time_at_which_it_was_said(talk: Talk) -> None:
    await talk.put("notes/tools.md", SECOND)
    await talk.say("My name is Ada.", "Hello.")
    await read_facts(talk)
    before = {table: await rows(talk, table) for table in ("facts", "fact_sources", "chunks")}
    [migration] = [step for step in load_migrations(MIGRATIONS) if step.name == "0048_facts_of_the_first_year"]
    async with talk.runtime.database.maintenance() as connection:
        # As a release stored it, of which no process holds anything.
        await connection.execute("UPDATE slices SET revision = revision + 1")
        of_heading = [fact for fact in before["facts"] if fact["text"] == STATED]
        params = {"at": YEAR_ONE, "fact_id": of_heading[0]["fact_id"], "chunk_id": of_heading[0]["chunk_id"]}
        await connection.execute("UPDATE facts SET valid_from = %(at)s WHERE fact_id = %(fact_id)s", params)
        await connection.execute("UPDATE fact_sources SET valid_from = %(at)s WHERE fact_id = %(fact_id)s", params)
        await connection.execute("UPDATE chunks SET valid_from = %(at)s WHERE chunk_id = %(chunk_id)s", params)
    assert STATED in await known(talk, datetime(2001, 1, 1, tzinfo=UTC))
    async with talk.runtime.database.maintenance() as connection:
        for statement in migration.statements:
            await connection.execute(statement)
    assert await known(talk, datetime(2001, 1, 1, tzinfo=UTC)) == []
    assert {table: await rows(talk, table) for table in before} == before
