"""Forgetting and clearing in the log of turns, which has what users said. Memories stand there by their ids alone."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.model import Place
from reverie_server.forgettable import Findings, Forgettable, Forgotten, Selection
from reverie_server.provenance.removed_turns import note_removed_turns
from reverie_server.settings.agent import AgentSettings
from reverie_server.text.redact import INVISIBLE, Targets, anchor_of

SQL = Queries(__file__)


class ForgettableTurns(Forgettable):
    """The log of turns. It is no tier of its own: receipts do not count it."""

    tables = frozenset({"turns"})
    cleared_with = "message"

    async def survey(
        self, connection: Connection, tenant_id: str, slice_ids: Sequence[int], forgotten: Forgotten
    ) -> Findings:
        """Nothing that a receipt would name."""
        return Findings("message")

    async def erase(
        self, connection: Connection, place: Place, slice_: Slice, forgotten: Forgotten, settings: AgentSettings
    ) -> Findings:
        """Take the texts out of what was asked, unless it is a message that tells of somebody else.

        Where a conversation tells of both, the texts go from all of it: the log does not say which message a turn is.
        """
        of_both = {session_key for session_key, _ in forgotten.messages}
        spared = [(session_key, seq) for session_key, seq in forgotten.spared.messages if session_key not in of_both]
        params = {
            "tenant_id": place.tenant_id,
            "slice_ids": [slice_.slice_id],
            "anchors": [anchor_of(text) for text in forgotten.texts],
            "invisible": INVISIBLE,
            "session_keys": [session_key for session_key, _ in spared],
            "seqs": [seq for _, seq in spared],
        }
        rows = await (await connection.execute(SQL["holding"], params)).fetchall()
        changed = await asyncio.to_thread(_changed, rows, forgotten)
        for turn_id, message in changed.items():
            await connection.execute(
                SQL["set_asked"], {"tenant_id": place.tenant_id, "turn_id": turn_id, "asked": message}
            )
        return Findings("message")

    async def clear(
        self, connection: Connection, place: Place, slice_: Slice, selection: Selection, *, dry_run: bool
    ) -> int:
        """Remove turns with the messages that a selection fits, those that wait too. They are not counted."""
        if not dry_run:
            prefix, days = selection.path_prefix or None, selection.older_than_days
            names = (slice_.slice_id, prefix or "")
            await note_removed_turns(connection, place.tenant_id, "clear", *names, older_than_days=days)
            params = {"tenant_id": place.tenant_id, "slice_id": slice_.slice_id, "days": days, "prefix": prefix}
            await connection.execute(SQL["clear"], params)
        return 0


async def forget_turns_of_session(connection: Connection, tenant_id: str, session_key: int) -> None:
    """Remove the turns of a session, those that wait too, in the transaction that deletes or empties it."""
    params = {"tenant_id": tenant_id, "session_key": session_key}
    row = await (await connection.execute(SQL["session"], params)).fetchone() or {}
    names = (row["agent_id"], row["owner_key"], row["session_id"])
    await note_removed_turns(connection, tenant_id, "session", *names)
    await connection.execute(SQL["of_session"], params)


def _changed(rows: Sequence[DictRow], forgotten: Forgotten) -> Mapping[str, str]:
    targets, everywhere = Targets(forgotten.texts), Targets(forgotten.everywhere)
    left = {row["turn_id"]: (everywhere if row["is_spared"] else targets).erase_from(row["asked"]).text for row in rows}
    return {row["turn_id"]: left[row["turn_id"]] for row in rows if left[row["turn_id"]] != row["asked"]}
