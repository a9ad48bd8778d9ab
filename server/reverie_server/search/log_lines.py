"""Lines that the server made of messages among results: those of the daily log are none where the index has their
messages, those of PROFILE.md that facts made none beside them."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.database.database import Connection
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.text.chunk import note_date
from reverie_server.files.well_known import PROFILE
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.search.candidates import Candidates, message_of
from reverie_server.search.copies import log_line, log_parts_of
from reverie_server.search.request import SearchRequest
from reverie_server.search.store import Corpus
from reverie_server.text.redact import body_of

SQL = Queries(__file__)


def is_of_note(candidates: Candidates, row: int) -> bool:
    """Whether a passage is of a daily note: others are no lines of the log. Pure."""
    return candidates.tier[row] == "document" and note_date(candidates.path[row]) is not None


def log_rows(candidates: Candidates, rows: Sequence[int]) -> list[int]:
    """Those of `rows` that are lines of the daily log. Pure."""
    return [row for row in rows if log_parts_of(candidates, row) is not None]


async def rows_of_messages(
    connection: Connection, request: SearchRequest, corpus: Corpus, candidates: Candidates, rows: Sequence[int]
) -> set[int]:
    """Those of `rows`, lines of the daily log, of which a message is in the index and passes the request's filters.

    None for a request that looks for no messages: to it the line is all that there is of them.
    """
    if not rows or "message" not in request.tiers or request.path_prefix is not None:
        return set()
    keys = [(int(candidates.document_id[row]), line_sha256(log_line(candidates.text[row]))) for row in rows]
    params = {
        "tenant_id": request.tenant_id,
        "document_ids": [document_id for document_id, _ in keys],
        "hashes": [sha256 for _, sha256 in keys],
        "within": corpus.within,
    }
    found = await (await connection.execute(SQL["logged_messages"], params)).fetchall()
    of_messages = {(row["document_id"], bytes(row["line_sha256"])) for row in found}
    return {row for row, key in zip(rows, keys, strict=True) if key in of_messages}


async def rows_of_facts(
    connection: Connection, request: SearchRequest, candidates: Candidates, rows: Sequence[int]
) -> set[int]:
    """Those of `rows`, the results of a search, that are lines of PROFILE.md which facts made of messages among them:
    each says again what another result says."""
    profiles = [row for row in rows if candidates.tier[row] == "document" and candidates.path[row] == PROFILE]
    messages = {
        (int(candidates.document_id[row]), seq) for row in rows if (seq := message_of(candidates, row)) is not None
    }
    if not profiles or not messages:
        return set()
    of_rows = {
        row: [
            (int(candidates.document_id[row]), line_sha256(line)) for line in entry_lines(body_of(candidates.text[row]))
        ]
        for row in profiles
    }
    keys = [key for of_row in of_rows.values() for key in of_row]
    params = {
        "tenant_id": request.tenant_id,
        "document_ids": [document_id for document_id, _ in keys],
        "hashes": [sha256 for _, sha256 in keys],
    }
    [found] = await in_one_message(connection, [Statement(SQL["made_of_messages"], params)])
    said = {
        (row["document_id"], bytes(row["line_sha256"]))
        for row in found
        if (row["session_document_id"], row["seq"]) in messages
    }
    return {row for row, of_row in of_rows.items() if of_row and said.issuperset(of_row)}
