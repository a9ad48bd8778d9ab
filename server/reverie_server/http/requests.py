"""Middleware that gives each request an id and closes its audit entries before the answer is sent."""

from __future__ import annotations

from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie_server.access.audit import Activity, Audit, activity
from reverie_server.access.request_id import HEADER, new_request_id, of_request

# The key of the request's id in the ASGI scope, for answers made outside of this middleware.
REQUEST_ID = "reverie.request_id"
_NAME = HEADER.lower().encode()
# The provider's own id of a request that was handed on.
_PROVIDERS_NAME = b"x-provider-request-id"


class Requests:
    """ASGI middleware: gives each request its id, in the log and in the answer, and hands what it did to the audit."""

    def __init__(self, app: ASGIApp, audit: Audit) -> None:
        self._app = app
        self._audit = audit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = scope[REQUEST_ID] = new_request_id(_sent(scope))
        with of_request(request_id), activity() as doing:
            await self._pass(scope, receive, send, request_id, doing)

    async def _pass(self, scope: Scope, receive: Receive, send: Send, request_id: str, doing: Activity) -> None:
        is_answered = False

        async def identified(message: Message) -> None:
            nonlocal is_answered
            if message["type"] == "http.response.start":
                is_answered = True
                await self._audit.finish(doing, message["status"])
                message = {**message, "headers": _with_id(message.get("headers", ()), request_id)}
            await send(message)

        try:
            await self._app(scope, receive, identified)
        finally:
            if not is_answered:
                # The application failed, or the client went away.
                await self._audit.finish(doing, 500)


def id_header(scope: Scope) -> dict[str, str]:
    """The header of an answer that is made outside of the middleware."""
    return {HEADER: scope[REQUEST_ID]} if REQUEST_ID in scope else {}


def _sent(scope: Scope) -> str | None:
    found = [value for name, value in scope["headers"] if name == _NAME]
    return found[0].decode("latin-1") if len(found) == 1 else None


def _with_id(headers: Any, request_id: str) -> list[tuple[bytes, bytes]]:
    kept = [(_PROVIDERS_NAME if name.lower() == _NAME else name, value) for name, value in headers]
    return [*kept, (_NAME, request_id.encode())]
