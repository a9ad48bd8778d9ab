"""The tasks that compact sessions, beside the requests that make a compaction due."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import structlog

from reverie_indexer.errors import ReverieError
from reverie_indexer.model import Place
from reverie_server.access.gate import Grant
from reverie_server.prompt.session_compaction import SessionCompaction
from reverie_server.prompt.window import tokens_of
from reverie_server.sessions.model import Session
from reverie_server.sessions.sessions import Sessions
from reverie_server.settings.agent import AgentSettings

log = structlog.get_logger()
# Twenty requests at once would make a model no faster.
_MAX_CONCURRENT = 4


@dataclass(frozen=True, slots=True)
class DueRules:
    """A session with more than `from_messages` live messages is compacted to its last `keep_last` messages; so is one
    whose live messages fill `from_share` of the agent's window, or of `window_tokens` where the agent has none."""

    from_messages: int = 50
    from_share: float = 0.85
    window_tokens: int = 128_000
    keep_last: int = 20

    def from_tokens(self, settings: AgentSettings) -> int:
        """The number of tokens from which a session of the agent is compacted."""
        return int(self.from_share * (settings.model_max_tokens or self.window_tokens))


class SessionCompactions:
    """Owns the tasks that compact sessions. A task that dies with its process is begun again by the next append."""

    def __init__(self, compaction: SessionCompaction, sessions: Sessions, rules: DueRules) -> None:
        self._compaction = compaction
        self._sessions = sessions
        self._rules = rules
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._slots = asyncio.Semaphore(_MAX_CONCURRENT)
        self._closed = False

    def consider(self, grant: Grant, place: Place, session: Session) -> None:
        """Start a task for a session that may be due. Returns at once and never raises."""
        if self._closed or not grant.settings.compaction_enabled or session.session_key in self._tasks:
            return
        # An upper bound, because messages may have been removed: the task counts the live ones.
        live = session.last_seq - session.compacted_through
        is_long = live > self._rules.from_messages or session.tokens >= self._rules.from_tokens(grant.settings)
        if live <= self._rules.keep_last or not is_long:
            return
        task = asyncio.create_task(self._run(grant, place, session), name="compact-session")
        self._tasks[session.session_key] = task
        task.add_done_callback(lambda _: self._tasks.pop(session.session_key, None))

    async def wait(self, session: Session, timeout_seconds: float) -> bool:
        """Wait at most `timeout_seconds` for a compaction of the session in this process; False where there is none."""
        task = self._tasks.get(session.session_key)
        if task is not None:
            await asyncio.wait({task}, timeout=timeout_seconds)
            return True
        lock = self._compaction.lock(session)
        if not lock.locked():
            return False
        try:
            async with asyncio.timeout(timeout_seconds), lock:
                pass
        except TimeoutError:
            pass
        return True

    async def idle(self) -> None:
        """Wait until all compactions have ended."""
        while self._tasks:
            await asyncio.wait(set(self._tasks.values()))

    async def aclose(self) -> None:
        """Cancel all compactions and start no more. A cancelled compaction has changed nothing."""
        self._closed = True
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _run(self, grant: Grant, place: Place, session: Session) -> None:
        try:
            async with self._slots:
                if await self._is_due(grant, session):
                    await self._compaction.compact(grant, place, session, keep_last=self._rules.keep_last)
        except ReverieError as error:
            log.warning("session_compaction_failed", code=error.code, detail=error.detail)
        except Exception:  # the edge of a job: the next append tries again
            log.exception("session_compaction_failed")

    async def _is_due(self, grant: Grant, session: Session) -> bool:
        principal = replace(grant.principal, owner_key=session.owner_key)
        _, live = await self._sessions.live(principal, session.session_id)
        return len(live) > self._rules.from_messages or tokens_of(live) >= self._rules.from_tokens(grant.settings)
