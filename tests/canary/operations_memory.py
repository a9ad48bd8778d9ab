"""The table of operations: search and long-term memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tests.canary.calls import Answer, Call, demand, rows_of
from tests.canary.draw import CATEGORIES, Draw
from tests.canary.effects import Compacted, Effect, Remembered
from tests.canary.operations import AGENT, Operation, may_write, old_text, scoped
from tests.canary.words import canaries_in
from tests.canary.world import MEMORY_NAMES, Acting, Home, World

MEMORY = f"{AGENT}/memory"
LONG_AGO = "2020-01-01T00:00:00Z"
FAR_AHEAD = "2099-01-01T00:00:00Z"
Effects = Callable[[World, Answer], Sequence[Effect]]


def memory_call(d: Draw, name: str, acting: Acting, body: Any, *rest: str) -> Call:
    url = d.url_of(acting.agent, "memory", *(rest or [name]))
    return Call(f"POST {MEMORY}/{name}", acting.key, "POST", url, acting, body=body)


def place_of(world: World, acting: Acting) -> Home:
    home = world.place(acting, None)
    assert home is not None
    return home


# Finding


def search(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    query, tenant = d.asked_again(acting.agent, d.query()), d.tenant
    body: dict[str, Any] = {"query": query, "max_results": d.one_of((2, 6, 100)), **fields}
    if d.chance(0.3):
        body["as_of"] = d.looted(d.loot.instants, 0.7, d.one_of((LONG_AGO, FAR_AHEAD)))
    if d.chance(0.2):
        body["path_prefix"] = d.prefix()
    body |= {"mode": d.one_of(("hybrid", "text", "vector")), "explain": d.chance(0.2)}
    call = memory_call(d, "search", acting, body)
    call.past, call.said = "as_of" in body, True

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            demand(answer.result["count"] == len(answer.result["results"]), "a search counts what it does not show")
            if answer.result["results"]:
                d.note_answered(tenant, acting.agent, query)
            check_rows_living(world, acting, answer, past=call.past)

    call.exact = exact
    return call


def check_rows_living(world: World, acting: Acting, answer: Answer, *, past: bool = False) -> None:
    """Every passage or file that an answer shows is of a file, session or episode that is there, where the row says."""
    homes = world.sight(acting) or []
    _, files = world.living(homes)
    found = {
        "message": world.talks.paths(homes),
        "episodic": world.derived.paths(homes),
        "fact": world.derived.fact_paths(homes),
    }
    for row in rows_of(answer.result):
        named = [home for home in homes if home.scope == row["scope"]]
        possible = found.get(row.get("tier", ""), files)
        if "path" in row and (not past or possible is not files):
            demand(any((home, row["path"]) in possible for home in named), f"{row['path']} is found, and is not there")


def keyword_search(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    scope, fields = scoped(d, acting, fields)
    query, first_limit = d.query(), d.one_of((1, 10, 500))
    totals: list[int] = []

    def request(limit: int) -> Call:
        call = memory_call(d, "keyword-search", acting, {"query": query, "limit": limit, **fields})

        def follow(answer: Answer) -> Call | None:
            return request(500) if answer.ok and limit != 500 else None

        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            totals.append(answer.result["total_hits"])
            demand(len(set(totals)) == 1, f"the same words have {totals} hits")
            demand(limit < 500 or len(answer.result["hits"]) == totals[0], "hits are counted that are not shown")
            _, possible = world.living(world.sight(acting) or [])
            paths = {path for home, path in possible if scope in (None, home.scope)}
            demand({hit["path"] for hit in answer.result["hits"]} <= paths, "hits are in files that are not there")

        call.follow, call.exact = follow, exact
        call.homes = lambda world: [h for h in world.sight(acting) or () if scope in (None, h.scope)]
        return call

    return request(first_limit)


# Long-term memory


def remembered(acting: Acting, forms: Sequence[str], *, edits: bool = False) -> Effects:
    return lambda world, answer: [
        Remembered(place_of(world, acting), agent=acting.agent, forms=tuple(forms), edits=edits)
    ]


def save(d: Draw) -> Call:
    acting, fields = d.acting()
    line = d.line()
    call = memory_call(d, "save", acting, {"content": line, "category": d.one_of(CATEGORIES), **fields})
    call.may, call.effects = may_write(acting), remembered(acting, [line])
    return call


def update(d: Draw) -> Call:
    acting, fields = d.acting()
    old, new = old_text(d, d.world.place(acting, None), "MEMORY.md"), d.line() if d.chance(0.8) else ""
    call = memory_call(d, "update", acting, {"old_text": old, "new_text": new, **fields})
    call.may, call.effects = may_write(acting), remembered(acting, sorted(canaries_in(new)), edits=True)
    call.exact = found_in_memory(acting, old)
    return call


def found_in_memory(acting: Acting, old: str) -> Callable[[World, Answer], None]:
    """What an update found to replace stood in the caller's own memory."""

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            files = world.files[place_of(world, acting)]
            known = {canary for path in MEMORY_NAMES if path in files for canary in files[path].forms}
            demand(canaries_in(old) <= known, f"an update found {old!r} in a memory that never had it")

    return exact


