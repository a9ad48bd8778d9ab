"""The table of operations: forgetting, clearing, indexing anew and snapshots."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tests.canary.calls import Answer, Call, demand, entries_of, objects_of
from tests.canary.draw import WORDS, Draw, home_of_row
from tests.canary.effects import INSTRUCTIONS, Cleared, Effect, Forgot, Wrote
from tests.canary.effects_turns import EpisodesCleared, ReportsCleared, TalksCleared, note_of
from tests.canary.operations import AGENT, Operation, may_write, scoped
from tests.canary.operations_memory import MEMORY, memory_call, place_of
from tests.canary.talks import Talk
from tests.canary.words import canaries_in, full
from tests.canary.world import SEEDS, Acting, Home, World

from reverie_server.files.well_known import LONG_TERM

SNAPSHOT = f"{AGENT}/workspace/memory"


def target(d: Draw, acting: Acting) -> dict[str, Any]:
    """What to forget: a canary, a name of the graph, a line or a passage of whomever, a word of everybody's, or not
    exactly one thing."""
    line = d.looted(d.loot.lines, 1.0, "harbour")
    home = d.world.place(acting, None)
    named = sorted(d.world.derived.words(home, "entities")) if home else []
    return d.one_of(
        (
            *({"text": d.canary_of(home)} for _ in range(5)),
            *({"text": d.looted(named, 1.0, "harbour")} for _ in range(2)),
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
    call.may, call.past, call.said, call.derives = may_write(acting), True, True, not is_dry

    def effects(world: World, answer: Answer) -> list[Effect]:
        # Also what a daily note has of a message that it cuts in the middle of the text.
        texts = [what["text"]] if "text" in what else []
        texts += [item["text"] for item in answer.result["items"]]
        # A query without items only ever looks.
        return [] if answer.result["dry_run"] else [Forgot(place_of(world, acting), texts=tuple(dict.fromkeys(texts)))]

    def exact(world: World, answer: Answer) -> None:
        if answer.ok:
            check_receipt(world, acting, answer, what.get("text"))
            demand(
                "id" not in what or answer.result["items"], "a passage that the caller does not have is found by its id"
            )

    call.effects, call.exact = effects, exact
    return call


def check_receipt(world: World, acting: Acting, answer: Answer, text: str | None) -> None:
    """A receipt counts and names what the caller's own files hold, and of the others the shared ones alone."""
    home = place_of(world, acting)
    files = world.files.get(home, {})
    receipt = answer.result
    removed = receipt["removed"].get("document", dict.fromkeys(("files", "passages", "versions", "backups"), 0))
    of_files = [item for item in receipt["items"] if item["tier"] == "document"]
    paths = {item["path"] for item in of_files}
    demand(paths <= files.keys(), f"a receipt names files that were never there: {paths - files.keys()}")
    present = {item["path"] for item in of_files if item["present"]}
    demand(
        removed["files"] + removed["backups"] <= len(paths), f"a receipt counts files that it does not name: {receipt}"
    )
    demand(present <= {path for path in files if files[path].living is not False}, "a receipt has a deleted file")
    shared = [h for h in world.sight(acting) or () if h.owner is None and h.agent in (acting.agent, None)]
    canary = text if text is not None and {text} == canaries_in(text) else None
    for path in receipt["still_shared"]:
        states = [world.files[h][path] for h in shared if path in world.files.get(h, {})]
        holds = [state for state in states if state.living is not False and (not canary or canary in state.present)]
        demand(holds, f"a receipt says that shared {path} holds it")
    if canary:
        holding = {path for path, state in files.items() if any(canary.startswith(known) for known in state.forms)}
        # A note has the beginning of a long message, which goes with the statement that it begins.
        of_talks = (talk for _, talk in world.talks.at(home) if canary in talk.said)
        holding |= {note_of(day) for talk in of_talks for day in talk.days} & files.keys()
        demand(paths <= holding, f"a receipt names files that never held it: {paths - holding}")
        said = said_in_receipt(world, home, receipt, canary)
        told = derived_in_receipt(world, home, receipt, canary)
        demand(holding or not any(removed.values()), "a receipt counts what is not there")
        demand(holding or said or told or not receipt["embeddings"], "a receipt counts vectors of what is not there")


def said_in_receipt(world: World, home: Home, receipt: dict[str, Any], canary: str) -> bool:
    """Whether a canary may have been said in a home; a receipt names and counts sessions of that home alone."""
    holding = [(key, talk) for key, talk in world.talks.at(home) if canary in talk.said]
    paths = {item["path"] for item in receipt["items"] if item["tier"] == "message"}
    demand(paths <= {key.path for key, _ in holding}, f"a receipt names sessions that never held it: {paths}")
    counted = receipt["removed"].get("message", {"files": 0, "versions": 0})
    demand(counted["files"] <= len(holding), f"a receipt counts {counted['files']} sessions of {len(holding)}")
    return bool(holding)


