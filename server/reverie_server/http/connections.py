"""Connections to the server, bounded in number and in time.

uvicorn limits the idle time between requests only. Here a head must be whole within a time, a body must come at a
minimum rate, and a response must be read at one; over the limit of connections those that keep the server waiting are
closed to make room for new ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections import Counter, OrderedDict
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Literal, get_args

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import H11Protocol

from reverie_server.access.work_slot import without_slot
from reverie_server.http.strict_h11 import StrictConnection

_SWEEP_SECONDS = 0.5
# A client whose request was answered unread may go on sending, so that it sees the answer before the connection ends:
# for this time in all, for this time without a byte, and up to this number of bytes.
_LINGER_SECONDS = 10.0
_SILENT_SECONDS = 2.0
_LINGER_BYTES = 64 * 1024 * 1024
# The bytes that asyncio reads at a time. Of a body that nobody reads, these and uvicorn's 64 KiB are in memory.
_READ_BYTES = 64 * 1024
# The client reads a response if at least these bytes of it leave within `write_seconds`.
_WRITE_BYTES = 16 * 1024
Phase = Literal["head", "idle", "body", "work", "closing"]
Closed = Literal["connections", "evicted", "head_timeout", "body_timeout", "write_timeout", "lingering", "malformed"]
CLOSED: tuple[Closed, ...] = get_args(Closed)


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """The limits of one connection, and of their number.

    `head_seconds` is for the head of a request, from its first byte or the connection's start. After
    `body_grace_seconds` a body has to have come at `body_bytes_per_second`, and by `body_seconds` it has to be whole;
    time in which the server does not read does not count. `write_seconds` is how long a response may wait for its
    reader.
    """

    max_connections: int = 1000
    head_seconds: float = 5.0
    body_grace_seconds: float = 5.0
    body_seconds: float = 120.0
    body_bytes_per_second: int = 16 * 1024
    write_seconds: float = 20.0


def refusal_bytes(status: int, code: str, detail: str, retry_after_seconds: int | None = None) -> bytes:
    """The bytes of a whole problem response that closes its connection."""
    title = HTTPStatus(status).phrase
    problem = {"type": "about:blank", "title": title, "status": status, "detail": detail, "code": code}
    body = json.dumps(problem).encode()
    retry = f"Retry-After: {retry_after_seconds}\r\n" if retry_after_seconds is not None else ""
    head = (
        f"HTTP/1.1 {status} {title}\r\nContent-Type: application/problem+json\r\n"
        f"Content-Length: {len(body)}\r\n{retry}Connection: close\r\n\r\n"
    )
    return head.encode() + body


_FULL = refusal_bytes(503, "overloaded", "the server has as many connections as it may have; try again", 1)


class Connections:
    """All connections of one server. `closed` counts by reason the connections that the server itself ended."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self.closed: Counter[Closed] = Counter()
        self._open: set[BoundedProtocol] = set()
        # The connections whose request, or whose body, the server waits for: the longest waiting comes first.
        self._idle: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._receiving: OrderedDict[BoundedProtocol, None] = OrderedDict()
        self._swept_at = time.monotonic()
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: BoundedProtocol) -> bool:
        """Add a connection, at the limit in place of the one that waits longest; False if no connection waits."""
        if len(self._open) >= self.limits.max_connections and not self._evict():
            self.closed["connections"] += 1
            return False
        self._open.add(connection)
        self._idle[connection] = None
        if self._timer is None:
            self._swept_at = time.monotonic()
            self._timer = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep)
        return True

    def remove(self, connection: BoundedProtocol) -> None:
        """Forget a connection that is closed."""
        self._open.discard(connection)
        self._idle.pop(connection, None)
        self._receiving.pop(connection, None)

    def note(self, connection: BoundedProtocol, phase: Phase) -> None:
        """Note the new phase of a connection: it decides whether and in which order the connection may be evicted."""
        if phase == "body":
            self._idle.pop(connection, None)
            self._receiving[connection] = None
        else:
            self._receiving.pop(connection, None)
            if phase == "work":
                self._idle.pop(connection, None)
            else:
                self._idle.setdefault(connection)

    def _evict(self) -> bool:
        queue = self._idle or self._receiving
        if not queue:
            return False
        connection, _ = queue.popitem(last=False)
        self._open.discard(connection)
        self.closed["evicted"] += 1
        connection.abort()
        return True

    def _sweep(self) -> None:
        now = time.monotonic()
        seconds, self._swept_at = now - self._swept_at, now
        for connection in list(self._open):
            reason = connection.overdue(now, seconds)
            if reason is not None:
                self.closed[reason] += 1
                connection.end(reason)
        self._timer = asyncio.get_running_loop().call_later(_SWEEP_SECONDS, self._sweep) if self._open else None


class _Transport:
    """A connection's transport, whose `close` lets the client see the answer to a request that was not read."""

    def __init__(self, transport: asyncio.Transport, protocol: BoundedProtocol) -> None:
        self._transport = transport
        self._protocol = protocol

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def is_closing(self) -> bool:
        return self._protocol.phase == "closing" or self._transport.is_closing()

    def close(self) -> None:
        self._protocol.close_gently()


