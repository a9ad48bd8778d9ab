"""The table of operations, second part: search, long-term memory, forgetting, clearing and snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.canary.calls import Answer, Call, demand, entries_of, rows_of
from tests.canary.draw import CATEGORIES, WORDS, Draw, home_of_row
from tests.canary.effects import INSTRUCTIONS, Cleared, Compacted, Effect, Forgot, Remembered, Wrote
from tests.canary.operations import AGENT, OPERATIONS, Operation, may_write, old_text, scoped
from tests.canary.world import MEMORY_NAMES, SEEDS, Acting, Home, World, canaries_in

MEMORY = f"{AGENT}/memory"
SNAPSHOT = f"{AGENT}/workspace/memory"
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
    acting, fields = d.acting()
    body: dict[str, Any] = {"query": d.query(), "max_results": d.one_of((2, 6, 100)), **fields}
    if d.chance(0.3):
        body["as_of"] = d.looted(d.loot.instants, 0.7, d.one_of((LONG_AGO, FAR_AHEAD)))
    if d.chance(0.2):
        body["path_prefix"] = d.prefix()
    body |= {"mode": d.one_of(("hybrid", "text", "vector")), "explain": d.chance(0.2)}
    call = memory_call(d, "search", acting, body)
    call.past = "as_of" in body

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            demand(answer.result["count"] == len(answer.result["results"]), "a search counts what it does not show")
            check_rows_living(world, acting, answer, past=call.past)

    call.exact = exact
    return call


def check_rows_living(world: World, acting: Acting, answer: Answer, *, past: bool = False) -> None:
    """Every passage or file that an answer shows is of a file that is there, in the home that the row names."""
    homes = world.sight(acting) or []
    _, possible = world.living(homes)
    for row in rows_of(answer.result):
        named = [home for home in homes if home.scope == row["scope"]]
        if "path" in row and not past:
            demand(any((home, row["path"]) in possible for home in named), f"{row['path']} is found, and is not there")


def keyword_search(d: Draw) -> Call:
    acting, fields = d.acting()
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
    call.may = may_write(acting)

    def effects(world: World, answer: Answer) -> list[Effect]:
        if not answer.result["compacted"]:
            return []
        return [Compacted(place_of(world, acting), backup=answer.result["backup"])]

    call.effects = effects
    return call


def list_backups(d: Draw) -> Call:
    acting, fields = d.acting()
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


# Forgetting and clearing


def target(d: Draw, acting: Acting) -> dict[str, Any]:
    """What to forget: a canary, a line or a passage of whomever, a word of everybody's, or not exactly one thing."""
    line = d.looted(d.loot.lines, 1.0, "harbour")
    home = d.world.place(acting, None)
    return d.one_of(
        (
            *({"text": d.canary_of(home)} for _ in range(5)),
            {"text": d.known_canary()},
            {"text": line},
            {"text": d.one_of(WORDS)},
            {"id": d.passage_id(acting)},
            {"query": d.query()},
            {"text": line, "id": "1"} if d.chance(0.2) else {"text": line},
        )
    )


def forget(d: Draw) -> Call:
    acting, fields = d.acting()
    what = target(d, acting)
    is_dry = d.chance(0.5)
    call = memory_call(d, "forget", acting, {**what, **fields, "dry_run": is_dry})
    return as_forgetting(call, acting, what, is_dry=is_dry)


def as_forgetting(call: Call, acting: Acting, what: Mapping[str, str], *, is_dry: bool) -> Call:
    """What every way of forgetting has in common."""
    call.may, call.past = may_write(acting), True

    def effects(world: World, answer: Answer) -> list[Effect]:
        texts = [what["text"]] if "text" in what else [item["text"] for item in answer.result["items"]]
        return [] if is_dry else [Forgot(place_of(world, acting), texts=tuple(dict.fromkeys(texts)))]

    call.effects = effects
    call.exact = lambda world, answer: check_receipt(world, acting, answer, what.get("text")) if answer.ok else None
    return call


def check_receipt(world: World, acting: Acting, answer: Answer, text: str | None) -> None:
    """A receipt counts and names what the caller's own files hold, and of the others the shared ones alone."""
    home = place_of(world, acting)
    files = world.files.get(home, {})
    receipt = answer.result
    removed = receipt["removed"].get("document", dict.fromkeys(("files", "passages", "versions", "backups"), 0))
    paths = {item["path"] for item in receipt["items"]}
    demand(paths <= files.keys(), f"a receipt names files that were never there: {paths - files.keys()}")
    present = {item["path"] for item in receipt["items"] if item["present"]}
    demand(removed["files"] + removed["backups"] <= len(paths), "a receipt counts files that it does not name")
    demand(present <= {path for path in files if files[path].living is not False}, "a receipt has a deleted file")
    shared = [h for h in world.sight(acting) or () if h.owner is None and h.agent in (acting.agent, None)]
    canary = text if text is not None and {text} == canaries_in(text) else None
    for path in receipt["still_shared"]:
        states = [world.files[h][path] for h in shared if path in world.files.get(h, {})]
        holds = [state for state in states if state.living is not False and (not canary or canary in state.present)]
        demand(holds, f"a receipt says that shared {path} holds it")
    if canary:
        holding = {path for path, state in files.items() if canary in state.forms}
        demand(paths <= holding, f"a receipt names files that never held it: {paths - holding}")
        demand(holding or not any((*removed.values(), receipt["embeddings"])), "a receipt counts what is not there")


