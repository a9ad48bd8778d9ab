"""A server over three nodes: what it does over HTTP, tenants apart on each node, and what the death of a node stops."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
from psycopg.rows import dict_row
from tests.citus.memories import fill, tenants
from tests.citus.nodes import Nodes

from reverie_server.app.pending_jobs import drain

NAMES = ("acme", "birch", "cedar", "dogwood", "elm", "fir")
LATER = [{"role": "user", "content": "An osprey came, too."}]
ROWS_OF = "SELECT DISTINCT tenant_id FROM {} ORDER BY 1"
SHARDS = """
SELECT shard_name, substring(nodename FROM '/([a-z]+)/run$') AS node FROM citus_shards
WHERE table_name = 'chunks'::regclass ORDER BY shard_name"""
# Statements that went to one shard, and those that went to several or were done in several parts.
COUNTERS = """
SELECT query_execution_single_shard, query_execution_multi_shard FROM citus_stat_counters
WHERE name = current_database()"""
PLACE = """
SELECT substring(nodename FROM '/([a-z]+)/run$') AS node FROM pg_dist_placement JOIN pg_dist_node USING (groupid)
WHERE shardid = get_shard_id_for_distribution_column('chunks', %s::text)"""


def place_of(conninfo: str, tenant: str) -> str:
    """The node that has the rows of a tenant."""
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(PLACE.encode(), [tenant]).fetchone()
    assert row is not None
    return str(row[0])


async def test_a_memory_lives_and_tenants_are_apart(
    distributed: str, database_name: str, nodes: Nodes, tmp_path: Path
) -> None:
    async with tenants(distributed, tmp_path, NAMES[:2]) as (runtime, memories):
        acme, birch = memories
        for tenant in memories:
            await fill(tenant)
            await tenant.do("POST", "sessions/web:1/complete", trigger_source="api")
        await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
        failed = (await acme.do("GET", "pipeline"))["stages"]
        assert {name: stage["failed"] for name, stage in failed.items()} == dict.fromkeys(failed, 0)

        assert "The heron of acme" in await acme.found("Where does the heron keep its lantern?")
        assert "The heron of birch" in await birch.found("Where does the heron keep its lantern?")
        assert "birch" not in await acme.found("The heron of birch")
        assert "Bergen" in await acme.found("Where do I live?")
        context = await acme.do("POST", "context", message="Where is the heron's lantern?", session_id="web:1")
        assert "The heron of acme" in context["system_prompt"]
        said = (await acme.do("GET", "sessions/web:1/messages"))["messages"]
        assert [message["seq"] for message in said] == [1, 2, 3, 4]
        assert {fact["object"] for fact in (await acme.do("GET", "facts"))["facts"]} >= {"Bergen"}
        assert {entity["name"] for entity in (await acme.do("GET", "graph/entities"))["entities"]} >= {"Petra Lind"}

        forgotten = await acme.do("POST", "memory/forget", text="The gym locker code is 4471.", dry_run=False)
        assert forgotten["receipt_id"]
        assert "locker code is 4471" not in (await acme.do("GET", "files/notes.md"))["content"]
        assert "The gym locker code is 4471" not in await acme.found("gym locker code")
        assert "The gym locker code is 4471" in await birch.found("gym locker code")

    # On the nodes themselves, as the role that requests work as.
    with psycopg.connect(distributed, row_factory=dict_row) as connection:
        shards = connection.execute(SHARDS.encode()).fetchall()
    assert {shard["node"] for shard in shards} == {"east", "west"}
    seen: dict[str | None, set[str]] = {}
    for shard in shards:
        with psycopg.connect(nodes.of(shard["node"], database_name), user="reverie_app", autocommit=True) as connection:
            for tenant in (None, "acme", "birch"):
                connection.execute("SELECT set_config('reverie.tenant', %s, false)", [tenant or ""])
                connection.execute(
                    "SELECT set_config('reverie.slices', (SELECT string_agg(n::text, ',') "
                    "FROM generate_series(1, 50) n), false)"
                )
                rows = connection.execute(ROWS_OF.format(shard["shard_name"]).encode()).fetchall()
                seen.setdefault(tenant, set()).update(tenant_id for (tenant_id,) in rows)
    assert seen == {None: set(), "acme": {"acme"}, "birch": {"birch"}}


async def test_what_a_tenant_asks_goes_to_one_shard(distributed: str, tmp_path: Path) -> None:
    async with tenants(distributed, tmp_path, NAMES[:1]) as (_, [acme]):
        await fill(acme)
        with psycopg.connect(distributed, autocommit=True) as connection:
            before = connection.execute(COUNTERS.encode()).fetchone()
            await acme.found("Where does the heron keep its lantern?")
            await acme.do("POST", "context", message="Where is the heron's lantern?", session_id="web:1")
            await acme.do("PUT", "files/later.md", content="# Later\n\n- The osprey came.\n")
            after = connection.execute(COUNTERS.encode()).fetchone()
    assert before is not None
    assert after is not None
    assert (after[0] - before[0] > 10, after[1] - before[1]) == (True, 0)


async def test_a_dead_node_takes_its_tenants_along_and_nobody_elses(
    distributed: str, nodes: Nodes, tmp_path: Path
) -> None:
    places = {name: place_of(distributed, name) for name in NAMES}
    assert set(places.values()) == {"east", "west"}
    async with tenants(distributed, tmp_path, NAMES) as (_, memories):
        for tenant in memories:
            await fill(tenant)
        nodes.kill("west")
        try:
            answers = {
                tenant.name: (await tenant.ask("POST", "memory/search", query="heron")).status_code
                for tenant in memories
            }
            written = {
                tenant.name: [
                    (await tenant.ask("PUT", "files/later.md", content="# Later\n\n- An osprey.\n")).status_code,
                    (await tenant.ask("POST", "sessions/web:1/messages", messages=LATER)).status_code,
                    (await tenant.ask("POST", "sessions/web:1/complete", trigger_source="api")).status_code,
                    (await tenant.ask("POST", "memory/forget", text="The gym locker", dry_run=False)).status_code,
                ]
                for tenant in memories
            }
        finally:
            nodes.start("west")
        assert {name for name, status in answers.items() if status == 200} == {n for n in NAMES if places[n] == "east"}
        assert written == {name: [201, 200, 202, 200] if places[name] == "east" else [503] * 4 for name in NAMES}
        for tenant in memories:
            assert f"The heron of {tenant.name}" in await tenant.found("Where does the heron keep its lantern?")
            went_on = places[tenant.name] == "east"
            assert len((await tenant.do("GET", "sessions/web:1/messages"))["messages"]) == 4 + went_on
            assert (await tenant.ask("GET", "files/later.md")).status_code == (200 if went_on else 404)
            await tenant.do("PUT", "files/after.md", content="# After\n\n- The kingfisher is back.\n")
            assert "kingfisher" in await tenant.found("kingfisher")


def test_what_a_transaction_sets_counts_on_the_node_that_has_the_rows(distributed: str) -> None:
    with psycopg.connect(distributed) as connection:
        connection.execute("INSERT INTO agents (tenant_id, agent_id, name) VALUES ('acme', 'wren', 'Wren')")
        for value in ("user:1", "", 'it\'s \\ a "name".of $1 %s'):
            connection.execute("SELECT set_config('reverie.owner', %s, true)", [value])
            [(pid, told)] = connection.execute(
                "SELECT pg_backend_pid(), current_setting('reverie.owner', true) FROM agents WHERE tenant_id = 'acme'"
            ).fetchall()
            assert (told, pid == connection.info.backend_pid) == (value, False)
        connection.execute("SELECT set_config('enable_sort', 'off', true)")
        assert connection.execute("SHOW enable_sort").fetchone() == ("off",)
        connection.rollback()
        assert connection.execute("SHOW enable_sort").fetchone() == ("on",)
