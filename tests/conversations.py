"""What tests of conversations say, and as whom."""

from __future__ import annotations

from typing import Any

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.access.keys import Caller
from reverie_server.access.principal import Principal
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import Appended, Message, NewMessage
from reverie_server.settings.agent import AgentSettings

SESSION = "web:1"


def principal_of(owner_key: str | None, agent_id: str = "wren", tenant_id: str = "default") -> Principal:
    return Principal(tenant_id, agent_id, owner_key)


def place_of(principal: Principal) -> Place:
    scope = "team" if principal.owner_key is None else "personal"
    return Place(principal.tenant_id, principal.agent_id, scope, principal.owner_key)


def grant_of(principal: Principal, **settings: Any) -> Grant:
    return Grant(Caller(principal.tenant_id, "member"), principal, AgentSettings(**settings))


ADA = principal_of("user:1")
BO = principal_of("user:2")
TEAM = principal_of(None)


def user(content: str, **more: Any) -> NewMessage:
    return NewMessage("user", content, **more)


def assistant(content: str, **more: Any) -> NewMessage:
    return NewMessage("assistant", content, **more)


async def append(
    runtime: Runtime, *messages: NewMessage, session_id: str = SESSION, principal: Principal = ADA, **settings: Any
) -> Appended:
    return await runtime.sessions.append(grant_of(principal, **settings), place_of(principal), session_id, messages)


async def said(runtime: Runtime, session_id: str = SESSION, principal: Principal = ADA) -> list[Message]:
    session = await runtime.sessions.find(principal, session_id)
    return await runtime.sessions.messages(principal, session, after=0, limit=1000)


async def texts(runtime: Runtime, session_id: str = SESSION, principal: Principal = ADA) -> list[str]:
    return [message.content for message in await said(runtime, session_id, principal)]


async def note(runtime: Runtime, day: str, principal: Principal = ADA) -> str | None:
    """The daily note of a day; None where there is none."""
    found = await runtime.workspace.present(place_of(principal), [f"memory/{day}.md"])
    return next((text for _, text in found.values()), None)
