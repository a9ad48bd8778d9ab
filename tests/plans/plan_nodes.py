"""The nodes of a plan, of one node of PostgreSQL and of several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import psycopg

# By which Citus tells the parts of a table, and their indexes, apart.
_SHARD = re.compile(r"_[0-9]{6}$")
_NAMES = ("Relation Name", "Index Name")


def nodes(explained: Any) -> Iterator[dict[str, Any]]:
    """The nodes of what EXPLAIN (FORMAT JSON) answers, or of a part of it, from the top.

    Where Citus passes the statement on, those of the plan by which the node with the rows ran it are among them, and
    tables and indexes are called as `schema.sql` calls them.
    """
    if isinstance(explained, dict):
        if "Node Type" in explained:
            yield {**explained, **{name: _SHARD.sub("", explained[name]) for name in _NAMES if name in explained}}
        for value in explained.values():
            yield from nodes(value)
    elif isinstance(explained, list):
        for value in explained:
            yield from nodes(value)


async def explained(connection: psycopg.AsyncConnection[Any], statement: bytes, params: Mapping[str, Any]) -> Any:
    """What EXPLAIN (ANALYZE, FORMAT JSON) answers of a statement: its `Plan`, and what came of it.

    The parameters are in the text. Else a node of Citus explains the plan for any parameters, which knows no partial
    index, and not the one by which it runs the statement.
    """
    cursor = psycopg.AsyncClientCursor(connection)
    await cursor.execute(b"SET LOCAL citus.explain_all_tasks = 'on'")
    await cursor.execute(b"EXPLAIN (ANALYZE, FORMAT JSON) " + statement, params)
    row = await cursor.fetchone()
    assert row is not None
    found = next(iter(row.values())) if isinstance(row, dict) else row[0]
    return (json.loads(found) if isinstance(found, str) else found)[0]
