"""The pages and rows that a search reads, as PostgreSQL counts them: no other load on the machine changes these."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from reverie_bench.latency.statements import SQL, Statement


@dataclass(frozen=True, slots=True)
class Read:
    """`buffers`: pages of 8 KiB, from memory or disk, each counted as often as it is read; `rows`: read by scans."""

    buffers: int
    rows: int

    def __add__(self, other: Read) -> Read:
        return Read(self.buffers + other.buffers, self.rows + other.rows)


def read_by(plan: Mapping[str, Any]) -> Read:
    """The pages and rows of one statement, from EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON)'s `Plan`."""
    rows = 0.0
    for node in _nodes(plan):
        if "Scan" in node["Node Type"] and ("Relation Name" in node or "Index Name" in node):
            passed_over = node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Index Recheck", 0)
            rows += (node["Actual Rows"] + passed_over) * node["Actual Loops"]
    # A node's buffers include its children's.
    return Read(plan.get("Shared Hit Blocks", 0) + plan.get("Shared Read Blocks", 0), round(rows))


def _nodes(plan: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from _nodes(child)


def explain(connection: psycopg.Connection[Any], statements: Sequence[Statement]) -> Read:
    """Send a search's statements again, each explained as it runs; what they read together."""
    total = Read(0, 0)
    connection.execute(SQL["begin_snapshot"])
    for statement in statements:
        row = connection.execute(SQL["explain"] + b" " + statement.query, statement.params).fetchone()
        assert row is not None
        plans = json.loads(row[0]) if isinstance(row[0], str) else row[0]
        total += read_by(plans[0]["Plan"])
    connection.execute(SQL["end_snapshot"])
    return total
