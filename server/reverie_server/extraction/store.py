"""Queries of extraction: sessions, ranges of their messages, and ranges for which the model is asked again.

Every function works inside the caller's transaction, in which the slice is open. Marks are compared and set.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.isolate import isolated
from reverie_server.extraction.superseded import Successor, partly_outdated_lines, rest_of
from reverie_server.extraction.superseded import outdated_lines as superseded_lines
from reverie_server.heuristics.fact_sentences import keyed_sentences
from reverie_server.jobs.model import message_source
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.provenance.record import added_lines
from reverie_server.search.superseded import superseded_sentences
from reverie_server.sessions.model import Message, Session

SQL = Queries(__file__)
# The sessions of a page, the messages that are read of one session at once, and the versions of a memory.
PAGE = 20
MAX_RANGE_MESSAGES = 1000
SAVED_VERSIONS = 50
_COMPARED_CHARS = 8_000_000
# The reasons of versions that a tool wrote, or an application that has tools of its own.
TOOL_REASONS = (
    "save_memory",
    "update_memory",
    "tool write_workspace_memory_file",
    "tool edit_workspace_memory_file",
)


@dataclass(frozen=True, slots=True)
class Pending:
    """A session, and the number of its last message that was extracted."""

    session: Session
    extracted_through: int


@dataclass(frozen=True, slots=True)
class Retry:
    """A range of messages for which the model failed `attempts` times.

    What was extracted without the model is in the daily note of `noted_on`.
    """

    session_key: int
    from_seq: int
    through_seq: int
    attempts: int
    noted_on: date


@dataclass(frozen=True, slots=True)
class MessageRange:
    """Successive messages of a session.

    `of_cron` are the numbers of those that a scheduled job wrote. `earlier` is the number of messages of user and
    assistant before them.
    """

    messages: Sequence[Message]
    of_cron: frozenset[int]
    earlier: int


async def due_sessions(
    connection: Connection, tenant_id: str, slice_id: int, *, without: Sequence[int] = ()
) -> list[Pending]:
    """A page of the sessions of a slice that have completed messages which were not looked at, oldest first."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "without": list(without), "limit": PAGE}
    return [_pending(row) for row in await (await connection.execute(SQL["due"], params)).fetchall()]


async def read_session(connection: Connection, tenant_id: str, slice_id: int, session_key: int) -> Pending | None:
    """A session of the slice; None where it is gone."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "session_key": session_key}
    row = await (await connection.execute(SQL["session"], params)).fetchone()
    return _pending(row) if row else None


async def read_message_range(
    connection: Connection, tenant_id: str, session: Session, from_seq: int, through_seq: int
) -> MessageRange:
    """The messages of a session from one number to another, at most MAX_RANGE_MESSAGES."""
    params: dict[str, Any] = {
        "tenant_id": tenant_id,
        "slice_id": session.slice_id,
        "session_key": session.session_key,
        "from_seq": from_seq,
        "through_seq": through_seq,
        "limit": MAX_RANGE_MESSAGES,
    }
    messages = [Message(**row) for row in await (await connection.execute(SQL["messages"], params)).fetchall()]
    spans = await (await connection.execute(SQL["of_cron"], params)).fetchall()
    of_cron = {m.seq for m in messages if any(span["from_seq"] <= m.seq <= span["through_seq"] for span in spans)}
    earlier = await (await connection.execute(SQL["earlier"], params)).fetchone()
    return MessageRange(messages, frozenset(of_cron), (earlier or {"count": 0})["count"])


async def saved_lines(connection: Connection, tenant_id: str, document_id: int, since: datetime) -> list[str]:
    """The lines that tools added to a memory since a time, each once. At most `_COMPARED_CHARS` are compared."""
    params = {
        "tenant_id": tenant_id,
        "document_id": document_id,
        "since": since,
        "reasons": list(TOOL_REASONS),
        "limit": SAVED_VERSIONS,
    }
    of_versions: list[list[str]] = []
    compared = 0
    async with connection.cursor(name="saved") as cursor:
        cursor.itersize = 4
        await cursor.execute(SQL["saved"], params)
        async for row in cursor:
            chars = len(row["before"]) + len(row["content"])
            compared += chars
            if compared > _COMPARED_CHARS:
                break
            of_versions.append(await isolated(added_lines, row["before"], row["content"], chars=chars))
    return list(dict.fromkeys(line.strip() for lines in reversed(of_versions) for line in lines))


async def said_at(connection: Connection, tenant_id: str, slice_id: int, path: str) -> dict[bytes, datetime]:
    """When the lines that the server wrote into a file were said, by their hashes: the newest of their messages; the
    time at which they were written where the messages are gone, or a tool saved them."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "path": path}
    rows = await (await connection.execute(SQL["said_at"], params)).fetchall()
    return {bytes(row["line_sha256"]): row["at"] for row in rows}


