"""The proxy for chat completions: memory in, the caller's request on to the provider, what was said into a session.

A failure of memory never fails the turn: the request then goes on as its caller sent it.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import structlog

from reverie_indexer.errors import Forbidden, MemoryDisabled, NotFound, OwnerRequired, ReadOnlyMember, ReverieError
from reverie_indexer.model import Place
from reverie_server.access.connection import Connection
from reverie_server.access.gate import Gate, Grant
from reverie_server.llm.endpoint import Failed, RawAnswer
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.provider import LanguageModel
from reverie_server.llm.streamed import Answered, StreamedAnswer, whole_answer
from reverie_server.prompt.turn import TurnRequest, Turns
from reverie_server.proxy.chat import Conversation
from reverie_server.proxy.recording import ProxiedTurns
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
T = TypeVar("T")
INJECTED_HEADER = "X-Reverie-Injected"
WARNING_HEADER = "X-Reverie-Warning"
# What a turn waits for memory, and for being recorded before its end is sent; both then go on without.
MEMORY_SECONDS = 15.0
RECORD_SECONDS = 5.0
_STOP_SECONDS = 5.0
_MAX_ERROR_BYTES = 65_536
_PASSED_HEADERS = re.compile(r"content-type|retry-after(?:-ms)?|x-should-retry|x-request-id|x-ratelimit-.*|openai-.*")
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|maximum context|prompt is too long|input is too long|too many tokens"
    r"|too many input tokens|exceeds? the (?:model's )?(?:available |maximum )?(?:context|number of tokens)"
    r"|reduce the length",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a caller asks of the proxy. `body` is the request as it came, `conversation` its messages without echoes.

    `authorization` is for the provider where the server has no key of its own; `session_id` None: of the conversation.
    """

    connection: Connection
    session_id: str | None
    body: Mapping[str, Any]
    conversation: Conversation
    authorization: str | None = None


@dataclass(frozen=True, slots=True)
class _Memory:
    """What memory gives to a turn: its prompt, and where the turn is recorded.

    `target` None: that could not be found out, or, with `is_refused`, nowhere. `warnings` are the codes of what failed,
    in the order in which it did.
    """

    prompt: str
    beside: str = ""
    injected: int = 0
    target: tuple[Grant, Place] | None = None
    is_refused: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Turn:
    """A request that was sent on, for when its answer is there."""

    asked: ChatRequest
    memory: _Memory
    arrived: datetime


