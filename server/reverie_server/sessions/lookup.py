"""Finding and locking sessions inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice, opening_slices
from reverie_indexer.database.messages import Statement, in_one_message
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.access.principal import Principal
from reverie_server.sessions.model import Session, check_session_id

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Key:
    """The key of a session. `owner_key` None is the conversation of the team."""

    tenant_id: str
    agent_id: str
    owner_key: str | None
    session_id: str

    @classmethod
    def of(cls, principal: Principal, session_id: str) -> Key:
        """The session of that id that a principal means; ValidationFailed for an id that none may have."""
        return cls(principal.tenant_id, principal.agent_id, principal.owner_key, check_session_id(session_id))

    @property
    def params(self) -> dict[str, Any]:
        """As the statements have it."""
        return {
            "tenant_id": self.tenant_id,
            "agent_id": self.agent_id,
            "owner_key": self.owner_key,
            "session_id": self.session_id,
        }


def look_up_statements(key: Key) -> list[Statement]:
    """The statements of `look_up`, of which `looked_up` takes the rows of the last."""
    return [*opening_slices(key.tenant_id, key.agent_id, key.owner_key), session_statement(key)]


def session_statement(key: Key) -> Statement:
    """The session of a key, where its slice is open; `looked_up` takes the rows."""
    # Without isolation owners' sessions are in the team's slice: an open slice says nothing of whose they are.
    return Statement(SQL["session_of_id"], key.params)


def looked_up(key: Key, rows: Sequence[DictRow]) -> tuple[Session, Place] | None:
    """The result of `look_up` for these rows."""
    if not rows:
        return None
    columns = dict(rows[0])
    owner_key = columns.pop("slice_owner_key")
    place = Place(key.tenant_id, key.agent_id, "team" if owner_key is None else "personal", owner_key)
    return Session(**columns), place


async def look_up(connection: Connection, key: Key) -> tuple[Session, Place] | None:
    """The session of a key and the place of its slice, which is then open to the transaction; None: there is none.

    With an owner: that owner's. Without: the team's, and nobody else's, whoever has one of that id.
    """
    return looked_up(key, (await in_one_message(connection, look_up_statements(key)))[-1])


async def lock_session(connection: Connection, slice_: Slice, key: Key) -> tuple[Session, bool] | None:
    """The session of a key in a locked slice, made where new and locked, and whether it is new.

    None when it is in another slice by now.
    """
    params = {**key.params, "slice_id": slice_.slice_id}
    created = await (await connection.execute(SQL["make_session"], params)).fetchone()
    row = await (await connection.execute(SQL["lock_session"], params)).fetchone()
    if row is None or row["slice_id"] != slice_.slice_id:
        return None
    return Session(**row), created is not None