def derived_in_receipt(world: World, home: Home, receipt: dict[str, Any], canary: str) -> bool:
    """Whether something derived may hold a canary; a receipt names and counts what that home has alone."""
    rows = world.derived.of("episodes", [home]).values()
    said = {key for key, talk in world.talks.at(home) if canary in talk.said}
    paths = {item["path"] for item in receipt["items"] if item["tier"] == "episodic"}
    holding = {row.path for row in rows if canary in row.forms}
    demand(paths <= holding, f"a receipt names episodes that never held it: {paths - holding}")
    told = [row for row in rows if canary in row.forms or row.talk in said]
    counted = {tier: receipt["removed"].get(tier, {"files": 0})["files"] for tier in ("episodic", "fact", "report")}
    demand(counted["episodic"] <= len(told), f"a receipt counts {counted['episodic']} episodes of {len(told)}")
    facts = {canary for table in ("mentions", "entities", "facts") for canary in world.derived.words(home, table)}
    files = {place for known in full(canary, world.homes_of) for place, _ in world.homes_of[known]}
    is_told = bool(told or said) or canary in facts or home in files
    demand(not counted["fact"] or is_told, "a receipt counts what neither graph nor facts have")
    reports = [row for row in world.derived.of("reports", [home]).values() if canary in row.forms]
    demand(counted["report"] <= len(reports), f"a receipt counts {counted['report']} reports of {len(reports)}")
    return bool(told)


