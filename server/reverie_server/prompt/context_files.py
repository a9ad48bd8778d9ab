"""Read the files of an agent that a turn's prompt is made of."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

from psycopg.rows import DictRow

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.file_rules import is_backup, is_unedited_seed
from reverie_indexer.index.slices import scope_of
from reverie_indexer.model import Place, Scope
from reverie_server.access.principal import Principal
from reverie_server.files.well_known import note_path
from reverie_server.prompt.context import LONG_TERM, PromptFile, PromptFiles

SQL = Queries(__file__)
_RANK = {"team": 0, "global": 2}
_LEADER_RANK = 1


async def read_prompt_files(
    database: Database, principal: Principal, notes_of: Place, *, today: date, recent_days: int, with_seeds: bool
) -> PromptFiles:
    """The enabled files that the principal sees, its long-term memory, and the daily notes of the place `notes_of`.

    The notes are those of today and of `recent_days` days before. All is read in one snapshot. An unknown agent has no
    files. Seeds that nobody has edited are left out unless `with_seeds`. A team member sees what its leader shares, but
    for paths that its own team has.
    """
    paths = {note_path(day): day for day in (today - timedelta(days=back) for back in range(recent_days + 1))}
    params = {"tenant_id": principal.tenant_id, "paths": [*paths, *LONG_TERM]}
    async with database.tenant(principal.tenant_id, snapshot=True) as connection:
        rows = await _files(connection, principal.agent_id, principal.owner_key, params)
        leader_rows: list[DictRow] = []
        if principal.leader_agent_id is not None:
            visible_rows = await _files(connection, principal.leader_agent_id, None, {**params, "paths": []})
            team_paths = {row["path"] for row in rows if _scope(row) == "team"}
            leader_rows = [row for row in visible_rows if _scope(row) == "team" and row["path"] not in team_paths]
    if not with_seeds:
        rows, leader_rows = _without_seeds(rows), _without_seeds(leader_rows)
    # A daily note of the place is no file of the prompt as well.
    notes = {
        paths[row["path"]]: row["content"] for row in rows if _scope(row) == notes_of.scope and row["path"] in paths
    }
    files = [row for row in rows if _scope(row) != notes_of.scope or row["path"] not in paths]
    # Of files with the same order and path: the agent's, the leader's, the tenant's.
    shared = [(row["sort_order"], row["path"], _RANK[_scope(row)], row) for row in files if _scope(row) != "personal"]
    shared += [(row["sort_order"], row["path"], _LEADER_RANK, row) for row in leader_rows]
    personal = [row for row in files if _scope(row) == "personal"]
    # Where there is a MEMORY.md, enabled or not, nothing stands in for it.
    stands_in = all(row["path"] != LONG_TERM[0] for row in personal)
    return PromptFiles(
        shared=_prompt_files(row for *_, row in sorted(shared, key=lambda entry: entry[:3]) if row["enabled"]),
        personal=_prompt_files(
            row for row in personal if row["enabled"] or (stands_in and row["path"] == LONG_TERM[1])
        ),
        notes=notes,
        today=today,
    )


def _without_seeds(rows: Iterable[DictRow]) -> list[DictRow]:
    """The rows without the seed files that nobody has edited."""
    return [row for row in rows if not is_unedited_seed(row["path"], row["content"])]


async def _files(connection: Connection, agent_id: str, owner_key: str | None, params: dict[str, Any]) -> list[DictRow]:
    visible = await visible_slices(connection, params["tenant_id"], agent_id, owner_key)
    slice_ids = [s.slice_id for s in visible]
    cursor = await connection.execute(SQL["prompt_files"], {**params, "slice_ids": slice_ids})
    return await cursor.fetchall()


def _scope(row: DictRow) -> Scope:
    return scope_of(row["agent_id"], row["owner_key"])


def _prompt_files(rows: Iterable[DictRow]) -> list[PromptFile]:
    return [PromptFile(row["path"], row["content"]) for row in rows if not is_backup(row["path"])]
