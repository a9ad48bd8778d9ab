"""What was said and is to go is gone from every table: cleared, deleted, forgotten, with its agent."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg import sql
from tests.consistency import assert_index_consistent
from tests.conversations import (
    ADA,
    BO,
    SESSION,
    TEAM,
    append,
    assistant,
    grant_of,
    note,
    place_of,
    said,
    texts,
    user,
)
from tests.forgetting import forget_all
from tests.locks import waiting_for_locks
from tests.rows import leftovers

from reverie_indexer.database.database import Database
from reverie_indexer.errors import Conflict, NotFound
from reverie_indexer.index.document_index import count_chunks
from reverie_indexer.index.slices import lock_slice
from reverie_indexer.model import Tier
from reverie_server.forgettable import Selection
from reverie_server.forgetting.forget import Receipt
from reverie_server.runtime import Runtime
from reverie_server.search.request import SearchRequest
from reverie_server.sessions.model import NewCompaction, NewMessage
from reverie_server.sessions.sessions import mark_compacted

AT = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)
SECRET = "The vault opens with 4711-quince."
# Beyond what the daily log takes of a message, which is a file and stays.
AFTER_THE_CUT = "Nothing yet. " * 30 + "\n\n"


def counts(conninfo: str, *tables: str) -> list[int]:
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        return [
            (connection.execute(sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))).fetchone() or (0,))[0]
            for table in tables
        ]


async def fill(runtime: Runtime, database: Database, secret: str = SECRET) -> None:
    """The secret in a message, what it carries, the session's metadata and every summary of it."""
    call = {"tool_calls": [{"function": {"name": "f", "arguments": f'{{"q": "{secret}"}}'}}]}
    metadata = {"title": [f"On: {secret}"]}
    await runtime.sessions.put(grant_of(ADA), place_of(ADA), SESSION, state=None, metadata=metadata)
    appended = await append(
        runtime,
        user(f"{AFTER_THE_CUT}{secret}\n\nAda likes tea.", at=AT, message_id="m1"),
        assistant(f"{AFTER_THE_CUT}So {secret.upper()} Noted.", at=AT, message_id="m2"),
        NewMessage("assistant", "", "m3", AT, call),
        NewMessage("tool", f"result: {secret}", "m4", AT, {"tool_call_id": "c"}),
        user("Ada walked.", at=AT, message_id="m5"),
    )
    compaction = NewCompaction(1, 2, f"They said: {secret} And more.", 0, "extractive")
    async with database.tenant("default") as connection:
        await lock_slice(connection, place_of(ADA))
        await mark_compacted(connection, "default", appended.session, compaction)
        await connection.execute(
            "INSERT INTO window_summaries (tenant_id, session_key, slice_id, from_seq, through_seq, summary, prompt,"
            " prompt_version, model) VALUES ('default', %s, %s, 3, 4, %s, 'p', '1', 'm')",
            (appended.session.session_key, appended.session.slice_id, secret),
        )
    await runtime.sessions.complete(ADA, SESSION, "api")


SPOKEN = ["chunks", "compactions", "messages", "postings", "sessions", "window_summaries"]


