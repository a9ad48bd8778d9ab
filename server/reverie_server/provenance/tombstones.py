"""Tombstones: keyed hashes of forgotten texts, which reveal nothing and keep background work from restoring them."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.text.forgotten_parts import is_telling, without_forgotten, without_forgotten_words, word_count
from reverie_server.text.redact import essence, essences, is_sentence
from reverie_server.text.statement_spans import statements

SQL = Queries(__file__)


class Tombstones:
    """The tombstones of places. A person may write or say a forgotten text anew; background work may not bring it
    back."""

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

    async def add(self, connection: Connection, tenant_id: str, slice_id: int, texts: Iterable[str]) -> int:
        """Add tombstones of texts, and of the lines of each, in the caller's transaction; how many are new.

        LookupError without `load_secret` before: no second connection is taken here.
        """
        return await self.add_keyed(connection, tenant_id, slice_id, self.keyed(texts))

    def keyed(self, texts: Iterable[str], whole_messages: Iterable[str] = ()) -> list[tuple[bytes, int]]:
        """Of what the tombstones of texts are made: keyed hashes, each with its count of words. Errors as of `add`.

        What `whole_messages` say is recognised only as a whole message of a transcript.
        """
        if self._secret is None:
            raise LookupError("the key of the tombstones was not loaded")
        secret = self._secret
        found = {(_hmac(secret, kept), word_count(kept)) for text in texts for kept in essences(text)}
        return sorted(found | {(_hmac(secret, _of_message(text)), 0) for text in whole_messages})

    async def add_keyed(
        self,
        connection: Connection,
        tenant_id: str,
        slice_id: int,
        keyed: Sequence[tuple[bytes, int]],
        at: datetime | None = None,
    ) -> int:
        """Add such tombstones, of now or of another time; how many are new. The later time of two counts."""
        params = {
            "tenant_id": tenant_id,
            "slice_id": slice_id,
            "hmacs": [text_hmac for text_hmac, _ in keyed],
            "word_counts": [count for _, count in keyed],
            "at": at,
        }
        cursor = await connection.execute(SQL["add"], params)
        return int((await cursor.fetchone() or {"count": 0})["count"])

    async def without_forgotten(self, place: Place) -> Callable[[str], str]:
        """A pure function that removes the passages and lines forgotten in the place from a markdown text."""
        forgotten = {bytes(row["text_hmac"]) for row in await self._of(place)}
        return _without(await self.load_secret(), forgotten) if forgotten else _unchanged

    async def of_files(self, place: Place) -> Callable[[str], str]:
        """As `without_forgotten`, for a file that is brought in: what says enough goes out of longer lines, too.

        The function takes seconds of CPU for a megabyte where much was forgotten.
        """
        rows = await self._of(place)
        if not rows:
            return _unchanged
        forgotten = {bytes(row["text_hmac"]) for row in rows}
        counts = {row["word_count"] for row in rows} - {0}
        secret = await self.load_secret()
        whole_parts = _without(secret, forgotten)

        def is_forgotten(kept: str) -> bool:
            return _hmac(secret, kept) in forgotten and is_telling(kept)

        return lambda text: without_forgotten_words(whole_parts(text), counts, is_forgotten, by_line=True)

    async def of_transcripts(self, place: Place) -> Callable[[str, datetime], str]:
        """A pure function of a text and its time: removes from the text what was forgotten in the place since then.

        It removes whole passages and lines, and forgotten words within a line.
        """
        rows = await self._of(place)
        forgotten_at = {bytes(row["text_hmac"]): row["at"] for row in rows}
        counts = {row["word_count"]: row["at"] for row in sorted(rows, key=lambda row: row["at"]) if row["word_count"]}
        secret = await self.load_secret()

        def without_later_forgotten(text: str, said_at: datetime) -> str:
            def is_forgotten(kept: str) -> bool:
                at = forgotten_at.get(_hmac(secret, kept))
                return at is not None and said_at < at

            if is_forgotten(_of_message(text)):
                return ""
            sought = [count for count, at in counts.items() if said_at < at]
            return without_forgotten_words(without_forgotten(text, is_forgotten), sought, is_forgotten)

        return without_later_forgotten

    async def said_anew(self, place: Place, said: Sequence[tuple[str, datetime]]) -> list[bytes]:
        """The tombstones of the forgotten sentences that texts, each with its time, say again later than that."""
        rows = await self._of(place)
        secret = await self.load_secret()
        return await asyncio.to_thread(_said_anew, rows, secret, said) if rows else []

    async def lift(self, connection: Connection, tenant_id: str, slice_id: int, hmacs: Sequence[bytes]) -> None:
        """Remove tombstones, in the caller's transaction: a person has said anew what they hide."""
        await connection.execute(SQL["lift"], {"tenant_id": tenant_id, "slice_id": slice_id, "hmacs": list(hmacs)})

    async def _of(self, place: Place) -> list[DictRow]:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {"tenant_id": place.tenant_id, "slice_ids": await own_slices(connection, place)}
            return await (await connection.execute(SQL["tombstones"], params)).fetchall()


async def tombstone_mark(connection: Connection, tenant_id: str, slice_ids: Sequence[int]) -> object:
    """A value that changes whenever something is forgotten; None where nothing ever was. Inside the transaction."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids)}
    row = await (await connection.execute(SQL["mark"], params)).fetchone()
    return row["at"] if row else None


def _said_anew(rows: Sequence[DictRow], secret: bytes, said: Sequence[tuple[str, datetime]]) -> list[bytes]:
    forgotten_at = {bytes(row["text_hmac"]): row["at"] for row in rows}
    counts = {row["word_count"] for row in rows} - {0}
    found: dict[bytes, None] = {}
    for text, at in said:

        def note(kept: str, at: datetime = at) -> bool:
            # A word or a number of what is forgotten may be said of something else.
            text_hmac = _hmac(secret, kept)
            if text_hmac in forgotten_at and forgotten_at[text_hmac] < at and is_sentence(kept):
                found[text_hmac] = None
            return False

        without_forgotten(text, note)
        without_forgotten_words(text, counts, note)
        # An episode writes who said it.
        for statement in statements(text):
            note(essence(f"User: {statement}"))
    return list(found)


def _of_message(text: str) -> str:
    """The form of a whole message. No essence of a text begins so."""
    return f"\0{essence(text)}"


def _unchanged(text: str) -> str:
    return text


def _without(secret: bytes, forgotten: Collection[bytes]) -> Callable[[str], str]:
    return lambda text: without_forgotten(text, lambda kept: _hmac(secret, kept) in forgotten)


def _hmac(secret: bytes, text: str) -> bytes:
    return hmac.digest(secret, text.encode(), "sha256")