def clear(d: Draw) -> Call:
    acting, fields = d.acting(everybody=True)
    tiers = d.one_of((["document"], ["document", "episodic", "message"], ["message"], ["episodic"]))
    sessions = ("sessions/", "sessions/web", f"sessions/{d.session_id(acting)}")
    episodes = ("episodes/", f"episodes/{d.session_id(acting)}/", *sessions)
    under = episodes if "episodic" in tiers else sessions
    prefix = d.one_of(under) if tiers != ["document"] and d.chance(0.5) else d.prefix()
    prefix = prefix if d.chance(0.8) else None
    is_dry = d.chance(0.7) or prefix in ("", None)
    older = d.one_of((0, 1, 365)) if d.chance(0.2) else None
    body = {"dry_run": is_dry, "tiers": tiers, **fields}
    body |= {name: value for name, value in (("path_prefix", prefix), ("older_than_days", older)) if value is not None}
    call = memory_call(d, "clear", acting, body)
    call.derives = not is_dry

    def homes(world: World) -> list[Home]:
        if acting.everybody:
            return [home for home in world.sight(acting) or () if home.agent == acting.agent]
        return [home] if (home := world.place(acting, None)) else []

    def fits_in(home: Home) -> Callable[[str], bool]:
        kept = INSTRUCTIONS if home.owner is None else ()
        return lambda path: path.startswith(prefix or "") and (path not in kept or bool(prefix))

    def is_under(path: str) -> bool:
        return path.startswith(prefix or "")

    def effects(world: World, answer: Answer) -> list[Effect]:
        if is_dry:
            return []
        gone: list[Effect] = []
        for home in homes(world):
            if "document" in tiers:
                gone.append(Cleared(home, None, fits_in(home), all_of_them=older is None))
            if "document" in tiers and older is None and not prefix:
                gone.append(ReportsCleared(home))
            if "episodic" in tiers and older is None:
                gone.append(EpisodesCleared(home, None, is_under))
            if "message" in tiers:
                gone.append(TalksCleared(home, None, is_under, all_of_them=older is None))
        return gone

    def exact(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        bounds = [world.rows(home, fits_in(home)) for home in homes(world)]
        least, most = (sum(counts) for counts in zip((0, 0), *bounds, strict=True))
        counted = answer.result["removed"].get("document", 0)
        demand(counted <= most, f"{counted} files are cleared, and there are at most {most}")
        if older is None and "document" in tiers:
            demand(counted >= least, f"{counted} files are cleared, and there are at least {least}")
        check_said(answer.result["removed"].get("message", 0), [t for h in homes(world) for t in said_in(world, h)])
        told = [row for row in episodes_before if row.home in homes(world) and is_under(row.path or "")]
        removed = answer.result["removed"].get("episodic", 0)
        demand(removed <= len(told), f"{removed} episodes are cleared of {len(told)}")
        all_of_them = older is None and "episodic" in tiers
        demand(not all_of_them or removed == len(told), f"{removed} episodes are cleared of {len(told)}")

    episodes_before = list(d.world.derived.of("episodes").values())

    def said_in(world: World, home: Home) -> list[Talk]:
        return [talk for _, talk in world.talks.at(home, is_under)] if "message" in tiers else []

    def check_said(counted: int, talks: Sequence[Talk]) -> None:
        counts = [talk.count for talk in talks]
        if None not in counts:
            most = sum(count or 0 for count in counts)
            least = sum(talk.count or 0 for talk in talks if talk.living and len(talk.homes) == 1)
            demand(counted <= most, f"{counted} messages are cleared, and there are at most {most}")
            demand(older is not None or counted >= least, f"{counted} messages are cleared of at least {least}")

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
            talks = [talk for _, talk in world.talks.at(home) if talk.living is not False]
            told = len(world.derived.of("episodes", [home]))
            least = len(certain) + sum(bool(talk.living) and len(talk.homes) == 1 for talk in talks) + told
            done, most = answer.result["documents"], len(possible) + len(talks) + told
            demand(least <= done <= most, f"{done} files, sessions and episodes are indexed of {least}")

    call.exact = exact
    return call


# Snapshots


def is_in_snapshots(path: str) -> bool:
    core = path in (*SEEDS, *LONG_TERM, "KNOWLEDGE.md", "DREAMS.md")
    return core or (path.startswith("memory/") and path.endswith(".md"))


def export(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
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
        # The long-term memory is written under the name that it has there.
        memory = next((held[name] for name in LONG_TERM if name in held), "")
        texts = {**dict.fromkeys(LONG_TERM, memory), **held}
        return [
            Wrote(home, path, agent=acting.agent, forms=tuple(sorted(canaries_in(texts[path]))), replaces=True)
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


def _receipts(d: Draw, acting: Acting, fields: dict[str, str], operation: str = "", *path: str) -> Call:
    url = d.url_of(acting.agent, "receipts", *path)
    call = Call(f"GET {AGENT}/receipts{operation}", acting.key, "GET", url, acting, params=fields, past=True, said=True)
    call.names = lambda world: world.named(world.sight(acting) or [])

    def check(world: World, answer: Answer) -> None:
        for row in objects_of(answer.result) if answer.ok else ():
            # A place is named by its path, as its file or its session is called.
            told = {name: value for name, value in row.items() if name != "path" and not isinstance(value, list | dict)}
            demand(not canaries_in(str(told)), f"a receipt has what was forgotten: {told}")

    call.check = check
    return call


def list_receipts(d: Draw) -> Call:
    return _receipts(d, *d.acting(reads=True))


def get_receipt(d: Draw) -> Call:
    """A receipt out of a list of them, or one that anybody was shown."""
    acting, fields = d.acting(reads=True)
    if d.chance(0.4):
        looted = d.looted(d.loot.receipts, 0.7, d.one_of(("rcp-1", "rcp-9", "x")))
        return _receipts(d, acting, fields, "/{receipt_id}", looted)
    call = _receipts(d, acting, fields)

    def follow(answer: Answer) -> Call | None:
        receipts = answer.result["receipts"] if answer.ok else []
        return _receipts(d, acting, fields, "/{receipt_id}", receipts[0]["id"]) if receipts else None

    call.follow = follow
    return call


def _unmet(d: Draw, acting: Acting, fields: dict[str, str], method: str = "GET", *path: str) -> Call:
    label = f"{method} {AGENT}/unmet-requests{'/{request_id}' if path else ''}"
    url = d.url_of(acting.agent, "unmet-requests", *path)
    call = Call(label, acting.key, method, url, acting, params=fields)
    if method == "DELETE":
        call.may = may_write(acting)

    def check(world: World, answer: Answer) -> None:
        owner = acting.owner or acting.key.owner
        for row in objects_of(answer.result) if answer.ok else ():
            demand("session_id" not in row or row["owner_key"] == owner, f"a request of somebody else's talk: {row}")

    call.check = check
    return call


def list_unmet_requests(d: Draw) -> Call:
    return _unmet(d, *d.acting(reads=True))


def get_unmet_request(d: Draw) -> Call:
    return _of_unmet(d, "GET")


def dismiss_unmet_request(d: Draw) -> Call:
    return _of_unmet(d, "DELETE")


def _of_unmet(d: Draw, method: str) -> Call:
    """One out of a list of them, or any number, which may be somebody else's."""
    acting, fields = d.acting(reads=method == "GET")
    if d.chance(0.4):
        return _unmet(d, acting, fields, method, d.one_of(("ask-1", "ask-2", "ask-9", "x")))
    call = _unmet(d, acting, fields)

    def follow(answer: Answer) -> Call | None:
        requests = answer.result["requests"] if answer.ok else []
        return _unmet(d, acting, fields, method, requests[0]["id"]) if requests else None

    call.follow = follow
    return call


OPERATIONS_OF_KEEPING: dict[str, tuple[int, Operation]] = {
    f"POST {MEMORY}/forget": (30, forget),
    f"POST {MEMORY}/clear": (5, clear),
    f"GET {AGENT}/receipts": (2, list_receipts),
    f"GET {AGENT}/receipts/{{receipt_id}}": (1, get_receipt),
    f"GET {AGENT}/unmet-requests": (2, list_unmet_requests),
    f"GET {AGENT}/unmet-requests/{{request_id}}": (1, get_unmet_request),
    f"DELETE {AGENT}/unmet-requests/{{request_id}}": (1, dismiss_unmet_request),
    f"POST {MEMORY}/reindex": (2, reindex),
    f"GET {SNAPSHOT}/export": (5, export),
    f"POST {SNAPSHOT}/import/preview": (3, preview_import),
    f"POST {SNAPSHOT}/import": (4, apply_import),
}
