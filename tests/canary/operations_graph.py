"""The table of operations: the knowledge graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import Draw
from tests.canary.operations import AGENT, Operation, may_write
from tests.canary.operations_derived import check_ids, found_as_seen, shared_with
from tests.canary.operations_memory import FAR_AHEAD, LONG_AGO
from tests.canary.world import Acting, Home, World

from reverie_server.text.graph_terms import ENTITY_TYPES

GRAPH = f"{AGENT}/graph"


def graph_call(d: Draw, method: str, acting: Acting, label: str, *rest: str) -> Call:
    url = d.url_of(acting.agent, "graph", *rest)
    return Call(f"{method} {GRAPH}/{label}", acting.key, method, url, acting, said=True)


def graph_question(d: Draw, acting: Acting) -> dict[str, Any]:
    """What to look for in the graph: words, an entity that somebody has, a type."""
    asked: dict[str, Any] = {"max_depth": d.rng.randint(1, 5)}
    shape = d.rng.random()
    if shape < 0.55:
        asked["query"] = d.query()
    elif shape < 0.9:
        asked["entity_id"] = d.public_id("entities", acting)
    if shape > 0.85:
        asked["entity_type"] = d.one_of(("concept", "concept", *ENTITY_TYPES))
    if d.chance(0.2):
        asked["as_of"] = d.looted(d.loot.instants, 0.7, d.one_of((LONG_AGO, FAR_AHEAD)))
    return asked


def check_found(world: World, acting: Acting, found: dict[str, Any]) -> None:
    """All entities and relations are of one's own homes or shared with them; what leads to them, too."""
    homes = world.sight(acting) or []
    check_ids(world, "entities", found["entities"], homes)
    ends = [{"id": row[end]} for row in found["relations"] for end in ("source_id", "target_id") if end in row]
    check_ids(world, "entities", ends, homes)
    check_ids(world, "relations", [row for row in found["relations"] if "id" in row], homes)


