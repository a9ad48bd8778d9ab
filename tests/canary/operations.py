"""The table of operations: files. A request for every route, as drawn by dice, with what may come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import BAD_PATHS, HEADINGS, WORDS, Draw, home_of_row
from tests.canary.effects import Deleted, Effect, Restored, Wrote
from tests.canary.words import canaries_in
from tests.canary.world import Acting, FileState, Home, Scope, World

Operation = Callable[[Draw], Call]
Place = tuple[Home, str]
SCOPES: tuple[Scope, ...] = ("personal", "team", "global")
AGENT = "/api/v1/agents/{a}"
FILE = f"{AGENT}/files/{{path}}"


def scoped(d: Draw, acting: Acting, fields: dict[str, Any]) -> tuple[Scope | None, dict[str, Any]]:
    """A scope, mostly none, and the fields of the request with it."""
    scope = d.one_of(SCOPES) if d.chance(0.3) else None
    return scope, {**fields, "scope": scope} if scope else fields


def may_write(acting: Acting, scope: Scope | None = None) -> Callable[[World], bool]:
    return lambda world: world.place(acting, scope) is not None


def may_talk(acting: Acting) -> Callable[[World], bool]:
    return lambda world: world.place_of_talk(acting) is not None


def if_match(d: Draw) -> dict[str, str]:
    """Mostly no condition; else a version that somebody's file had."""
    if d.chance(0.85):
        return {}
    version = d.looted(d.loot.versions, 0.8, 1)
    return {"If-Match": d.one_of((f'"{version}"', f'W/"{version}"', "*", '"none"', "not a tag"))}


def wrote(acting: Acting, scope: Scope | None, path: str, **facts: Any) -> Callable[[World, Answer], list[Effect]]:
    """The effect of writing one file."""

    def effects(world: World, answer: Answer) -> list[Effect]:
        home = world.place(acting, scope)
        assert home is not None
        return [Wrote(home, path, agent=acting.agent, **facts)]

    return effects


def file_before(d: Draw, acting: Acting, scope: Scope | None, path: str) -> FileState | None:
    """A copy of the file as it is when the request is made, if there ever was one where it goes."""
    home = d.world.place(acting, scope)
    found = d.world.files.get(home, {}).get(path) if home is not None else None
    return replace(found, forms=dict(found.forms)) if found else None


def is_new_as_known(before: FileState | None) -> Callable[[World, Answer], None]:
    """A write tells whether a file is new by the caller's own files alone."""

    def exact(world: World, answer: Answer) -> None:
        if answer.ok and before is None:
            demand(answer.result["created"] and answer.result["version"] == 1, "a new file is said to be an old one")
        elif answer.ok and before is not None and before.living is not None and not before.may_be_gone:
            demand(answer.result["created"] is not before.living, "a write misjudges whether its file is there")

    return exact


def found_own_text(before: FileState | None, text: str) -> Callable[[World, Answer], None]:
    """What an edit found to replace stood in the caller's own file."""

    def exact(world: World, answer: Answer) -> None:
        known = before.forms.keys() if before else set()
        demand(not answer.ok or canaries_in(text) <= known, f"an edit found {text!r} in a file that never had it")

    return exact


def list_files(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True, reads=True)
    first = d.looted(d.loot.cursors, 0.12, "")
    prefix = d.prefix() if d.chance(0.3) else ""
    limit = d.one_of((3, 10, 500, 500))
    shown: list[dict[str, Any]] = []

    def page(cursor: str) -> Call:
        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            shown.extend(answer.result["files"])
            if answer.result["next_cursor"] is None and not first:
                count = answer.result["count"]
                check_listing(world, acting, lambda path: path.startswith(prefix), shown, count)

        def follow(answer: Answer) -> Call | None:
            return page(answer.result["next_cursor"]) if answer.ok and answer.result["next_cursor"] else None

        params = {"limit": str(limit), "prefix": prefix, "cursor": cursor}
        params = {**fields, **{name: value for name, value in params.items() if value}}
        url = d.url_of(acting.agent, "files")
        return Call(f"GET {AGENT}/files", acting.key, "GET", url, acting, params=params, exact=exact, follow=follow)

    return page(first)


def check_listing(
    world: World, acting: Acting, fits: Callable[[str], bool], rows: Sequence[dict[str, Any]], count: int | None
) -> None:
    """Exactly the files that are there to be seen are listed and counted; what was not known before is now."""
    shown = Counter((home_of_row(acting, row).scope, home_of_row(acting, row).owner, row["path"]) for row in rows)
    certain, possible = _listed(world, acting, fits)
    least, most = (Counter((home.scope, home.owner, path) for home, path in files) for files in (certain, possible))
    demand(shown <= most, f"a list has files that are not there, or twice: {shown - most}")
    demand(least <= shown, f"a list lacks files: {least - shown}")
    demand(count in (None, len(rows)), f"a list of {len(rows)} files counts {count}")
    for home, path in possible:
        # A member's team and its leader's look the same.
        if most[home.scope, home.owner, path] == 1:
            world.files[home][path].living = bool(shown[home.scope, home.owner, path])


