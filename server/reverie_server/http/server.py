"""The HTTP server: uvicorn with bounded connections."""

from __future__ import annotations

import gc
import resource
import socket
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import uvicorn

from reverie_server.http.connections import BoundedProtocol, ConnectionLimits, Connections

if TYPE_CHECKING:
    from fastapi import FastAPI

    from reverie_server.settings.server import Settings

# asyncio accepts this many connections in one go; as many file descriptors are kept free.
_ACCEPTED_AT_ONCE = 128
_BACKLOG = 2048
# Descriptors of everything else: files, pipes, the model, and what libraries open.
_OTHER_DESCRIPTORS = 192
_MOST_CONNECTIONS = 2000


class Server(uvicorn.Server):
    """A server whose kernel keeps more connections waiting than it accepts at once.

    While it runs, the garbage collector leaves out what was loaded before: hundreds of thousands of objects that stay,
    and each of its full rounds over them stopped all requests for a fifth of a second.
    """

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


def http_server(app: FastAPI, settings: Settings) -> Server:
    """A server for an application. The caller passes the sockets to listen on to `serve`."""
    limits = ConnectionLimits(
        max_connections=settings.max_connections or default_max_connections(settings.pool_size),
        head_seconds=settings.header_timeout_seconds,
        body_seconds=settings.body_timeout_seconds,
        body_bytes_per_second=settings.body_min_bytes_per_second,
        write_seconds=settings.response_timeout_seconds,
    )
    connections = Connections(limits)
    app.state.load.connections = connections
    config = uvicorn.Config(
        app,
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
    server = Server(config)
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
