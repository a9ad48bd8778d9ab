"""Lines of the daily log, and of PROFILE.md that facts made, among results: they are none where the index has their
messages."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_indexer.text.chunk import note_date
from reverie_server.files.well_known import PROFILE
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.search.candidates import Candidates
from reverie_server.search.copies import log_line, log_parts_of
from reverie_server.search.request import SearchRequest
from reverie_server.search.store import Corpus
from reverie_server.text.redact import body_of

SQL = Queries(__file__)


def may_tell_of_messages(candidates: Candidates, row: int) -> bool:
    """Whether a passage is of a daily note or of a profile: others have no such lines. Pure."""
    path = candidates.path[row]
    return candidates.tier[row] == "document" and (path == PROFILE or note_date(path) is not None)


def log_rows(candidates: Candidates, rows: Sequence[int]) -> list[int]:
    """Those of `rows` that are lines of the daily log, or of a profile. Pure."""
    return [row for row in rows if candidates.path[row] == PROFILE or log_parts_of(candidates, row) is not None]


def _lines(candidates: Candidates, row: int) -> list[bytes]:
    """The identities of the lines that tell of messages where a passage does."""
    text = candidates.text[row]
    lines = entry_lines(body_of(text)) if candidates.path[row] == PROFILE else [log_line(text)]
    return [line_sha256(line) for line in lines]


async def rows_of_messages(
    connection: Connection, request: SearchRequest, corpus: Corpus, candidates: Candidates, rows: Sequence[int]
) -> set[int]:
    """Those of `rows` (`log_rows`), of each line of which a message is in the index and passes the request's filters.

    None for a request that looks for no messages: to it the line is all that there is of them.
    """
    if not rows or "message" not in request.tiers or request.path_prefix is not None:
        return set()
    of_rows = {row: [(int(candidates.document_id[row]), line) for line in _lines(candidates, row)] for row in rows}
    keys = [key for of_row in of_rows.values() for key in of_row]
    params = {
        "tenant_id": request.tenant_id,
        "document_ids": [document_id for document_id, _ in keys],
        "hashes": [sha256 for _, sha256 in keys],
        "within": corpus.within,
    }
    found = await (await connection.execute(SQL["logged_messages"], params)).fetchall()
    of_messages = {(row["document_id"], bytes(row["line_sha256"])) for row in found}
    return {row for row, of_row in of_rows.items() if of_row and of_messages.issuperset(of_row)}
