"""What facts are to be read in, as it was stored: messages of a session, a version of a file. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from reverie_server.sessions.model import Message


@dataclass(frozen=True, slots=True)
class DueSession:
    """A session with messages to read: `context` was read before, `messages` are new, up to `through_seq`.

    `of_cron` are the numbers of those that a scheduled job wrote, in which nothing is read.
    """

    session_key: int
    slice_id: int
    session_id: str
    facts_through: int
    through_seq: int
    context: Sequence[Message]
    messages: Sequence[Message]
    of_cron: frozenset[int] = frozenset()

    def unread(self) -> DueSession:
        """The session with nothing to read in it."""
        return replace(self, context=(), messages=())


@dataclass(frozen=True, slots=True)
class DueDocument:
    """A file to read, at its version. `text` is "" for one that is deleted, or in which no facts are read.

    `said_at` are the times at which lines were said, by their hashes, as far as they are known; `copies` the lines that
    the server wrote from messages, or a tool; of these `repeats` are those of the daily log and of facts, in which none
    are read, and `made` those that the server made of others, of which nothing tells when the `undated` were said.
    """

    document_id: int
    path: str
    version: int
    note_day: date | None
    updated_at: datetime
    text: str
    said_at: Mapping[bytes, datetime]
    copies: frozenset[bytes]
    repeats: frozenset[bytes]
    made: frozenset[bytes] = frozenset()
    undated: frozenset[bytes] = frozenset()
