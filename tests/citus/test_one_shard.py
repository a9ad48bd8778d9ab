"""By the plans of Citus: what a tenant reads is asked of one shard, that of the tenant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psycopg
from tests.citus.explained import Explained
from tests.citus.memories import remember, tenants

QUESTION = "Where does the heron keep its lantern?"
ASKED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    # What is asked for often is held: the first of these are searched in PostgreSQL, the last in memory.
    *(("POST", "memory/search", {"query": QUESTION, "mode": mode}) for mode in ("hybrid", "text", "vector") * 3),
    ("POST", "memory/inject", {"message": QUESTION}),
    ("POST", "context", {"message": QUESTION, "session_id": "web:1"}),
    ("POST", "memory/keyword-search", {"query": "lantern"}),
    ("GET", "sessions", {}),
    ("GET", "sessions/web:1/messages", {}),
    ("GET", "files", {}),
    ("GET", "files/notes.md", {}),
    ("GET", "files/notes.md/versions", {}),
    ("GET", "files/notes.md/sources", {}),
    ("GET", "facts", {}),
    ("GET", "graph/entities", {}),
    ("GET", "episodes", {}),
    ("GET", "timeline", {}),
    ("GET", "turns", {}),
    ("GET", "summary", {}),
    ("GET", "pipeline", {}),
)
# The rest of what is seen is around these.
SEEN_AT_LEAST = {
    "database.database.visible_slices",
    # A search in PostgreSQL, and what it reads of its results.
    "search.store.term_frequencies",
    "search.store.candidates",
    "search.superseded.superseded",
    "search.store.passages",
    # Slices as they are loaded, and a search in memory.
    "search.hot.load.places",
    "search.hot.load.documents",
    "search.hot.load.traits",
    "search.hot.load.postings",
    "search.hot.load.vectors",
    "search.hot.facts.ended",
    "search.hot.answer.texts",
    "files.keyword_search.candidates",
    "files.keyword_search.contents",
    "sessions.sessions.messages",
    "index.store.documents",
    "facts.view.facts",
    "browse.timeline.days",
}
# No node is asked, since the coordinator alone has keys, jobs, and what tombstones are made with.
OF_COORDINATOR = {
    "access.keys.authenticate",
    "browse.summary.jobs",
    "jobs.health.counts",
    "jobs.health.dead",
    "jobs.health.errors",
    "provenance.tombstones.secret",
}
# The shards with the rows of a tenant, and those of the tables that each node has a copy of.
SHARDS = """
SELECT get_shard_id_for_distribution_column(logicalrelid, %(tenant)s::text) FROM pg_dist_partition
WHERE partmethod = 'h'
UNION ALL
SELECT s.shardid FROM pg_dist_shard s JOIN pg_dist_partition p USING (logicalrelid) WHERE p.partmethod = 'n'"""


async def test_what_a_tenant_reads_is_asked_of_its_shard(distributed: str, tmp_path: Path) -> None:
    await remember(distributed, tmp_path, ["acme"])
    with psycopg.connect(distributed) as connection:
        mine = {int(shard) for (shard,) in connection.execute(SHARDS.encode(), {"tenant": "acme"})}
    async with tenants(distributed, tmp_path, ["acme"], Explained) as (runtime, [acme]):
        assert isinstance(runtime.database, Explained)
        plans = runtime.database.plans
        for method, path, body in ASKED:
            await acme.do(method, path, **body)
        # The plans would say so: what names no tenant is asked of every shard, and what is another's of that one's.
        await runtime.database.maintenance_query(b"SELECT count(*) FROM chunks", {})
        assert plans.tasks.pop("unnamed") == {4}
        await runtime.database.maintenance_query(b"SELECT count(*) FROM chunks WHERE tenant_id = 'birch'", {})
        assert (plans.tasks.pop("unnamed"), len(plans.shards.pop("unnamed") - mine)) == ({1}, 1)
    assert plans.tasks.keys() >= SEEN_AT_LEAST
    of_others = {name: tasks for name, tasks in plans.tasks.items() if name not in OF_COORDINATOR}
    assert of_others == {name: {1} for name in of_others}
    assert [plans.tasks.get(name) for name in OF_COORDINATOR] == [set()] * len(OF_COORDINATOR)
    assert {name: shards - mine for name, shards in plans.shards.items() if shards - mine} == {}
    assert all(plans.shards[name] for name in of_others)
