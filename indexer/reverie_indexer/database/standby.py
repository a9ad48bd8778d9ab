"""Reads on a standby of the primary, of which none is older than it would be on the primary.

A transaction that only reads asks the primary first how far its log is on the disk (its *position*), and then is the
standby's if that has replayed the log to there on the same timeline, else the primary's. PostgreSQL lets nobody see a
commit, and acknowledges none, before it is on the disk; so whatever was acknowledged to anybody before the transaction
began, a forgetting above all, is in what it reads. No clock, no message between servers and no word of the client is
needed for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

import psycopg
import structlog
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from reverie_indexer.database import request_reads
from reverie_indexer.database.queries import Queries
from reverie_indexer.database.sessions import POOLED, is_pooled
from reverie_indexer.database.watched import WatchedConnection, connection_parameters, hang_up

log = structlog.get_logger()
SQL = Queries(__file__)
# Why a read that might have been a standby's was the primary's.
Reason: TypeAlias = Literal["away", "busy", "behind", "not_a_standby", "interrupted"]
REASONS: tuple[Reason, ...] = get_args(Reason)
# For what others have just written, and for a connection. Longer than replaying takes, and no harm to a request.
WAIT_SECONDS = 0.05
_FIRST_PAUSE_SECONDS = 0.001
# A standby that is away is not asked for this long, and one that is behind not waited for.
LEFT_ALONE_SECONDS = 1.0
# Its answer to how far it is comes at once; reads may take their time.
_ANSWER_SECONDS = 1.0
_SILENCE_SECONDS = 1.0
_TIMELINE_CHARS = 8


class StandbyConnection(WatchedConnection):
    """A connection to a standby. `replayed` is how far that was when it was last asked; it is further by now."""

    standby: Standby
    identity: str = ""
    replayed: str = ""


@dataclass(slots=True)
class ReadCounts:
    """Reads by server, and those that the primary had to do, by reason."""

    standby: int = 0
    primary: int = 0
    fallbacks: dict[Reason, int] = field(default_factory=lambda: dict.fromkeys(REASONS, 0))


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a standby is behind: bytes of the log, and the age of the last change that it has; 0 where it has all."""

    bytes: int
    seconds: float