class _Flow(FlowControl):
    """Waits for the client to read on, and leaves the request's slot to others meanwhile."""

    async def drain(self) -> None:
        with without_slot():
            await super().drain()


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol over strict HTTP, within the limits of `connections`."""

    def __init__(self, *args: Any, connections: Connections, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn: StrictConnection = StrictConnection()
        self.phase: Phase = "head"
        self._table = connections
        self._socket: asyncio.Transport | None = None
        self._since = 0.0
        self._body_seconds = 0.0
        self._received = self._received_before = 0
        self._unsent = 0
        self._unsent_since: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Admit the connection, or answer 503 and close it at the limit."""
        self._socket = transport
        if hasattr(transport, "max_size"):
            transport.max_size = _READ_BYTES
        super().connection_made(_Transport(transport, self))  # type: ignore[arg-type]
        self.flow = _Flow(self.transport)
        self._since = time.monotonic()
        if not self._table.admit(self):
            self.phase = "closing"
            transport.write(_FULL)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._table.remove(self)
        self.phase = "closing"
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass the bytes of a request on; drop those of a request that was refused."""
        if self.phase == "closing":
            self._received += len(data)
            if self._received > _LINGER_BYTES:
                self.abort()
            return
        if self.phase == "idle":
            self._enter("head")
            self._received = 0
        self._received += len(data)
        super().data_received(data)

    def handle_events(self) -> None:
        """Handle the parsed events, then enter the phase that the request has reached."""
        before = self.cycle
        super().handle_events()
        if self.phase == "closing":
            return
        if self.cycle is not before:
            self._received, self._body_seconds = 0, 0.0
        if self.cycle is not None and not self.cycle.response_complete:
            self._enter("body" if self.conn.their_state is h11.SEND_BODY else "work")

    def on_response_complete(self) -> None:
        """Wait for the next request, unless the client is still busy with this one."""
        if self.conn.their_state is h11.SEND_BODY:
            self.close_gently()
        if self.phase != "closing":
            self._enter("idle")
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a malformed request with the status of its fault, and end the connection."""
        status, reason = self.conn.refusal or (400, msg)
        self._table.closed["malformed"] += 1
        # After the colon the library quotes what was sent.
        self._refuse(status, "malformed_request", f"the request is malformed: {reason.partition(':')[0]}")

    def shutdown(self) -> None:
        """End the connection after the answer to the running request, or at once if none runs."""
        assert self._socket is not None
        if self.phase == "idle":
            self._socket.close()
        elif self.phase in ("closing", "head"):
            self.abort()
        else:
            super().shutdown()

    def overdue(self, now: float, seconds: float) -> Closed | None:
        """The limit that the connection has exceeded, or None; `seconds` have passed since the last call."""
        assert self._socket is not None
        limits = self._table.limits
        unsent = self._socket.get_write_buffer_size()
        if unsent == 0:
            self._unsent_since = None
        elif self._unsent_since is None or unsent > self._unsent or unsent <= self._unsent - _WRITE_BYTES:
            self._unsent, self._unsent_since = unsent, now
        elif now - self._unsent_since > limits.write_seconds:
            return "write_timeout"
        if self.phase == "head":
            return "head_timeout" if now - self._since > limits.head_seconds else None
        if self.phase == "closing":
            is_silent, self._received_before = self._received == self._received_before, self._received
            patience = _SILENT_SECONDS if is_silent else _LINGER_SECONDS
            return "lingering" if unsent == 0 and now - self._since > patience else None
        # A client that asks whether to send its body waits for the server, and not the other way round.
        is_waited_for = not self.flow.read_paused and not self.cycle.waiting_for_100_continue
        if self.phase == "body" and is_waited_for:
            self._body_seconds += seconds
            late = self._body_seconds - limits.body_grace_seconds
            if late * limits.body_bytes_per_second > self._received or self._body_seconds > limits.body_seconds:
                return "body_timeout"
        return None

    def end(self, reason: Closed) -> None:
        """End the connection; answer 408 first if an answer can still be sent."""
        if reason == "write_timeout" or self.phase == "closing" or not self._may_answer or not self._received:
            self.abort()
            return
        self._refuse(408, "request_timeout", "the request did not come in time")

    def abort(self) -> None:
        """End the connection at once."""
        assert self._socket is not None
        self.phase = "closing"
        self._socket.abort()

    def close_gently(self) -> None:
        """End the connection. A client that still sends sees its answer: its bytes are dropped for a while first."""
        assert self._socket is not None
        if self.phase == "closing":
            return
        unread = self.conn.their_state is h11.SEND_BODY
        self._enter("closing")
        self._received = 0
        if not unread:
            self._socket.close()
            return
        self.flow.resume_reading()
        with contextlib.suppress(OSError):
            self._socket.write_eof()

    @property
    def _may_answer(self) -> bool:
        """Whether an answer can be sent: the current request has none yet, and the last one's is complete."""
        return self.cycle is None or self.cycle.response_complete or not self.cycle.response_started

    def _refuse(self, status: int, code: str, detail: str) -> None:
        """Send a problem in place of the application's answer, and tell the application that its client is gone."""
        assert self._socket is not None
        if self._may_answer:
            self._socket.write(refusal_bytes(status, code, detail))
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._enter("closing")
        self._received = 0
        self.flow.resume_reading()
        with contextlib.suppress(OSError):
            self._socket.write_eof()

    def _enter(self, phase: Phase) -> None:
        if phase != self.phase:
            self.phase = phase
            self._since = time.monotonic()
            self._table.note(self, phase)
