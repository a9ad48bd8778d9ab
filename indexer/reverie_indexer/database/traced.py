"""Statements as spans of a trace: by their names in `.sql` files, never by their texts or parameters."""

from __future__ import annotations

from typing import Any, Self

import psycopg
from psycopg.rows import DictRow

from reverie_indexer import tracing
from reverie_indexer.database.messages import Message
from reverie_indexer.database.queries import name_of


class TracedCursor(psycopg.AsyncCursor[DictRow]):
    """A cursor whose statements are spans. Of one in a pipeline the span ends when it is sent."""

    async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run a statement."""
        statements = [each.query for each in query.statements] if isinstance(query, Message) else [query]
        names = [name_of(each) for each in statements]
        attributes = {"db.system.name": "postgresql", "db.operation.name": ", ".join(names)}
        # What comes before the last of a message opens the transaction.
        with tracing.part(names[-1], "client", **attributes):
            return await super().execute(query, params, **options)
