"""What the coordinator sends to nodes for each statement of a server: Citus says so in notices."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Self

import psycopg
from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.messages import Message
from reverie_indexer.database.queries import name_of
from reverie_indexer.database.watched import WatchedConnection

_NODE = re.compile(r"on server \S*?/(\w+)/run:")
_SHARD = re.compile(r"\b[a-z_0-9]+?_(\d{6})\b")
_LITERAL = re.compile(r"'(?:[^']|'')*'")
# What goes before and after the work on a node that has been asked already.
_FRAME = re.compile(r"(?:BEGIN|SET LOCAL|SAVEPOINT|RELEASE|ROLLBACK|COMMIT|PREPARE TRANSACTION)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Command:
    """One that a node was sent: on behalf of which statements of the program, and its text."""

    statement: str
    node: str
    text: str

    @property
    def shards(self) -> frozenset[int]:
        """The shards that it names, outside of literals."""
        return frozenset(int(shard) for shard in _SHARD.findall(_LITERAL.sub("''", self.text)))

    @property
    def is_frame(self) -> bool:
        """Whether it begins or ends a transaction of the node, or is a setting of it."""
        return _FRAME.match(self.text) is not None


class Issued(Database):
    """Keeps the commands that nodes are sent, each with its statement: what is a pipeline else is sent one by one."""

    def __init__(self, conninfo: str) -> None:
        super().__init__(conninfo)
        self._commands: list[Command] = []

    def taken(self) -> list[Command]:
        """The commands since the last call."""
        commands, self._commands[:] = list(self._commands), []
        return commands

    async def _prepare(self, connection: WatchedConnection) -> None:
        await super()._prepare(connection)
        await connection.execute("SELECT set_config('citus.log_remote_commands', 'on', false)")
        await connection.commit()
        commands, asked = self._commands, ["nothing"]
        pipelined = connection.pipeline

        def note(notice: psycopg.errors.Diagnostic) -> None:
            text, detail = notice.message_primary or "", notice.message_detail or ""
            if (node := _NODE.search(detail)) and text.startswith("issuing "):
                commands.append(Command(asked[0], node[1], text.removeprefix("issuing ")))

        @asynccontextmanager
        async def one_by_one() -> AsyncIterator[None]:
            yield

        class Cursor(psycopg.AsyncCursor[DictRow]):
            async def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
                sent = query.statements if isinstance(query, Message) else [(query, params)]
                asked[0] = " + ".join(name_of(statement) for statement, _ in sent)
                return await super().execute(query, params, **options)

            async def executemany(self, query: Any, params_seq: Any, **options: Any) -> None:
                asked[0] = name_of(query)
                connection.pipeline = pipelined  # type: ignore[method-assign]
                try:
                    await super().executemany(query, params_seq, **options)
                finally:
                    connection.pipeline = one_by_one  # type: ignore[method-assign,assignment]

        connection.add_notice_handler(note)
        connection.pipeline = one_by_one  # type: ignore[method-assign,assignment]
        connection.cursor_factory = Cursor
