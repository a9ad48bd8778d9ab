"""The turns of `reverie chat`: build the prompt, stream the model's answer, store both messages."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from reverie_indexer.errors import MemoryDisabled, ReverieError
from reverie_server.access.keys import OPERATOR
from reverie_server.llm.endpoint import Failed
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.streamed import StreamedAnswer
from reverie_server.prompt.turn import Turn, TurnRequest
from reverie_server.sessions.model import NewMessage

if TYPE_CHECKING:
    from reverie_server.llm.provider import LanguageModel
    from reverie_server.runtime import Runtime


class Chat:
    """A conversation with the configured model. Answers go to stdout, what was injected to stderr."""

    def __init__(
        self,
        runtime: Runtime,
        llm: LanguageModel,
        agent_id: str,
        owner_key: str | None,
        session_id: str,
        system_prompt: str | None,
    ) -> None:
        self.session_id = session_id
        self._runtime = runtime
        self._llm = llm
        self._agent_id = agent_id
        self._owner_key = owner_key
        self._system_prompt = system_prompt
        self._aside = Console(stderr=True, highlight=False, soft_wrap=True)

    async def turn(self, message: str) -> Turn:
        """Run one turn: show what is injected, stream the answer and store both messages.

        A failure is printed. Nothing is stored of a turn without an answer.
        """
        turn = await self._prompt(TurnRequest(message, self.session_id, self._system_prompt))
        self._show(turn)
        try:
            answer = await self._answered(turn)
        except LanguageModelUnavailable as error:
            self._aside.print(Text(error.detail, "red"))
            return turn
        try:
            await self._store([NewMessage("user", message), NewMessage("assistant", answer)])
        except ReverieError as error:
            self._aside.print(Text(f"not stored: {error.detail}", "red"))
        return turn

    async def _prompt(self, request: TurnRequest) -> Turn:
        try:
            grant = await self._runtime.gate.for_turn(OPERATOR, self._agent_id, self._owner_key)
        except MemoryDisabled:
            return self._runtime.turns.without_memory(request)
        return await self._runtime.turns.context(grant, request)

    def _show(self, turn: Turn) -> None:
        injection = turn.injection
        for memory in injection.memories:
            where = f"  {memory.score:.2f} {memory.date} {memory.source}: "
            self._aside.print(Text(where, "cyan").append(memory.text, "dim"))
        for warning in injection.warnings:
            self._aside.print(Text(f"  {warning}", "yellow"))
        if injection.skipped is not None:
            self._aside.print(Text(f"  nothing from memory: {injection.skipped}", "dim"))

    async def _answered(self, turn: Turn) -> str:
        """The model's answer, written as it comes; LanguageModelUnavailable when there is none."""
        system = [{"role": "system", "content": turn.system_prompt}] if turn.system_prompt else []
        body: dict[str, Any] = {"model": self._llm.model, "messages": [*system, *turn.messages], "stream": True}
        streamed = StreamedAnswer()
        async with self._llm.forward("chat/completions", body) as answer:
            if isinstance(answer, Failed):
                raise answer.error()
            if answer.status != 200:
                raise LanguageModelUnavailable(
                    "rejected", f"the language model's endpoint answered HTTP {answer.status}"
                )
            async for piece in answer.pieces():
                sys.stdout.write(streamed.feed(piece))
                sys.stdout.flush()
        print()
        message = streamed.answer()
        if message is None or not message.content:
            raise LanguageModelUnavailable("empty", "the language model's answer broke off, or was empty")
        return message.content

    async def _store(self, messages: list[NewMessage]) -> None:
        grant, place = await self._runtime.gate.write(OPERATOR, self._agent_id, self._owner_key, None)
        await self._runtime.sessions.append(grant, place, self.session_id, messages)
