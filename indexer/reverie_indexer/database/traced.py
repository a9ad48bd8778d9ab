"""Statements as spans of a trace: by their names in `.sql` files, never by their texts or parameters."""

from __future__ import annotations

from typing import Any, Self

import psycopg
from psycopg.rows import DictRow

from reverie_indexer import tracing
from reverie_indexer.database.messages import Message
from reverie_indexer.database.queries import name_of

_END = "database.database.end"


class TracedCursor(psycopg.AsyncCursor[DictRow]):
    """A cursor whose statements are spans. Of one in a pipeline the span ends when it is sent."""

    async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run a statement."""
        statements = [each.query for each in query.statements] if isinstance(query, Message) else [query]
        names = [name_of(each) for each in statements]
        # What a message opens and ends the transaction with stands around what it is for.
        subject = next((name for name in reversed(names) if name != _END), names[-1])
        attributes = {"db.system.name": "postgresql", "db.operation.name": ", ".join(names)}
        with tracing.part(subject, "client", **attributes):
            return await super().execute(query, params, **options)
