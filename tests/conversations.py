"""What tests of conversations say, and as whom."""

from __future__ import annotations

from typing import Any

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.reader import Reader
from reverie_server.access.settings import AgentSettings
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import Appended, Message, NewMessage

SESSION = "web:1"


def reader_of(owner_key: str | None, agent_id: str = "wren", tenant_id: str = "default") -> Reader:
    return Reader(tenant_id, agent_id, owner_key)


def place_of(reader: Reader) -> Place:
    scope = "team" if reader.owner_key is None else "personal"
    return Place(reader.tenant_id, reader.agent_id, scope, reader.owner_key)


def grant_of(reader: Reader, **settings: Any) -> Grant:
    return Grant(Caller(reader.tenant_id, "member"), reader, AgentSettings(**settings))


ADA = reader_of("user:1")
BO = reader_of("user:2")
TEAM = reader_of(None)


def user(content: str, **more: Any) -> NewMessage:
    return NewMessage("user", content, **more)


def assistant(content: str, **more: Any) -> NewMessage:
    return NewMessage("assistant", content, **more)


async def append(
    runtime: Runtime, *messages: NewMessage, session_id: str = SESSION, reader: Reader = ADA, **settings: Any
) -> Appended:
    return await runtime.sessions.append(grant_of(reader, **settings), place_of(reader), session_id, messages)


async def said(runtime: Runtime, session_id: str = SESSION, reader: Reader = ADA) -> list[Message]:
    session = await runtime.sessions.find(reader, session_id)
    return await runtime.sessions.messages(reader, session, after=0, limit=1000)


async def texts(runtime: Runtime, session_id: str = SESSION, reader: Reader = ADA) -> list[str]:
    return [message.content for message in await said(runtime, session_id, reader)]


async def note(runtime: Runtime, day: str, reader: Reader = ADA) -> str | None:
    """The daily note of a day; None where there is none."""
    found = await runtime.workspace.present(place_of(reader), [f"memory/{day}.md"])
    return next((text for _, text in found.values()), None)
