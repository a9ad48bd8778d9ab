"""A pooler of PostgreSQL's connections like PgBouncer: a client has a server's session for as long as it is connected
(`session`), or from transaction to transaction (`transaction`).
"""

from __future__ import annotations

import asyncio
import secrets
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple

Mode = Literal["session", "transaction"]
_CANCEL, _ENCRYPT = 80877102, (80877103, 80877104)


class _Stream(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def message(self) -> tuple[bytes, bytes]:
        """The kind of the next message, and all of it."""
        head = await self.reader.readexactly(5)
        return head[:1], head + await self.reader.readexactly(struct.unpack("!I", head[1:])[0] - 4)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


class _Pooler:
    def __init__(self, socket_path: str, mode: Mode) -> None:
        self._socket_path = socket_path
        self._mode = mode
        self._idle: list[_Stream] = []
        self.servers: list[_Stream] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = _Stream(reader, writer)
        try:
            startup = await _startup(client)
            if startup is not None:
                await self._session(client, startup)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            # The client has gone, or the test ends.
            pass
        finally:
            writer.close()

    async def _session(self, client: _Stream, startup: bytes) -> None:
        server, greeting = await self._open(startup)
        await client.send(greeting)
        if self._mode == "session":
            try:
                await asyncio.gather(_copy(client, server), _copy(server, client))
            finally:
                server.writer.close()
            return
        self._idle.append(server)
        taken: _Stream | None = None
        while True:
            kind, message = await client.message()
            if kind == b"X":
                if taken is not None:
                    taken.writer.close()
                return
            if taken is None:
                taken = self._idle.pop() if self._idle else (await self._open(startup))[0]
            await taken.send(message)
            # A query, and the end of several messages: what the server says to it ends with its state.
            while kind in (b"Q", b"S"):
                answered, answer = await taken.message()
                await client.send(answer)
                if answered == b"Z":
                    if answer[5:] == b"I":
                        self._idle.append(taken)
                        taken = None
                    break

    async def _open(self, startup: bytes) -> tuple[_Stream, bytes]:
        """A server's session, and what it says at first, with a key of our own for cancelling."""
        server = _Stream(*await asyncio.open_unix_connection(self._socket_path))
        self.servers.append(server)
        await server.send(startup)
        said = b""
        while True:
            kind, message = await server.message()
            said += b"K" + struct.pack("!I", 12) + secrets.token_bytes(8) if kind == b"K" else message
            if kind == b"Z":
                return server, said


async def _startup(client: _Stream) -> bytes | None:
    """The first message of a client; None where it has come to cancel."""
    while True:
        head = await client.reader.readexactly(8)
        length, code = struct.unpack("!II", head)
        if code in _ENCRYPT:
            await client.send(b"N")
        elif code == _CANCEL:
            return None
        else:
            return head + await client.reader.readexactly(length - 8)


async def _copy(source: _Stream, target: _Stream) -> None:
    while data := await source.reader.read(65536):
        await target.send(data)
    target.writer.close()


@asynccontextmanager
async def pooler(socket_path: str, mode: Mode) -> AsyncIterator[int]:
    """A pooler before the server of a socket; its port on this machine."""
    pooled = _Pooler(socket_path, mode)
    listening = await asyncio.start_server(pooled.serve, "127.0.0.1", 0)
    try:
        yield listening.sockets[0].getsockname()[1]
    finally:
        listening.close()
        for server in pooled.servers:
            server.writer.close()
