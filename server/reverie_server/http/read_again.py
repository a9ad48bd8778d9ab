"""Middleware that answers a request anew, once, when its read lost the database in the middle."""

from __future__ import annotations

from dataclasses import dataclass, field

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie_indexer.database import request_reads

_ATTEMPT = "reverie.attempt"


@dataclass(slots=True)
class _Attempt:
    """`received` is what was read of the request's body."""

    method: str
    received: list[Message] = field(default_factory=list)
    is_interrupted: bool = False

    def may_be_repeated(self) -> bool:
        """Whether answering the request anew does nothing twice: it is a GET, or the database saw it read only."""
        reads = request_reads.current.get()
        has_read_only = reads is not None and reads.may_go_elsewhere
        is_whole = len(self.received) == 1 and not self.received[0].get("more_body", False)
        return self.method == "GET" or (has_read_only and is_whole)


def is_interrupted(scope: Scope) -> None:
    """Say that the read of a request was interrupted: where it can be answered anew, the answer to come is not sent."""
    attempt: _Attempt | None = scope.get(_ATTEMPT)
    if attempt is not None and attempt.may_be_repeated():
        attempt.is_interrupted = True


class ReadAgain:
    """ASGI middleware. What may have written before its read was interrupted is not repeated.

    What is no GET is known to have written nothing where reads may go to a standby: there alone it is repeated.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and once more where that is of use."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        attempt = _Attempt(scope["method"])
        # Routing writes into the scope, for those outside too.
        untouched, scope[_ATTEMPT] = dict(scope), attempt

        async def receive_once() -> Message:
            message = await receive()
            # What comes in parts may be too long to keep.
            if len(attempt.received) < 2:
                attempt.received.append(message)
            return message

        async def receive_again() -> Message:
            return attempt.received.pop() if attempt.received else await receive()

        async def send_unless_interrupted(message: Message) -> None:
            if not attempt.is_interrupted:
                await send(message)

        await self._app(scope, receive_once, send_unless_interrupted)
        if attempt.is_interrupted:
            await self._app(untouched, receive_again, send)
