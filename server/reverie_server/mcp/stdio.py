"""MCP over stdin and stdout: one JSON-RPC message a line.

The library's own transport reads in a thread that nothing can interrupt, so a program asked to end would wait for
its client's next line. Here reading and writing are done by threads that the program's end does not wait for.
"""

from __future__ import annotations

import asyncio
import os
import queue
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from reverie_server.mcp.message import MalformedMessage, NotJson, check_message

_BLOCK = 65536
Incoming = MemoryObjectReceiveStream[SessionMessage | Exception]
Outgoing = MemoryObjectSendStream[SessionMessage]


def claim_standard_streams() -> tuple[int, int]:
    """Reserve stdin and stdout for the protocol; return file descriptors to read and to write it.

    Other code finds stdin empty, and its prints go to stderr. Child processes inherit
    neither.
    """
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return reading, writing


class StdioTransport:
    """Carries messages between two file descriptors and a server.

    When the client closes its end, or `finish` is called, reading stops, the requests read before are still answered,
    and then the server's stream of messages ends. `is_finished` is whether `finish` was called.
    """

    def __init__(self, reading: int, writing: int) -> None:
        self._reading = reading
        self._writing = writing
        self._lines: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._to_write: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._written = asyncio.Event()
        self._unanswered: set[types.RequestId] = set()
        self.is_finished = False
        self._drained = asyncio.Event()
        self._all_answered = asyncio.Event()
        self._all_answered.set()

    async def finish(self) -> None:
        """Stop reading; return when every request that was read is answered."""
        self.is_finished = True
        self._lines.put_nowait(None)
        await self._drained.wait()

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Incoming, Outgoing]]:
        """The streams that a server reads and writes. All output is written when the context ends without an error."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._read, args=(loop,), name="mcp-stdin", daemon=True).start()
        threading.Thread(target=self._write, args=(loop,), name="mcp-stdout", daemon=True).start()
        to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
        outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
        tasks = [
            asyncio.create_task(self._deliver(to_server), name="mcp-deliver"),
            asyncio.create_task(self._collect(from_server), name="mcp-collect"),
        ]
        try:
            yield incoming, outgoing
            await tasks[1]
            self._to_write.put(None)
            await self._written.wait()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for stream in (to_server, incoming, outgoing, from_server):
                stream.close()

    async def _deliver(self, to_server: MemoryObjectSendStream[SessionMessage | Exception]) -> None:
        with to_server, suppress(anyio.BrokenResourceError), _setting(self._drained):
            while (line := await self._lines.get()) is not None:
                if not line.strip():
                    continue
                try:
                    message = check_message(line)
                except (NotJson, MalformedMessage) as error:
                    code = types.PARSE_ERROR if isinstance(error, NotJson) else types.INVALID_REQUEST
                    fault = types.ErrorData(code=code, message=error.detail)
                    self._send(types.JSONRPCError(jsonrpc="2.0", id=None, error=fault))
                    continue
                self._expect(message)
                await to_server.send(SessionMessage(message))
            await self._all_answered.wait()

    async def _collect(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        with from_server:
            async for outgoing in from_server:
                self._send(outgoing.message)
                if isinstance(outgoing.message, types.JSONRPCResponse | types.JSONRPCError):
                    self._settle(outgoing.message.id)

    def _expect(self, message: types.JSONRPCMessage) -> None:
        if isinstance(message, types.JSONRPCRequest):
            self._unanswered.add(message.id)
            self._all_answered.clear()
        elif isinstance(message, types.JSONRPCNotification) and message.method == "notifications/cancelled":
            # A request that was taken back is not answered.
            taken_back = (message.params or {}).get("requestId")
            self._settle(taken_back if isinstance(taken_back, str | int) else None)

    def _settle(self, request_id: types.RequestId | None) -> None:
        if request_id is not None:
            self._unanswered.discard(request_id)
        if not self._unanswered:
            self._all_answered.set()

    def _send(self, message: types.JSONRPCMessage) -> None:
        self._to_write.put(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        for line in _lines_of(self._reading):
            if not _call(loop, self._lines.put_nowait, line):
                return
        _call(loop, self._lines.put_nowait, None)

    def _write(self, loop: asyncio.AbstractEventLoop) -> None:
        # A client that is gone reads no answer: there is nothing to do but to end.
        with suppress(OSError):
            while (data := self._to_write.get()) is not None:
                # A view: a pipe takes some kilobytes at a time, and what is left is not to be copied each time.
                left = memoryview(data)
                while left:
                    left = left[os.write(self._writing, left) :]
        _call(loop, self._lines.put_nowait, None)
        _call(loop, self._written.set)


@contextmanager
def _setting(event: asyncio.Event) -> Iterator[None]:
    try:
        yield
    finally:
        event.set()


def _lines_of(descriptor: int) -> Iterator[bytes]:
    """The lines of a file descriptor, without their ends, as they come; a last one without an end too."""
    rest: list[bytes] = []
    with suppress(OSError):
        while block := os.read(descriptor, _BLOCK):
            first, *others = block.split(b"\n")
            rest.append(first)
            for other in others:
                yield b"".join(rest)
                rest = [other]
    if any(rest):
        yield b"".join(rest)


def _call(loop: asyncio.AbstractEventLoop, function: Any, *arguments: Any) -> bool:
    """Call a function in a loop from another thread; False when the loop has ended."""
    try:
        loop.call_soon_threadsafe(function, *arguments)
    except RuntimeError:
        return False
    return True
