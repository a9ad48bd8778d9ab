"""The log of turns: what a prompt was made for and of, which memories were put into it or nearly were, and what became
of the answer.

Turns are noted without waiting and written in batches. A memory is kept by its id; its text is looked up where it is
shown, so that nothing here has to be forgotten but what the user said.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any, Literal

import structlog
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, DatabaseUnavailable, ReverieError
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.access.principal import place_for
from reverie_server.inject.inject import Injection
from reverie_server.prompt.context import Section
from reverie_server.provenance.removed_turns import WaitingTurn, removed_among
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.text.error_site import error_site

log = structlog.get_logger()
SQL = Queries(__file__)
Kind = Literal["context", "inject", "chat"]
# What becomes of a chat completion: it was answered, the provider gave no answer, or not the whole one, or the client
# did not wait for it.
Ending = Literal["answered", "failed", "broke_off", "left"]
# Further turns are lost, and counted: a database that is down must not fill the memory of the server.
MAX_WAITING = 1_000
INTERVAL_SECONDS = 1.0
# While the database takes no writes, the attempts become rarer up to this.
MAX_INTERVAL_SECONDS = 30.0
# What the user said is kept up to here: it is to be recognised, and the conversation has the whole.
MAX_MESSAGE_CHARS = 1_000
_PRUNED_AT_ONCE = 10_000
_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRecord:
    """A turn as it was: the user's message, and the prompt that was made for it in `seconds`, in `tokens`."""

    kind: Kind
    message: str
    injection: Injection
    session_id: str | None = None
    sections: Sequence[Section] = ()
    tokens: int = 0
    model: str | None = None
    seconds: float


