"""The proxy for chat completions and responses: add memory, forward to the provider, record the turn in a session.

A failure of memory never fails the turn: the request is then forwarded as the caller sent it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

import structlog

from reverie_indexer.errors import Forbidden, MemoryDisabled, NotFound, OwnerRequired, ReverieError
from reverie_indexer.model import Place
from reverie_server.access.connection import Connection
from reverie_server.access.gate import Gate, Grant
from reverie_server.llm.endpoint import Failed, RawAnswer, Resource
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.provider import LanguageModel
from reverie_server.llm.streamed import Answered, StreamedAnswer
from reverie_server.prompt.turn import TurnRequest, Turns
from reverie_server.prompt.turn_log import Ending
from reverie_server.proxy.chat import Conversation
from reverie_server.proxy.kept import Missing
from reverie_server.proxy.passing import error_event, is_too_long, once, passed_headers
from reverie_server.proxy.protocol import CHAT, Protocol
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.proxy.recordings import AskedTurn, Recordings
from reverie_server.text.tokens import CountTokens

log = structlog.get_logger()
T = TypeVar("T")
INJECTED_HEADER = "X-Reverie-Injected"
TURN_HEADER = "X-Reverie-Turn"
WARNING_HEADER = "X-Reverie-Warning"
_STOP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to the proxy. `body` is the body as it came, `conversation` its messages without injected memory.

    `session_id` None: the id follows from the conversation. `authorization` is forwarded where the server has no key of
    the provider's.
    """

    connection: Connection
    session_id: str | None
    body: Mapping[str, Any]
    conversation: Conversation
    authorization: str | None = None
    protocol: Protocol = CHAT


@dataclass(frozen=True, slots=True)
class _Memory:
    """The memory of a turn: its system prompt, the section for the user's message, and where the turn is recorded.

    `target` None: the gate could not say where. With `is_refused` the turn is not recorded. `warnings` are the codes of
    the failures, in their order.
    """

    system_prompt: str
    user_section: str = ""
    injected: int = 0
    turn_id: str = ""
    target: tuple[Grant, Place] | None = None
    is_refused: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProxyTimeouts:
    """The seconds that a turn waits for memory, and at its end for being recorded; it then goes on without."""

    memory_seconds: float = 15.0
    record_seconds: float = 5.0


