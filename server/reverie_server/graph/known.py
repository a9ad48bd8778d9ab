"""The entities of a slice's graph that a text mentions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries
from reverie_server.graph.answers import Known, KnownFact

SQL = Queries(__file__)
MAX_KNOWN = 40
MAX_RELATIONS_EACH = 40
MAX_RELATIONS_SHOWN = 5


async def mentioned(
    connection: Connection, tenant_id: str, slice_ids: Sequence[int], windows: Collection[str], now: datetime
) -> list[Known]:
    """The entities that have one of these names, the most certain first, with their relations at `now`.

    The slices are open to the transaction.
    """
    params = {
        "tenant_id": tenant_id,
        "slice_ids": list(slice_ids),
        "name_keys": list(windows),
        "limit": MAX_KNOWN,
        "now": now,
        "each": MAX_RELATIONS_EACH,
    }
    rows = await (await connection.execute(SQL["known"], params)).fetchall()
    params["entity_ids"] = [row["entity_id"] for row in rows]
    relations = await (await connection.execute(SQL["relations_now"], params)).fetchall()
    facts: dict[int, list[KnownFact]] = {}
    for row in relations:
        other = Known(
            row["other_id"], row["external_id"], row["type"], row["other"], row["aliases"], (), row["description"]
        )
        facts.setdefault(row["entity_id"], []).append(KnownFact(row["name"], other, row["is_source"]))
    return [_known(row, facts.get(row["entity_id"], [])) for row in rows]


def _known(row: DictRow, facts: Sequence[KnownFact]) -> Known:
    outgoing = [(fact.name, fact.other.name) for fact in facts if fact.is_source]
    return Known(
        row["entity_id"],
        row["external_id"],
        row["type"],
        row["name"],
        row["aliases"],
        outgoing[:MAX_RELATIONS_SHOWN],
        row["description"],
        facts,
    )
