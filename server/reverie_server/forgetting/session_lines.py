"""The lines that the server wrote of one session: they go with it by where they come from, however short they are."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.isolate import isolated
from reverie_server.facts.erase import facts_of_session
from reverie_server.facts.model import public_id
from reverie_server.heuristics.entries import undated
from reverie_server.provenance.line_identity import lines_among
from reverie_server.sessions.append import LOG_REASON
from reverie_server.sessions.model import Session
from reverie_server.sessions.spoken import spoken
from reverie_server.text.redact import pattern_of

SQL = Queries(__file__)
_FULL_STOPS = " .!?。！？…"


@dataclass(frozen=True, slots=True)
class SessionLine:
    """A line of a file as it stands or stood, with its identity (`provenance.line_identity`)."""

    path: str
    sha256: bytes
    text: str


async def lines_of_session(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], session: Session, elsewhere: str
) -> list[SessionLine]:
    """The lines that the server wrote of a session alone, in order of files; also those of facts it states alone.

    `elsewhere` is what other sessions say, folded: a line that these words hold stays, if it is not the daily log's.
    """
    facts = await facts_of_session(connection, tenant_id, slice_ids, session.session_key)
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "session_id": session.session_id,
        "session_key": session.session_key,
        "fact_ids": [public_id("fact", fact_id) for fact_id in facts],
        "log": LOG_REASON,
    }
    of_document: dict[int, dict[bytes, DictRow]] = {}
    for row in await (await connection.execute(SQL["written_of_session"], params)).fetchall():
        of_document.setdefault(row["document_id"], {})[bytes(row["line_sha256"])] = row
    found: dict[tuple[str, bytes], SessionLine] = {}
    # Newest versions first: the line reads as it stands now. A history may be larger than memory.
    async with connection.cursor(name="versions_of_session_lines") as cursor:
        cursor.itersize = 10
        await cursor.execute(SQL["versions"], {"tenant_id": tenant_id, "document_ids": list(of_document)})
        async for version in cursor:
            rows = of_document[version["document_id"]]
            size = len(version["content"])
            lines = await isolated(lines_among, version["content"], frozenset(rows), chars=size)
            for sha256, text in lines.items():
                path = rows[sha256]["path"]
                found.setdefault((path, sha256), SessionLine(path, sha256, text))
    rows_of_memory = [row for rows in of_document.values() for row in rows.values() if not row["is_logged"]]
    said_elsewhere = await asyncio.to_thread(_held, found, rows_of_memory, elsewhere)
    return [line for key, line in found.items() if key not in said_elsewhere]


def _held(
    lines: Mapping[tuple[str, bytes], SessionLine], rows: Sequence[DictRow], elsewhere: str
) -> set[tuple[str, bytes]]:
    """Those of the rows' lines whose statement stands in what others say."""
    keys = [(row["path"], bytes(row["line_sha256"])) for row in rows]
    return {key for key in keys if key in lines and _statement(lines[key].text).search(elsewhere)}


def _statement(line: str) -> re.Pattern[str]:
    return pattern_of(undated(spoken(line))[0].strip(_FULL_STOPS))
