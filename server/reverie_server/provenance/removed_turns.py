"""What was removed from the log of turns: a turn of it that still waits in some process is not written afterwards.

Who removes turns notes it in the same transaction, with the lock of their slice; who writes turns asks under that lock.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from reverie_indexer.database.database import Connection
from reverie_indexer.database.queries import Queries

SQL = Queries(__file__)
# What went with its turns, by: the agent; the owner; agent, owner and id of a session; slice and beginning of the paths
# of sessions that were cleared ("" for all turns of the slice).
Subject = Literal["agent", "owner", "session", "clear"]


@dataclass(frozen=True, slots=True)
class WaitingTurn:
    """A turn that is to be written: whose it is, and when it was said."""

    turn_id: str
    at: datetime
    agent_id: str | None
    owner_key: str | None
    session_id: str | None

    def subjects(self, slice_id: int) -> Iterator[bytes]:
        """Hashes of all that may be removed with this turn."""
        yield _sha256("agent", self.agent_id)
        yield _sha256("owner", self.owner_key)
        path = "" if self.session_id is None else f"sessions/{self.session_id}"
        yield from (_sha256("clear", slice_id, path[:length]) for length in range(len(path) + 1))
        if self.session_id is not None:
            yield _sha256("session", self.agent_id, self.owner_key, self.session_id)


async def note_removed_turns(
    connection: Connection,
    tenant_id: str,
    subject: Subject,
    *names: str | int | None,
    older_than_days: float | None = None,
) -> None:
    """Note that the turns of a subject were removed, those said until now or older than some days."""
    params = {"tenant_id": tenant_id, "subject_sha256": _sha256(subject, *names), "days": older_than_days or 0}
    await connection.execute(SQL["note"], params)


async def removed_among(
    connection: Connection, tenant_id: str, slice_id: int, turns: Sequence[WaitingTurn]
) -> set[str]:
    """The ids of those of some turns of a slice, at least one, that were removed since they were said."""
    params = {"tenant_id": tenant_id, "since": min(turn.at for turn in turns)}
    rows = await (await connection.execute(SQL["removed"], params)).fetchall()
    said_before = {bytes(row["subject_sha256"]): row["said_before"] for row in rows}
    return {
        turn.turn_id
        for turn in turns
        if said_before and any(turn.at < said_before.get(each, turn.at) for each in turn.subjects(slice_id))
    }


def _sha256(*names: str | int | None) -> bytes:
    return hashlib.sha256(json.dumps(names).encode()).digest()