def search_graph(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = graph_call(d, "POST", acting, "search", "search")
    call.body = {**graph_question(d, acting), **fields}
    call.check = lambda world, answer: check_found(world, acting, answer.result) if answer.ok else None
    if "entity_id" in call.body and "as_of" not in call.body:
        # Of a leader its team's memory alone, as everywhere.
        call.exact = found_as_seen("entities", call.body["entity_id"], acting, lambda world: world.sight(acting) or [])
    return call


def list_entities(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    first = d.looted(d.loot.cursors, 0.1, "")
    kind = {"entity_type": d.one_of(ENTITY_TYPES)} if d.chance(0.1) else {}
    limit = d.one_of(("2", "500", "500"))
    shown: list[dict[str, Any]] = []

    def page(cursor: str, pages: int) -> Call:
        def check(world: World, answer: Answer) -> None:
            if answer.ok:
                check_ids(world, "entities", answer.result["entities"], world.sight(acting) or [])

        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            shown.extend(answer.result["entities"])
            if answer.result["next_cursor"] is None and not first and not kind:
                listed = {row["id"].removeprefix("ent-") for row in shown}
                own, seen = (listed_in(world, h) for h in (shared_with(acting, world), world.sight(acting) or []))
                demand(len(listed) == len(shown), "entities are listed twice")
                demand(own <= listed <= seen, f"entities are not listed, or not there: {own ^ listed}")

        def follow(answer: Answer) -> Call | None:
            has_more = answer.ok and answer.result["next_cursor"] and pages < 4
            return page(answer.result["next_cursor"], pages + 1) if has_more else None

        params = {**fields, **kind, "limit": limit, **({"cursor": cursor} if cursor else {})}
        call = graph_call(d, "GET", acting, "entities", "entities")
        call.params, call.check, call.exact, call.follow = params, check, exact, follow
        return call

    return page(first, 1)


def listed_in(world: World, homes: Sequence[Home]) -> set[str]:
    """The entities of some homes that are no part of others."""
    return {number for number, row in world.derived.of("entities", homes).items() if row.listed}


def get_entity(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    given = d.public_id("entities", acting)
    call = graph_call(d, "GET", acting, "entities/{entity_id}", "entities", given)
    call.params = fields

    def check(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        check_found(world, acting, {"entities": [answer.result], "relations": answer.result["relations"]})
        sources = [answer.result["sources"], *(row["sources"] for row in answer.result["relations"])]
        homes = world.sight(acting) or []
        # What an episode was that has expired or was removed is not known.
        named = [{"id": source["episode_id"]} for some in sources for source in some]
        there = [row for row in named if world.derived.home_of("episodes", row["id"].removeprefix("ep-"))]
        check_ids(world, "episodes", there, homes)
        check_ids(world, "merges", answer.result["merges"], homes)

    call.check = check
    call.exact = found_as_seen("entities", given, acting, lambda world: world.sight(acting) or [])
    return call


def merge_entities(d: Draw) -> Call:
    acting, fields = d.acting()
    keep, absorb = d.public_id("entities", acting), d.public_id("entities", acting)
    home = d.world.place(acting, None)
    own = [number for number, row in d.world.derived.of("entities", [home] if home else []).items() if row.listed]
    if len(own) > 1 and d.chance(0.6):
        keep, absorb = d.rng.sample(own, 2)
    call = graph_call(d, "POST", acting, "merge", "merge")
    call.body, call.derives, call.may = {"keep": keep, "absorb": absorb, **fields}, True, may_write(acting)
    before = {d.world.derived.home_of("entities", given.rpartition("-")[2]) for given in (keep, absorb)}
    call.exact = lambda world, answer: demand(not answer.ok or before == {home}, f"entities of {before} are merged")
    return call


def undo_merge(d: Draw) -> Call:
    return _decide(d, "merges", "merges/{merge_id}/undo", "undo")


def list_duplicates(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = graph_call(d, "GET", acting, "duplicates", "duplicates")
    call.params = {**fields, "limit": d.one_of(("1", "500", "500"))}
    call.params |= {"state": d.one_of(("open", "dismissed", "merged"))} if d.chance(0.2) else {}
    call.params |= {"cursor": d.looted(d.loot.cursors, 1.0, "W10")} if d.chance(0.1) else {}

    def check(world: World, answer: Answer) -> None:
        if answer.ok:
            pairs, homes = answer.result["duplicates"], shared_with(acting, world)
            check_ids(world, "duplicates", pairs, homes)
            check_ids(world, "entities", [pair[end] for pair in pairs for end in ("first", "second")], homes)

    call.check = check
    return call


def dismiss_duplicate(d: Draw) -> Call:
    return _decide(d, "duplicates", "duplicates/{duplicate_id}/dismiss", "dismiss")


def _decide(d: Draw, table: str, label: str, name: str) -> Call:
    acting, fields = d.acting()
    there = [row.home for row in d.world.derived.of(table).values()]
    of_tenant = [home for home in there if home.tenant == d.tenant]
    if of_tenant and d.chance(0.5):
        acting, fields = d.acting_on(d.one_of(of_tenant))
    given = d.public_id(table, acting)
    call = graph_call(d, "POST", acting, label, table, given, name)
    call.body, call.derives, call.may = fields or None, True, may_write(acting)
    before = d.world.derived.home_of(table, given.rpartition("-")[2])

    def exact(world: World, answer: Answer) -> None:
        demand(not answer.ok or before == world.place(acting, None), f"{table} {given} of {before} is decided")

    call.exact = exact
    return call


OPERATIONS_ON_GRAPHS: dict[str, tuple[int, Operation]] = {
    f"POST {GRAPH}/search": (7, search_graph),
    f"GET {GRAPH}/entities": (5, list_entities),
    f"GET {GRAPH}/entities/{{entity_id}}": (6, get_entity),
    f"POST {GRAPH}/merge": (4, merge_entities),
    f"POST {GRAPH}/merges/{{merge_id}}/undo": (3, undo_merge),
    f"GET {GRAPH}/duplicates": (4, list_duplicates),
    f"POST {GRAPH}/duplicates/{{duplicate_id}}/dismiss": (3, dismiss_duplicate),
}
