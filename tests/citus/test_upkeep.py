"""What is kept up for all tenants, on three nodes: each sweep is taken by the nodes and reaches every tenant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from tests.citus.memories import fill, tenants

from reverie_indexer.index import vectors
from reverie_server.access.audit import prune as prune_audit
from reverie_server.app.pending_jobs import drain
from reverie_server.files.retention import prune_history
from reverie_server.jobs.schedule import Cron, NightlyDefaults
from reverie_server.nights.reports import trim_reports
from reverie_server.prompt.turn_log import prune_turns
from reverie_server.sessions.completion import complete_idle_sessions

NAMES = ("acme", "birch", "cedar")
ROWS = "SELECT tenant_id, count(*) FROM {} GROUP BY 1 ORDER BY 1"


def rows(conninfo: str, table: str) -> dict[str, int]:
    with psycopg.connect(conninfo) as connection:
        return {tenant: int(count) for tenant, count in connection.execute(ROWS.format(table).encode())}


async def test_every_sweep_reaches_every_tenant(distributed: str, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    async with tenants(distributed, tmp_path, NAMES) as (runtime, memories):
        for tenant in memories:
            await fill(tenant)
            await tenant.found("Where does the heron keep its lantern?")
        await runtime.recalls.flush()
        assert (set(rows(distributed, "recalls")), runtime.recalls.lost) == (set(NAMES), 0)
        database = runtime.database
        assert await complete_idle_sessions(database, runtime.consolidation.delays, idle_seconds=0) == 3
        await drain(runtime, until=now + timedelta(hours=1))
        assert rows(distributed, "episodes") == dict.fromkeys(NAMES, 1)
        assert (await memories[0].do("GET", "summary"))["episodes"] == 1
        nightly = Cron(database, NightlyDefaults(from_chars=10), now=lambda: now + timedelta(days=3))
        assert await nightly.defer_nightly() == 6
        await drain(runtime, until=now + timedelta(hours=1))
        assert set(rows(distributed, "audit")) == set(NAMES)
        assert await prune_audit(database, keep_days=0) > 0
        assert rows(distributed, "audit") == {}
        await prune_history(database, keep_days=1, keep_count=3)
        await prune_turns(database, keep_days=0)
        await trim_reports(database, now=now + timedelta(days=60))
        await vectors.prune_cache(database, keep_days=0)
        await runtime.consolidation.queue.prune(0)
        await runtime.consolidation.episodes.prune(now + timedelta(days=4000))
        assert rows(distributed, "episodes") == {}
        [large] = await database.maintenance_query(
            b"SELECT slice_id FROM slices WHERE tenant_id = 'acme' AND chunk_count > 0 AND NOT past", {}
        )
        await vectors.promote_slice(database, "acme", large["slice_id"])
        for tenant in memories:
            assert f"The heron of {tenant.name}" in await tenant.found("Where does the heron keep its lantern?")