class Standby:
    """A pool of connections to the standbys that a URL names.

    `prepare` makes a new connection ready. `identity` is the primary's: no other database is read, whatever the URL
    leads to.
    """

    def __init__(self, conninfo: str, pool_size: int, prepare: Callable[[WatchedConnection], Awaitable[None]]) -> None:
        self.identity: str | None = None
        self._conninfo = conninfo
        self.counts = ReadCounts()
        self._prepare = prepare
        self._used = 0
        self._is_away = False
        self._left_alone_until = self._behind_until = float("-inf")
        self._draining: asyncio.Task[None] | None = None
        self._pool: AsyncConnectionPool[StandbyConnection] = AsyncConnectionPool(
            conninfo,
            open=False,
            min_size=1,
            max_size=pool_size,
            configure=self._configure,
            connection_class=StandbyConnection,
            kwargs={"row_factory": dict_row, "prepare_threshold": None, **connection_parameters(conninfo)},
            reconnect_timeout=2.0,
        )

    async def _configure(self, connection: StandbyConnection) -> None:
        connection.standby = self
        connection.silence_seconds = _SILENCE_SECONDS
        connection.on_silence = self.leave_alone
        await self._prepare(connection)
        await connection.set_autocommit(True)
        if await is_pooled(self._conninfo, connection):
            # One server would be asked how far it is, and another be read.
            log.error("standby_behind_a_pooler", detail=POOLED.replace("REVERIE_DATABASE_URL", "read_database_url"))
            return
        row = await (await connection.execute(SQL["identity"])).fetchone()
        connection.identity = row["identity"] if row is not None else ""

    async def open(self) -> None:
        """Begin to connect."""
        await self._pool.open()

    async def close(self) -> None:
        """Close every connection."""
        if self._draining is not None:
            self._draining.cancel()
            await asyncio.gather(self._draining, return_exceptions=True)
        await self._pool.close()

    @property
    def is_left_alone(self) -> bool:
        """Whether a standby was away a moment ago."""
        return asyncio.get_running_loop().time() < self._left_alone_until

    def leave_alone(self) -> None:
        """Ask no standby for a while, and then on new connections: none of the others may be of use any more."""
        self._pause()
        if self._draining is None or self._draining.done():
            self._draining = asyncio.create_task(self._pool.drain(), name="drop-standby-connections")

    def _pause(self) -> None:
        self._left_alone_until = asyncio.get_running_loop().time() + LEFT_ALONE_SECONDS
        if not self._is_away:
            self._is_away = True
            log.warning("standby_left_alone", detail="reads are the primary's until a standby of it answers")

    async def begin(
        self,
        primary_position: Callable[[], Awaitable[str | None]],
        begin: Callable[[WatchedConnection], Awaitable[None]],
    ) -> StandbyConnection | None:
        """A connection on which `begin` was done and the request at work may go on to read; None: read on the primary.

        It goes back by `give_back`. psycopg.Error where `begin` fails, and not because the standby went away.
        """
        connection = await self._for_request(primary_position)
        if connection is not None:
            try:
                await begin(connection)
            except BaseException as error:
                try:
                    if not connection.closed:
                        await connection.rollback()
                finally:
                    await self.give_back(connection)
                if not (isinstance(error, psycopg.Error) and self.is_lost(connection, error)):
                    raise
                connection = None
        if connection is None:
            self.counts.primary += 1
            return None
        self.counts.standby += 1
        if self._is_away:
            self._is_away = False
            log.info("standby_read_again")
        return connection

    async def _for_request(self, primary_position: Callable[[], Awaitable[str | None]]) -> StandbyConnection | None:
        reads = request_reads.current.get()
        if reads is None or not reads.may_go_elsewhere:
            return None
        if self.is_left_alone:
            # Not worth a question to the primary.
            self.counts.fallbacks["away"] += 1
            return None
        position = await primary_position()
        # What the client has seen and this primary has not is another's, who is the primary by now.
        if position is None or reads.seen > position:
            return None
        connection, reason = await self._connection(position)
        if reason is not None:
            self.counts.fallbacks[reason] += 1
        return connection

    async def _connection(self, position: str) -> tuple[StandbyConnection, None] | tuple[None, Reason]:
        """A connection to a standby that has all that the primary had at `position`, or, soon, why there is none."""
        connection = await self._any_connection(WAIT_SECONDS)
        if connection is None:
            if self._used:
                return None, "busy"
            # One that is being made is of use after the pause.
            self._pause()
            return None, "away"
        reason: Reason | None = "away"
        try:
            reason = await self._lack(connection, position)
        except psycopg.Error:
            self.leave_alone()
        finally:
            if reason is not None:
                await self.give_back(connection)
        return (connection, None) if reason is None else (None, reason)

    async def give_back(self, connection: StandbyConnection) -> None:
        """Give a connection back to the pool, which drops it where it is broken."""
        self._used -= 1
        await self._pool.putconn(connection)

    def is_lost(self, connection: StandbyConnection, error: psycopg.Error) -> bool:
        """Whether a read ended with its connection, or because what it read was to be removed; the primary has it."""
        is_lost = connection.closed and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
        if is_lost or isinstance(error, psycopg.errors.SerializationFailure):
            self.counts.fallbacks["interrupted"] += 1
            self.leave_alone()
            return True
        return False

    async def lag(self, position: str) -> Lag | None:
        """How far a standby is behind the primary's position; None where none answers, or what answers is none."""
        connection = await self._any_connection(_ANSWER_SECONDS)
        if connection is None:
            return None
        try:
            replayed = await self._replayed(connection)
            if replayed is None:
                return None
            missing = max(0, _place(position) - _place(replayed))
            if not missing:
                return Lag(0, 0.0)
            row = await (await connection.execute(SQL["age"])).fetchone()
            return Lag(missing, max(0.0, row["seconds"]) if row is not None else 0.0)
        except psycopg.Error:
            return None
        finally:
            await self.give_back(connection)

    async def _any_connection(self, within_seconds: float) -> StandbyConnection | None:
        try:
            connection = await self._pool.getconn(within_seconds)
        except PoolTimeout:
            return None
        self._used += 1
        return connection

    async def _lack(self, connection: StandbyConnection, position: str) -> Reason | None:
        """Why a standby cannot be read at a position; None where it can, perhaps after a moment."""
        if _has(connection.replayed, position):
            return None
        time = asyncio.get_running_loop().time
        until = time() + WAIT_SECONDS if time() >= self._behind_until else 0.0
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            # Before the transaction begins: its snapshot is then no older.
            replayed = await self._replayed(connection)
            if replayed is None:
                self.leave_alone()
                return "not_a_standby"
            connection.replayed = replayed
            if _has(replayed, position):
                return None
            if time() + pause_seconds > until:
                self._behind_until = time() + LEFT_ALONE_SECONDS
                return "behind"
            await asyncio.sleep(pause_seconds)
            pause_seconds *= 2

    async def _replayed(self, connection: StandbyConnection) -> str | None:
        """How far a standby is; None for what is no standby of this primary. psycopg.Error where it does not answer."""
        if connection.identity != self.identity:
            return None
        timer = asyncio.get_running_loop().call_later(_ANSWER_SECONDS, hang_up, connection)
        try:
            await connection.set_autocommit(True)
            row = await (await connection.execute(SQL["replayed"])).fetchone()
        finally:
            timer.cancel()
        return None if row is None else row["replayed"]


def each_host(conninfo: str) -> list[tuple[str, str]]:
    """The hosts that a URL names, in its order, as `host:port`, each with the URL of it alone. Pure."""
    given = conninfo_to_dict(conninfo)
    lists = {name: str(given[name]).split(",") for name in ("host", "hostaddr", "port") if given.get(name)}
    found = []
    for index in range(max((len(values) for values in lists.values()), default=1)):
        # One port is that of all hosts.
        alone = {name: values[index if index < len(values) else 0] for name, values in lists.items()}
        name = f"{alone.get('host') or alone.get('hostaddr', 'localhost')}:{alone.get('port') or '5432'}"
        found.append((name, make_conninfo(conninfo, **alone)))
    return found


async def passes_over_primary(conninfo: str) -> bool:
    """Whether a URL of one host wants standbys alone (`target_session_attrs`), and that host is a primary.

    So it is where a cluster names all its hosts: the primary is one of them, whichever it is.
    """
    if conninfo_to_dict(conninfo).get("target_session_attrs") not in ("standby", "read-only"):
        return False
    parameters = {**connection_parameters(conninfo), "target_session_attrs": "primary"}
    try:
        await (await psycopg.AsyncConnection.connect(conninfo, **parameters)).close()
    except psycopg.Error:
        return False
    return True


def _has(replayed: str, position: str) -> bool:
    """Whether a standby that has replayed so far has what the primary had there. Pure.

    On another timeline the same place is another history's.
    """
    return replayed[:_TIMELINE_CHARS] == position[:_TIMELINE_CHARS] and replayed >= position


def _place(position: str) -> int:
    """The place of a position in the log, in bytes. Pure."""
    return int(position[_TIMELINE_CHARS + 1 :], 16)
