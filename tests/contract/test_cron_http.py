"""A conversation that a job by the clock had leaves no episode and no line of the log, where it is not kept."""

from __future__ import annotations

from typing import Any

import pytest

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime
from reverie_server.sessions.completion import complete_idle_sessions

ADA = {"owner_key": "user:ada"}
AT = "2026-04-03T09:30:00Z"
NOTE = "memory/2026-04-03.md"
LANTERN = "I decided that the blue lantern hangs in the hall of the old harbour house."
TEA = "I decided to prefer green tea to coffee at the office."


async def say(wren: Any, text: str, session: str, answer: str = "Noted.") -> None:
    messages = [{"role": "user", "content": text, "at": AT}, {"role": "assistant", "content": answer, "at": AT}]
    response = await wren.http.post(wren.url(f"sessions/{session}/messages"), json={"messages": messages, **ADA})
    assert response.status_code in (200, 201), response.text


async def complete(wren: Any, session: str, source: str | None) -> None:
    body = {**ADA, **({"trigger_source": source} if source else {})}
    response = await wren.http.post(wren.url(f"sessions/{session}/complete"), json=body)
    assert response.status_code == 202, response.text
    assert [job["kind"] for job in response.json()["jobs"]] == ["facts", "episodic", "extraction"]


async def episodes(wren: Any) -> list[str]:
    return [found["session_id"] for found in (await wren.get("episodes", **ADA)).json()["episodes"]]


async def note(wren: Any) -> str:
    response = await wren.get(f"files/{NOTE}", **ADA)
    return response.json()["content"] if response.status_code == 200 else ""


@pytest.mark.parametrize(("session", "source"), [("web:1", "cron"), ("cron:nightly", None), ("cron:nightly", "web")])
async def test_what_came_by_the_clock_is_not_kept(wren: Any, runtime: Runtime, session: str, source: str) -> None:
    await say(wren, TEA, "web:9")
    await say(wren, LANTERN, session)
    assert ("lantern" in await note(wren)) is (session == "web:1")
    await complete(wren, session, source)
    await complete(wren, "web:9", "web")
    await drain(runtime)
    assert await episodes(wren) == ["web:9"]
    assert await note(wren) == f"# 2026-04-03\n\n[09:30] User: {TEA} | Assistant: Noted.\n"
    assert "lantern" not in (await wren.http.post(wren.url("context"), json={"message": "x", **ADA})).text
    listed = (await wren.get("files", **ADA)).json()["files"]
    for path in (file["path"] for file in listed if file["scope"] == "personal"):
        assert "lantern" not in (await wren.read(path, **ADA))["content"], path


async def test_what_is_said_before_and_after_it_is_kept(wren: Any, runtime: Runtime) -> None:
    await say(wren, TEA, "web:1")
    await complete(wren, "web:1", "web")
    await say(wren, LANTERN, "web:1")
    await complete(wren, "web:1", "cron")
    await say(wren, "I decided to sell the red bicycle in May.", "web:1", "Good luck.")
    await complete(wren, "web:1", "web")
    await drain(runtime)
    found = (await wren.get("episodes", **ADA)).json()["episodes"]
    assert len(found) == 2
    assert "lantern" not in str(found)
    assert [word in await note(wren) for word in ("green tea", "lantern", "bicycle")] == [True, False, True]


async def test_silence_completes_a_session_of_the_channel_cron_by_the_clock(wren: Any, runtime: Runtime) -> None:
    await say(wren, LANTERN, "cron:nightly")
    await say(wren, TEA, "web:9")
    await complete_idle_sessions(runtime.database, runtime.consolidation.delays, idle_seconds=0)
    await drain(runtime)
    assert await episodes(wren) == ["web:9"]


async def test_a_line_that_a_person_changed_stays(wren: Any) -> None:
    await say(wren, LANTERN, "web:1")
    await wren.patch(NOTE, "blue lantern", "BLUE lantern", **ADA)
    await complete(wren, "web:1", "cron")
    assert "BLUE lantern" in await note(wren)


async def test_where_it_is_wanted_it_is_kept(wren: Any, runtime: Runtime) -> None:
    await wren.http.put("/agents/wren", json={"settings": {"skip_cron_conversations": False}})
    await say(wren, LANTERN, "cron:nightly")
    await complete(wren, "cron:nightly", "cron")
    await drain(runtime)
    assert await episodes(wren) == ["cron:nightly"]
    assert "lantern" in await note(wren)


async def test_a_session_completed_twice_without_new_messages_publishes_nothing(wren: Any, runtime: Runtime) -> None:
    await say(wren, TEA, "web:1")
    await complete(wren, "web:1", "web")
    await drain(runtime)
    for source in ("web", "cron", "api"):
        body = {**ADA, "trigger_source": source}
        response = await wren.http.post(wren.url("sessions/web:1/complete"), json=body)
        assert (response.status_code, response.json()["jobs"]) == (202, []), source
    assert await complete_idle_sessions(runtime.database, runtime.consolidation.delays, idle_seconds=0) == 0
    assert await episodes(wren) == ["web:1"]


async def test_what_came_by_the_clock_states_nothing_whatever_completes_the_session_later(
    wren: Any, runtime: Runtime
) -> None:
    await say(wren, "My boss is Bruno and I work at Kolibri.", "web:1")
    await complete(wren, "web:1", "cron")
    await say(wren, TEA, "web:1")
    await complete_idle_sessions(runtime.database, runtime.consolidation.delays, idle_seconds=0)
    await drain(runtime)
    assert len(await episodes(wren)) == 1
    assert "Kolibri" not in await note(wren)
    facts = (await wren.get("facts", **ADA)).json()["facts"]
    assert "Kolibri" not in str(facts)
    entities = (await wren.get("graph/entities", **ADA)).json()["entities"]
    assert [entity["name"] for entity in entities if entity["name"] in ("Bruno", "Kolibri")] == []
