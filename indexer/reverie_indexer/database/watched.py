"""Connections that wait no longer for a server that is frozen, or whose machine has vanished.

`statement_timeout` is kept by the server, which a stopped one does not do. How long an exchange may take cannot be said
either: an index build takes minutes. So whoever gets no answer for a while asks the same server on another connection,
and hangs up where that gets none either.
"""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
import structlog
from psycopg.abc import PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow

log = structlog.get_logger()
T = TypeVar("T")

SILENCE_SECONDS = 5.0
# Over TCP: a machine that has vanished is found out in 25 seconds, busy or idle.
_DEFAULTS: dict[str, int] = {
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,
}
# Of several hosts the next is tried then: less than whoever waits for a connection of the pool has.
_NEXT_HOST_SECONDS = 4


def connection_parameters(conninfo: str) -> dict[str, Any]:
    """The limits of time for a connection string that sets none. Raises psycopg.Error for a text that is none.

    Connecting is limited in seconds for each host and for each of its addresses.
    """
    parameters = conninfo_to_dict(conninfo)
    defaults = dict(_DEFAULTS)
    if "," in f"{parameters.get('host', '')}{parameters.get('hostaddr', '')}":
        defaults["connect_timeout"] = _NEXT_HOST_SECONDS
    return {name: value for name, value in defaults.items() if name not in parameters}


class WatchedConnection(psycopg.AsyncConnection[DictRow]):
    """A connection that breaks, as one does whose server has died, when its server answers nobody.

    An exchange without an answer for `silence_seconds` makes it ask again and again on another connection, each time
    for twice as long: a server with all hands full may be slow to let one in. `on_silence` is called before it breaks.
    """

    silence_seconds: float = SILENCE_SECONDS
    on_silence: Callable[[], None] = staticmethod(lambda: None)

    async def wait(self, gen: PQGen[T], *args: Any, **kwargs: Any) -> T:
        """Carry out one exchange; psycopg.OperationalError when the server is silent.

        When it is cancelled, the driver asks the server to cancel and waits for that: the watch goes on until then.
        """
        watch: asyncio.Task[None] | None = None

        def begin() -> None:
            nonlocal watch
            watch = asyncio.create_task(self._watch(), name="watch-connection")

        timer = asyncio.get_running_loop().call_later(self.silence_seconds, begin)
        try:
            return await super().wait(gen, *args, **kwargs)
        finally:
            timer.cancel()
            if watch is not None:
                watch.cancel()

    async def _watch(self) -> None:
        within_seconds = 2 * self.silence_seconds
        # Who waits for notifications is not in an exchange.
        while self.pgconn.transaction_status == TransactionStatus.ACTIVE:
            if not await _answers({**_parameters_of(self), "target_session_attrs": "any"}, within_seconds):
                log.warning("database_silent", seconds=self.silence_seconds + within_seconds)
                self.on_silence()
                hang_up(self)
                return
            await asyncio.sleep(self.silence_seconds)


def _parameters_of(connection: WatchedConnection) -> dict[str, Any]:
    """How the connection was made: of several hosts, the one that it is connected to."""
    return {each.keyword.decode(): each.val.decode() for each in connection.pgconn.info if each.val is not None}


async def _answers(parameters: dict[str, Any], within_seconds: float) -> bool:
    """Whether a server, or what stands before it, says anything in time: also that it has no free connection."""
    try:
        parameters = {**parameters, "connect_timeout": math.ceil(within_seconds)}
        connection = await psycopg.AsyncConnection.connect(**parameters, autocommit=True)
    except psycopg.errors.ConnectionTimeout:
        return False
    except psycopg.Error:
        return True
    timer = asyncio.get_running_loop().call_later(within_seconds, hang_up, connection)
    try:
        # A pooler lets everybody in, and then waits for the server.
        await connection.execute("SELECT 1")
    except psycopg.Error:
        return not timer.when() <= asyncio.get_running_loop().time()
    finally:
        timer.cancel()
        await connection.close()
    return True


def hang_up(connection: psycopg.AsyncConnection[Any]) -> None:
    """End a connection under whoever waits on it: they are told that the server has closed it."""
    with suppress(OSError, psycopg.Error), socket.socket(fileno=os.dup(connection.fileno())) as end:
        end.shutdown(socket.SHUT_RDWR)