def clear(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True)
    prefix = d.prefix() if d.chance(0.8) else None
    is_dry = d.chance(0.7) or prefix in ("", None)
    tiers = d.one_of((["document"], ["document", "episodic", "message"], ["episodic"]))
    older = d.one_of((0, 1, 365)) if d.chance(0.2) else None
    body = {"dry_run": is_dry, "tiers": tiers, **fields}
    body |= {name: value for name, value in (("path_prefix", prefix), ("older_than_days", older)) if value is not None}
    call = memory_call(d, "clear", acting, body)

    def homes(world: World) -> list[Home]:
        if acting.everybody:
            return [home for home in world.sight(acting) or () if home.agent is not None]
        return [home] if (home := world.place(acting, None)) else []

    def fits_in(home: Home) -> Callable[[str], bool]:
        kept = INSTRUCTIONS if home.owner is None else ()
        return lambda path: path.startswith(prefix or "") and (path not in kept or bool(prefix))

    def effects(world: World, answer: Answer) -> list[Effect]:
        if is_dry or "document" not in tiers:
            return []
        return [Cleared(h, None, fits_in(h), all_of_them=older is None) for h in homes(world)]

    def exact(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        bounds = [world.rows(home, fits_in(home)) for home in homes(world)]
        least, most = (sum(counts) for counts in zip((0, 0), *bounds, strict=True))
        counted = answer.result["removed"].get("document", 0)
        demand(counted <= most, f"{counted} files are cleared, and there are at most {most}")
        if older is None and "document" in tiers:
            demand(counted >= least, f"{counted} files are cleared, and there are at least {least}")

    call.may = (lambda world: world.sight(acting) is not None) if acting.everybody else may_write(acting)
    call.effects, call.exact = effects, exact
    return call


def reindex(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    call = memory_call(d, "reindex", acting, fields or None)
    call.may = may_write(acting, scope)

    def exact(world: World, answer: Answer) -> None:
        home = world.place(acting, scope)
        if answer.ok and home is not None:
            certain, possible = world.living([home])
            done = answer.result["documents"]
            demand(len(certain) <= done <= len(possible), f"{done} files are indexed of {len(certain)}")

    call.exact = exact
    return call


# Snapshots


def is_in_snapshots(path: str) -> bool:
    core = path in (*SEEDS, "KNOWLEDGE.md", "DREAMS.md")
    return core or (path.startswith("memory/") and path.endswith(".md"))


def export(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    prefix = d.prefix() if d.chance(0.3) else ""
    params = {**fields, **({"prefix": prefix} if prefix else {})}
    url = d.url_of(acting.agent, "workspace/memory/export")
    call = Call(f"GET {SNAPSHOT}/export", acting.key, "GET", url, acting, params=params)
    call.may = lambda world: world.own_home(acting, scope) is not None
    call.homes = lambda world: [home] if (home := world.own_home(acting, scope)) else []
    call.names = lambda world: world.names(acting.key, acting.agent)

    def exact(world: World, answer: Answer) -> None:
        home = world.own_home(acting, scope)
        if home is None or not answer.ok:
            return
        paths = {(home, path) for path in answer.entries} - {(home, "manifest.json")}
        certain, possible = world.living([home], lambda path: is_in_snapshots(path) and path.startswith(prefix))
        demand(certain <= paths <= possible, f"a snapshot has {sorted(paths, key=str)} of {sorted(possible, key=str)}")

    call.exact = exact
    return call


def preview_import(d: Draw) -> Call:
    return _import(d, "import/preview")


def apply_import(d: Draw) -> Call:
    return _import(d, "import")


def _import(d: Draw, name: str) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    archive = d.archive()
    url = d.url_of(acting.agent, f"workspace/memory/{name}")
    call = Call(f"POST {SNAPSHOT}/{name}", acting.key, "POST", url, acting, params=fields, content=archive)
    call.headers = {"Content-Type": "application/zip"}
    call.may = may_write(acting, scope)
    held = entries_of(archive)
    call.echo = frozenset(canaries_in(" ".join(held)))
    home = d.world.place(acting, scope)
    living = {p: state.living for p, state in d.world.files.get(home, {}).items()} if home is not None else {}

    def effects(world: World, answer: Answer) -> list[Effect]:
        home = world.place(acting, scope)
        assert home is not None
        if not answer.result["applied"]:
            return []
        written = [file["path"] for kind in ("create", "update") for file in answer.result[kind]]
        return [
            Wrote(home, path, agent=acting.agent, forms=tuple(sorted(canaries_in(held[path]))), replaces=True)
            for path in written
        ]

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            demand(home_of_row(acting, answer.result) == home, "an import goes somewhere else")
            for file in answer.result["create"]:
                demand(not living.get(file["path"], False), f"{file['path']} is there, and an import says it is not")
            for file in [*answer.result["update"], *answer.result["unchanged"]]:
                demand(living.get(file["path"], False) is not False, f"{file['path']} is not there to be updated")

    call.effects, call.exact = effects, exact
    return call


OPERATIONS_OF_MEMORY: dict[str, tuple[int, Operation]] = {
    f"POST {MEMORY}/search": (16, search),
    f"POST {MEMORY}/keyword-search": (8, keyword_search),
    f"POST {MEMORY}/save": (6, save),
    f"POST {MEMORY}/update": (4, update),
    f"POST {MEMORY}/compact": (3, compact),
    f"GET {MEMORY}/backups": (3, list_backups),
    f"POST {MEMORY}/backups/{{name}}/restore": (3, restore_backup),
    f"POST {MEMORY}/forget": (10, forget),
    f"POST {MEMORY}/clear": (5, clear),
    f"POST {MEMORY}/reindex": (2, reindex),
    f"GET {SNAPSHOT}/export": (5, export),
    f"POST {SNAPSHOT}/import/preview": (3, preview_import),
    f"POST {SNAPSHOT}/import": (4, apply_import),
}
TABLE = {**OPERATIONS, **OPERATIONS_OF_MEMORY}
