"""What the database holds in the end: every row is searched, whatever its table."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.rows import dict_row
from tests.canary.derived import TIERS
from tests.canary.talks import Part, TalkKey
from tests.canary.words import canaries_in, full
from tests.canary.world import Home, World
from tests.rows import tables_of, written_out

_ROWS = "SELECT t.*, {whole} AS written_out FROM {table} t WHERE strpos(lower({whole}), 'cnry') > 0"
_SLICES = "SELECT slice_id, tenant_id, agent_id, owner_key FROM slices"
_SESSIONS = """
SELECT s.session_key, s.tenant_id, s.agent_id, s.owner_key, s.session_id, s.slice_id, s.message_count,
       (SELECT count(*) FROM messages m WHERE m.tenant_id = s.tenant_id AND m.session_key = s.session_key)
FROM sessions s ORDER BY s.session_key
"""
# What belongs to something is where that is: its tenant is the same by its foreign key.
_OF_SESSIONS = ("messages", "compactions", "window_summaries", "documents", "extraction_retries")
_ASTRAY = {
    **{
        name: f"SELECT count(*) FROM {name} t JOIN sessions o USING (tenant_id, session_key) WHERE {{}}"
        for name in _OF_SESSIONS
    },
    "events": """SELECT count(*) FROM events t LEFT JOIN sessions o
                 ON o.tenant_id = t.tenant_id AND o.session_key = (t.payload ->> 'session_key')::bigint
                 WHERE t.payload ? 'session_key' AND (o.session_key IS NULL OR o.agent_id <> t.agent_id OR {})""",
    "episodes": """SELECT count(*) FROM episodes t JOIN sessions o USING (tenant_id, session_key)
                   WHERE {} OR t.owner_key IS DISTINCT FROM o.owner_key OR t.agent_id <> o.agent_id""",
    **{
        name: f"SELECT count(*) FROM {name} t JOIN documents o USING (tenant_id, document_id) WHERE {{}}"
        for name in ("versions", "derivations", "memory_compactions")
    },
    **{
        name: f"SELECT count(*) FROM {name} t JOIN entities o USING (tenant_id, entity_id) WHERE {{}}"
        for name in ("mentions", "entity_terms", "entity_names", "entity_vectors")
    },
    # Two ends are of one graph.
    **{
        name: f"""SELECT count(*) FROM {name} t JOIN entities o
                  ON o.tenant_id = t.tenant_id AND o.entity_id IN (t.{first}, t.{second}) WHERE {{}}"""
        for name, first, second in (
            ("relations", "source_id", "target_id"),
            ("statements", "source_id", "target_id"),
            ("duplicates", "first_id", "second_id"),
            ("merges", "kept_id", "absorbed_id"),
        )
    },
    **{
        name: f"SELECT count(*) FROM {name} t JOIN facts o USING (tenant_id, fact_id) WHERE {{}}"
        for name in ("fact_sources", "fact_sentences", "fact_votes")
    },
    "contradictions": """SELECT count(*) FROM contradictions t JOIN facts o
                         ON o.tenant_id = t.tenant_id AND o.fact_id IN (t.first_id, t.second_id) WHERE {}""",
    "report_views": "SELECT count(*) FROM report_views t JOIN reports o USING (tenant_id, report_id) WHERE {}",
    "recalls": "SELECT count(*) FROM recalls t JOIN chunks o USING (tenant_id, chunk_id) WHERE {}",
}
# Of files: all that they ever held. Other tables have ids, times and numbers alone.
_FILES = ("documents", "versions", "chunks", "postings")
# What a row of a session may hold; a summary stands for what was said.
_PARTS: dict[str, tuple[Part, ...]] = {
    "sessions": ("summary", "metadata"),
    "messages": ("said",),
    "compactions": ("summary",),
    "window_summaries": ("said", "summary"),
}
Row = Mapping[str, Any]
# By what a row is found again by whoever reads of a fault.
_NAMING = ("tier", "path", "document_id", "version", "chunk_id", "session_key", "episode_id", "entity_id", "valid_to")


@dataclass(frozen=True)
class _Stored:
    """Whose the slices and the sessions of the database are."""

    homes: Mapping[int, Home]
    sessions: Mapping[int, TalkKey]


def misplaced(conninfo: str, world: World) -> list[str]:
    """Canaries in rows of memories that they do not belong to, or that nobody has any more; and rows that should not
    be, or are elsewhere than what they belong to."""
    faults = []
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        slices = connection.execute(_SLICES).fetchall()
        homes = {slice_id: Home(tenant, agent, owner) for slice_id, tenant, agent, owner in slices}
        sessions = connection.execute(_SESSIONS).fetchall()
        stored = _Stored(homes, {row[0]: TalkKey(*row[1:5]) for row in sessions})
        for session_key, *_, slice_id, counted, count in sessions:
            faults += _of_session(world, stored.sessions[session_key], homes[slice_id], (counted, count))
        for table, statement in _ASTRAY.items():
            row = connection.execute(statement.format("t.slice_id <> o.slice_id")).fetchone()
            faults += [f"{row[0]} rows of {table} are astray"] if row and row[0] else []
        rows = connection.cursor(row_factory=dict_row)
        for table in tables_of(connection):
            whole = written_out(connection, table)
            for row in rows.execute(sql.SQL(_ROWS).format(whole=whole, table=sql.Identifier(table))):
                for canary in canaries_in(row["written_out"]):
                    if not _belongs(world, stored, table, row, canary):
                        whose = world.where(canary)
                        named = {name: row[name] for name in _NAMING if row.get(name) is not None}
                        where = f"{table} {named} of {homes.get(row.get('slice_id'))}"
                        faults.append(f"{where} has {canary}, which is {whose}'s")
    return faults


def _of_session(world: World, key: TalkKey, home: Home, counts: tuple[int, int]) -> Iterator[str]:
    talk = world.talks.by_key.get(key)
    if talk is None or talk.living is False:
        yield f"there is a session {key}, which was deleted or never made"
    elif home not in talk.homes:
        yield f"the session {key} is in {home}, not in {talk.homes}"
    elif counts[0] != counts[1] or talk.count not in (None, counts[1]):
        yield f"the session {key} of {talk.count} messages has {counts[1]}, and says {counts[0]}"


def _belongs(world: World, stored: _Stored, table: str, row: Row, canary: str) -> bool:
    if table == "agents":
        state = world.agents.get((str(row["tenant_id"]), str(row["agent_id"])))
        return state is not None and canary in canaries_in(state.name)
    home = stored.homes.get(row.get("slice_id") or 0)
    if home is None or home.tenant != row["tenant_id"]:
        return False
    if table in _PARTS:
        key = stored.sessions[row["session_key"]]
        return any(True for _ in full(canary, world.talks.shown([key], *_PARTS[table])))
    if table == "events":
        return canary in canaries_in(stored.sessions[row["payload"]["session_key"]].session_id)
    if table in TIERS:
        # The model was told so before it was asked whether that may be.
        known = [row_id for row_id, known in world.derived.rows.items() if row_id.table == table and known.home == home]
        return any(True for row_id in known for _ in full(canary, world.derived.rows[row_id].forms))
    if table in ("entity_terms", "entity_names"):
        return any(True for _ in full(canary, world.derived.words(home, "entities")))
    if table in ("facts", "fact_sources") or row.get("tier") == "fact":
        return world.talks.may_show(canary, [home]) or world.may_show(canary, [home], past=True)
    if table == "turns":
        return canary in world.asked.get((row["tenant_id"], row["agent_id"], row["owner_key"]), set())
    if table == "receipts":
        # From where: a place is named by its path, a session by its id, also when it is gone.
        return any(True for _ in full(canary, world.named([home]))) or world.may_show(canary, [home], past=True)
    if table not in _FILES:
        return False
    if row.get("tier") == "episodic" or row.get("episode_id") is not None:
        return any(True for _ in full(canary, world.derived.words(home, "episodes")))
    if row.get("tier") == "message" or row.get("session_key") is not None:
        return world.talks.may_show(canary, [home])
    return world.may_show(canary, [home], past=True)


def logged_by_postgres(conninfo: str) -> set[str]:
    """Canaries in the log of the embedded server; of a server of one's own the log cannot be seen."""
    if os.environ.get("REVERIE_TEST_DATABASE_URL"):
        return set()
    with psycopg.connect(conninfo) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return canaries_in((Path(row[0]).parent / "postgres.log").read_text(errors="replace"))