@dataclass(frozen=True, slots=True)
class NotedTurn:
    """A turn to be written. `owner_key` is the caller's, `place` the memory that it was made of."""

    turn_id: str
    place: Place
    owner_key: str | None
    at: datetime
    record: TurnRecord
    answer: Ending | None = None

    @property
    def waiting(self) -> WaitingTurn:
        """The turn as it is compared with what was removed."""
        return WaitingTurn(self.turn_id, self.at, self.place.agent_id, self.owner_key, self.record.session_id)

    @property
    def params(self) -> dict[str, Any]:
        """The turn as the statement has it, but for the message and the slice."""
        record = self.record
        memories: list[Mapping[str, Any]] = [
            _memory(memory.id, memory.search_score, memory.score, "injected") for memory in record.injection.memories
        ]
        memories += [
            _memory(str(near.chunk_id), near.score, near.relevance, near.why) for near in record.injection.near
        ]
        return {
            "tenant_id": self.place.tenant_id,
            "turn_id": self.turn_id,
            "agent_id": self.place.agent_id,
            "owner_key": self.owner_key,
            "session_id": record.session_id,
            "kind": record.kind,
            "at": self.at,
            "sections": Jsonb([{"name": each.name, "tokens": each.tokens} for each in record.sections]),
            "tokens": record.tokens,
            "memories": Jsonb(memories),
            "match_count": record.injection.match_count,
            "top_score": record.injection.top_score,
            "outcome": record.injection.skipped or ("injected" if record.injection.injected else "no_match"),
            "model": record.model,
            "milliseconds": round(1000 * record.seconds),
            "answer": self.answer,
        }


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What became of the answer to a noted turn, to be written."""

    tenant_id: str
    turn_id: str
    answer: Ending


class TurnLog:
    """Notes turns without waiting; `run` and `flush` write them. `written` and `lost` count turns."""

    def __init__(
        self,
        database: Database,
        tombstones: Tombstones,
        *,
        max_waiting: int = MAX_WAITING,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._tombstones = tombstones
        self._waiting: deque[NotedTurn | TurnEnd] = deque()
        # Chat completions under way in a memory that is not there yet: recording them makes it.
        self._unplaced: dict[str, NotedTurn] = {}
        self._max_waiting = max_waiting
        self._now = now
        self._noted = asyncio.Event()
        self._stopping = asyncio.Event()
        self._flushing = asyncio.Lock()
        self.written = 0
        self.lost = 0

    def note(self, grant: Grant, record: TurnRecord) -> str:
        """Note a turn and give its id. Never fails, never waits."""
        turn_id = secrets.token_hex(8)
        place = place_for(grant.principal, None if grant.settings.memory_isolation else "team")
        brief = replace(record, message=record.message[:MAX_MESSAGE_CHARS])
        # It was said when its prompt was begun: what is removed meanwhile goes with it.
        at = self._now() - timedelta(seconds=record.seconds)
        turn = NotedTurn(turn_id, place, grant.principal.owner_key, at, brief)
        if grant.is_new:
            self._hold(turn)
        else:
            self._add(turn)
        return turn_id

    def end(self, tenant_id: str, turn_id: str, answer: Ending) -> None:
        """Note what became of the answer to a chat completion, once it is recorded. Never fails, never waits."""
        self._add(TurnEnd(tenant_id, turn_id, answer))

    def _add(self, noted: NotedTurn | TurnEnd) -> None:
        if len(self._waiting) < self._max_waiting:
            self._waiting.append(noted)
            self._noted.set()
            return
        self.lost += isinstance(noted, NotedTurn)
        self._unplaced.pop(noted.turn_id, None)

    def _hold(self, turn: NotedTurn) -> None:
        """Keep a turn until its end where that may make its memory."""
        if turn.record.kind == "chat" and turn.answer is None and len(self._unplaced) < self._max_waiting:
            self._unplaced[turn.turn_id] = turn

    async def run(self) -> None:
        """Write the noted turns until `stop`, and then the rest. What fails is tried again."""
        wait_seconds = INTERVAL_SECONDS
        while not self._stopping.is_set():
            await self._noted.wait()
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._stopping.wait()
            self._noted.clear()
            if await self.flush():
                wait_seconds = INTERVAL_SECONDS
            else:
                wait_seconds = min(2 * wait_seconds, MAX_INTERVAL_SECONDS)
                self._noted.set()

    def stop(self) -> None:
        """Let `run` write the rest and end."""
        self._stopping.set()
        self._noted.set()

    async def flush(self) -> bool:
        """Write all noted turns. False, and logged, when the database cannot now: they stay noted."""
        async with self._flushing:
            while self._waiting:
                batch = [self._waiting[index] for index in range(len(self._waiting))]
                try:
                    await self._write_all(batch)
                except ReverieError as error:
                    log.warning("turns_not_written", code=error.code, detail=error.detail, waiting=len(self._waiting))
                    if isinstance(error, DatabaseUnavailable | Conflict):
                        return False
                    self._lose(batch)
                except Exception as error:  # noqa: BLE001  # one batch must not end the recorder
                    log.error("turns_lost", error=error_site(error), lost=len(batch))
                    self._lose(batch)
                for _ in batch:
                    self._waiting.popleft()
        return True

    def _lose(self, batch: Sequence[NotedTurn | TurnEnd]) -> None:
        self.lost += sum(isinstance(noted, NotedTurn) for noted in batch)
        for noted in batch:
            self._unplaced.pop(noted.turn_id, None)

    async def _write_all(self, batch: Sequence[NotedTurn | TurnEnd]) -> None:
        ends = {noted.turn_id: noted for noted in batch if isinstance(noted, TurnEnd)}
        held = [self._unplaced[turn_id] for turn_id in ends if turn_id in self._unplaced]
        begun = [noted for noted in batch if isinstance(noted, NotedTurn)]
        turns = [
            replace(turn, answer=ends[turn.turn_id].answer) if turn.turn_id in ends else turn for turn in begun + held
        ]
        for _, of_place in groupby(sorted(turns, key=_key), key=_key):
            write = partial(self._write, list(of_place))
            self.written += await until_stable(write, attempts=_ATTEMPTS, what="what was forgotten")
        if earlier := ends.keys() - {turn.turn_id for turn in turns}:
            async with self._database.maintenance() as connection:
                for turn_id in sorted(earlier):
                    await connection.execute(SQL["end"], asdict(ends[turn_id]))
        for turn_id in ends:
            self._unplaced.pop(turn_id, None)

    async def _write(self, turns: Sequence[NotedTurn]) -> int:
        """Write turns of one memory without those that were removed, and what was forgotten, since they were asked."""
        place = turns[0].place
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            mark = await tombstone_mark(connection, place.tenant_id, await own_slices(connection, place))
        clean = await self._tombstones.of_transcripts(place)
        async with self._database.maintenance() as connection:
            where = {"tenant_id": place.tenant_id, "agent_id": place.agent_id, "owner_key": place.owner_key}
            row = await (await connection.execute(SQL["lock"], where)).fetchone()
            if row is None:
                for turn in turns:
                    self._hold(turn)
                return 0
            if await tombstone_mark(connection, place.tenant_id, [row["slice_id"]]) != mark:
                raise Superseded
            waiting = [turn.waiting for turn in turns]
            removed = await removed_among(connection, place.tenant_id, row["slice_id"], waiting)
            left = [turn for turn in turns if turn.turn_id not in removed]
            for turn in left:
                params = {**turn.params, "asked": clean(turn.record.message, turn.at), "slice_id": row["slice_id"]}
                await connection.execute(SQL["add"], params)
        return len(left)


async def prune_turns(database: Database, *, keep_days: int, now: datetime | None = None) -> int:
    """Remove the turns that are older than so many days; how many."""
    before = (now or datetime.now(UTC)) - timedelta(days=keep_days)
    async with database.maintenance() as connection:
        params = {"before": before, "limit": _PRUNED_AT_ONCE}
        await connection.execute(SQL["prune_removed"], {"before": before})
        return (await connection.execute(SQL["prune"], params)).rowcount


def _memory(memory_id: str, score: float, relevance: float, state: str) -> Mapping[str, Any]:
    return {"id": memory_id, "score": round(score, 4), "relevance": round(relevance, 4), "state": state}


def _key(turn: NotedTurn) -> tuple[str, str, str]:
    place = turn.place
    return place.tenant_id, place.agent_id or "", place.owner_key or ""
