"""What facts are read in: the messages of sessions since the last run, and the files that changed since.

Every function works inside the caller's transaction, in which the slice is open.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.file_rules import is_searchable, is_unedited_seed
from reverie_server.facts.due import DueDocument, DueSession
from reverie_server.facts.known_people import Acquaintance, role_names
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.search.derived_files import only_repeats
from reverie_server.sessions.model import Message

SQL = Queries(__file__)
# Of one run, and of one reading of a session.
MAX_SESSIONS, MAX_DOCUMENTS, MAX_MESSAGES = 20, 20, 400
# With so many messages or characters a page is full: each sentence passes the embedding model.
FULL_PAGE, _FULL_PAGE_CHARS = 1_000, 300_000
# The messages before, by which pronouns are understood.
CONTEXT_MESSAGES = 12
MAX_VERSIONS = 30
MAX_ACQUAINTANCES = 500
# Files that speak to the agent, and nobody's facts.
_NOT_READ = frozenset({"AGENTS.md", "SOUL.md"})
_RESERVED = "_system/"
# The stages that write again what messages say.
_REPEATING = frozenset({"daily_log", "facts"})


async def due_sessions(
    connection: Connection, tenant_id: str, slice_id: int, *, skips_cron: bool = False
) -> list[DueSession]:
    """A page of the sessions in which facts are to be read, with their messages.

    With `skips_cron` nothing is to be read in what scheduled jobs wrote.
    """
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "limit": MAX_SESSIONS}
    rows = await (await connection.execute(SQL["due_sessions"], params)).fetchall()
    found: list[DueSession] = []
    for row in rows:
        last_seq = row.pop("last_seq")
        from_seq = max(1, row["facts_through"] + 1 - CONTEXT_MESSAGES)
        values = {**params, "session_key": row["session_key"], "from_seq": from_seq, "limit": MAX_MESSAGES}
        messages = [Message(**m) for m in await (await connection.execute(SQL["messages"], values)).fetchall()]
        new = [message for message in messages if message.seq > row["facts_through"]]
        context = [message for message in messages if message.seq <= row["facts_through"]]
        # Where the last messages were removed, there is nothing to read, and the mark goes to the end.
        through_seq = new[-1].seq if new else last_seq
        spans = (
            await (await connection.execute(SQL["of_cron"], {**values, "after": from_seq - 1})).fetchall()
            if skips_cron
            else []
        )
        of_cron = frozenset(
            m.seq for m in messages if any(span["from_seq"] <= m.seq <= span["through_seq"] for span in spans)
        )
        found.append(DueSession(**row, through_seq=through_seq, context=context, messages=new, of_cron=of_cron))
        read = [message for session in found for message in session.messages]
        if len(read) >= FULL_PAGE or sum(len(message.content) for message in read) >= _FULL_PAGE_CHARS:
            break
    return found


async def due_documents(connection: Connection, tenant_id: str, slice_id: int) -> list[DueDocument]:
    """A page of the files in which facts are to be read."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "limit": MAX_DOCUMENTS}
    rows = await (await connection.execute(SQL["due_documents"], params)).fetchall()
    found: list[DueDocument] = []
    for row in rows:
        values = {**params, "document_id": row["document_id"], "limit": MAX_VERSIONS}
        text = "" if row["is_deleted"] or not is_read(row["path"], row["content"]) else row["content"]
        said_at: dict[bytes, datetime] = {}
        derived: list[DictRow] = []
        if text:
            said_at = await _first_stood(connection, values, row["facts_version"])
            for line in await (await connection.execute(SQL["known_lines"], values)).fetchall():
                said_at[bytes(line["line_sha256"])] = line["said_at"]
            derived = await (await connection.execute(SQL["derived_lines"], values)).fetchall()
            said_at |= {bytes(line["line_sha256"]): line["said_at"] for line in derived if line["said_at"] is not None}
        of_row = {name: row[name] for name in ("document_id", "path", "version", "note_day", "updated_at")}
        found.append(
            DueDocument(
                **of_row,
                text=text,
                said_at=said_at,
                copies=_lines(derived),
                repeats=_lines(line for line in derived if line["stage"] in _REPEATING),
                made=_lines(line for line in derived if line["is_made"]),
                undated=_lines(line for line in derived if line["is_made"] and line["said_at"] is None),
            )
        )
    return found


def _lines(rows: Iterable[DictRow]) -> frozenset[bytes]:
    return frozenset(bytes(row["line_sha256"]) for row in rows)


async def acquaintances(connection: Connection, tenant_id: str, slice_id: int) -> list[Acquaintance]:
    """The people of whom the facts of a slice tell, those who were known first before the others."""
    params = {"tenant_id": tenant_id, "slice_id": slice_id, "roles": sorted(role_names()), "limit": MAX_ACQUAINTANCES}
    rows = await (await connection.execute(SQL["acquaintances"], params)).fetchall()
    names = sorted({row["object"].split(" ")[0].lower() for row in rows if row["object"]})
    namesakes = await (await connection.execute(SQL["namesakes"], {**params, "names": names})).fetchall()
    known = [
        Acquaintance(row["object"], row["predicate"], row["valid_from"], row["valid_to"], row["is_functional"])
        for row in rows
    ]
    return [*known, *(Acquaintance(row["subject"], None, row["since"]) for row in namesakes)]


def is_read(path: str, text: str) -> bool:
    """Whether facts are read in a file. Pure."""
    return holds_memory(path) and not is_unedited_seed(path, text)


def holds_memory(path: str) -> bool:
    """Whether a file of this path is memory: what is said of people and their lives, and not to the agent. Pure."""
    is_other = path in _NOT_READ or path.startswith(_RESERVED) or only_repeats(path)
    return not is_other and is_searchable(path)


async def _first_stood(
    connection: Connection, values: Mapping[str, object], facts_version: int
) -> dict[bytes, datetime]:
    """When the lines of a file first stood in it, as far as its newest versions tell."""
    rows = await (await connection.execute(SQL["versions"], values)).fetchall()
    first: dict[bytes, datetime] = {}
    for row in rows:
        if row["version"] > facts_version or not facts_version:
            for line in entry_lines(row["content"]):
                first.setdefault(line_sha256(line), row["at"])
    return first
