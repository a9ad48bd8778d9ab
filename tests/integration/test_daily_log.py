"""Each exchange goes to the day's note with its messages, or the messages go alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs
from tests.consistency import assert_index_consistent
from tests.conversations import ADA, TEAM, append, assistant, note, place_of, texts, user

from reverie_indexer.change import overwrite
from reverie_indexer.database.database import Database
from reverie_indexer.errors import ValidationFailed
from reverie_server.app.wiring import assemble
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings
from reverie_server.text import markdown_edit as sections

AT = datetime(2026, 4, 3, 9, 30, tzinfo=UTC)
DAY = "2026-04-03"


async def test_exchanges_are_paragraphs_of_the_days_note(runtime: Runtime, conninfo: str) -> None:
    await append(runtime, user("When?", at=AT), assistant("On Thursday.", at=AT))
    await append(runtime, user("Where?", at=AT + timedelta(minutes=1)), assistant("Here.", at=AT))
    assert await note(runtime, DAY) == (
        "# 2026-04-03\n\n[09:30] User: When? | Assistant: On Thursday.\n\n[09:31] User: Where? | Assistant: Here.\n"
    )
    assert await note(runtime, DAY, TEAM) is None
    _, versions = await runtime.workspace.history(ADA, f"memory/{DAY}.md", "personal", before=None, limit=9)
    # What the second line went on from is in the version with both: a day is not stored once for each of its lines.
    assert [(version.version, version.by, version.reason) for version in versions] == [(2, "server", "daily_log")]
    assert_index_consistent(conninfo)


async def test_what_somebody_wrote_into_a_note_is_in_its_history(runtime: Runtime) -> None:
    path = f"memory/{DAY}.md"
    said = [user("When?", at=AT), assistant("On Thursday.", at=AT)]
    await append(runtime, *said)
    edited = overwrite(path, "# 2026-04-03\n\nMine.\n", by="user", reason="put")
    await runtime.pipeline.write(place_of(ADA), edited)
    for _ in range(3):
        await append(runtime, *said)
    _, versions = await runtime.workspace.history(ADA, path, "personal", before=None, limit=9)
    assert [(v.version, v.reason) for v in versions] == [(5, "daily_log"), (2, "put"), (1, "daily_log")]
    line = "[09:30] User: When? | Assistant: On Thursday."
    assert await note(runtime, DAY) == "# 2026-04-03\n\nMine.\n" + f"\n{line}\n" * 3


async def test_an_answer_that_comes_in_a_later_call_completes_the_exchange(runtime: Runtime) -> None:
    await append(runtime, user("When?", at=AT))
    assert await note(runtime, DAY) is None
    await append(runtime, assistant("", extra={"tool_calls": [{"id": "c"}]}, at=AT))
    await append(runtime, assistant("On Thursday.", at=AT + timedelta(days=1)), assistant("Really.", at=AT))
    await append(runtime, assistant("And again.", at=AT))
    assert await note(runtime, DAY) == "# 2026-04-03\n\n[09:30] User: When? | Assistant: On Thursday.\n"
    assert await note(runtime, "2026-04-04") is None


async def test_an_import_goes_to_the_notes_of_its_days_in_the_zone_of_the_agent(runtime: Runtime) -> None:
    late = datetime(2026, 4, 3, 21, 59, tzinfo=UTC)
    said = [
        message
        for minutes in (0, 1)
        for at in (late + timedelta(minutes=minutes),)
        for message in (user(f"q{minutes}", at=at), assistant(f"a{minutes}", at=at))
    ]
    await append(runtime, *said, time_zone="Europe/Berlin")
    assert await note(runtime, "2026-04-03") == "# 2026-04-03\n\n[23:59] User: q0 | Assistant: a0\n"
    assert await note(runtime, "2026-04-04") == "# 2026-04-04\n\n[00:00] User: q1 | Assistant: a1\n"


async def test_a_note_without_room_is_counted_and_the_messages_are_kept(database: Database, runtime: Runtime) -> None:
    small = assemble(Settings(embedder="hashing", max_file_bytes=2000), database, runtime.models)
    await append(small, user("When?", at=AT), assistant("On Thursday.", at=AT))
    await small.pipeline.write(
        place_of(ADA), overwrite(f"memory/{DAY}.md", "x" * 1990, by="user", reason="put", enabled=False)
    )
    with capture_logs() as logs:
        await append(
            small,
            user("secret lantern", at=AT),
            assistant("Here.", at=AT),
            user("Then?", at=AT + timedelta(days=1)),
            assistant("Now.", at=AT),
        )
    assert await texts(small) == ["When?", "On Thursday.", "secret lantern", "Here.", "Then?", "Now."]
    assert (await note(small, DAY) or "").strip("x") == ""
    # The next day's has room.
    assert "Then?" in (await note(small, "2026-04-04") or "")
    assert small.recorder.log_failures == 1
    assert [entry["event"] for entry in logs] == ["daily_log_not_written"]
    assert "lantern" not in str(logs)


async def test_a_log_that_cannot_be_made_never_costs_a_message(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, conninfo: str
) -> None:
    def refuse(text: str | None, addition: str, path: str) -> str:
        raise ValidationFailed("no")

    monkeypatch.setattr(sections, "append", refuse)
    appended = await append(runtime, user("When?", at=AT), assistant("On Thursday.", at=AT))
    assert (appended.stored, runtime.recorder.log_failures) == (2, 1)
    assert await note(runtime, DAY) is None
    assert_index_consistent(conninfo)
