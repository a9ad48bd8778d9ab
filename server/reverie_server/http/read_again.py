"""Middleware that answers a GET anew, once, when its read lost the database in the middle."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ATTEMPT = "reverie.attempt"


@dataclass(slots=True)
class _Attempt:
    is_interrupted: bool = False


def is_interrupted(scope: Scope) -> None:
    """Say that the read of a request was interrupted: where it can be answered anew, the answer to come is not sent."""
    attempt = scope.get(_ATTEMPT)
    if attempt is not None:
        attempt.is_interrupted = True


class ReadAgain:
    """ASGI middleware. What is not a GET may have written before its read was interrupted: it is not repeated."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and once more where that is of use."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
            return
        attempt = _Attempt()
        # Routing writes into the scope, for those outside too.
        untouched, scope[_ATTEMPT] = dict(scope), attempt

        async def send_unless_interrupted(message: Message) -> None:
            if not attempt.is_interrupted:
                await send(message)

        await self._app(scope, receive, send_unless_interrupted)
        if attempt.is_interrupted:
            await self._app(untouched, receive, send)
