"""What was forgotten and may not come back by itself: kept as keyed hashes, which tell nobody what it was."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.text.redact import essences, without_forgotten, without_forgotten_words, word_count

SQL = Queries(__file__)


class Tombstones:
    """The tombstones of places. A person may write a forgotten text anew; what runs by itself may not."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._secret: bytes | None = None

    async def load_secret(self) -> bytes:
        """The key of the hashes, which belongs to the database and never leaves the server."""
        if self._secret is None:
            async with self._database.maintenance() as connection:
                row = await (await connection.execute(SQL["secret"])).fetchone()
            self._secret = bytes((row or {})["secret"])
        return self._secret

    async def bury(self, connection: Connection, tenant_id: str, slice_id: int, texts: Iterable[str]) -> int:
        """Put texts, and the telling lines of each, under tombstones in the caller's transaction; how many are new.

        LookupError without `load_secret` before: no second connection is taken here.
        """
        if self._secret is None:
            raise LookupError("the key of the tombstones was not loaded")
        secret = self._secret
        buried = sorted({(_hmac(secret, kept), word_count(kept)) for text in texts for kept in essences(text)})
        params = {
            "tenant_id": tenant_id,
            "slice_id": slice_id,
            "hmacs": [text_hmac for text_hmac, _ in buried],
            "word_counts": [count for _, count in buried],
        }
        cursor = await connection.execute(SQL["bury"], params)
        return int((await cursor.fetchone() or {"count": 0})["count"])

    async def without_forgotten(self, place: Place) -> Callable[[str], str]:
        """What takes out of a markdown text the passages and lines that were forgotten in the place; pure."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, place)
            cursor = await connection.execute(SQL["buried"], {"tenant_id": place.tenant_id, "slice_ids": own})
            buried = {bytes(row["text_hmac"]) for row in await cursor.fetchall()}
        if not buried:
            return lambda text: text
        secret = await self.load_secret()
        return lambda text: without_forgotten(text, lambda kept: _hmac(secret, kept) in buried)

    async def of_transcripts(self, place: Place) -> Callable[[str, datetime], str]:
        """What takes out of a text what was forgotten in the place after it was said; pure.

        Whole passages and lines, and within a line the words that were forgotten.
        """
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, place)
            cursor = await connection.execute(SQL["buried"], {"tenant_id": place.tenant_id, "slice_ids": own})
            rows = await cursor.fetchall()
        buried = {bytes(row["text_hmac"]): row["at"] for row in rows}
        counts = {row["word_count"]: row["at"] for row in sorted(rows, key=lambda row: row["at"]) if row["word_count"]}
        secret = await self.load_secret()

        def told(text: str, said_at: datetime) -> str:
            def is_forgotten(kept: str) -> bool:
                at = buried.get(_hmac(secret, kept))
                return at is not None and said_at < at

            sought = [count for count, at in counts.items() if said_at < at]
            return without_forgotten_words(without_forgotten(text, is_forgotten), sought, is_forgotten)

        return told


async def standing(connection: Connection, tenant_id: str, slice_ids: Sequence[int]) -> object:
    """What is different when something was forgotten since; None where nothing ever was. Inside the transaction."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids)}
    row = await (await connection.execute(SQL["standing"], params)).fetchone()
    return row["at"] if row else None


def _hmac(secret: bytes, text: str) -> bytes:
    return hmac.digest(secret, text.encode(), "sha256")
