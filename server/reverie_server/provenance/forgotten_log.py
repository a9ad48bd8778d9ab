"""The log of what was forgotten, outside the database: what is restored from a backup is held to it.

Each act of forgetting adds a line before its transaction commits, and so does each key that is revoked. A line has
keyed hashes and times, and no text: by the key, which is in the database and so in its backups too, what is meant is
found again in a backup. An act that could not be written is not done. One whose transaction fails afterwards has a line
all the same: a backup is then restored without what somebody wanted gone.
"""

from __future__ import annotations

import asyncio
import fcntl
import hmac
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import DatabaseUnavailable, SetupError
from reverie_indexer.model import Place
from reverie_indexer.postgres.host import sync_directory
from reverie_server.forgettable import Selection
from reverie_server.text.keyed_texts import KeyedText, keyed_text

SQL = Queries(__file__)
LOG_NAME = "forgotten.log"
# What was removed: texts of a place, what a selection fits, an agent, a person, a conversation, the messages of one, an
# episode; and a key that was revoked.
Act = Literal["texts", "clear", "agent", "owner", "session", "messages", "episode", "key"]
_SUBJECT_BYTES = 16


@dataclass(frozen=True, slots=True)
class Entry:
    """An act of forgetting. `cluster` and `xid` name its transaction, `subject` is a hash, `details` are the act's."""

    act: Act
    at: datetime
    cluster: str
    xid: int
    subject: str
    details: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Contents:
    """A log as it was read: its id, which is in each backup that was made beside it, and its entries, oldest first."""

    log_id: str
    entries: tuple[Entry, ...]


class ForgottenLog:
    """The log of a server. `secret` is the key of the database's tombstones. Several processes may add to one file."""

    def __init__(self, path: Path, secret: bytes) -> None:
        self.path = path
        self._secret = secret

    def keyed(self, text: str) -> bytes:
        """The keyed hash of a text; not that of its tombstone."""
        return hmac.digest(self._secret, f"forgotten\0{text}".encode(), "sha256")

    def subject(self, act: Act, *names: str | None) -> str:
        """The hash of what an act is about; of a place for texts and selections (`place_names`)."""
        named = json.dumps([act if act not in ("texts", "clear") else "place", *names])
        return self.keyed(named)[:_SUBJECT_BYTES].hex()

    async def note(self, connection: Connection, act: Act, *names: str | None, **details: Any) -> None:
        """Add an act, in its transaction, as the last thing of it. DatabaseUnavailable where that cannot be."""
        facts = await (await connection.execute(SQL["transaction"])).fetchone() or {}
        line = {
            "at": facts["at"].isoformat(),
            "cluster": facts["cluster"],
            "xid": int(facts["xid"]),
            "act": act,
            "subject": self.subject(act, *names),
            **details,
        }
        try:
            await asyncio.to_thread(append, self.path, line)
        except OSError as error:
            raise DatabaseUnavailable(
                "the log of what was forgotten cannot be written, so nothing was forgotten or revoked: see that "
                "the server may write where its setting forgotten_log says"
            ) from error

    async def note_texts(
        self, connection: Connection, place: Place, texts: Sequence[str], tombstones: Sequence[tuple[bytes, int]]
    ) -> None:
        """Add the texts that a place forgets, and their tombstones with the count of words of each; as `note`."""
        known = [each for text in texts if (each := keyed_text(text, self.keyed)) is not None]
        await self.note(
            connection,
            "texts",
            *place_names(place),
            texts=[[each.length, each.anchor.hex(), each.digest.hex(), each.is_sentence] for each in known],
            tombstones=[[text_hmac.hex(), count] for text_hmac, count in tombstones],
        )

    async def note_clear(self, connection: Connection, place: Place, selection: Selection) -> None:
        """Add what a place is cleared of; as `note`."""
        prefix = selection.path_prefix
        await self.note(
            connection,
            "clear",
            *place_names(place),
            tiers=list(selection.tiers),
            days=selection.older_than_days,
            prefix=[len(prefix), self.keyed(prefix).hex()] if prefix else None,
        )


def place_names(place: Place) -> tuple[str | None, ...]:
    """By what a place is known: the tenant's shared memory is the same whichever agent wrote it."""
    return (place.tenant_id, None if place.scope == "global" else place.agent_id, place.owner_key)


def texts_of(entry: Entry) -> list[KeyedText]:
    """The texts of an entry."""
    return [
        KeyedText(length, bytes.fromhex(anchor), bytes.fromhex(digest), is_sentence)
        for length, anchor, digest, is_sentence in entry.details["texts"]
    ]


def is_in_snapshot(entry: Entry, cluster: str, snapshot: str, at: datetime) -> bool:
    """Whether a backup has what an act left. Pure.

    `snapshot` is pg_current_snapshot() of the backup: `xmin:xmax:xip,…`. Transactions of another cluster, in which the
    database was before it was restored here, go by the time.
    """
    if entry.cluster != cluster:
        return entry.at < at
    xmin, xmax, in_progress = snapshot.split(":")
    if entry.xid >= int(xmax):
        return False
    return entry.xid < int(xmin) or str(entry.xid) not in in_progress.split(",")


def begin(path: Path) -> None:
    """Make an empty log where there is none. OSError where that cannot be."""
    append(path, None)


def append(path: Path, entry: dict[str, Any] | None) -> None:
    """Add an entry to the file, made where there is none, and have it on the disk. OSError where that cannot be.

    What an append that was killed left of a line is removed: nothing was forgotten for it.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        end = _end_of_lines(descriptor)
        text = "" if end else _line({"forgotten_log": secrets.token_hex(16), "begun": datetime.now(UTC).isoformat()})
        text += "" if entry is None else _line(entry)
        if not text:
            return
        os.ftruncate(descriptor, end)
        os.lseek(descriptor, end, os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(text.encode())
        os.fsync(descriptor)
        if not end:
            sync_directory(path.parent)
    finally:
        os.close(descriptor)


def read_log(path: Path) -> Contents:
    """Read a log; SetupError where there is none or a line is damaged. A last one without its end is left out."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as error:
        raise SetupError(f"the log of what was forgotten, {path}, cannot be read: {error.strerror}") from None
    try:
        first, *rest = [json.loads(line) for line in lines]
        return Contents(str(first["forgotten_log"]), tuple(map(_entry, rest)))
    except (ValueError, KeyError, TypeError):
        raise SetupError(f"{path} is damaged, or no log of what was forgotten") from None


def _entry(line: dict[str, Any]) -> Entry:
    at, cluster, xid = datetime.fromisoformat(line.pop("at")), line.pop("cluster"), line.pop("xid")
    return Entry(line.pop("act"), at, cluster, xid, line.pop("subject"), line)


def _line(values: dict[str, Any]) -> str:
    return json.dumps(values, separators=(",", ":")) + "\n"


def _end_of_lines(descriptor: int) -> int:
    """Where the last whole line ends; 0 where there is none."""
    end = os.lseek(descriptor, 0, os.SEEK_END)
    while end:
        start = max(0, end - 65_536)
        found = os.pread(descriptor, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0