@dataclass(slots=True)
class ChatAnswer:
    """What goes back to the caller. `pieces` can be gone through once; `aclose` ends the provider's answer with it."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    _resources: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def aclose(self) -> None:
        """Close the connection to the provider."""
        await self._resources.aclose()


class Proxy:
    """Answers chat completions. `failures` counts by code what memory could not do."""

    def __init__(
        self, gate: Gate, turns: Turns, recorder: ProxiedTurns, model: LanguageModel, count: CountTokens
    ) -> None:
        self._gate = gate
        self._turns = turns
        self._recorder = recorder
        self._model = model
        self._count = count
        self._background: set[asyncio.Task[Any]] = set()
        self.failures: Counter[str] = Counter()

    async def answer(self, asked: ChatRequest) -> ChatAnswer:
        """The provider's answer to a request that memory was added to; close it.

        Raises LanguageModelUnavailable when the provider cannot be reached, OwnerRequired where no owner is named and
        one has to be; what the provider answers, errors too, is passed on.
        """
        arrived = datetime.now(UTC)
        memory = await self._remembered(asked, arrived)
        async with AsyncExitStack() as stack:
            answer = await self._sent(stack, asked, asked.conversation, memory)
            if answer.status in (400, 413, 422):
                body = await answer.body()
                if _is_too_long(body):
                    await stack.aclose()
                    conversation, memory = self._shortened(asked, memory, arrived)
                    answer = await self._sent(stack, asked, conversation, memory)
                else:
                    answer = RawAnswer(answer.status, answer.headers, _once(body))
            headers = {name: value for name, value in answer.headers.items() if _PASSED_HEADERS.fullmatch(name.lower())}
            headers[INJECTED_HEADER] = str(memory.injected)
            if memory.warnings:
                headers[WARNING_HEADER] = ", ".join(memory.warnings)
            turn = _Turn(asked, memory, arrived)
            if answer.status != 200:
                pieces = answer.pieces()
            elif "text/event-stream" in answer.headers.get("content-type", ""):
                pieces = self._streamed(answer, turn)
            else:
                body = await answer.body()
                await asyncio.wait({self._record(turn, whole_answer(body))}, timeout=RECORD_SECONDS)
                pieces = _once(body)
            return ChatAnswer(answer.status, headers, pieces, stack.pop_all())

    async def idle(self) -> None:
        """Wait until all that is being recorded is."""
        while self._background:
            await asyncio.wait(set(self._background))

    async def aclose(self) -> None:
        """End what goes on beside the answers: soon by itself, else it is cancelled."""
        if self._background:
            _, unfinished = await asyncio.wait(set(self._background), timeout=_STOP_SECONDS)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    async def _sent(
        self, stack: AsyncExitStack, asked: ChatRequest, conversation: Conversation, memory: _Memory
    ) -> RawAnswer:
        body = {**asked.body, "messages": conversation.with_memory(memory.prompt, memory.beside)}
        body["model"] = asked.body.get("model") or self._model.model
        authorization = None if self._model.has_key else asked.authorization
        answer = await stack.enter_async_context(self._model.forward(body, authorization))
        if isinstance(answer, Failed):
            raise answer.error()
        return answer

    def _shortened(self, asked: ChatRequest, memory: _Memory, at: datetime) -> tuple[Conversation, _Memory]:
        """For a model that finds the prompt too long: the last pairs; where there are no more, nothing of memory."""
        shorter = asked.conversation.last_pairs(self._count, at)
        warned = replace(memory, warnings=(*memory.warnings, "context_length"))
        log.info("chat_shortened", messages=len(asked.conversation.messages), kept=len(shorter.messages))
        if len(shorter.messages) < len(asked.conversation.messages):
            return shorter, warned
        return shorter, replace(warned, prompt=shorter.system_prompt, beside="", injected=0)

    async def _remembered(self, asked: ChatRequest, at: datetime) -> _Memory:
        """What memory has for the turn, within MEMORY_SECONDS; the caller's own prompt where it has not."""
        bare = _Memory(asked.conversation.system_prompt)
        task = self._start(self._looked_up(asked, bare, at), "proxy-memory")
        # Waited for and not timed out: a database driver may swallow the cancellation that a time-out is.
        done, _ = await asyncio.wait({task}, timeout=MEMORY_SECONDS)
        if done:
            return task.result()
        task.cancel()
        return self._failed(bare, "memory_timeout", "memory was not there in time")

    async def _looked_up(self, asked: ChatRequest, bare: _Memory, at: datetime) -> _Memory:
        memory = bare
        try:
            memory = await self._targeted(asked.connection, bare)
            return await self._prompted(asked, memory, at)
        except OwnerRequired:
            # No failure of memory: the request is not to go on without saying whose it is.
            raise
        except NotFound as error:
            return self._failed(memory, "agent_unknown", error.detail)
        except ReverieError as error:
            return self._failed(memory, error.code, error.detail)
        except Exception:  # the edge of memory: whatever is wrong with it, the turn goes on
            log.exception("chat_without_memory")
            return self._failed(memory, "internal_error", "memory failed")

    async def _targeted(self, who: Connection, memory: _Memory) -> _Memory:
        """The memory with where the turn is recorded."""
        try:
            return replace(memory, target=await self._gate.write(who.caller, who.agent_id, who.owner_key, None))
        except (Forbidden, MemoryDisabled, ReadOnlyMember) as error:
            code = "read_only_key" if isinstance(error, Forbidden) else error.code
            return self._failed(replace(memory, is_refused=True), code, error.detail)

    async def _prompted(self, asked: ChatRequest, memory: _Memory, at: datetime) -> _Memory:
        """The memory with what the prompt gets of it."""
        who, conversation = asked.connection, asked.conversation
        grant = await self._gate.for_turn(who.caller, who.agent_id, who.owner_key)
        turn = await self._turns.context(
            grant,
            TurnRequest(
                message=conversation.current_text,
                session_id=asked.session_id or conversation.session_id(who.owner_key),
                system_prompt=conversation.system_prompt,
                said=conversation.said(self._count, at),
            ),
        )
        memory = replace(
            memory,
            prompt=turn.system_prompt,
            beside=turn.injection.section if grant.settings.inject_placement == "user" else "",
            injected=turn.injection.injected,
        )
        warnings = turn.injection.warnings
        return self._failed(memory, "memory_degraded", warnings[0]) if warnings else memory

    def _failed(self, memory: _Memory, code: str, detail: str) -> _Memory:
        """The memory with a warning, which is counted and logged; each code once."""
        if code in memory.warnings:
            return memory
        self.failures[code] += 1
        log.warning("chat_memory_failed", code=code, detail=detail)
        return replace(memory, warnings=(*memory.warnings, code))

    async def _streamed(self, answer: RawAnswer, turn: _Turn) -> AsyncIterator[bytes]:
        """The answer as it comes; its end waits until the turn is recorded, for at most RECORD_SECONDS.

        Of an answer that breaks off, or that nobody waits for, what was asked is recorded. A provider that breaks off
        ends it with an event that says so.
        """
        streamed = StreamedAnswer()
        recording: asyncio.Task[None] | None = None
        try:
            async for piece in answer.pieces():
                streamed.feed(piece)
                if streamed.ended and recording is None:
                    recording = self._record(turn, streamed.answer())
                    await asyncio.wait({recording}, timeout=RECORD_SECONDS)
                yield piece
        except LanguageModelUnavailable as error:
            log.warning("chat_broke_off", reason=error.reason, detail=error.detail)
            yield _error_event(error)
        finally:
            if recording is None:
                recording = self._record(turn, streamed.answer())
        await asyncio.wait({recording}, timeout=RECORD_SECONDS)

    def _record(self, turn: _Turn, said: Answered | None) -> asyncio.Task[None]:
        return self._start(self._recorded(turn, said), "proxy-record")

    async def _recorded(self, turn: _Turn, said: Answered | None) -> None:
        conversation, memory, who = turn.asked.conversation, turn.memory, turn.asked.connection
        if memory.is_refused:
            return
        try:
            new = conversation.new_messages(turn.arrived)
            session_id = turn.asked.session_id or conversation.session_id(who.owner_key)
            # A database that was not there before the answer may be there after it.
            target = memory.target or await self._gate.write(who.caller, who.agent_id, who.owner_key, None)
            if new:
                await self._recorder.record(*target, session_id, new, said)
        except ReverieError as error:
            self.failures[f"record_{error.code}"] += 1
            log.warning("chat_not_recorded", code=error.code, detail=error.detail)
        except Exception:  # the edge of a job: the answer is on its way
            self.failures["record_internal_error"] += 1
            log.exception("chat_not_recorded")

    def _start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


def _is_too_long(body: bytes) -> bool:
    """Whether an error says that the prompt does not fit the model's context."""
    try:
        error = json.loads(body[:_MAX_ERROR_BYTES])
    except (ValueError, RecursionError):
        return False
    inner = error.get("error", error) if isinstance(error, dict) else error
    if isinstance(inner, dict):
        code = inner.get("code") or inner.get("type")
        return code in ("context_length_exceeded", "exceed_context_size_error") or bool(
            _TOO_LONG.search(str(inner.get("message", "")))
        )
    return bool(_TOO_LONG.search(str(inner)))


def _error_event(error: LanguageModelUnavailable) -> bytes:
    told = {"error": {"message": error.detail, "type": "server_error", "code": error.code}}
    return f"\n\ndata: {json.dumps(told)}\n\n".encode()


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
