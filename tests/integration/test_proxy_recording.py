"""A turn of the proxy is recorded once within the time of retries; the same said again later is said again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from reverie_server.access.keys import OPERATOR
from reverie_server.llm.streamed import Answered
from reverie_server.proxy.chat import conversation_of
from reverie_server.proxy.recording import RETRY_WITHIN, TurnRecorder
from reverie_server.runtime import Runtime


async def record(runtime: Runtime, answer: str | None, at: datetime) -> list[tuple[str, str]]:
    """Record the same turn with an answer, as asked at some time; the session's messages."""
    grant, place = await runtime.gate.write(OPERATOR, "wren", "user:1", None)
    new = conversation_of({"messages": [{"role": "user", "content": "Go on."}]}).new_messages(at).messages
    answered = None if answer is None else Answered(answer, ())
    await TurnRecorder(runtime.database, runtime.sessions).record(grant, place, "web:7", new, answered)
    _, live = await runtime.sessions.live(grant.principal, "web:7")
    return [(said.role, said.content) for said in live]


async def test_the_same_soon_is_a_retry(runtime: Runtime) -> None:
    now = datetime.now(UTC)
    assert await record(runtime, None, now) == [("user", "Go on.")]
    assert await record(runtime, "One.", now) == [("user", "Go on."), ("assistant", "One.")]
    assert await record(runtime, "Two.", now) == [("user", "Go on."), ("assistant", "One.")]


async def test_the_same_later_is_said_again_and_has_retries_of_its_own(runtime: Runtime) -> None:
    now = datetime.now(UTC)
    once = [("user", "Go on."), ("assistant", "One.")]
    assert await record(runtime, "One.", now - 2 * RETRY_WITHIN) == once
    twice = [*once, ("user", "Go on."), ("assistant", "Two.")]
    assert await record(runtime, "Two.", now - RETRY_WITHIN + timedelta(minutes=1)) == twice
    assert await record(runtime, "Three.", now) == twice


async def test_another_session_has_its_own(runtime: Runtime) -> None:
    now = datetime.now(UTC)
    await record(runtime, "One.", now)
    grant, place = await runtime.gate.write(OPERATOR, "wren", "user:1", None)
    new = conversation_of({"messages": [{"role": "user", "content": "Go on."}]}).new_messages(now).messages
    await TurnRecorder(runtime.database, runtime.sessions).record(grant, place, "web:8", new, None)
    assert (await runtime.sessions.find(grant.principal, "web:8")).message_count == 1
