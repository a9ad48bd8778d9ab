"""The nodes of a plan, of one node of PostgreSQL and of several."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

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
