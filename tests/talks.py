"""A conversation of one owner with one agent, through the running system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.files.files import Write
from reverie_server.prompt.session_compaction import Compacted
from reverie_server.prompt.turn import Turn, TurnRequest
from reverie_server.runtime import Runtime
from reverie_server.sessions.model import Message, NewMessage, Role, Session

ADA = "user:ada"


@dataclass(frozen=True)
class Talk:
    """`say` alternates between user and assistant; the user begins."""

    runtime: Runtime
    session_id: str = "web:1"
    owner_key: str | None = ADA
    agent_id: str = "wren"

    async def grant(self) -> tuple[Grant, Place]:
        return await self.runtime.gate.write(OPERATOR, self.agent_id, self.owner_key, None)

    async def say(self, *texts: str) -> Session:
        roles: tuple[Role, Role] = ("user", "assistant")
        return await self.add([NewMessage(roles[number % 2], text) for number, text in enumerate(texts)])

    async def chat(self, exchanges: int, first: int = 1, words: int = 1) -> Session:
        """So many exchanges of numbered texts that say nothing notable."""
        texts = [
            f"{kind} {number} {'and so on ' * (words - 1)}".strip()
            for number in range(first, first + exchanges)
            for kind in ("asking", "answering")
        ]
        return await self.say(*texts)

    async def add(self, messages: Sequence[NewMessage]) -> Session:
        grant, place = await self.grant()
        return (await self.runtime.sessions.append(grant, place, self.session_id, messages)).session

    async def session(self) -> Session:
        return await self.runtime.sessions.find(self.principal, self.session_id)

    async def live(self) -> list[Message]:
        return (await self.runtime.sessions.live(self.principal, self.session_id))[1]

    async def everything(self) -> list[Message]:
        return await self.runtime.sessions.messages(self.principal, await self.session(), after=0, limit=10_000)

    async def compact(self, keep_last: int = 2) -> Compacted:
        grant, _ = await self.grant()
        session, place = await self.runtime.sessions.locate(self.principal, self.session_id)
        return await self.runtime.session_compaction.compact(grant, place, session, keep_last=keep_last)

    async def context(self, message: str = "And now?", **asked: Any) -> Turn:
        grant = await self.runtime.gate.read(OPERATOR, self.agent_id, self.owner_key)
        return await self.runtime.turns.context(grant, TurnRequest(message, self.session_id, **asked))

    async def put(self, path: str, text: str, *, enabled: bool | None = None, **where: Any) -> None:
        place = replace((await self.grant())[1], **where)
        await self.runtime.workspace.put(place, Write(path, "test", "put", enabled=enabled), text)

    async def notes(self) -> str:
        """The daily notes of the owner, without the lines of the log."""
        grant, place = await self.grant()
        _, documents = await self.runtime.workspace.listing(grant.principal, prefix="memory/", after=None, limit=100)
        present = await self.runtime.workspace.present(place, [document.path for document in documents])
        lines = [line for _, text in present.values() for line in text.splitlines() if " | Assistant: " not in line]
        return "\n".join(line for line in lines if line.strip())

    @property
    def principal(self) -> Principal:
        return Principal("default", self.agent_id, self.owner_key)


def contents(messages: Sequence[Message]) -> list[str]:
    return [message.content for message in messages]
