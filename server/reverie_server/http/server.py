"""The HTTP server: uvicorn with bounded connections."""

from __future__ import annotations

import gc
import resource
import signal
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from reverie_server.http.connections import BoundedProtocol, ConnectionLimits, Connections

if TYPE_CHECKING:
    from types import FrameType

    from fastapi import FastAPI
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from reverie_server.settings.server import Settings

# asyncio accepts this many connections in one go; as many file descriptors are kept free.
_ACCEPTED_AT_ONCE = 128
_BACKLOG = 2048
# Descriptors of everything else: files, pipes, the model, and what libraries open.
_OTHER_DESCRIPTORS = 192
_MOST_CONNECTIONS = 2000


class Server(uvicorn.Server):
    """A server whose kernel keeps more connections waiting than it accepts at once.

    From SIGTERM on `is_ending` holds, and for `drain_seconds` it serves all the same: whoever sends requests here has
    this time to find out. SIGINT, and what sets `should_exit`, end it without.

    While it runs, the garbage collector leaves out what was loaded before: hundreds of thousands of objects that stay,
    and each of its full rounds over them stopped all requests for a fifth of a second.
    """

    def __init__(self, config: uvicorn.Config, drain_seconds: float) -> None:
        super().__init__(config)
        self._drain_seconds = drain_seconds
        self._drained_at: float | None = None

    @property
    def is_ending(self) -> bool:
        """Whether it was told to end."""
        return self.should_exit or self._drained_at is not None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain, or end."""
        if sig == signal.SIGTERM and self._drain_seconds > 0 and not self.is_ending:
            self._drained_at = time.monotonic() + self._drain_seconds
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Whether to end now."""
        if self._drained_at is not None and time.monotonic() >= self._drained_at:
            self.should_exit = True
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept connections."""
        await super().startup(sockets)
        for listener in sockets or []:
            # asyncio has one number for both, and has just set it.
            listener.listen(_BACKLOG)
        gc.freeze()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all connections."""
        gc.unfreeze()
        await super().shutdown(sockets)


class _ClosesWhenEnding:
    """ASGI middleware: each answer of a server that ends says that its connection ends with it.

    Without it a client would send its next request while the connection is being closed, and lose it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.server: Server | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def close(message: Message) -> None:
            is_ending = self.server is not None and self.server.is_ending
            if is_ending and message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), (b"connection", b"close")]}
            await send(message)

        await self._app(scope, receive, close)


def http_server(app: FastAPI, settings: Settings) -> Server:
    """A server for an application. The caller passes the sockets to listen on to `serve`."""
    limits = ConnectionLimits(
        max_connections=settings.max_connections
        or default_max_connections(settings.pool_size * (1 if settings.read_database_url is None else 2)),
        head_seconds=settings.header_timeout_seconds,
        body_seconds=settings.body_timeout_seconds,
        body_bytes_per_second=settings.body_min_bytes_per_second,
        write_seconds=settings.response_timeout_seconds,
    )
    connections = Connections(limits)
    app.state.load.connections = connections
    closing = _ClosesWhenEnding(app)
    config = uvicorn.Config(
        closing,
        http=cast("Any", partial(BoundedProtocol, connections=connections)),
        ws="none",
        # By default it believes whoever is on this machine, who could then take any address for each wrong key.
        proxy_headers=settings.trusted_proxies is not None,
        forwarded_allow_ips=settings.trusted_proxies or "",
        log_config=None,
        access_log=False,
        lifespan="on",
        backlog=_ACCEPTED_AT_ONCE,
        timeout_keep_alive=int(settings.keep_alive_seconds),
        # The rest of the grace is for what is put in order after the last answer.
        timeout_graceful_shutdown=max(1, int(settings.shutdown_grace_seconds / 3)),
    )
    server = closing.server = Server(config, settings.shutdown_drain_seconds)
    app.state.is_ending = lambda: server.is_ending
    # Answers without an end would hold up the end of the server.
    app.state.is_stopping = lambda: server.should_exit
    return server


def default_max_connections(pool_size: int) -> int:
    """The number of connections for which there are file descriptors, after those of the database and all others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        hard = 1 << 20
    descriptors = _MOST_CONNECTIONS + _ACCEPTED_AT_ONCE + _OTHER_DESCRIPTORS + 2 * pool_size
    if soft != resource.RLIM_INFINITY and soft < descriptors:
        soft = min(descriptors, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    room = descriptors if soft == resource.RLIM_INFINITY else soft
    return max(16, min(_MOST_CONNECTIONS, room - _ACCEPTED_AT_ONCE - _OTHER_DESCRIPTORS - 2 * pool_size))
