"""Turns of one session are recorded in the order in which they were asked, and what waits for that is bounded."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.proxied import OWNER, assistant, user

from reverie_server.access.connection import Connection
from reverie_server.access.keys import OPERATOR
from reverie_server.llm.streamed import Answered
from reverie_server.proxy.chat import conversation_of
from reverie_server.proxy.proxy import ChatRequest, Proxy, ProxyTimeouts
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.proxy.recordings import AskedTurn, Recordings
from reverie_server.runtime import Runtime

WHO = Connection(OPERATOR, "wren", OWNER)
LONG = "\n\n".join(f"Paragraph {number} of the pasted text says that the harbour is cold." for number in range(2_000))


def said(text: str, session_id: str = "web:7") -> AskedTurn:
    new = conversation_of({"messages": [user(text)]}).new_messages(datetime.now(UTC))
    return AskedTurn(WHO, session_id, new.messages)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_short_turn_does_not_pass_a_long_one(talking: Runtime, is_stream: bool) -> None:
    assert talking.llm is not None
    recorder = TurnRecorder(talking.database, talking.sessions)
    hasty = ProxyTimeouts(record_seconds=0.001)
    proxy = Proxy(talking.gate, talking.turns, recorder, talking.llm, talking.count_tokens, hasty)
    messages: list[dict[str, Any]] = []
    for text in (LONG, "And this comes after.", "And this in the end."):
        messages.append(user(text))
        body = {"messages": list(messages), "stream": is_stream}
        answer = await proxy.answer(ChatRequest(WHO, "web:7", body, conversation_of(body)))
        assert b"Noted" in b"".join([piece async for piece in answer.pieces])
        await answer.aclose()
        messages.append(assistant("Noted."))
    await proxy.idle()
    grant = await talking.gate.read(OPERATOR, "wren", OWNER)
    _, live = await talking.sessions.live(grant.principal, "web:7")
    assert [(message.role, message.content) for message in live] == [(m["role"], m["content"]) for m in messages]


class Hanging(TurnRecorder):
    """Records when it is released, and notes what it began with."""

    def __init__(self, runtime: Runtime) -> None:
        super().__init__(runtime.database, runtime.sessions)
        self.released = asyncio.Event()
        self.begun: list[tuple[str, str]] = []
        self.begins = asyncio.Semaphore(0)

    async def record(self, grant: Any, place: Any, session_id: str, new: Any, answer: Answered | None) -> None:
        self.begun.append((session_id, new[0].content))
        self.begins.release()
        await self.released.wait()
        await super().record(grant, place, session_id, new, answer)


async def test_sessions_do_not_wait_for_each_other(runtime: Runtime) -> None:
    recorder = Hanging(runtime)
    recordings = Recordings(runtime.gate, runtime.turns, recorder, Counter())
    turns = [said("One."), said("Two."), said("Other.", "web:8"), said("Three.")]
    tasks = [asyncio.create_task(recordings.record(turn, None, "answered")) for turn in turns]
    for _ in range(2):
        await recorder.begins.acquire()
    assert recorder.begun == [("web:7", "One."), ("web:8", "Other.")]
    recorder.released.set()
    await asyncio.gather(*tasks)
    assert [text for session_id, text in recorder.begun if session_id == "web:7"] == ["One.", "Two.", "Three."]


async def test_what_waits_is_bounded_and_what_is_lost_is_counted(runtime: Runtime) -> None:
    recorder, failures = Hanging(runtime), Counter[str]()
    recordings = Recordings(runtime.gate, runtime.turns, recorder, failures, max_waiting_chars=50_000)
    answer = Answered("x" * 10_000, ())
    tasks = [asyncio.create_task(recordings.record(said(f"{n}."), answer, "answered")) for n in range(10)]
    await asyncio.sleep(0)
    assert failures == {"record_overloaded": 8}
    recorder.released.set()
    await asyncio.gather(*tasks)
    # What is too much for the bound alone is recorded where nothing else waits.
    await recordings.record(said("a" * 60_000), None, "answered")
    assert [text[:2] for _, text in recorder.begun] == ["0.", "1.", "aa"]
    assert failures == {"record_overloaded": 8}
