"""The nodes of a plan, of one node of PostgreSQL and of several."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import psycopg

# By which Citus tells the parts of a table, and their indexes, apart.
_SHARD = re.compile(r"_[0-9]{6}$")
_NAMES = ("Relation Name", "Index Name")
# By which a node tells the plan of each statement that it ran, in a notice to the coordinator, which passes it on.
_TELLING = {
    "session_preload_libraries": "auto_explain",
    "auto_explain.log_min_duration": "0",
    "auto_explain.log_analyze": "on",
    "auto_explain.log_format": "json",
    "auto_explain.log_level": "notice",
}
_TELL = """
SELECT result FROM run_command_on_workers(format('ALTER DATABASE %%I SET %%s = %%L', current_database(), %(name)s::text,
                                                 %(value)s::text)) WHERE NOT success
"""
_NEXT = b"SELECT 'the next one' FROM agents"


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


def tell_plans(conninfo: str) -> None:
    """Whoever connects to the coordinator from now on is told by the nodes how they ran each statement."""
    with psycopg.connect(conninfo, autocommit=True) as connection:
        for name, value in _TELLING.items():
            assert connection.execute(_TELL, {"name": name, "value": value}).fetchall() == []


async def told(connection: psycopg.AsyncConnection[Any], statement: bytes, params: Mapping[str, Any]) -> list[Any]:
    """As `explained`, of a statement that Citus cannot explain; after `tell_plans`. One plan for each part on a node.

    An INSERT from a SELECT that the coordinator puts in between is such a statement: EXPLAIN ANALYZE is refused, and in
    a WITH clause it ends the coordinator where the SELECT joins a table with rows of a function.
    """
    plans: list[Any] = []

    def note(notice: psycopg.errors.Diagnostic) -> None:
        _, is_plan, plan = (notice.message_primary or "").partition("plan:\n")
        if is_plan:
            plans.append(json.loads(plan))

    # What a node tells of a statement may come with the answer to its next one.
    await connection.execute(_NEXT)
    connection.add_notice_handler(note)
    await connection.execute(statement, params)
    await connection.execute(_NEXT)
    connection.remove_notice_handler(note)
    return [plan for plan in plans if "'the next one'" not in plan["Query Text"]]


def rows_by_index(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many rows some nodes have read, of each table by each of its indexes, with those that they left out."""
    return {
        f"{node['Relation Name']} by {node.get('Index Name')}": round(
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        )
        for node in found
        if "Relation Name" in node
    }
