"""Records turns of the proxy beside their answers, those of one session one after the other."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakValueDictionary

import structlog

from reverie_indexer.errors import ReverieError
from reverie_indexer.model import Place
from reverie_server.access.connection import Connection
from reverie_server.access.gate import Gate, Grant
from reverie_server.llm.streamed import Answered
from reverie_server.prompt.turn import Turns
from reverie_server.prompt.turn_log import Ending
from reverie_server.proxy.recording import TurnRecorder
from reverie_server.sessions.model import NewMessage

log = structlog.get_logger()
# Further turns are lost, and counted: a database that is down must not fill the memory of the server.
MAX_WAITING_CHARS = 64 * 1024 * 1024
# What a recording takes beside its texts.
_OWN_CHARS = 4_096


@dataclass(frozen=True, slots=True)
class AskedTurn:
    """What is recorded of a request, beside its answer. The body, which may be large, is no part of it.

    `target` None: the gate could not say where, and is asked again. With `is_refused` nothing is recorded.
    """

    connection: Connection
    session_id: str
    new: Sequence[NewMessage]
    turn_id: str = ""
    target: tuple[Grant, Place] | None = None
    is_refused: bool = False


class Recordings:
    """Adds turns to their sessions. `failures` counts what could not be recorded, by code."""

    def __init__(
        self,
        gate: Gate,
        turns: Turns,
        recorder: TurnRecorder,
        failures: Counter[str],
        max_waiting_chars: int = MAX_WAITING_CHARS,
    ) -> None:
        self._gate = gate
        self._turns = turns
        self._recorder = recorder
        self._failures = failures
        self._max_waiting_chars = max_waiting_chars
        self._waiting_chars = 0
        self._sessions: WeakValueDictionary[tuple[str, str, str | None, str], asyncio.Lock] = WeakValueDictionary()

    async def record(self, turn: AskedTurn, answer: Answered | None, ending: Ending) -> None:
        """Record a turn and its answer (None: no whole one came), after the turns of its session that wait already.

        Never fails. Calls count in the order in which they begin.
        """
        who = turn.connection
        key = (who.caller.tenant_id, who.agent_id, who.owner_key, turn.session_id)
        chars = _chars(turn, answer)
        is_too_much = bool(self._waiting_chars) and self._waiting_chars + chars > self._max_waiting_chars
        self._waiting_chars += chars
        try:
            if is_too_much:
                self._failed("overloaded", "too much waits to be recorded")
            elif turn.new and not turn.is_refused:
                # Without it a short turn passes a long one, whose embedding takes its time.
                async with self._sessions.setdefault(key, asyncio.Lock()):
                    await self._record(turn, answer)
        finally:
            self._waiting_chars -= chars
            # The first turn of a memory makes it, and its row needs it.
            self._turns.end(who.caller.tenant_id, turn.turn_id, ending)

    async def _record(self, turn: AskedTurn, answer: Answered | None) -> None:
        who = turn.connection
        try:
            # A database that was not there before the answer may be there after it.
            target = turn.target or await self._gate.converse(who.caller, who.agent_id, who.owner_key)
            await self._recorder.record(*target, turn.session_id, turn.new, answer)
        except ReverieError as error:
            self._failed(error.code, error.detail)
        except Exception:  # the edge of a job: the answer is on its way
            self._failures["record_internal_error"] += 1
            log.exception("chat_not_recorded")

    def _failed(self, code: str, detail: str) -> None:
        self._failures[f"record_{code}"] += 1
        log.warning("chat_not_recorded", code=code, detail=detail)


def _chars(turn: AskedTurn, answer: Answered | None) -> int:
    """About how much a turn that waits takes of the memory of the server."""
    new = sum(_OWN_CHARS + len(message.content) + len(str(message.extra)) for message in turn.new)
    said = 0 if answer is None else len(answer.content) + len(str(answer.tool_calls))
    return _OWN_CHARS + new + said
