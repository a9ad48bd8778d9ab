"""Forgetting leaves nothing: not in files, history, index, past, cache or any table of the database."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any

import psycopg
import pytest
from tests.consistency import assert_index_consistent
from tests.forgetting import forget_all
from tests.rows import leftovers

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound, ValidationFailed
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.files.files import Workspace, Write
from reverie_server.forgetting import forget as forget_module
from reverie_server.forgetting.forget import Receipt
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings

SECRET = "The vault opens with 4711-quince."
MINE = Place("default", "wren", "personal", "user:1")
TEAM = Place("default", "wren", "team")
PRINCIPAL = Principal("default", "wren", "user:1")
GRANT = Grant(Caller("default", "member"), PRINCIPAL, AgentSettings())


async def put(pipeline: Pipeline, path: str, text: str, place: Place = MINE) -> None:
    await pipeline.write(place, overwrite(path, text, by="user", reason="put"))


async def forget(runtime: Runtime, dry_run: bool = False, place: Place = MINE, **target: Any) -> Receipt:
    return await forget_all(runtime, GRANT, place, dry_run=dry_run, **target)


async def fill(pipeline: Pipeline) -> None:
    """The secret now, in an older version, in a deleted file, in a daily note that lost it, and in a JSON file."""
    await put(pipeline, "MEMORY.md", f"# Long-term Memory\n\n- {SECRET}\n- Ada likes tea.\n")
    await put(pipeline, "MEMORY.md", f"# Long-term Memory\n\n- Ada likes tea.\n- {SECRET.upper()}\n")
    await put(pipeline, "old.md", f"Ada said: {SECRET} And then she left.")
    await pipeline.delete(MINE, "old.md", by="user", reason="delete")
    await put(pipeline, "memory/2026-04-03.md", f"{SECRET}\n\nAda walked.")
    await put(pipeline, "memory/2026-04-03.md", "Ada walked.")
    await put(pipeline, "state.json", f'{{"note": "{SECRET}", "n": 1}}')


async def test_nothing_is_left_anywhere(runtime: Runtime, pipeline: Pipeline, conninfo: str) -> None:
    await fill(pipeline)
    assert leftovers(conninfo, "quince") == ["chunks", "postings", "versions"]
    receipt = await forget(runtime, text=SECRET)
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)
    [counts] = receipt.removed.values()
    assert (counts.files, counts.versions) == (2, 5)
    assert receipt.embeddings > 0
    assert receipt.tombstones > 0


async def test_what_else_the_files_held_is_still_there(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, search: Search
) -> None:
    await fill(pipeline)
    await forget(runtime, text=SECRET)
    assert (await workspace.read(PRINCIPAL, "MEMORY.md")).content == "# Long-term Memory\n\n- Ada likes tea.\n"
    assert (await workspace.read(PRINCIPAL, "state.json")).content == '{"note": "", "n": 1}'
    _, versions = await workspace.history(PRINCIPAL, "old.md", "personal", before=None, limit=9)
    old = await workspace.diff(PRINCIPAL, "old.md", "personal", 1)
    assert [version.version for version in versions] == [2, 1]
    assert "+And then she left." in old
    outcome = await search.search(SearchRequest("default", "wren", "vault quince", "user:1", mode="text"))
    assert all("vault" not in ranked.text.casefold() for ranked in outcome.results)


async def test_a_dry_run_says_the_same_and_changes_nothing(runtime: Runtime, pipeline: Pipeline, conninfo: str) -> None:
    await fill(pipeline)
    dry = await forget(runtime, dry_run=True, text=SECRET)
    assert leftovers(conninfo, "quince") == ["chunks", "postings", "versions"]
    real = await forget(runtime, text=SECRET)
    assert (dry.items, dry.still_shared) == (real.items, real.still_shared)
    assert dry.removed["document"].versions == real.removed["document"].versions
    assert dry.removed["document"].passages == real.removed["document"].passages > 0
    again = await forget(runtime, text=SECRET)
    assert (list(again.items), again.removed["document"].versions) == ([], 0)


async def test_a_passage_is_forgotten_by_its_id_and_its_section_stays(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, search: Search, conninfo: str
) -> None:
    await put(pipeline, "notes.md", f"# Notes\n\n## Codes\n\n{SECRET}\n\nAda likes tea.\n")
    outcome = await search.search(SearchRequest("default", "wren", "vault quince", "user:1"))
    chunk_id = next(r.chunk_id for r in outcome.results if "quince" in r.text)
    await forget(runtime, id=str(chunk_id))
    assert (await workspace.read(PRINCIPAL, "notes.md")).content == "# Notes\n\n## Codes\n\nAda likes tea.\n"
    assert leftovers(conninfo, "quince") == []
    with pytest.raises(NotFound):
        await forget(runtime, id=str(chunk_id))


async def test_a_question_selects_what_is_relevant_to_it(runtime: Runtime, pipeline: Pipeline, conninfo: str) -> None:
    await put(pipeline, "notes.md", f"{SECRET}\n\nAda likes tea.\n\nBob plays trumpet.")
    dry = await forget(runtime, dry_run=True, query="vault opens quince")
    assert [item.text for item in dry.items] == [SECRET]
    await forget(runtime, query="vault opens quince")
    assert leftovers(conninfo, "quince") == []
    assert leftovers(conninfo, "trumpet") == ["chunks", "postings", "versions"]


async def test_others_keep_theirs_and_the_receipt_names_shared_files_only(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace
) -> None:
    other = Place("default", "wren", "personal", "user:2")
    for place in (MINE, other, TEAM):
        await put(pipeline, "notes.md", SECRET, place)
    await put(pipeline, "hidden.md", SECRET, other)
    receipt = await forget(runtime, text=SECRET)
    assert receipt.still_shared == ["notes.md"]
    assert {item.path for item in receipt.items} == {"notes.md"}
    for owner in ("user:2", None):
        assert (await workspace.read(Principal("default", "wren", owner), "notes.md")).content == SECRET


@pytest.mark.parametrize(
    ("target", "error"),
    [
        ({}, ValidationFailed),
        ({"text": "a b", "query": "c"}, ValidationFailed),
        ({"text": " x "}, ValidationFailed),
        ({"text": ""}, ValidationFailed),
        ({"query": " "}, ValidationFailed),
        ({"id": "999999"}, NotFound),
        ({"id": "drop table"}, NotFound),
    ],
)
async def test_a_target_is_one_thing_that_can_be_meant(
    runtime: Runtime, pipeline: Pipeline, target: dict[str, str], error: type[Exception]
) -> None:
    await put(pipeline, "notes.md", SECRET)
    with pytest.raises(error):
        await forget(runtime, **target)


async def test_an_unknown_agent_is_not_made_by_forgetting(runtime: Runtime, database: Database) -> None:
    with pytest.raises(NotFound):
        await forget(runtime, text=SECRET)
    async with database.tenant("default") as connection:
        assert await (await connection.execute("SELECT FROM agents")).fetchall() == []


async def test_a_writer_that_brings_the_text_back_meanwhile_does_not_win(
    runtime: Runtime, pipeline: Pipeline, conninfo: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(pipeline)
    survey = runtime.forgetting._survey
    returned = 0

    async def survey_then_write(place: Place, texts: Any) -> Receipt:
        nonlocal returned
        found = await survey(place, texts)
        if returned < 2:
            returned += 1
            await put(pipeline, f"again-{returned}.md", f"{SECRET} ({returned})")
        return found

    monkeypatch.setattr(forget_module.Forgetting, "_survey", lambda self, *a: survey_then_write(*a))
    await forget(runtime, text=SECRET)
    assert returned == 2
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


async def test_writers_of_other_texts_go_on_and_lose_nothing(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    await fill(pipeline)

    async def append(number: int) -> None:
        write = Write("MEMORY.md", "user", "append")
        await workspace.apply(MINE, write, "append", f"- line {number}", None)

    await asyncio.gather(forget(runtime, text=SECRET), *(append(number) for number in range(8)))
    content = (await workspace.read(PRINCIPAL, "MEMORY.md")).content
    assert all(f"- line {number}" in content.splitlines() for number in range(8))
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


async def test_the_past_forgets_too(runtime: Runtime, pipeline: Pipeline, search: Search, database: Database) -> None:
    await put(pipeline, "notes.md", SECRET)
    async with database.maintenance() as connection:
        row = await (await connection.execute("SELECT clock_timestamp() AS at")).fetchone()
    assert row is not None
    await put(pipeline, "notes.md", "Ada likes tea.")
    request = SearchRequest("default", "wren", "vault", "user:1", as_of=row["at"])
    assert [r.text for r in (await search.search(request)).results if "vault" in r.text] == [SECRET]
    await forget(runtime, text=SECRET)
    assert all("vault" not in r.text for r in (await search.search(request)).results)


async def test_a_person_may_write_it_anew_but_a_folder_or_import_does_not_bring_it_back(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace
) -> None:
    await put(pipeline, "notes.md", SECRET)
    await forget(runtime, text=SECRET)
    without = await runtime.tombstones.without_forgotten(MINE)
    assert without(f"# Notes\n\n- {SECRET}\n- Ada likes tea.\n") == "# Notes\n\n- Ada likes tea.\n"
    elsewhere = await runtime.tombstones.without_forgotten(TEAM)
    assert elsewhere(SECRET) == SECRET
    await put(pipeline, "notes.md", SECRET)
    assert (await workspace.read(PRINCIPAL, "notes.md")).content == SECRET


async def test_a_tombstone_does_not_tell_what_it_hides(
    runtime: Runtime, pipeline: Pipeline, database: Database
) -> None:

    await put(pipeline, "notes.md", SECRET)
    await forget(runtime, text=SECRET)
    async with database.maintenance() as connection:
        rows = await (await connection.execute("SELECT text_hmac FROM tombstones")).fetchall()
    plain = hashlib.sha256(b"the vault opens with 4711-quince").digest()
    assert rows
    assert all(bytes(row["text_hmac"]) != plain for row in rows)
    async with database.tenant("default") as connection:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            await connection.execute("SELECT secret FROM tombstone_key")


@pytest.mark.parametrize("path", ["notes.md", "memory/2026-04-03.md"])
async def test_the_receipt_counts_the_passages_of_every_kind_of_file(
    runtime: Runtime, pipeline: Pipeline, path: str
) -> None:
    await put(pipeline, path, f"{SECRET}\n\nAda likes tea.")
    counts = [(await forget(runtime, dry, text=SECRET)).removed["document"].passages for dry in (True, False)]
    assert counts == [1, 1]


async def test_a_question_also_finds_how_it_was_said_before(
    runtime: Runtime, pipeline: Pipeline, conninfo: str
) -> None:
    await put(pipeline, "notes.md", "The zorblax is on Tuesday.\n\nkeep")
    await put(pipeline, "notes.md", "The zorblax is on Wednesday.\n\nkeep")
    await forget(runtime, query="zorblax")
    assert leftovers(conninfo, "zorblax") == []


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("The cafe\u0301 opens at nine.", "the caf\u00e9 opens at nine"),
        ("The caf\u00e9 opens at nine.", "the cafe\u0301 opens at nine"),
        ("The qu\u00adince opens.", "the quince opens"),
        ("In der STRASSE neun.", "in der straße neun"),
    ],
)
async def test_a_text_is_forgotten_in_every_unicode_form(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, stored: str, asked: str
) -> None:
    await put(pipeline, "notes.md", f"{stored}\n\nkeep")
    receipt = await forget(runtime, text=asked)
    assert receipt.removed["document"].files == 1
    left = (await workspace.read(PRINCIPAL, "notes.md")).content
    assert left.strip(" .\n") == "keep" or left.split() == [".", "keep"]
