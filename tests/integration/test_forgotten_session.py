"""A forgotten session leaves nothing of what was said in it alone, however short, and always a receipt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.consistency import assert_index_consistent
from tests.integration.test_forget import GRANT, MINE, PRINCIPAL, put
from tests.rows import leftovers

from reverie_indexer.pipeline import Pipeline
from reverie_server.app.pending_jobs import drain
from reverie_server.files.files import Workspace
from reverie_server.forgetting.forget import Receipt
from reverie_server.forgetting.selection import Target
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import NewMessage

MORNING = datetime(2026, 5, 4, 8, 0, tzinfo=UTC)
NOTE = "memory/2026-05-04.md"
NEXT_NOTE = "memory/2026-05-05.md"
SECRETS = ("I'm gay.", "My PIN is 4711. I am vegan.", "My sister Ulla has cancer and lives in Lyon.")


async def say(runtime: Runtime, session_id: str, *texts: str, at: datetime = MORNING) -> None:
    messages = []
    for number, text in enumerate(texts):
        messages += [NewMessage("user", text, f"u{number}", at), NewMessage("assistant", "I see.", f"a{number}", at)]
    await runtime.sessions.append(GRANT, MINE, session_id, messages)
    await runtime.sessions.complete(PRINCIPAL, session_id, "api")


async def forget(runtime: Runtime, session_id: str, dry_run: bool = False) -> Receipt:
    return await runtime.forgetting.forget(GRANT, MINE, Target(session_id=session_id), dry_run=dry_run)


async def content(workspace: Workspace, path: str) -> str:
    return (await workspace.read(PRINCIPAL, path)).content


async def test_short_statements_go_with_their_session(runtime: Runtime, workspace: Workspace, conninfo: str) -> None:
    await say(runtime, "web:1", *SECRETS, "Yes.")
    await say(runtime, "web:2", "Yes.", "I love sailing.", at=MORNING + timedelta(minutes=5))
    await drain(runtime)
    assert "I'm gay." in await content(workspace, NOTE)
    await forget(runtime, "web:1")
    await drain(runtime)
    for word in ("gay", "vegan", "4711", "ulla", "lyon"):
        assert leftovers(conninfo, word) == [], word
    note = await content(workspace, NOTE)
    assert note.split("\n\n")[1:] == [
        "[08:05] User: Yes. | Assistant: I see.",
        "[08:05] User: I love sailing. | Assistant: I see.\n",
    ]
    assert_index_consistent(conninfo)


async def test_an_equal_exchange_of_another_session_stays(runtime: Runtime, workspace: Workspace) -> None:
    """Of one day the lines are one; of another day the line of the same minute is another's."""
    await say(runtime, "web:1", "Yes.", "No.")
    await say(runtime, "web:2", "Yes.")
    await say(runtime, "web:3", "No.", at=MORNING + timedelta(days=1))
    await forget(runtime, "web:1")
    note = await content(workspace, NOTE)
    assert "User: Yes. | Assistant: I see." in note
    assert "User: No." not in note
    assert "[08:00] User: No. | Assistant: I see." in await content(workspace, NEXT_NOTE)


async def test_lines_of_memory_that_were_made_of_a_session_go(
    runtime: Runtime, pipeline: Pipeline, workspace: Workspace, conninfo: str
) -> None:
    await put(pipeline, "notes.md", "- I am vegan.\n")
    await say(runtime, "web:1", "Please remember: I am vegan.", "Please remember: I'm gay.")
    await say(runtime, "web:2", "Please remember: I am vegan.")
    await drain(runtime)
    assert "gay" in await content(workspace, "MEMORY.md")
    await forget(runtime, "web:1")
    await drain(runtime)
    assert leftovers(conninfo, "gay") == []
    assert "I am vegan" in await content(workspace, "MEMORY.md")
    assert await content(workspace, "notes.md") == "- I am vegan.\n"


async def test_a_session_of_short_words_leaves_a_receipt_that_counts_its_messages(runtime: Runtime) -> None:
    await say(runtime, "web:1", "Yes.", "I'm gay.")
    dry = await forget(runtime, "web:1", dry_run=True)
    done = await forget(runtime, "web:1")
    assert done.receipt_id is not None
    assert dry.removed == done.removed
    assert (done.removed["message"].files, done.removed["message"].versions) == (1, 4)
    assert done.removed["message"].passages == 4
    stored = await runtime.receipts.one(PRINCIPAL, done.receipt_id)
    assert stored.kind == "session"
    assert {(place["tier"], place["path"], place["count"]) for place in stored.places} == {
        ("message", "sessions/web:1", 4),
        ("document", NOTE, 2),
    }


async def test_what_another_session_says_as_well_leaves_a_receipt_too(runtime: Runtime) -> None:
    await say(runtime, "web:1", "My tailor is called Mr Voss.")
    await say(runtime, "web:2", "My tailor is called Mr Voss.")
    assert (await forget(runtime, "web:1")).receipt_id is not None
    assert (await runtime.sessions.find(PRINCIPAL, "web:2")).message_count == 2
