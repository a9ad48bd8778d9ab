"""What must be so when nothing is killed any more: all that was acknowledged, once, where it belongs, and no more."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence

import httpx
import psycopg
from psycopg import sql
from tests.consistency import assert_index_consistent
from tests.endurance.people import WORD, Person
from tests.rows import columns_of, tables_of, written_out

IDLE_SECONDS = 300.0
STAGES = ("episodic", "semantic", "facts", "extraction")
SAMPLE = 20
_ROWS = "SELECT {tenant}, {slice}, {row} FROM {table} t WHERE strpos({row}, 'zq') > 0"
_SLICES = "SELECT slice_id::text, owner_key FROM slices"


async def check_answers(person: Person, http: httpx.AsyncClient) -> None:
    """By HTTP, once its jobs are done."""
    async with asyncio.timeout(IDLE_SECONDS):
        while waiting := await _waiting(person, http):
            person.progress.refused[f"waits for {waiting}"] += 1
            await asyncio.sleep(0.5)
    dead = (await person.ask(http, "GET", "pipeline")).json()["dead_letters"]
    assert dead == [], dead
    listed = (await person.ask(http, "GET", "files?prefix=notes/&limit=100")).json()["files"]
    assert sorted(file["path"] for file in listed) == sorted(person.files)
    for path, text in person.files.items():
        assert (await person.ask(http, "GET", f"files/{path}")).json()["content"] == text, path
    for session, ids in person.messages.items():
        found = await _pages(person, http, f"sessions/{session}/messages", "messages")
        # A message whose whole text was forgotten is gone.
        assert [row["id"] for row in found] == [each for each in ids if each in {row["id"] for row in found}], session
        words = {word for row in found for word in WORD.findall(row["content"])}
        assert words.isdisjoint(person.forgotten), session
    episodes = Counter(row["session_id"] for row in await _pages(person, http, "episodes", "episodes"))
    assert set(episodes) <= person.completed, episodes
    assert max(episodes.values(), default=1) == 1, episodes
    for word in person.rng.sample(sorted(person.spoken), min(SAMPLE, len(person.spoken))):
        answer = await person.ask(http, "POST", "memory/search", query=word, max_results=20)
        assert any(word in WORD.findall(each["text"]) for each in answer.json()["results"]), word


async def _waiting(person: Person, http: httpx.AsyncClient) -> str:
    stages = (await person.ask(http, "GET", "pipeline")).json()["stages"]
    # Extraction waits for more to be said: what is due is done.
    busy = [stage for stage in STAGES if stages[stage]["pending"] + stages[stage]["running"]]
    return " ".join(busy)


async def _pages(person: Person, http: httpx.AsyncClient, path: str, name: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    cursor = ""
    while True:
        answer = (await person.ask(http, "GET", f"{path}?limit=100{cursor}")).json()
        rows += answer[name]
        if answer.get("next_cursor") is None:
            return rows
        cursor = f"&cursor={answer['next_cursor']}"


def check_rows(conninfo: str, people: Sequence[Person]) -> None:
    """In the tables: each row of whose it is, each message once, and nothing that was forgotten."""
    by_number = {str(person.number): person for person in people}
    forgotten = {word for person in people for word in person.forgotten}
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        owners: Mapping[str, str | None] = dict(connection.execute(_SLICES).fetchall())
        for table in tables_of(connection):
            for tenant, slice_id, text in _spoken_rows(connection, table):
                words = set(WORD.findall(text))
                assert words.isdisjoint(forgotten), f"{table} has what was forgotten: {text[:300]}"
                for number in {re.findall(r"\d+", word)[0] for word in words}:
                    person = by_number[number]
                    assert tenant in (None, person.tenant), f"{table} mixes tenants up: {text[:300]}"
                    assert slice_id is None or owners[slice_id] == person.owner, f"{table} mixes up: {text[:300]}"
        for person in people:
            _check_messages(connection, person)
    assert_index_consistent(conninfo)


def _spoken_rows(connection: psycopg.Connection, table: str) -> list[tuple[str | None, str | None, str]]:
    """The tenant and the slice of each row of a table that has words of somebody, and the row."""
    columns = columns_of(connection, table)
    tenant, slice_ = (
        sql.SQL("t.{}::text").format(sql.Identifier(name)) if name in columns else sql.SQL("NULL")
        for name in ("tenant_id", "slice_id")
    )
    statement = sql.SQL(_ROWS).format(
        tenant=tenant, slice=slice_, row=written_out(connection, table), table=sql.Identifier(table)
    )
    return connection.execute(statement).fetchall()


def _check_messages(connection: psycopg.Connection, person: Person) -> None:
    """Each word that was said and is not forgotten stands in one message."""
    rows = connection.execute(
        "SELECT m.content FROM messages m JOIN sessions s USING (tenant_id, session_key) "
        "WHERE s.tenant_id = %s AND s.owner_key = %s",
        (person.tenant, person.owner),
    ).fetchall()
    counted = Counter(word for (content,) in rows for word in WORD.findall(content))
    assert max(counted.values(), default=1) == 1, counted.most_common(3)
    in_files = {word for text in person.files.values() for word in WORD.findall(text)}
    missing = person.spoken.keys() - in_files - counted.keys()
    assert not missing, missing
