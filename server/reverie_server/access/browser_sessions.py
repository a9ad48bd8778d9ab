"""Sessions of people in a browser: each stands for a key, and ends with it."""

from __future__ import annotations

import hashlib
import re
import secrets
from datetime import datetime, timedelta

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Unauthorized
from reverie_server.access.keys import Caller

SQL = Queries(__file__)
SCHEME = "Session"
LIFETIME = timedelta(hours=12)
_TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")


class BrowserSessions:
    """The sessions of a server. Of a session's token only the hash is stored."""

    def __init__(self, database: Database, *, lifetime: timedelta = LIFETIME) -> None:
        self._database = database
        self._lifetime = lifetime

    async def open(self, caller: Caller) -> tuple[str, datetime]:
        """A new session of a caller with a key: its token, which is shown this once, and when it ends.

        Unauthorized for a key that is no longer valid.
        """
        token = secrets.token_urlsafe(32)
        params = {"session_sha256": _hash(token), "key_id": caller.key_id, "lifetime": self._lifetime}
        async with self._database.maintenance() as connection:
            row = await (await connection.execute(SQL["open"], params)).fetchone()
        if row is None:
            raise Unauthorized("the key is not valid any more")
        return token, row["expires_at"]

    async def caller(self, token: str) -> Caller:
        """The caller whom a token stands for; Unauthorized for one that is unknown or over, or whose key is."""
        rows = []
        if _TOKEN.fullmatch(token):
            rows = await self._database.maintenance_query(SQL["key_of"], {"session_sha256": _hash(token)})
        if not rows:
            raise Unauthorized("sign in again")
        [row] = rows
        agents = frozenset(row["agent_ids"]) if row["agent_ids"] is not None else None
        return Caller(row["tenant_id"], row["role"], row["owner_key"], agents, row["key_id"], row["name"])

    async def close(self, token: str) -> None:
        """End a session."""
        async with self._database.maintenance() as connection:
            await connection.execute(SQL["close"], {"session_sha256": _hash(token)})


def _hash(token: str) -> bytes:
    """A plain hash is enough: a token has 256 random bits."""
    return hashlib.sha256(token.encode()).digest()
