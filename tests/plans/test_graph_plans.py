"""A hub of 10,000 relations: what is read of it is bounded and read by the index, and what is answered is right."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from tests.graphs import Graph, day
from tests.plans.plan_nodes import explained, nodes

from reverie_indexer.database.database import Database, visible_slices
from reverie_server.graph import known as graph_known
from reverie_server.graph import search as graph_search
from reverie_server.graph import view as graph_view
from reverie_server.graph.search import GraphRequest, GraphRules, GraphSearch
from reverie_server.runtime import Runtime
from reverie_server.search.rank import Weights

EDGES = 10_000
# Every tenth relation of the hub is over, since day 500.
FILL = """
WITH place AS (SELECT tenant_id, slice_id FROM slices WHERE owner_key = 'user:ada' AND NOT past),
made AS (
    INSERT INTO entities (tenant_id, slice_id, external_id, type, name, name_key, confidence, since, method, language,
                          created_at, updated_at)
    SELECT tenant_id, slice_id, 'n' || n, 'project', 'Node ' || n, 'node ' || n, 0.9, %(start)s, 'llm', 'english',
           now(), now()
    FROM place, generate_series(0, %(edges)s) AS n
    RETURNING tenant_id, slice_id, entity_id, name
), named AS (
    INSERT INTO entity_names SELECT tenant_id, slice_id, lower(name), entity_id FROM made
), terms AS (
    INSERT INTO entity_terms
    SELECT tenant_id, slice_id, t, entity_id, 1 FROM made, unnest(string_to_array(lower(name), ' ')) AS t
), hub AS (SELECT entity_id FROM made WHERE name = 'Node 0')
INSERT INTO relations (tenant_id, slice_id, source_id, name, target_id, confidence, valid_from, valid_to, method,
                       recorded_at)
SELECT m.tenant_id, m.slice_id, CASE WHEN m.entity_id %% 2 = 0 THEN h.entity_id ELSE m.entity_id END, 'related_to',
       CASE WHEN m.entity_id %% 2 = 0 THEN m.entity_id ELSE h.entity_id END, 0.9,
       %(start)s + make_interval(mins => m.entity_id::int), CASE WHEN m.entity_id %% 10 = 0 THEN %(end)s END, 'llm',
       now()
FROM made m, hub h WHERE m.entity_id <> h.entity_id
"""


async def scans(database: Database, statement: bytes, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The scans of tables in the plan of a statement, as a reader's role runs it."""
    async with database.tenant("default") as connection:
        visible = await visible_slices(connection, "default", "wren", "user:ada")
        values = {"tenant_id": "default", "slice_ids": [s.slice_id for s in visible], **params}
        found = nodes(await explained(connection, statement, values))
        return [node for node in found if "Relation Name" in node and "Scan" in node["Node Type"]]


def read(found: list[dict[str, Any]], table: str) -> int:
    """How many rows of a table were looked at, those that a filter then dropped included."""
    return sum(
        round((node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"])
        for node in found
        if node["Relation Name"] == table
    )


@dataclass(frozen=True, slots=True)
class Hub:
    """An entity with `EDGES` relations, in the graph of its owner."""

    graph: Graph
    entity_id: int


@pytest.fixture
async def hub(runtime: Runtime, database: Database) -> Hub:
    graph = Graph(runtime)
    await graph.episode("Hello.", day(0))
    async with database.maintenance() as connection:
        await connection.execute(FILL.encode(), {"edges": EDGES, "start": day(0), "end": day(500)})
        cursor = await connection.execute("SELECT entity_id FROM entities WHERE name = 'Node 0'")
        return Hub(graph, (await cursor.fetchone() or {})["entity_id"])


# Right after a bulk load there are no statistics; afterwards there are.
@pytest.mark.parametrize("is_analysed", [False, True])
async def test_of_a_hub_a_bounded_number_of_rows_is_read_and_by_the_index(
    hub: Hub, database: Database, conninfo: str, is_analysed: bool
) -> None:
    if is_analysed:
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute("VACUUM (ANALYZE)")
    at = datetime(2027, 1, 1, tzinfo=UTC)
    walk = {"start_ids": [hub.entity_id], "as_of": at, "max_rows": 2000, "fanout": 400, "max_depth": 5}
    walked = await scans(database, graph_search.SQL["walk"], walk)
    assert {node["Index Name"] for node in walked if node["Relation Name"] == "relations"} == {
        "relations_from",
        "relations_to",
    }
    # The hub from either end, then what it leads to, where nothing new is.
    assert 800 <= read(walked, "relations") <= 2000
    current = {"entity_ids": [hub.entity_id], "now": at, "each": 5}
    now = await scans(database, graph_known.SQL["relations_now"], current)
    assert read(now, "relations") == 10  # Five in each direction.
    of_hub = await scans(database, graph_view.SQL["relations_of"], {"entity_id": hub.entity_id, "limit": 200})
    assert read(of_hub, "relations") <= 400
    listed = {"type": None, "after_key": "node 5", "after_id": 0, "limit": 20}
    page = await scans(database, graph_view.SQL["entities"], listed)
    assert read(page, "entities") <= 21
    named = {
        "name_keys": ["node 17", "17"], "terms": ["17"], "idfs": [1.0], "model_id": None, "embedding": None,
        "type": None, "limit": 50, "as_of": at,
    }  # fmt: skip
    starts = await scans(database, graph_search.SQL["starts"], named)
    assert read(starts, "entities") <= 3
    assert all("Index" in node["Node Type"] for node in [*walked, *now, *of_hub, *page, *starts])


async def test_a_search_from_a_hub_is_cut_where_its_rules_say_and_whole_otherwise(
    hub: Hub, runtime: Runtime, database: Database
) -> None:
    async def search(rules: GraphRules, **request: Any) -> tuple[int, int, bool]:
        answer = await GraphSearch(database, runtime.models, rules).search(
            hub.graph.principal, GraphRequest(**request), language="english", weights=Weights(0.3, 0.7)
        )
        assert len(answer.paths) == len(answer.entities) - 1
        return len(answer.entities), len(answer.relations), answer.truncated

    start = {"entity_id": f"ent-{hub.entity_id}", "max_depth": 1}
    whole = GraphRules(max_rows=100_000)
    leaves = range(hub.entity_id + 1, hub.entity_id + EDGES + 1)
    over = sum(1 for number in leaves if number % 10 == 0)
    assert await search(GraphRules(), **start) == (2001, 2000, True)
    assert await search(whole, **start, as_of=day(400)) == (EDGES + 1, EDGES, False)
    assert await search(whole, **start, as_of=day(500)) == (EDGES + 1 - over, EDGES - over, False)
    # Through the hub to all others and back to where it began.
    leaf = {"entity_id": f"ent-{hub.entity_id + 1}", "max_depth": 5, "as_of": day(400)}
    assert await search(whole, **leaf) == (EDGES + 1, EDGES, False)
