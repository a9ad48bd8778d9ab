"""What Citus makes of each statement that a server sends, by EXPLAIN: its tasks on nodes, and their shards."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Self

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, tuple_row

from reverie_indexer.database.database import Database
from reverie_indexer.database.messages import Message, Statement
from reverie_indexer.database.queries import name_of
from reverie_indexer.database.watched import WatchedConnection

_TASKS = re.compile(r"Task Count: (\d+)")
_SHARD = re.compile(r"\b[a-z_0-9]+_(\d{6})\b")
_COMMENT = re.compile(rb"--[^\n]*")
# Of what changes rows, Citus says a plan only where it has the values themselves.
_READS = re.compile(rb"\s*(?:SELECT|WITH)\b(?!.*\b(?:INSERT|UPDATE|DELETE)\b)", re.IGNORECASE | re.DOTALL)
_SETS = re.compile(rb"\s*SELECT\s+set_config", re.IGNORECASE)


@dataclass
class Plans:
    """By statement: the number of tasks of each part of it that is sent to nodes, and the shards of the tasks shown."""

    tasks: dict[str, set[int]] = field(default_factory=dict)
    shards: dict[str, set[int]] = field(default_factory=dict)

    def note(self, name: str, plan: str) -> None:
        """Add the plan of a statement."""
        self.tasks.setdefault(name, set()).update(int(count) for count in _TASKS.findall(plan))
        self.shards.setdefault(name, set()).update(int(shard) for shard in _SHARD.findall(plan))


def _is_explained(query: bytes) -> bool:
    text = _COMMENT.sub(b"", query)
    return bool(_READS.match(text)) and not _SETS.match(text)


class Explained(Database):
    """Explains each statement that reads, in its transaction, just before it is run."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(conninfo)
        self.plans = Plans()

    async def _prepare(self, connection: WatchedConnection) -> None:
        await super()._prepare(connection)
        plans = self.plans

        class Cursor(psycopg.AsyncCursor[DictRow]):
            async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
                if isinstance(query, Message):
                    await _explain_message(self.connection, query, plans)
                elif isinstance(query, bytes) and _is_explained(query):
                    plan = psycopg.AsyncCursor(self.connection, row_factory=tuple_row)
                    await plan.execute(b"EXPLAIN (COSTS off) " + query, params)
                    plans.note(name_of(query), "\n".join(line for (line,) in await plan.fetchall()))
                return await super().execute(query, params, **options)

        connection.cursor_factory = Cursor


async def _explain_message(connection: psycopg.AsyncConnection[Any], message: Message, plans: Plans) -> None:
    """Send the message with EXPLAIN in place of its statements, all but those that set something; it is undone."""
    begun = connection.info.transaction_status == TransactionStatus.IDLE
    sent: list[tuple[str | None, Statement]] = []
    for query, params in message.statements:
        if _is_explained(query):
            sent.append((name_of(query), Statement(b"EXPLAIN (COSTS off) " + query, params)))
        if not _is_explained(query) or b"set_config" in query:
            # Not as a prepared statement, which gives more than one result.
            sent.append((None, Statement(bytes(query), params)))
    cursor = psycopg.AsyncCursor(connection, row_factory=tuple_row)
    await cursor.execute(Message.of(connection, [statement for _, statement in sent]))
    for number, (name, _) in enumerate(sent):
        if number:
            cursor.nextset()
        if name is not None:
            plans.note(name, "\n".join(line for (line,) in await cursor.fetchall()))
    if begun and connection.info.transaction_status != TransactionStatus.IDLE:
        await connection.rollback()
