"""Who said the messages among the candidates."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.search.candidates import Candidates
from reverie_server.search.request import SearchRequest

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Speaker:
    """The role of a message, and whether it names who speaks."""

    role: str
    is_named: bool


async def speakers_of(
    connection: Connection, request: SearchRequest, candidates: Candidates, rows: Collection[int]
) -> dict[int, Speaker]:
    """Who said the messages of some rows, in one query, or in none where there are no rows."""
    if not rows:
        return {}
    params = {
        "tenant_id": request.tenant_id,
        "document_ids": [int(candidates.document_id[row]) for row in rows],
        "seqs": [candidates.start_line[row] for row in rows],
        "rows": list(rows),
    }
    found = await (await connection.execute(SQL["speakers"], params)).fetchall()
    return {row["row"]: Speaker(row["role"], row["is_named"]) for row in found}
