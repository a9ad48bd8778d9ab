"""Whatever is wrong with memory, the turn goes on: logged, counted, and said by a short code in a header."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from tests import scripted_model as reply
from tests.conftest import ServeRuntime
from tests.embedders import MoodyEmbedder, filled_slot
from tests.proxied import FACT, OWNER, QUESTION, Served, ask, user
from tests.scripted_model import ScriptedModel

from reverie_indexer.database.database import Database
from reverie_server.access.connection import Connection as Whose
from reverie_server.access.keys import OPERATOR
from reverie_server.app.wiring import assemble
from reverie_server.proxy.chat import conversation_of
from reverie_server.proxy.proxy import ChatAnswer, ChatRequest, Proxy, ProxyTimeouts
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.runtime import Runtime
from reverie_server.settings.server import Settings

SYSTEM = {"role": "system", "content": "You are Wren."}


async def set_agent(served: Served, agent: str, **body: Any) -> None:
    assert (await served.api.put(f"/agents/{agent}", json=body)).status_code in (200, 201)


async def test_an_agent_that_is_new_is_made_by_its_first_turn(served: Served, scripted: ScriptedModel) -> None:
    first = await ask(served.client(X_Reverie_Session="web:7"), SYSTEM, user("I live in Oslo."))
    assert "X-Reverie-Warning" not in first.headers
    assert scripted.requests[0].messages == [SYSTEM, user("I live in Oslo.")]
    assert await served.said("web:7") == [("user", "I live in Oslo."), ("assistant", "Noted.")]
    second = await ask(served.client(X_Reverie_Session="web:8"), SYSTEM, user("And I like tea."))
    assert "X-Reverie-Warning" not in second.headers


async def test_memory_that_is_switched_off_is_left_alone(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    await set_agent(served, "wren", settings={"memory_enabled": False})
    answer = await ask(served.client(X_Reverie_Session="web:7"), SYSTEM, user(QUESTION))
    assert answer.headers["X-Reverie-Warning"] == "memory_disabled"
    assert answer.headers["X-Reverie-Injected"] == "0"
    assert scripted.requests[0].messages == [SYSTEM, user(QUESTION)]
    await set_agent(served, "wren", settings={"memory_enabled": True})
    assert await served.said("web:7") == []


async def test_a_team_member_reads_its_leaders_memory_and_records_its_own_sessions(
    served: Served, scripted: ScriptedModel
) -> None:
    put = {"content": f"{FACT}\n", "scope": "team"}
    assert (await served.api.put("/agents/lead/files/notes.md", json=put)).status_code == 201
    await set_agent(served, "wren", leader_agent_id="lead")
    answer = await ask(served.client(X_Reverie_Session="web:7"))
    assert "X-Reverie-Warning" not in answer.headers
    assert FACT in scripted.requests[0].texts("system")
    assert len(await served.said("web:7")) == 2


async def test_a_viewers_key_reads_and_records_nothing(served: Served, scripted: ScriptedModel) -> None:
    await served.remember()
    _, key = await served.runtime.keys.create("default", "viewer")
    served.api.headers["Authorization"] = f"Bearer {key}"
    answer = await ask(served.client(key=key, X_Reverie_Session="web:7"))
    assert answer.headers["X-Reverie-Warning"] == "read_only_key"
    assert answer.headers["X-Reverie-Injected"] == "1"
    assert await served.said("web:7") == []


async def test_without_its_embedder_memory_is_found_by_words(
    database: Database, scripted: ScriptedModel, serve_runtime: ServeRuntime
) -> None:
    embedder = MoodyEmbedder()
    slot = await filled_slot(database, embedder)
    settings = Settings(embedder="hashing", llm_base_url=scripted.base_url, llm_model="m")
    runtime = assemble(settings, database, slot, embed_wait_seconds=0.2)
    base_url = await serve_runtime(runtime)
    async with httpx.AsyncClient(base_url=f"{base_url}/api/v1", timeout=30) as api:
        served = Served(base_url, api, runtime)
        await served.remember()
        embedder.down = True
        answer = await ask(served.client(X_Reverie_Session="web:7"))
        assert answer.headers["X-Reverie-Warning"] == "memory_degraded"
        assert await served.said("web:7") == [("user", QUESTION), ("assistant", "Noted.")]
    assert runtime.proxy is not None
    assert runtime.llm is not None
    await runtime.proxy.aclose()
    await runtime.llm.aclose()
    await slot.aclose()


async def test_a_terminated_session_takes_nothing_and_the_turn_goes_on(served: Served) -> None:
    body = {"state": "terminated", "owner_key": OWNER}
    assert (await served.api.put("/agents/wren/sessions/web:7", json=body)).status_code in (200, 201)
    assert (await ask(served.client(X_Reverie_Session="web:7"))).status_code == 200
    assert await served.said("web:7") == []
    assert served.runtime.proxy is not None
    assert served.runtime.proxy.failures["record_conflict"] == 1


def request(**body: Any) -> ChatRequest:
    body = {"messages": [SYSTEM, user(QUESTION)], **body}
    return ChatRequest(Whose(OPERATOR, "wren", OWNER), "web:7", body, conversation_of(body))


async def read(answer: ChatAnswer) -> bytes:
    try:
        return b"".join([piece async for piece in answer.pieces])
    finally:
        await answer.aclose()


async def recorded(runtime: Runtime, proxy: Proxy) -> int:
    """How many messages the session has, when all that is under way is done."""
    await proxy.idle()
    grant = await runtime.gate.read(OPERATOR, "wren", OWNER)
    return (await runtime.sessions.find(grant.principal, "web:7")).message_count


@pytest.fixture
def proxy(talking: Runtime) -> Proxy:
    assert talking.proxy is not None
    return talking.proxy


def impatient(runtime: Runtime, timeouts: ProxyTimeouts) -> Proxy:
    """The proxy of a runtime with other timeouts."""
    assert runtime.llm is not None
    recorder = TurnRecorder(runtime.database, runtime.sessions)
    return Proxy(runtime.gate, runtime.turns, recorder, runtime.llm, runtime.count_tokens, timeouts)


class Busy:
    """A database all of whose connections are taken by somebody else."""

    def __init__(self, database: Database, connections: int) -> None:
        self._free = asyncio.Event()
        self._holders = [asyncio.create_task(self._hold(database)) for _ in range(connections)]
        self._held = 0
        self.taken = asyncio.Event()
        self._connections = connections

    async def _hold(self, database: Database) -> None:
        async with database.tenant("busy"):
            self._held += 1
            if self._held == self._connections:
                self.taken.set()
            await self._free.wait()

    async def release(self) -> None:
        self._free.set()
        await asyncio.gather(*self._holders)


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_database_that_does_not_answer_is_not_waited_for(
    talking: Runtime, database: Database, scripted: ScriptedModel, is_stream: bool
) -> None:
    proxy = impatient(talking, ProxyTimeouts(memory_seconds=0.2, record_seconds=0.05))
    busy = Busy(database, 8)
    await busy.taken.wait()
    answer = await proxy.answer(request(stream=is_stream))
    assert b"Noted" in await read(answer)
    await busy.release()
    assert (answer.status, answer.headers["X-Reverie-Warning"]) == (200, "memory_timeout")
    assert scripted.requests[0].messages == [SYSTEM, user(QUESTION)]
    assert proxy.failures["memory_timeout"] == 1
    assert await recorded(talking, proxy) == 2


@pytest.mark.parametrize("is_stream", [False, True])
async def test_a_database_that_goes_away_in_the_middle_costs_the_record_alone(
    proxy: Proxy, database: Database, scripted: ScriptedModel, is_stream: bool
) -> None:
    scripted.plan(reply.Reply("On Thursday.", hangs=True))
    answering = asyncio.create_task(proxy.answer(request(stream=is_stream)))
    await scripted.arrived.wait()
    await database.close()
    scripted.release()
    answer = await answering
    body = await read(answer)
    await proxy.idle()
    assert answer.status == 200
    assert b"Thursday" in body
    assert sum(count for code, count in proxy.failures.items() if code.startswith("record_")) == 1


async def test_a_record_that_takes_too_long_is_finished_beside_the_answer(
    talking: Runtime, database: Database, scripted: ScriptedModel
) -> None:
    proxy = impatient(talking, ProxyTimeouts(record_seconds=0.05))
    scripted.plan(reply.Reply("On Thursday.", hangs=True))
    answering = asyncio.create_task(proxy.answer(request()))
    await scripted.arrived.wait()
    busy = Busy(database, 8)
    await busy.taken.wait()
    scripted.release()
    assert b"Thursday" in await read(await answering)
    await busy.release()
    assert await recorded(talking, proxy) == 2


async def test_a_fault_of_memorys_own_does_not_reach_the_caller(
    proxy: Proxy, talking: Runtime, scripted: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> Callable[[], None]:
        raise RuntimeError("a bug")

    await talking.gate.write(OPERATOR, "wren", OWNER, None)
    assert b"Noted" in await read(await proxy.answer(request()))
    for part, method in ((talking.turns, "context"), (talking.gate, "write")):
        monkeypatch.setattr(type(part), method, broken)
        answer = await proxy.answer(request())
        assert b"Noted" in await read(answer)
        assert answer.headers["X-Reverie-Warning"] == "internal_error"
