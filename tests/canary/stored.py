"""What the database holds in the end: every row is searched, whatever its table."""

from __future__ import annotations

import os
from pathlib import Path

import psycopg
from psycopg import sql
from tests.canary.world import Home, World, canaries_in

_TABLES = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1"
_ROWS = "SELECT to_jsonb(t), t::text FROM {} t WHERE strpos(lower(t::text), 'cnry') > 0"


def misplaced(conninfo: str, world: World) -> list[str]:
    """Canaries in rows of memories that they do not belong to, or that nobody has any more."""
    faults = []
    with psycopg.connect(conninfo) as connection:
        connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
        slices = connection.execute("SELECT slice_id, tenant_id, agent_id, owner_key FROM slices").fetchall()
        homes = {slice_id: Home(tenant, agent, owner) for slice_id, tenant, agent, owner in slices}
        for (table,) in connection.execute(_TABLES).fetchall():
            for row, text in connection.execute(sql.SQL(_ROWS).format(sql.Identifier(table))):
                for canary in canaries_in(text):
                    if not _belongs(world, homes, table, row, canary):
                        whose = world.where(canary)
                        faults.append(f"{table} of {homes.get(row.get('slice_id'))} has {canary}, which is {whose}'s")
    return faults


def _belongs(world: World, homes: dict[int, Home], table: str, row: dict[str, object], canary: str) -> bool:
    if table == "agents":
        state = world.agents.get((str(row["tenant_id"]), str(row["agent_id"])))
        return state is not None and canary in canaries_in(state.name)
    home = homes.get(row.get("slice_id"))  # type: ignore[arg-type]
    return home is not None and home.tenant == row["tenant_id"] and world.may_show(canary, [home], past=True)


def logged_by_postgres(conninfo: str) -> set[str]:
    """Canaries in the log of the embedded server; of a server of one's own the log cannot be seen."""
    if os.environ.get("REVERIE_TEST_DATABASE_URL"):
        return set()
    with psycopg.connect(conninfo) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
    assert row is not None
    return canaries_in((Path(row[0]).parent / "postgres.log").read_text(errors="replace"))