async def test_a_cleared_session_has_nothing_left_but_itself(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    await append(runtime, user("Ada walked."), principal=BO)
    before = counts(conninfo, "embedding_cache", "vectors")
    await fill(runtime, database)
    assert leftovers(conninfo, "quince") == SPOKEN
    await runtime.sessions.clear(ADA, SESSION)
    # Its metadata is the caller's, and the session stays.
    assert leftovers(conninfo, "quince") == ["sessions"]
    assert counts(conninfo, "messages", "compactions", "window_summaries", "events") == [1, 0, 0, 0]
    session = await runtime.sessions.find(ADA, SESSION)
    assert (session.message_count, session.tokens, session.summary) == (0, 0, "")
    assert await said(runtime) == []
    # The line of the daily log is a file, with its passages.
    [line] = [text for text in (await note(runtime, "2026-04-03") or "").splitlines() if "User:" in text]
    assert "Nothing yet." in line
    assert [after - had for after, had in zip(counts(conninfo, "embedding_cache", "vectors"), before, strict=True)] == [
        1,
        1,
    ]
    # The numbers go on, and the same transcript may be told again.
    assert (await append(runtime, user("Ada walked.", message_id="m5"))).stored == 1
    assert [m.seq for m in await said(runtime)] == [6]
    assert_index_consistent(conninfo)


async def test_a_deleted_session_is_gone(runtime: Runtime, database: Database, conninfo: str) -> None:
    await fill(runtime, database)
    await append(runtime, user("Of Bo: quince."), principal=BO)
    await runtime.sessions.delete(ADA, SESSION)
    with pytest.raises(NotFound):
        await runtime.sessions.find(ADA, SESSION)
    assert counts(conninfo, "sessions", "messages", "events") == [1, 1, 0]
    await runtime.sessions.delete(BO, SESSION)
    assert leftovers(conninfo, "quince") == []
    with pytest.raises(NotFound):
        await runtime.sessions.delete(BO, SESSION)
    assert_index_consistent(conninfo)


async def test_writers_and_clearing_at_once_leave_whole_turns(runtime: Runtime, conninfo: str) -> None:
    async def talk(number: int) -> None:
        await append(runtime, user(f"question {number}"), assistant(f"answer {number}"))

    async def clear() -> None:
        await asyncio.sleep(0.05)
        await runtime.sessions.clear(ADA, SESSION)

    await talk(0)
    await asyncio.gather(*(talk(n) for n in range(1, 6)), clear())
    left = await texts(runtime)
    assert [t.replace("question", "answer") for t in left[::2]] == left[1::2]
    assert_index_consistent(conninfo)


async def test_deleting_an_agent_leaves_nothing_of_what_was_said(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    await fill(runtime, database)
    await append(runtime, user(SECRET), assistant(SECRET), principal=TEAM)
    await runtime.agents.delete("default", "wren")
    assert leftovers(conninfo, "quince") == []
    tables = ("sessions", "messages", "compactions", "window_summaries", "events", "documents", "chunks")
    assert counts(conninfo, *tables, "postings", "vectors", "embedding_cache") == [0] * 10


async def test_an_agent_that_is_deleted_while_it_is_spoken_to_leaves_nothing_half_there(
    runtime: Runtime, conninfo: str
) -> None:
    async def talk(number: int) -> None:
        for turn in range(3):
            with contextlib.suppress(Conflict, NotFound):
                await append(runtime, user(f"q{turn}"), assistant(f"a{turn}"), session_id=f"web:{number}")

    async def delete() -> None:
        await asyncio.sleep(0.03)
        await runtime.agents.delete("default", "wren")

    await append(runtime, user("hello"))
    await asyncio.gather(delete(), *(talk(number) for number in range(4)))
    assert_index_consistent(conninfo)


async def test_a_writer_that_the_deletion_of_its_agent_waits_for_does_not_wait_for_it(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    """The second change of a slice in one transaction has its agent checked. Meanwhile somebody new writes too."""
    await append(runtime, user("hello"))
    place = place_of(ADA)
    async with await psycopg.AsyncConnection.connect(conninfo, autocommit=True) as watcher:
        async with database.tenant(place.tenant_id) as writer:
            slice_ = await lock_slice(writer, place)
            delete = asyncio.create_task(runtime.agents.delete("default", "wren"))
            await waiting_for_locks(watcher, 1)
            await append(runtime, user("hello from somebody new"), principal=BO)
            await count_chunks(writer, place.tenant_id, slice_.slice_id, 0, 0)
        await delete
    assert counts(conninfo, "agents", "slices", "messages", "chunks", "postings") == [0] * 5


async def forget(runtime: Runtime, dry_run: bool = False, **target: Any) -> Receipt:
    return await forget_all(runtime, grant_of(ADA), place_of(ADA), dry_run=dry_run, **target)


async def test_a_forgotten_text_is_gone_from_all_that_was_said(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    await fill(runtime, database)
    await append(runtime, user(SECRET), principal=BO)
    dry = await forget(runtime, dry_run=True, text=SECRET)
    assert leftovers(conninfo, "quince") == SPOKEN
    receipt = await forget(runtime, text=SECRET)
    await runtime.sessions.delete(BO, SESSION)
    assert leftovers(conninfo, "quince") == []
    assert (dry.items, dry.removed) == (receipt.items, receipt.removed)
    items = [item for item in receipt.items if item.tier == "message"]
    assert {item.path for item in items} == {f"sessions/{SESSION}"}
    assert SECRET in {item.text for item in items}
    assert all("vault" in item.text.casefold() for item in items)
    removed = receipt.removed["message"]
    assert (removed.files, removed.versions, removed.passages) == (1, 4, 2)
    # What else was said is there, at its number, and found.
    told = await said(runtime)
    assert [m.seq for m in told] == [1, 2, 3, 4, 5]
    assert told[0].content == f"{AFTER_THE_CUT}Ada likes tea."
    assert told[1].content.endswith("Nothing yet. \n\nNoted.")
    assert told[3].content == ""
    # The summary may have said it in other words.
    assert (await runtime.sessions.find(ADA, SESSION)).summary == ""
    assert counts(conninfo, "compactions", "window_summaries") == [0, 0]
    while await runtime.pipeline.backfill():
        pass
    assert_index_consistent(conninfo)
    request = SearchRequest("default", "wren", "likes tea", "user:1", tiers=("message",))
    assert (await runtime.search.search(request)).results[0].text == "Ada likes tea."


async def test_a_passage_of_a_message_is_forgotten_by_its_id_in_the_log_too(runtime: Runtime, conninfo: str) -> None:
    """The daily log has the beginning of the message only: that goes too, though the text runs on."""
    secret = "The vault opens with " + "quince, " * 40 + "and so on."
    await append(runtime, user(f"Listen. {secret}", at=AT), assistant("I listen to Ada.", at=AT))
    found = await runtime.search.search(SearchRequest("default", "wren", "vault quince", "user:1", tiers=("message",)))
    await forget(runtime, id=str(found.results[0].chunk_id))
    assert leftovers(conninfo, "quince") == []
    assert "I listen to Ada." in (await note(runtime, "2026-04-03") or "")
    assert_index_consistent(conninfo)


async def test_the_rest_of_a_cut_text_is_forgotten_where_the_text_is_a_part(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, user("x " * 90 + SECRET + " And more." * 20, at=AT), assistant("Noted.", at=AT))
    assert "4711" not in (await note(runtime, "2026-04-03") or "")
    await forget(runtime, text=SECRET)
    kept = await note(runtime, "2026-04-03") or ""
    assert "vault" not in kept
    assert "Noted." not in kept  # it would answer nothing
    assert leftovers(conninfo, "vault") == []
    assert_index_consistent(conninfo)


async def test_a_summary_of_other_messages_keeps_the_rest_of_its_text(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    session = (await append(runtime, user("Ada walked."), user("She likes tea."))).session
    async with database.tenant("default") as connection:
        await lock_slice(connection, place_of(ADA))
        compaction = NewCompaction(1, 1, f"They said: {SECRET} And more.", 0, "extractive")
        await mark_compacted(connection, "default", session, compaction)
    await append(runtime, user(SECRET))
    await forget(runtime, text=SECRET)
    assert (await runtime.sessions.find(ADA, SESSION)).summary == "And more."
    assert leftovers(conninfo, "quince") == []


async def test_a_question_selects_messages_too(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, user(f"{SECRET}\n\nAda likes tea.", at=AT), user("Bob plays trumpet."))
    dry = await forget(runtime, dry_run=True, query="vault opens quince")
    assert [(item.tier, item.text) for item in dry.items] == [("message", SECRET)]
    await forget(runtime, query="vault opens quince")
    assert leftovers(conninfo, "quince") == []
    assert "trumpet" in " ".join(await texts(runtime))


async def test_an_old_transcript_does_not_bring_it_back_and_a_new_statement_does(
    runtime: Runtime, conninfo: str
) -> None:
    transcript = [
        user(f"My code: {SECRET}", at=AT, message_id="m1"),
        assistant("Noted.", at=AT, message_id="m2"),
        user(f"Ada likes tea.\n\n{SECRET}\n", at=AT),
    ]
    await append(runtime, *transcript)
    await forget(runtime, text=SECRET)
    for session_id in (SESSION, "web:2"):
        await append(runtime, *transcript, session_id=session_id)
        assert leftovers(conninfo, "quince") == []
    assert await texts(runtime, "web:2") == ["Noted.", "Ada likes tea."]
    # The same id is the same message, whatever it says now.
    await append(runtime, user(SECRET, message_id="m1"))
    assert leftovers(conninfo, "quince") == []
    # Somebody says it again.
    said_again = datetime.now(UTC)
    await append(runtime, user(SECRET), user(f"Again: {SECRET}", at=datetime.now(UTC) + timedelta(minutes=1)))
    assert (await texts(runtime))[-2:] == [SECRET, f"Again: {SECRET}"]
    # And it is forgotten again, with what was said until now.
    await forget(runtime, text=SECRET)
    await append(runtime, user(SECRET, at=said_again), session_id="web:3")
    assert leftovers(conninfo, "quince") == []
    assert_index_consistent(conninfo)


def select(days: int | None = None, prefix: str | None = None, tiers: tuple[Tier, ...] = ("message",)) -> Selection:
    return Selection(days, prefix, tiers)


async def test_words_that_were_forgotten_do_not_come_back_within_other_sentences_of_an_old_transcript(
    runtime: Runtime, conninfo: str
) -> None:
    await append(runtime, user("The code of the gate is PLUMBAGO7741.", at=AT), assistant("Noted.", at=AT))
    await forget(runtime, text="plumbago7741")
    await forget(runtime, text="4711 quince street")
    old = "I told Bo that PLUMBAGO7741, of all words, is on 4711  Quince Street; quince jam is fine."
    await append(runtime, user(old, at=AT + timedelta(minutes=1)), session_id="web:2")
    assert leftovers(conninfo, "plumbago7741") == []
    [stored] = await texts(runtime, "web:2")
    assert "quince jam is fine" in stored
    assert "4711" not in stored
    # What is said after it was forgotten is a person's own new statement.
    await append(runtime, user("My code is PLUMBAGO7741 again."), session_id="web:3")
    assert await texts(runtime, "web:3") == ["My code is PLUMBAGO7741 again."]


async def test_clearing_goes_by_the_time_of_messages_and_the_path_of_sessions(
    runtime: Runtime, database: Database, conninfo: str
) -> None:
    now = datetime.now(UTC)
    for session_id in ("web:1", "web:2"):
        await append(
            runtime,
            *(user(f"{days} days ago", at=now - timedelta(days=days)) for days in (40, 30, 1)),
            session_id=session_id,
        )
    await append(runtime, user("all of it is old", at=now - timedelta(days=50)), session_id="web:3")
    session = await runtime.sessions.find(ADA, "web:1")
    async with database.tenant("default") as connection:
        await lock_slice(connection, place_of(ADA))
        compaction = NewCompaction(1, 2, "40 days ago and 30", 0, "extractive")
        await mark_compacted(connection, "default", session, compaction)
    clearing, place = runtime.clearing, place_of(ADA)
    assert (await clearing.clear(place, select(35), dry_run=True)).removed == {"message": 3}
    assert (await clearing.clear(place, select(35, "sessions/web:1"), dry_run=False)).removed == {"message": 1}
    assert await texts(runtime, "web:1") == ["30 days ago", "1 days ago"]
    session = await runtime.sessions.find(ADA, "web:1")
    assert (session.summary, session.compacted_through, session.message_count) == ("", 2, 2)
    assert_index_consistent(conninfo)
    assert (await clearing.clear(place, select(35), dry_run=False)).removed == {"message": 2}
    with pytest.raises(NotFound):
        await runtime.sessions.find(ADA, "web:3")
    assert (await clearing.clear(place, select(tiers=("document",)), dry_run=False)).removed["document"] == 0
    assert len(await texts(runtime, "web:2")) == 2
    removed = (await clearing.clear(place, select(tiers=("document", "episodic", "message")), dry_run=False)).removed
    assert removed == {"document": 0, "episodic": 0, "message": 4}
    assert counts(conninfo, "sessions", "messages", "compactions") == [0, 0, 0]
    assert_index_consistent(conninfo)


async def test_clearing_everybody_clears_what_everybody_said(runtime: Runtime, conninfo: str) -> None:
    for principal in (TEAM, ADA, BO):
        await append(runtime, user("hello"), principal=principal)
    done = await runtime.clearing.clear_everybody("default", "wren", select(), dry_run=False)
    assert done.removed == {"message": 3}
    assert counts(conninfo, "sessions", "messages") == [0, 0]
    assert_index_consistent(conninfo)
