"""Middleware that tells a client the position of what it wrote, and hears it again, where a standby may be read."""

from __future__ import annotations

import asyncio
import re

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reverie_indexer.database import request_reads
from reverie_indexer.database.database import Database
from reverie_indexer.errors import ReverieError

HEADER = "X-Reverie-Position"
_NAME = HEADER.lower().encode()
_POSITION = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{16}")
# The write is done, and only its position is not known: reads are no older for that, see `database.standby`.
_PATIENCE_SECONDS = 1.0


class Positions:
    """ASGI middleware. The answer to a request that wrote has the header, and a request that sends it reads no less."""

    def __init__(self, app: ASGIApp, database: Database) -> None:
        self._app = app
        self._database = database

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == _NAME]
        is_known = all(_POSITION.fullmatch(value) for value in sent)
        seen = max((value.decode() for value in sent), default="") if is_known else ""
        with request_reads.of_request(seen) as reads:
            # What cannot be told is taken for more than any standby has.
            reads.wrote = not is_known

            async def send_with_position(message: Message) -> None:
                if message["type"] == "http.response.start" and reads.wrote:
                    position = await self._position()
                    if position is not None:
                        message = {**message, "headers": [*message.get("headers", ()), (_NAME, position.encode())]}
                await send(message)

            await self._app(scope, receive, send_with_position)

    async def _position(self) -> str | None:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                return await self._database.position()
        except (ReverieError, TimeoutError):
            return None