async def outdated_lines(
    connection: Connection,
    tenant_id: str,
    slice_id: int,
    path: str,
    text: str,
    machine: frozenset[bytes],
    *,
    now: datetime,
) -> dict[str, Successor | None]:
    """The lines that the server wrote into a file and that hold no more, as the facts stand `now`, each with what takes
    its place, of its own parts those that hold; None where nothing does."""
    keys = await asyncio.to_thread(lambda: [span.key for span in keyed_sentences(text)])
    superseded = await superseded_sentences(connection, tenant_id, [slice_id], keys, now=now)
    if not superseded:
        return {}
    found = await asyncio.to_thread(superseded_lines, text, machine, superseded)
    fact_ids = sorted({fact_id for fact_id in found.values() if fact_id is not None})
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "fact_ids": fact_ids}
    rows = await (await connection.execute(SQL["successors"], params)).fetchall()
    successors = {row["fact_id"]: _successor(row) for row in rows}
    outdated = {line: None if fact_id is None else successors.get(fact_id) for line, fact_id in found.items()}
    outdated = {line: by and replace(by, rest=rest_of(line, by.text)) for line, by in outdated.items()}
    rests = await asyncio.to_thread(partly_outdated_lines, text, machine, superseded)
    hashes = {line: line_sha256(line) for line in rests if line not in outdated}
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "path": path, "hashes": sorted(hashes.values())}
    sources = {
        bytes(row["line_sha256"]): row["source"]
        for row in await (await connection.execute(SQL["line_sources"], params)).fetchall()
    }
    parts = {line: Successor(rests[line], sources[sha256]) for line, sha256 in hashes.items() if sha256 in sources}
    return outdated | parts


def _successor(row: DictRow) -> Successor:
    ids = [message_id or None for message_id in row["message_ids"]]
    return Successor(row["text"], message_source(row["session_id"], list(zip(row["seqs"], ids, strict=True))))


async def advance(connection: Connection, tenant_id: str, pending: Pending, through_seq: int) -> bool:
    """Mark a session as extracted up to a number; False when somebody was faster, or it is gone."""
    params = {**_key(tenant_id, pending), "through_seq": through_seq}
    return await (await connection.execute(SQL["advance"], params)).fetchone() is not None


async def mark_seen(connection: Connection, tenant_id: str, pending: Pending, through_seq: int) -> None:
    """Mark that what a session completed up to a number is too little, if nobody extracted it meanwhile."""
    await connection.execute(SQL["seen"], {**_key(tenant_id, pending), "through_seq": through_seq})


async def due_retries(
    connection: Connection, tenant_id: str, slice_id: int, now: datetime, session_key: int | None
) -> list[Retry]:
    """A page of the retries that are due, the longest due first; with a session all retries of it."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "session_key": session_key, "now": now, "limit": PAGE}
    return [Retry(**row) for row in await (await connection.execute(SQL["retries"], params)).fetchall()]


async def add_retry(
    connection: Connection, tenant_id: str, slice_id: int, retry: Retry, reason: str, due_at: datetime
) -> None:
    """Note that the model failed for a range of messages."""
    params = {
        **_retry_key(tenant_id, slice_id, retry),
        "from_seq": retry.from_seq,
        "noted_on": retry.noted_on,
        "reason": reason,
        "due_at": due_at,
    }
    await connection.execute(SQL["add_retry"], params)


async def postpone(
    connection: Connection, tenant_id: str, slice_id: int, retry: Retry, reason: str, due_at: datetime
) -> None:
    """Note that the model failed once more, and when it is asked again."""
    params = {"reason": reason, "due_at": due_at}
    await connection.execute(SQL["postpone_retry"], {**_retry_key(tenant_id, slice_id, retry), **params})


async def drop_retry(connection: Connection, tenant_id: str, slice_id: int, retry: Retry) -> bool:
    """Remove a retry; False when somebody was faster."""
    params = _retry_key(tenant_id, slice_id, retry)
    return await (await connection.execute(SQL["drop_retry"], params)).fetchone() is not None


async def waiting(connection: Connection, tenant_id: str, slice_id: int) -> tuple[bool, datetime | None]:
    """Whether a session of the slice is due, and when the model is next to be asked again (None: never)."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id}
    row = await (await connection.execute(SQL["waiting"], params)).fetchone() or {"is_due": False, "retry_at": None}
    return row["is_due"], row["retry_at"]


def _pending(row: DictRow) -> Pending:
    extracted_through = row.pop("extracted_through")
    return Pending(Session(**row), extracted_through)


def _key(tenant_id: str, pending: Pending) -> dict[str, Any]:
    session = pending.session
    return {
        "tenant_id": tenant_id,
        "slice_id": session.slice_id,
        "session_key": session.session_key,
        "extracted_through": pending.extracted_through,
    }


def _retry_key(tenant_id: str, slice_id: int, retry: Retry) -> dict[str, Any]:
    return {
        "tenant_id": tenant_id,
        "slice_id": slice_id,
        "session_key": retry.session_key,
        "through_seq": retry.through_seq,
        "attempts": retry.attempts,
    }