@dataclass(slots=True)
class ChatAnswer:
    """The answer for the caller. `pieces` can be iterated once. `aclose` ends the connection to the provider."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]
    _resources: AsyncExitStack = field(default_factory=AsyncExitStack)

    async def aclose(self) -> None:
        """Close the connection to the provider."""
        await self._resources.aclose()


class Proxy:
    """Answers chat completions and responses. `failures` counts the failures of memory by code."""

    def __init__(
        self,
        gate: Gate,
        turns: Turns,
        recorder: TurnRecorder,
        model: LanguageModel,
        count: CountTokens,
        timeouts: ProxyTimeouts = ProxyTimeouts(),
    ) -> None:
        self._gate = gate
        self._turns = turns
        self._model = model
        self._count = count
        self._timeouts = timeouts
        self._background: set[asyncio.Task[Any]] = set()
        self.failures: Counter[str] = Counter()
        self._recorder = recorder
        self._recordings = Recordings(gate, turns, recorder, self.failures)

    async def answer(self, request: ChatRequest) -> ChatAnswer:
        """The provider's answer to the request with memory added; the caller closes it.

        An error that the provider answers is passed on. Raises LanguageModelUnavailable when the provider cannot be
        reached, and OwnerRequired where the request names no owner and has to. Where the provider fails,
        or the caller does not wait, the question is recorded.
        """
        arrived = datetime.now(UTC)
        memory = await self._memory_of(request, arrived)
        turn, missing = _asked(request, memory, arrived)
        if not memory.is_refused:
            memory = replace(memory, warnings=(*memory.warnings, *missing))
        try:
            return await self._answered(request, memory, turn, arrived)
        except LanguageModelUnavailable:
            self._start_recording(turn, None, "failed")
            raise
        except asyncio.CancelledError:
            self._start_recording(turn, None, "left")
            raise

    async def _answered(self, request: ChatRequest, memory: _Memory, turn: AskedTurn, arrived: datetime) -> ChatAnswer:
        async with AsyncExitStack() as stack:
            answer = await self._forward(stack, request, request.conversation, memory)
            if answer.status in (400, 413, 422):
                body = await answer.body()
                if is_too_long(body):
                    await stack.aclose()
                    conversation, memory = self._shortened(request, memory, arrived)
                    answer = await self._forward(stack, request, conversation, memory)
                else:
                    answer = RawAnswer(answer.status, answer.headers, once(body))
            headers = passed_headers(answer.headers)
            headers[INJECTED_HEADER] = str(memory.injected)
            if memory.turn_id:
                headers[TURN_HEADER] = memory.turn_id
            if memory.warnings:
                headers[WARNING_HEADER] = ", ".join(memory.warnings)
            if answer.status != 200:
                # A request that is wrong is no turn; its client has to send another.
                asked = turn if answer.status in (408, 429) or answer.status >= 500 else replace(turn, new=())
                self._start_recording(asked, None, "failed")
                pieces = answer.pieces()
            elif "text/event-stream" in answer.headers.get("content-type", ""):
                pieces = self._streamed(answer, turn, request.protocol.streamed())
            else:
                body = await answer.body()
                recording = self._start_recording(turn, request.protocol.whole(body), "answered")
                await asyncio.wait({recording}, timeout=self._timeouts.record_seconds)
                pieces = once(body)
            return ChatAnswer(answer.status, headers, pieces, stack.pop_all())

    async def models(self, query: Mapping[str, Any], authorization: str | None) -> ChatAnswer:
        """The provider's models, or its error; the caller closes the answer. Raises LanguageModelUnavailable."""
        async with AsyncExitStack() as stack:
            answer = await self._ask(stack, "models", query, authorization)
            return ChatAnswer(answer.status, passed_headers(answer.headers), answer.pieces(), stack.pop_all())

    async def session_after(self, who: Connection, answer_id: str) -> str | None:
        """The session that has an answer of the provider's; None where none is known to have it, or memory is late."""
        task = self._start(self._session_with(who, answer_id), "proxy-session")
        done, _ = await asyncio.wait({task}, timeout=self._timeouts.memory_seconds)
        if done:
            return task.result()
        task.cancel()
        return None

    async def _session_with(self, who: Connection, answer_id: str) -> str | None:
        try:
            grant = await self._gate.for_turn(who.caller, who.agent_id, who.owner_key)
            return await self._recorder.session_with(grant, answer_id)
        except ReverieError:
            return None
        except Exception:  # the edge of memory: the turn goes on, in a session of its own
            log.exception("chat_without_session")
            return None

    async def idle(self) -> None:
        """Wait until all turns are recorded."""
        while self._background:
            await asyncio.wait(set(self._background))

    async def aclose(self) -> None:
        """Wait for the work beside the answers for a few seconds, then cancel the rest of it."""
        if self._background:
            _, unfinished = await asyncio.wait(set(self._background), timeout=_STOP_SECONDS)
            for task in unfinished:
                task.cancel()
            await asyncio.gather(*unfinished, return_exceptions=True)

    async def _forward(
        self, stack: AsyncExitStack, request: ChatRequest, conversation: Conversation, memory: _Memory
    ) -> RawAnswer:
        body = conversation.request(request.body, memory.system_prompt, memory.user_section)
        body["model"] = request.body.get("model") or self._model.model
        return await self._ask(stack, request.protocol.resource, body, request.authorization)

    async def _ask(
        self, stack: AsyncExitStack, resource: Resource, body: Mapping[str, Any], authorization: str | None
    ) -> RawAnswer:
        """The provider's answer, by the server's own key where it has one; the stack closes it."""
        own = None if self._model.has_key else authorization
        answer = await stack.enter_async_context(self._model.forward(resource, body, own))
        if isinstance(answer, Failed):
            raise answer.error()
        return answer

    def _shortened(self, request: ChatRequest, memory: _Memory, at: datetime) -> tuple[Conversation, _Memory]:
        """A shorter conversation, for a model that finds the prompt too long, and its memory.

        The last pairs with the memory; where the conversation has no more pairs, the same without memory.
        """
        shorter = request.conversation.last_pairs(self._count, at)
        warned = replace(memory, warnings=(*memory.warnings, "context_length"))
        log.info("chat_shortened", messages=len(request.conversation.messages), kept=len(shorter.messages))
        if len(shorter.messages) < len(request.conversation.messages):
            return shorter, warned
        return shorter, replace(warned, system_prompt=shorter.system_prompt, user_section="", injected=0)

    async def _memory_of(self, request: ChatRequest, at: datetime) -> _Memory:
        """The memory of the turn; the caller's own prompt where it does not come in time, or fails."""
        bare = _Memory(request.conversation.system_prompt)
        task = self._start(self._look_up(request, bare, at), "proxy-memory")
        # Waited for and not timed out: a database driver may swallow the cancellation that a time-out is.
        try:
            done, _ = await asyncio.wait({task}, timeout=self._timeouts.memory_seconds)
        except asyncio.CancelledError:
            self._start(self._left(request, task, at), "proxy-left")
            raise
        if done:
            return task.result()
        task.cancel()
        return self._with_warning(bare, "memory_timeout", "memory was not there in time")

    async def _left(self, request: ChatRequest, looking_up: asyncio.Task[_Memory], at: datetime) -> None:
        """Record the question of a client that did not wait for its turn, whose memory is still looked up."""
        with suppress(OwnerRequired):
            self._start_recording(_asked(request, await looking_up, at)[0], None, "left")

    async def _look_up(self, request: ChatRequest, bare: _Memory, at: datetime) -> _Memory:
        memory = bare
        try:
            memory = await self._with_target(request.connection, bare)
            return await self._with_prompt(request, memory, at)
        except OwnerRequired:
            # No failure of memory: the request is not to go on without saying whose it is.
            raise
        except NotFound as error:
            return self._with_warning(memory, "agent_unknown", error.detail)
        except ReverieError as error:
            return self._with_warning(memory, error.code, error.detail)
        except Exception:  # the edge of memory: whatever is wrong with it, the turn goes on
            log.exception("chat_without_memory")
            return self._with_warning(memory, "internal_error", "memory failed")

    async def _with_target(self, who: Connection, memory: _Memory) -> _Memory:
        """The memory with the target of its record."""
        try:
            return replace(memory, target=await self._gate.converse(who.caller, who.agent_id, who.owner_key))
        except (Forbidden, MemoryDisabled) as error:
            code = "read_only_key" if isinstance(error, Forbidden) else error.code
            return self._with_warning(replace(memory, is_refused=True), code, error.detail)

    async def _with_prompt(self, request: ChatRequest, memory: _Memory, at: datetime) -> _Memory:
        """The memory with the system prompt and the section of the turn."""
        who, conversation = request.connection, request.conversation
        grant = await self._gate.for_turn(who.caller, who.agent_id, who.owner_key)
        turn = await self._turns.context(
            grant,
            TurnRequest(
                message=conversation.current_text,
                session_id=request.session_id or conversation.session_id(who.owner_key),
                system_prompt=conversation.system_prompt,
                # What the provider keeps of a conversation, its session has, too.
                history=None if conversation.before else conversation.history(self._count, at),
                kind="chat",
                model=request.body.get("model") or self._model.model,
            ),
        )
        memory = replace(
            memory,
            system_prompt=turn.system_prompt,
            user_section=turn.injection.section if grant.settings.inject_placement == "user" else "",
            injected=turn.injection.injected,
            turn_id=turn.turn_id,
        )
        warnings = turn.injection.warnings
        return self._with_warning(memory, "memory_degraded", warnings[0]) if warnings else memory

    def _with_warning(self, memory: _Memory, code: str, detail: str) -> _Memory:
        """The memory with a warning, which is counted and logged; a code that it has already is not added again."""
        if code in memory.warnings:
            return memory
        self.failures[code] += 1
        log.warning("chat_memory_failed", code=code, detail=detail)
        return replace(memory, warnings=(*memory.warnings, code))

    async def _streamed(self, answer: RawAnswer, turn: AskedTurn, streamed: StreamedAnswer) -> AsyncIterator[bytes]:
        """The answer as it comes; its end waits until the turn is recorded, for at most `record_seconds`.

        Of an answer that breaks off, or that its caller drops, the question is recorded. Where the provider breaks off,
        the last piece is an event that says so.
        """
        recording: asyncio.Task[None] | None = None
        ending: Ending = "left"
        try:
            async for piece in answer.pieces():
                streamed.feed(piece)
                if streamed.ended and recording is None:
                    recording = self._start_recording(turn, streamed.answer(), _ending(streamed))
                    await asyncio.wait({recording}, timeout=self._timeouts.record_seconds)
                yield piece
            ending = _ending(streamed)
        except LanguageModelUnavailable as error:
            ending = "broke_off"
            log.warning("chat_broke_off", reason=error.reason, detail=error.detail)
            yield error_event(error)
        finally:
            if recording is None:
                recording = self._start_recording(turn, streamed.answer(), ending)
        await asyncio.wait({recording}, timeout=self._timeouts.record_seconds)

    def _start_recording(self, turn: AskedTurn, answer: Answered | None, ending: Ending) -> asyncio.Task[None]:
        return self._start(self._recordings.record(turn, answer, ending), "proxy-record")

    def _start(self, work: Coroutine[Any, Any, T], name: str) -> asyncio.Task[T]:
        task = asyncio.create_task(work, name=name)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
        return task


def _asked(request: ChatRequest, memory: _Memory, at: datetime) -> tuple[AskedTurn, Sequence[Missing]]:
    """What is recorded of a request, and what is missing from that."""
    who, new = request.connection, request.conversation.new_messages(at)
    session_id = request.session_id or request.conversation.session_id(who.owner_key)
    return AskedTurn(who, session_id, new.messages, memory.turn_id, memory.target, memory.is_refused), new.missing


def _ending(streamed: StreamedAnswer) -> Ending:
    """What became of an answer whose stream is at its end."""
    return "broke_off" if streamed.answer() is None else "answered"