def compact(d: Draw) -> Call:
    acting, fields = d.acting()
    call = memory_call(d, "compact", acting, fields or None)
    call.may, call.derives = may_write(acting), True

    def effects(world: World, answer: Answer) -> list[Effect]:
        if not answer.result["compacted"]:
            return []
        return [Compacted(place_of(world, acting), backup=answer.result["backup"])]

    call.effects = effects
    return call


def list_backups(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    url = d.url_of(acting.agent, "memory", "backups")
    call = Call(f"GET {MEMORY}/backups", acting.key, "GET", url, acting, params=fields)

    def exact(world: World, answer: Answer) -> None:
        home = world.own_home(acting)
        if home is None or not answer.ok:
            return
        names = {backup["name"] for backup in answer.result["backups"]}
        certain, possible = world.living([home], lambda path: path.startswith("MEMORY_backup_"))
        demand(names <= {path for _, path in possible}, f"backups are listed that are not there: {names}")
        demand(names >= {path for _, path in certain}, f"backups are not listed: {certain}")
        demand(answer.result["count"] == len(names), "the backups are counted wrongly")

    call.exact = exact
    call.homes = lambda world: [home] if (home := world.own_home(acting)) else []
    return call


def restore_backup(d: Draw) -> Call:
    acting, fields = d.acting()
    of_tenant = [home for home in d.world.files if home.tenant == d.tenant]
    backed_up = [(h, p) for h in of_tenant for p in d.world.files[h] if p.startswith("MEMORY_backup_")]
    if backed_up and d.chance(0.5):
        acting, fields = d.acting_on(d.one_of(backed_up)[0])
    home = d.world.place(acting, None)
    own = [path for h, path in backed_up if h == home]
    name = d.looted(own, 0.8, d.looted(d.loot.backups, 0.9, "MEMORY_backup_2026-04-03_02-00-00.md"))
    call = memory_call(d, "backups/{name}/restore", acting, fields or None, "backups", name, "restore")
    call.may = may_write(acting)

    def effects(world: World, answer: Answer) -> list[Effect]:
        home = place_of(world, acting)
        held = world.files[home][name].forms.keys()
        return [Remembered(home, agent=acting.agent, forms=tuple(held))]

    def check(world: World, answer: Answer) -> None:
        known = world.files.get(world.place(acting, None) or Home("", None, None), {})
        demand(not answer.ok or name in known, f"{name} was restored, and never was there")

    call.effects, call.check = effects, check
    return call


OPERATIONS_OF_MEMORY: dict[str, tuple[int, Operation]] = {
    f"POST {MEMORY}/search": (16, search),
    f"POST {MEMORY}/keyword-search": (8, keyword_search),
    f"POST {MEMORY}/save": (6, save),
    f"POST {MEMORY}/update": (4, update),
    f"POST {MEMORY}/compact": (3, compact),
    f"GET {MEMORY}/backups": (3, list_backups),
    f"POST {MEMORY}/backups/{{name}}/restore": (3, restore_backup),
}
