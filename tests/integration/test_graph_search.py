"""Searching the graph: where it begins, how far it goes, when it holds, and whose it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.graphs import START, Graph, answer, answers, day, thing
from tests.scripted_model import ScriptedModel

from reverie_indexer.errors import NotFound, SearchTimeout, ValidationFailed
from reverie_server.access.keys import OPERATOR
from reverie_server.access.principal import Principal
from reverie_server.graph.search import GraphRequest, GraphRules, GraphSearch
from reverie_server.runtime import Runtime
from reverie_server.search.rank import Weights

CHAIN = [
    ("Ada", "works_on", "Reverie"),
    ("Reverie", "depends_on", "PostgreSQL"),
    ("Indexer", "part_of", "Reverie"),
    ("Indexer", "uses", "Redis"),
    ("Bo", "works_on", "Indexer"),
    ("Bo", "collaborates_with", "Ada"),
    ("Cy", "manages", "Bo"),
    ("Eve", "reports_to", "Cy"),
]


async def test_hops_cycles_paths_types_and_times(talking: Runtime, scripted: ScriptedModel) -> None:
    graph = Graph(talking)
    answers(scripted, answer(*CHAIN), answer(("Ada", "works_on", "Reverie"), valid_to=day(9).isoformat()))
    await graph.hear("All of it: Ada, Bo, Cy, Eve, the Indexer, Reverie, PostgreSQL, Redis.", day(0))
    one = await graph.search("What is Ada doing?", max_depth=1)
    # The newest first; of one time, that which was stored last.
    assert one.paths == ["Ada <-collaborates_with- Bo", "Ada -works_on-> Reverie"]
    assert [(e.entity.name, e.depth) for e in one.entities] == [("Ada", 0), ("Bo", 1), ("Reverie", 1)]
    assert one.entities[0].score is not None
    assert one.entities[1].score is None
    # Ada, Reverie, Indexer and Bo are a circle: each is reached once, the shortest way.
    whole = await graph.search("Ada", max_depth=5)
    assert sorted(whole.paths) == [
        "Ada -works_on-> Reverie",
        "Ada -works_on-> Reverie -depends_on-> PostgreSQL",
        "Ada <-collaborates_with- Bo",
        "Ada <-collaborates_with- Bo -works_on-> Indexer",
        "Ada <-collaborates_with- Bo -works_on-> Indexer -uses-> Redis",
        "Ada <-collaborates_with- Bo <-manages- Cy",
        "Ada <-collaborates_with- Bo <-manages- Cy <-reports_to- Eve",
    ]
    assert {r.name for r in whole.relations} == {name for _, name, _ in CHAIN}
    assert len(whole.relations) == len(CHAIN)
    assert not whole.truncated
    ada = f"ent-{await graph.id_of('Ada')}"
    to_technology = await graph.search(entity_id=ada, entity_type="technology", max_depth=2)
    assert to_technology.paths == ["Ada -works_on-> Reverie", "Ada -works_on-> Reverie -depends_on-> PostgreSQL"]
    assert [e.entity.name for e in to_technology.entities] == ["Ada", "Reverie", "PostgreSQL"]
    by_type = await graph.search(entity_type="technology", max_depth=1)
    assert {e.entity.name for e in by_type.entities if e.depth == 0} == {"PostgreSQL", "Redis"}
    only = await graph.search("Reverie and PostgreSQL", entity_type="technology", max_depth=1)
    assert [e.entity.name for e in only.entities] == ["PostgreSQL", "Reverie"]
    # Every step of a way has to hold at that time.
    await graph.hear("Ada is done with Reverie.", day(9), "web:2")
    assert "Ada -works_on-> Reverie" in (await graph.search("Ada", as_of=day(8))).paths
    later = await graph.search("Ada", max_depth=5, as_of=day(9))
    assert "Ada <-collaborates_with- Bo -works_on-> Indexer -part_of-> Reverie -depends_on-> PostgreSQL" in later.paths
    before = await graph.search("Ada", as_of=START.replace(year=2020))
    assert (before.entities, before.relations, before.paths) == ([], [], [])
    assert (await graph.search("zebra xylophone quagmire")).entities == []


async def test_bounds_and_what_may_not_be_asked(talking: Runtime, scripted: ScriptedModel) -> None:
    graph = Graph(talking)
    things = [thing(f"Tool {n}", type="technology") for n in range(30)]
    relations = [
        {"source": "ada", "name": "uses", "target": one["external_id"].replace(" ", "-"), "confidence": 0.9}
        for one in things
    ]
    answers(scripted, {"entities": [thing("Ada"), *things], "relations": relations})
    await graph.hear("Ada uses many tools.", day(0))
    assert len((await graph.search("Ada")).relations) == 30
    view = talking.consolidation.graph
    small = GraphSearch(talking.database, talking.models, GraphRules(max_rows=20))
    request = GraphRequest("Ada", max_depth=1)
    found = await small.search(graph.principal, request, language="english", weights=Weights(0.3, 0.7))
    assert (len(found.relations), found.truncated) == (20, True)
    slow = GraphSearch(talking.database, talking.models, GraphRules(timeout_seconds=0.1))
    async with talking.database.maintenance() as connection:
        await connection.execute("LOCK TABLE entities")
        with pytest.raises(SearchTimeout):
            await slow.search(graph.principal, request, language="english", weights=Weights(0.3, 0.7))
    for asked, error in (
        ({}, ValidationFailed),
        ({"query": "  "}, ValidationFailed),
        ({"entity_id": "ent-999"}, NotFound),
        ({"entity_id": "Ada"}, NotFound),
        ({"entity_id": "9" * 30}, NotFound),
    ):
        with pytest.raises(error):
            await graph.search(**asked)  # type: ignore[arg-type]
    page = await view.view.entities(graph.principal, entity_type="technology", after=None, limit=20)
    rest = await view.view.entities(
        graph.principal, entity_type="technology", after=(page[-1][0], page[-1][1].entity_id), limit=20
    )
    assert sorted(e.name for _, e in [*page, *rest]) == sorted(one["name"] for one in things)


async def found_by(runtime: Runtime, principal: Principal, query: str) -> dict[str, str]:
    rules = runtime.search.rules
    found = await runtime.consolidation.graph.search.search(
        principal, GraphRequest(query), language=rules.language, weights=rules.weights
    )
    return {e.entity.name: e.entity.scope for e in found.entities}


async def test_the_owners_and_the_teams_graph_are_seen_and_nobody_elses(
    talking: Runtime, scripted: ScriptedModel
) -> None:
    mine, theirs, team = Graph(talking), Graph(talking, "user:eve"), Graph(talking, None)
    secret = answer(("Eve", "works_on", "Atlas"))
    answers(scripted, answer(("Ada", "works_on", "Reverie")), secret, answer(("Bo", "works_on", "Indexer")))
    await mine.hear("Mine: Ada, Reverie.", day(0))
    await theirs.hear("Theirs: Eve, Atlas.", day(0))
    await team.hear("The team's: Bo, the Indexer.", day(0), "web:team")
    everybody = "Ada Eve Bo Reverie Atlas Indexer"
    own = {"Ada": "personal", "Reverie": "personal"}
    shared = {"Bo": "team", "Indexer": "team"}
    assert await found_by(talking, mine.principal, everybody) == own | shared
    assert await found_by(talking, theirs.principal, everybody) == {"Eve": "personal", "Atlas": "personal"} | shared
    assert await found_by(talking, team.principal, everybody) == shared
    assert await mine.names() == ["Ada", "Bo", "Indexer", "Reverie"]
    eve = await theirs.id_of("Eve")
    view, upkeep = talking.consolidation.graph.view, talking.consolidation.graph.upkeep
    _, place = await talking.gate.for_stage("default", "wren", mine.owner_key)
    for asking in (
        mine.search(entity_id=f"ent-{eve}"),
        view.entity(mine.principal, f"ent-{eve}"),
        upkeep.merge(place, await mine.id_of("Ada"), eve, by="user"),
        upkeep.merge(place, await mine.id_of("Ada"), await team.id_of("Bo"), by="user"),
        view.entity(Principal("default", "nobody", None), f"ent-{eve}"),
        found_by(talking, Principal("other", "wren", "user:eve"), "Eve"),
    ):
        with pytest.raises(NotFound):
            await asking
    # The same agent and owner of another tenant are others.
    other = await talking.gate.write(replace(OPERATOR, tenant_id="other"), "wren", "user:eve", None)
    await talking.pipeline.write_many(other[1], [])
    assert await found_by(talking, Principal("other", "wren", "user:eve"), everybody) == {}
    # A member finds what its leader shares, and what is personal there not.
    await talking.agents.put("default", "robin", None, "wren", {})
    grant = await talking.gate.read(OPERATOR, "robin", "user:ada")
    rules = talking.search.rules
    found: Any = await talking.consolidation.graph.search.search(
        grant.principal, GraphRequest(everybody), language=rules.language, weights=rules.weights
    )
    assert ({e.entity.name for e in found.entities}, found.fallback) == ({"Bo", "Indexer"}, "leader")
    assert [e.name for _, e in await view.entities(grant.principal, entity_type=None, after=None, limit=9)] == [
        "Bo",
        "Indexer",
    ]
    # With the agent its graph goes, everybody's.
    await talking.agents.put("default", "robin", None, None, {})
    await talking.agents.delete("default", "wren")
    for table in ("entities", "mentions", "relations", "statements", "entity_terms", "entity_names", "entity_vectors"):
        assert (await mine.rows(f"SELECT count(*) AS n FROM {table}"))[0]["n"] == 0
