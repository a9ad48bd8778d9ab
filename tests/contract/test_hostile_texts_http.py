"""Texts that were made to be expensive go through all that is done with a conversation, and everything answers."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.jobs import jobs_of

from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

ADA = {"owner_key": "user:ada"}
# Word for word as it stopped all tenants: 36 underscores, exponential in a pattern of the topics.
UNDERSCORES = f"Please have a look at `{'a_' * 36}a@b` in the log."
# Of each kind; what is worse than quadratic never comes back from so much.
CHARS = 3_000
UNITS = (
    *("a_", "a.", "a-", "a@", "'", "-", ".", "_", " ", "\t", "`", "*a ", "[10:00] User: ", "A. ", "Ada, ", "haha"),
    *("Ada works at A. ", "- a\n", "> a\n", "a\n===\n", "(2026-04-03) ", "1.1", "a/a", "A-", "I prefer tea. ", '{"a":'),
)
# Of equal words in another order each, so that nothing tells which of them to compare.
SHUFFLED = ["Ada", "likes", "green", "tea", "and", "dark", "bread", "with", "salted", "butter"]


def lines(count: int, first: int = 0) -> str:
    """Lines that are nearly alike, and no two the same."""
    turned = (SHUFFLED[n % 9 :] + SHUFFLED[: n % 9] for n in range(first, first + count))
    return "\n".join(f"- I decided that {' '.join(words)} number {n}." for n, words in enumerate(turned, first))


async def say(wren: Any, session: str, *texts: str) -> None:
    messages = [
        {"role": "user" if n % 2 == 0 else "assistant", "content": text or "…"}
        for n, text in enumerate([*texts, "Ok."])
    ]
    response = await wren.http.post(wren.url(f"sessions/{session}/messages"), json={"messages": messages, **ADA})
    assert response.status_code in (200, 201), response.text


async def complete(wren: Any, session: str) -> None:
    response = await wren.http.post(wren.url(f"sessions/{session}/complete"), json=ADA)
    assert response.status_code == 202, response.text


async def all_is_done(wren: Any, runtime: Runtime) -> None:
    """Run all that is due, and what follows from it."""
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    assert {job["status"] for job in await jobs_of(runtime.database)} <= {"succeeded"}
    assert (await wren.get("pipeline", **ADA)).status_code == 200


async def test_the_message_that_froze_all_tenants_becomes_an_episode(wren: Any, runtime: Runtime) -> None:
    assert len(UNDERSCORES) == 111
    await say(wren, "web:1", UNDERSCORES)
    await complete(wren, "web:1")
    await all_is_done(wren, runtime)
    assert [found["session_id"] for found in (await wren.get("episodes", **ADA)).json()["episodes"]] == ["web:1"]


@pytest.mark.parametrize(
    ("unit", "times"), [("'", 50_000), ("-", 50_000), (".", 50_000), ("A. ", 20_000), ("[10:00] User: ", 5_000)]
)
async def test_a_long_line_in_the_note_and_in_the_memory_is_read(wren: Any, unit: str, times: int) -> None:
    line = unit * times
    today = datetime.now(UTC).date().isoformat()
    await wren.put(f"memory/{today}.md", f"# {today}\n\n{line}\n\n- I prefer tea to coffee.\n", **ADA)
    await wren.put("MEMORY.md", f"# Long-term Memory\n\n{line}\n", **ADA)
    response = await wren.http.get("/memory/wren/dreaming/candidates", params=ADA)
    assert response.status_code == 200, response.text
    assert "I prefer tea to coffee." in [found["snippet"] for found in response.json()["data"]]


async def test_very_many_lines_of_the_same_words_are_read(wren: Any) -> None:
    today = datetime.now(UTC).date().isoformat()
    await wren.put(f"memory/{today}.md", f"# {today}\n\n{lines(400)}\n", **ADA)
    await wren.put("MEMORY.md", f"# Long-term Memory\n\n{lines(600, 200)}\n", **ADA)
    response = await wren.http.get("/memory/wren/dreaming/candidates", params=ADA)
    assert response.status_code == 200, response.text
    assert len(response.json()["data"]) > 0
    response = await wren.http.post("/memory/wren/emergence", json=ADA)
    assert response.status_code == 200, response.text


async def test_a_conversation_of_hostile_texts_goes_through_every_stage(wren: Any, runtime: Runtime) -> None:
    texts = [unit * (CHARS // len(unit)) for unit in UNITS]
    await say(wren, "web:1", *(part for text in texts for part in (text, f"I prefer `{text}@b` to tea.")))
    await say(wren, "web:2", UNDERSCORES, lines(100), *texts[:4], "Remember that Ada likes tea.")
    response = await wren.http.post(wren.url("sessions/web:2/compact"), json={**ADA, "keep_last": 1})
    assert response.status_code == 200, response.text
    for session in ("web:1", "web:2"):
        await complete(wren, session)
    await all_is_done(wren, runtime)
    found = {episode["session_id"] for episode in (await wren.get("episodes", **ADA)).json()["episodes"]}
    assert found == {"web:1", "web:2"}
    ran = {job["stage"] for job in await jobs_of(runtime.database)}
    assert {"extraction", "episodic", "semantic"} <= {name.removeprefix("stage:") for name in ran}
    stages = runtime.consolidation.stages
    night = Work("dreaming", "default", "wren", ADA["owner_key"], trigger="api")
    for stage in ("dreaming", "emergence", "compaction", "dedup"):
        outcome = await stages[stage].run(replace(night, stage=stage))
        assert outcome.status in ("completed", "skipped"), outcome
