"""By what Citus sends to nodes: a tenant's writes reach the node that has its rows, and no other.

`test_one_shard` has the plans of what is read; of most that is written Citus gives none.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from tests.citus.failures import node_of, tell
from tests.citus.issued import Command, Issued
from tests.citus.memories import Tenant, fill, tenants
from tests.citus.test_one_shard import SHARDS

from reverie_server.access.audit import prune as prune_audit
from reverie_server.app.pending_jobs import drain
from reverie_server.files.retention import prune_history
from reverie_server.prompt.turn_log import prune_turns
from reverie_server.runtime import Runtime
from reverie_server.sessions.completion import complete_idle_sessions

# The tables of models are copied to each node.
OF_MODELS = {"index.vectors.lock_models", "index.vectors.ensure_model", "index.vectors.activate_model"}
# These look for what is due of all tenants, or remove what is too old of all; the rest is done tenant by tenant.
SWEEPS = {
    "access.audit.prune",
    "files.retention.keepers",
    "index.vectors.chunks_to_embed",
    "prompt.turn_log.prune",
    "prompt.turn_log.prune_removed",
    "sessions.completion.idle",
}
# What was done is told by these: all of it is a write of a tenant.
SEEN_AT_LEAST = {
    "access.audit.add",
    "access.agents.delete_agent",
    "episodes.store.add",
    "extraction.store.advance",
    "facts.votes.vote",
    "files.retention.prune_versions",
    "graph.vectors.attach",
    "index.document_index.add_chunks",
    "index.document_index.forget_embeddings",
    "index.document_index.remove_documents",
    "index.store.add_version",
    "index.vectors.add_to_cache",
    "index.vectors.embed_chunks",
    "jobs.defer.publish",
    "provenance.tombstones.add",
    "sessions.append.add_messages",
    "sessions.completion.complete",
    "sessions.completion.complete_idle",
}
UNEMBEDDED = "UPDATE chunks SET embedded = false WHERE tenant_id = 'acme'"
# Of no tenant; and one of a tenant, whose rows are those of an earlier part without a table to say whose they are.
OF_ALL = b"UPDATE slices SET revision = revision WHERE slice_id > 0"
IN_PARTS = b"""
WITH own AS (
    UPDATE slices SET revision = revision + 1 WHERE tenant_id = 'acme' AND agent_id IS NOT NULL
    RETURNING slice_id, agent_id
), added AS (
    INSERT INTO events (tenant_id, slice_id, agent_id, kind, payload)
    SELECT 'acme', slice_id, agent_id, 'entity.upserted', '{}' FROM own
    RETURNING event_id
)
SELECT count(*) FROM added"""


async def requests_that_write(runtime: Runtime, acme: Tenant) -> None:
    """What people and agents do, and the jobs that follow."""
    await fill(acme)
    for content in ("- The osprey came.\n", "- The kite came.\n"):
        await acme.do("POST", "files/notes.md/writes", strategy="append", content=content)
    await acme.found("Where does the heron keep its lantern?")
    await runtime.recalls.flush()
    await acme.do("POST", "context", message="Where is the heron's lantern?", session_id="web:1")
    await acme.do("POST", "sessions/web:1/complete", trigger_source="api")
    await run_jobs(runtime)
    [fact, *_] = (await acme.do("GET", "facts"))["facts"]
    await acme.do("POST", f"facts/{fact['id']}/feedback", kind="helpful")
    await acme.do("POST", f"facts/{fact['id']}/confirm")
    await acme.do("POST", "memory/forget", text="The gym locker code is 4471.", dry_run=False)
    await acme.do("POST", "sessions/web:2/messages", messages=[{"role": "user", "content": "I moved to Tromsø."}])


async def run_jobs(runtime: Runtime) -> None:
    """Whatever waits, to its end."""
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))


def elsewhere(commands: Iterable[Command], node: str) -> list[Command]:
    """Those that another node was sent."""
    return [command for command in commands if command.node != node]


async def test_what_a_tenant_writes_reaches_its_node_alone(distributed: str, tmp_path: Path) -> None:
    node = node_of(distributed, "acme")
    with psycopg.connect(distributed) as connection:
        mine = {int(shard) for (shard,) in connection.execute(SHARDS.encode(), {"tenant": "acme"})}
    async with tenants(distributed, tmp_path, ["acme"], Issued) as (runtime, [acme]):
        database = runtime.database
        assert isinstance(database, Issued)
        assert {command.statement for command in elsewhere(database.taken(), node)} == OF_MODELS
        await requests_that_write(runtime, acme)
        written = database.taken()
        assert elsewhere(written, node) == []

        await complete_idle_sessions(database, runtime.consolidation.delays, idle_seconds=0)
        tell(distributed, UNEMBEDDED)
        assert await runtime.pipeline.backfill() > 0
        assert await prune_history(database, keep_days=None, keep_count=1) > 0
        await prune_audit(database, keep_days=0)
        await prune_turns(database, keep_days=0)
        swept = database.taken()
        assert {c.statement for c in elsewhere(swept, node) if not c.is_frame} == SWEEPS

        # It would be seen: what names no tenant, and rows that Citus does not know the node of.
        async with database.maintenance() as connection:
            await connection.execute(OF_ALL)
        asked = database.taken()
        assert {c.node for c in asked} == {"east", "west"}
        assert [c for c in asked if c.shards - mine] != []
        async with database.maintenance() as connection:
            await connection.execute(IN_PARTS)
        asked = database.taken()
        assert [c for c in asked if c.shards - mine] == []
        assert [c for c in elsewhere(asked, node) if not c.is_frame and "WITH (format result)" in c.text] != []

        await run_jobs(runtime)
        await acme.do("POST", "memory/clear", path_prefix="notes", dry_run=False)
        await acme.delete_agent()
        ended = database.taken()
        assert elsewhere(ended, node) == []

        of_tenant = [c for c in (*written, *swept, *ended) if c.statement not in SWEEPS]
        assert {c.statement for c in of_tenant} >= SEEN_AT_LEAST
        assert [c for c in of_tenant if c.shards - mine] == []