def _listed(world: World, acting: Acting, fits: Callable[[str], bool]) -> tuple[set[Place], set[Place]]:
    """The files that are listed for certain, and those that may be: of the leader's, those that do not stand behind."""
    homes = world.sight(acting) or []
    own = [home for home in homes if home.agent in (acting.agent, None)]
    certain, possible = world.living(own, fits)
    hidden_for_certain, hidden = ({path for _, path in files} for files in world.living(own))
    for names in (hidden_for_certain, hidden):
        names |= {"MEMORY.md"} if "memory.md" in names else set()
    led_certain, led_possible = world.living([home for home in homes if home not in own], fits)
    certain |= {(home, path) for home, path in led_certain if path not in hidden}
    return certain, possible | {(home, path) for home, path in led_possible if path not in hidden_for_certain}


def read_file(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    path = d.looted(d.loot.backups, 0.06, d.path_to_read(acting, d.world.own_home(acting)))
    params = {**fields, **({"from_line": "1", "lines": "3"} if d.chance(0.2) else {})}
    method = "HEAD" if d.chance(0.06) else "GET"
    call = Call(f"GET {FILE}", acting.key, method, d.url_of(acting.agent, "files", path), acting, params=params)
    if path not in BAD_PATHS:
        call.exact = found_as_known(acting, path)
    return call


def found_as_known(acting: Acting, path: str) -> Callable[[World, Answer], None]:
    """A file is found where there is one to be seen, and only there."""
    names = {path, "memory.md"} if path == "MEMORY.md" else {path}

    def exact(world: World, answer: Answer) -> None:
        homes = world.sight(acting)
        if homes is None:
            return
        certain, possible = world.living(homes, names.__contains__)
        demand(possible or not answer.ok, f"{path} is found, and nobody has it")
        demand(answer.ok or not certain, f"{path} is not found, and is there: {answer.text[:200]}")

    return exact


def put_file(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    return put(d, acting, fields, scope, d.path())


def put(d: Draw, acting: Acting, fields: dict[str, Any], scope: Scope | None, path: str) -> Call:
    """Write a whole file, of fresh lines."""
    content, forms = d.text(path)
    body = {"content": content, **fields, **({"sort_order": d.rng.randint(-1, 3)} if d.chance(0.1) else {})}
    call = Call(f"PUT {FILE}", acting.key, "PUT", d.url_of(acting.agent, "files", path), acting, body=body)
    call.headers = if_match(d)
    call.may = may_write(acting, scope)
    call.effects = wrote(acting, scope, path, forms=forms, replaces=True)
    call.exact = is_new_as_known(file_before(d, acting, scope, path))
    return call


def patch_file(d: Draw) -> Call:
    """Replace a word that everybody has, or a line or canary that somebody has."""
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    path = d.path_at(d.world.place(acting, scope))
    old, new = old_text(d, d.world.place(acting, scope), path), d.line() if d.chance(0.8) else ""
    flags = {"sort_order": d.rng.randint(-1, 3)} if d.chance(0.1) else {}
    body = {"old_text": old, "new_text": new, "replace_all": d.chance(0.4), **flags, **fields}
    call = Call(f"PATCH {FILE}", acting.key, "PATCH", d.url_of(acting.agent, "files", path), acting, body=body)
    call.headers = if_match(d)
    call.may = may_write(acting, scope)
    call.effects = wrote(acting, scope, path, forms=tuple(sorted(canaries_in(new))), edits=True)
    call.exact = found_own_text(file_before(d, acting, scope, path), old)
    return call


def old_text(d: Draw, home: Home | None, path: str) -> str:
    """What to replace: mostly a canary that stands there, else anything."""
    anything = (d.one_of(WORDS), d.known_canary(), d.looted(d.loot.lines, 1.0, "harbour"), f"# {HEADINGS[0]}")
    return d.canary_at(home, path) if d.chance(0.7) else d.one_of(anything)


def write_file(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    path = d.path()
    strategy = d.one_of(("append", "append", "replace_section", "upsert_kv", "overwrite"))
    line = d.line()
    d.loot.lines.append(line)
    content = {"replace_section": f"## {d.one_of(HEADINGS)}\n\n{line}\n", "upsert_kv": f"keeper: {line}"}
    body = {"strategy": strategy, "content": content.get(strategy, f"{line}\n"), **fields}
    url = d.url_of(acting.agent, "files", path, "writes")
    call = Call(f"POST {FILE}/writes", acting.key, "POST", url, acting, body=body, headers=if_match(d))
    call.may = may_write(acting, scope)
    # An upsert takes a line apart at its colon.
    forms = sorted(canaries_in(line)) if strategy == "upsert_kv" else (line,)
    call.effects = wrote(acting, scope, path, forms=tuple(forms), replaces=strategy == "overwrite")
    call.exact = is_new_as_known(file_before(d, acting, scope, path))
    return call


def delete_file(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    path = d.path_at(d.world.place(acting, scope))
    before = file_before(d, acting, scope, path)
    url = d.url_of(acting.agent, "files", path)
    call = Call(f"DELETE {FILE}", acting.key, "DELETE", url, acting, params=fields, headers=if_match(d))
    call.may = may_write(acting, scope)

    def effects(world: World, answer: Answer) -> list[Effect]:
        home = world.place(acting, scope)
        assert home is not None
        return [Deleted(home, path)]

    def exact(world: World, answer: Answer) -> None:
        demand(not answer.ok or (before and before.living is not False), f"{path} was deleted, and was not there")

    call.effects, call.exact = effects, exact
    return call


def list_versions(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    scope, fields = scoped(d, acting, fields)
    path = d.looted(d.loot.backups, 0.06, d.path_to_read(acting, d.world.own_home(acting, scope)))
    params = {**fields, "limit": d.one_of(("1", "50"))}
    if d.chance(0.7):
        params["diff_to"] = str(d.looted(d.loot.versions, 0.3, d.one_of((1, 1, 2, 3))))
    if d.chance(0.08):
        params["cursor"] = d.looted(d.loot.cursors, 1.0, "W10")
    url = d.url_of(acting.agent, "files", path, "versions")
    call = Call(f"GET {FILE}/versions", acting.key, "GET", url, acting, params=params, past=True)
    names = {path, "memory.md"} if path == "MEMORY.md" else {path}

    def exact(world: World, answer: Answer) -> None:
        homes = [h for h in world.sight(acting) or () if scope in (None, h.scope) and h.agent in (acting.agent, None)]
        known = [world.files[h][name] for h in homes for name in names if name in world.files.get(h, {})]
        demand(known or not answer.ok, f"{path} has a history, and nobody had it")
        if not params.keys() & {"diff_to", "cursor"} and path not in BAD_PATHS and homes:
            lasting = [state for state in known if not state.may_be_gone]
            demand(answer.ok or not lasting, f"{path} has no history, and was there: {answer.text[:200]}")

    call.exact = exact
    return call


def file_sources(d: Draw) -> Call:
    """Where the lines of a file come from: its texts, and the messages that its owner said."""
    acting, fields = d.acting(reads=True)
    path = d.path_to_read(acting, d.world.own_home(acting, None))
    params = {**fields, **({"from_line": d.one_of(("1", "2", "9"))} if d.chance(0.3) else {})}
    url = d.url_of(acting.agent, "files", path, "sources")
    return Call(f"GET {FILE}/sources", acting.key, "GET", url, acting, params=params, said=True)


def restore_version(d: Draw) -> Call:
    acting, fields = d.acting()
    scope, fields = scoped(d, acting, fields)
    path = d.path_at(d.world.place(acting, scope))
    version = d.looted(d.loot.versions, 0.4, d.rng.randint(1, 3))
    url = d.url_of(acting.agent, "files", path, "versions", str(version), "restore")
    call = Call(f"POST {FILE}/versions/{{version}}/restore", acting.key, "POST", url, acting, headers=if_match(d))
    call.body = fields or None
    call.may = may_write(acting, scope)
    before = file_before(d, acting, scope, path)

    def effects(world: World, answer: Answer) -> list[Effect]:
        home = world.place(acting, scope)
        assert home is not None
        return [Restored(home, path)]

    call.effects = effects
    call.exact = lambda world, answer: demand(not answer.ok or before, f"{path} was restored, and never was there")
    return call


OPERATIONS_ON_FILES: dict[str, tuple[int, Operation]] = {
    f"GET {AGENT}/files": (8, list_files),
    f"GET {FILE}": (9, read_file),
    f"PUT {FILE}": (14, put_file),
    f"PATCH {FILE}": (7, patch_file),
    f"DELETE {FILE}": (4, delete_file),
    f"POST {FILE}/writes": (7, write_file),
    f"GET {FILE}/versions": (8, list_versions),
    f"GET {FILE}/sources": (4, file_sources),
    f"POST {FILE}/versions/{{version}}/restore": (3, restore_version),
}
