"""The table of operations: conversations."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import MALFORMED_AGENTS, WORDS, Draw
from tests.canary.effects import Effect
from tests.canary.effects_turns import OfTalk, TalkCompacted, Talked, TalkEmptied, TalkGone, TalkPut
from tests.canary.operations import AGENT, Operation, may_talk
from tests.canary.talks import Part, Said, TalkKey
from tests.canary.words import canaries_in
from tests.canary.world import Acting, Home, World

from reverie_server.http.context import encode_cursor

SESSION = f"{AGENT}/sessions/{{s}}"
DAYS = ("2026-04-03", "2026-04-04")
STATES = ("active", "active", "active", "active", "paused", "terminated")
TRIGGERS = ("web", "channel", "api", "cron")


# What a request means


def key_of(acting: Acting, session_id: str) -> TalkKey:
    return TalkKey(acting.key.tenant, acting.agent, acting.owner or acting.key.owner, session_id)


def today() -> str:
    """The day it is for agents that set no time zone."""
    return datetime.now(UTC).date().isoformat()


def session_call(d: Draw, method: str, acting: Acting, session_id: str, name: str = "", **rest: Any) -> Call:
    """A request on a session; what it may show is the session's, whose id it is, and nothing else of any home."""
    url = d.url_of(acting.agent, "sessions", session_id, *([name] if name else []))
    label = f"{method} {SESSION}" + (f"/{name}" if name else "")
    call = Call(label, acting.key, method, url, acting, **rest)
    call.homes = lambda world: []
    return call


def shows(call: Call, acting: Acting, session_id: str, *parts: Part) -> Call:
    """The call with what it may show of the sessions that it may mean."""

    def names(world: World) -> set[str]:
        if world.sight(acting) is None:
            return set()
        possible, _ = world.talks.meant(key_of(acting, session_id))
        return world.talks.shown(possible, *parts)

    call.names = names
    return call


def found_as_meant(acting: Acting, session_id: str, answer: Answer, world: World) -> None:
    """A session is found where there is one for the caller, and only there, whoever else has one of that id."""
    key = key_of(acting, session_id)
    possible, certain = world.talks.meant(key)
    if answer.ok:
        demand(possible, f"a session {session_id} is found, and is not the caller's")
    if answer.status == 404 and world.sight(acting) is not None:
        demand(not certain, f"a session is not found, and is there: {certain}")
        for one in possible:
            world.talks.by_key[one].living = False
    demand("ambiguous_match" not in answer.text, f"others' sessions {session_id} are told of: {answer.text[:300]}")


def check_session(world: World, key: TalkKey, body: dict[str, Any]) -> None:
    """What is said of a session is true of that of its owner, as far as is known."""
    talk = world.talks.by_key.get(key._replace(owner=body["owner_key"]))
    demand(talk is not None and talk.living is not False, f"a session is shown that there is not: {body}")
    demand(body["session_id"] == key.session_id, f"another session is shown: {body}")
    demand(key.owner == body["owner_key"], f"a session of another owner is shown: {body}")
    if talk is not None and talk.count is not None:
        demand(body["message_count"] == talk.count, f"a session of {talk.count} messages says: {body}")
    if talk is not None:
        talk.living = True


def home_of(world: World, key: TalkKey, acting: Acting) -> Home:
    """Where a session is, or is begun."""
    talk = world.talks.by_key.get(key)
    if talk is not None and talk.living is not False and len(talk.homes) == 1:
        return next(iter(talk.homes))
    place = world.place_of_talk(acting)
    assert place is not None
    return place


# The session


def get_session(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    session_id = d.session_id(acting)
    call = session_call(d, "GET", acting, session_id, params=fields)

    def exact(world: World, answer: Answer) -> None:
        found_as_meant(acting, session_id, answer, world)
        if answer.ok:
            check_session(world, key_of(acting, session_id), answer.result)

    call.exact = exact
    return shows(call, acting, session_id, "metadata")


def put_session(d: Draw) -> Call:
    acting, fields = d.acting()
    return keep(d, acting, fields, d.session_id(acting), d.one_of(STATES) if d.chance(0.6) else None)


def keep(d: Draw, acting: Acting, fields: dict[str, str], session_id: str, state: str | None) -> Call:
    """Put a session, mostly with fresh metadata."""
    has_metadata = d.chance(0.75)
    metadata = {d.one_of(WORDS): d.line(), "nested": [{"title": d.line()}]} if has_metadata else None
    body = {**fields, **({"metadata": metadata} if metadata is not None else {})}
    body |= {"state": state} if state else {}
    call = session_call(d, "PUT", acting, session_id, body=body)
    call.may = may_talk(acting)
    key = key_of(acting, session_id)

    def effects(world: World, answer: Answer) -> list[Effect]:
        texts = None if metadata is None else tuple(text for text in _texts(metadata) if canaries_in(text))
        written = key._replace(owner=answer.result["owner_key"])
        return [TalkPut(home_of(world, written, acting), key=written, metadata=texts)]

    call.effects, call.exact = effects, _is_meant_session(d, key, lambda body: body)
    return shows(call, acting, session_id, "metadata")


def delete_session(d: Draw) -> Call:
    return _remove(d, "", TalkGone)


def clear_messages(d: Draw) -> Call:
    return _remove(d, "messages", TalkEmptied)


def _remove(d: Draw, name: str, effect: type[OfTalk]) -> Call:
    acting, fields = d.acting()
    session_id = d.session_id(acting)
    call = session_call(d, "DELETE", acting, session_id, name, params=fields, derives=True)
    call.may = may_talk(acting)
    key = key_of(acting, session_id)

    def effects(world: World, answer: Answer) -> list[Effect]:
        return [effect(home_of(world, key, acting), key=key)]

    # The session may be gone by now as far as the model knows: what it was is kept for the check.
    before = d.world.talks.meant(key)[0]

    def exact(world: World, answer: Answer) -> None:
        demand(not answer.ok or before, f"a session {key} is removed, and never was there")
        if not answer.ok:
            found_as_meant(acting, session_id, answer, world)

    call.effects, call.exact = effects, exact
    return call


def _is_meant_session(
    d: Draw, key: TalkKey, session_of: Callable[[dict[str, Any]], dict[str, Any]]
) -> Callable[[World, Answer], None]:
    """A write goes to the session that is meant, which is new where there was none, and tells of no other."""
    possible, _ = d.world.talks.meant(key)
    living = {one: d.world.talks.by_key[one].living for one in possible}

    def exact(world: World, answer: Answer) -> None:
        demand("ambiguous_match" not in answer.text, f"others' sessions are told of: {answer.text[:300]}")
        if answer.ok:
            body = session_of(answer.result)
            written = key._replace(owner=body["owner_key"])
            demand(written == key, f"a write to {key} goes to {written}")
            check_session(world, key, body)
            was_living = living.get(written, False)
            is_new = answer.status == 201
            demand(was_living is None or is_new is not was_living, f"a write misjudges whether {written} is there")

    return exact


# What is said


def message(d: Draw, role: str) -> tuple[dict[str, Any], Said]:
    """Something new, as it is sent and as it is known; some of it is worth a note, some is cut in a daily note."""
    line = d.line()
    d.loot.lines.append(line)
    shapes = ("{}", "{}", "Please remember: {}", "We decided this. {}", f"{{}}\n{line}")
    text = d.one_of(shapes).format(line if role != "tool" else d.line())
    if d.chance(0.12):
        filler = " ".join(d.rng.choices(WORDS, k=60))[: {"user": 200, "assistant": 300}.get(role, 40)]
        text = f"{filler[: len(filler) - d.rng.randint(8, 70)]} {text}"
    message_id = d.one_of(("m-1", "m-2", "m-3", f"m-{d.rng.randint(4, 99)}")) if d.chance(0.4) else None
    day = d.one_of(DAYS) if d.chance(0.4) else None
    sent: dict[str, Any] = {"role": role, "content": text}
    carried: tuple[str, ...] = ()
    if role == "assistant" and d.chance(0.15):
        arguments = d.line()
        called = {"name": "look", "arguments": json.dumps({"query": arguments})}
        sent["tool_calls"] = [{"id": "call-1", "type": "function", "function": called}]
        carried = (called["arguments"],)
    if role == "tool":
        sent |= {"tool_call_id": "call-1", "name": "look"}
    sent |= {"id": message_id} if message_id else {}
    sent |= {"at": f"{day}T{d.one_of(('00:00:00', '09:30:00', '23:59:59'))}Z"} if day else {}
    return sent, Said(role, text, message_id, day, carried)


ROLES = (
    ("user", "assistant"),
    ("user", "assistant"),
    ("user", "assistant", "user", "assistant"),
    ("user",),
    ("assistant",),
    ("system", "user", "assistant", "tool", "assistant"),
)


def append(d: Draw) -> Call:
    acting, fields = d.acting()
    return say(d, acting, fields, d.session_id(acting), d.one_of(ROLES))


def say(d: Draw, acting: Acting, fields: dict[str, str], session_id: str, roles: Sequence[str]) -> Call:
    """Add fresh messages of these roles."""
    drawn = [message(d, role) for role in roles]
    said, day = [known for _, known in drawn], today()
    body = {"messages": [sent for sent, _ in drawn], **fields}
    call = session_call(d, "POST", acting, session_id, "messages", body=body)
    call.may = may_talk(acting)
    key = key_of(acting, session_id)

    def effects(world: World, answer: Answer) -> list[Effect]:
        todays = sorted({day, today()})
        written = key._replace(owner=answer.result["session"]["owner_key"])
        talk = world.talks.by_key.get(written)
        waiting = talk.waiting.day if talk is not None and talk.waiting is not None else None
        days = tuple(dict.fromkeys([*todays, *(one.day for one in said if one.day), *([waiting] if waiting else [])]))
        home = home_of(world, written, acting)
        stored = answer.result["stored"]
        return [Talked(home, key=written, days=days, said=said, stored=stored, todays=len(todays))]

    is_meant = _is_meant_session(d, key, lambda body: body["session"])

    def exact(world: World, answer: Answer) -> None:
        is_meant(world, answer)
        demand(not answer.ok or answer.result["stored"] <= len(said), "more is stored than was said")

    call.effects, call.exact = effects, exact
    return shows(call, acting, session_id, "metadata")


def list_messages(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    session_id = d.session_id(acting)
    first = d.looted(d.loot.cursors, 0.1, "")
    limit = d.one_of(("2", "5", "500", "500", "500"))
    shown: list[dict[str, Any]] = []

    def page(cursor: str) -> Call:
        def exact(world: World, answer: Answer) -> None:
            found_as_meant(acting, session_id, answer, world)
            if not answer.ok:
                return
            shown.extend(answer.result["messages"])
            possible, _ = world.talks.meant(key_of(acting, session_id))
            counts = {world.talks.by_key[key].count for key in possible}
            if answer.result["next_cursor"] is None and not first:
                demand(None in counts or len(shown) in counts, f"{len(shown)} messages are listed of {counts}")

        def follow(answer: Answer) -> Call | None:
            return page(answer.result["next_cursor"]) if answer.ok and answer.result["next_cursor"] else None

        params = {**fields, "limit": limit, **({"cursor": cursor} if cursor else {})}
        call = session_call(d, "GET", acting, session_id, "messages", params=params)
        call.exact, call.follow = exact, follow
        return shows(call, acting, session_id, "said")

    return page(first)


def compact(d: Draw) -> Call:
    acting, fields = d.acting()
    session_id = d.session_id(acting)
    keep_last = d.one_of((0, 1, 2, None))
    body = {**fields, **({"keep_last": keep_last} if keep_last is not None else {})}
    call = session_call(d, "POST", acting, session_id, "compact", body=body or None)
    call.may, day = may_talk(acting), today()

    def effects(world: World, answer: Answer) -> list[Effect]:
        possible, _ = world.talks.meant(key_of(acting, session_id))
        days = tuple(sorted({day, today()}))
        flushed, summary = answer.result["flushed"], answer.result["summary"]
        # Where it is not known which of several was meant, all of them may have been.
        return [
            TalkCompacted(home, key=key, days=days, flushed=flushed, summary=summary)
            for key in possible
            for home in sorted(world.talks.by_key[key].homes, key=str)
        ]

    call.effects = effects
    call.exact = lambda world, answer: found_as_meant(acting, session_id, answer, world)
    return shows(call, acting, session_id, "said", "summary")


def complete(d: Draw) -> Call:
    acting, fields = d.acting()
    trigger = d.one_of(TRIGGERS) if d.chance(0.8) else None
    return complete_session(d, acting, fields, d.session_id(acting), trigger)


def complete_session(d: Draw, acting: Acting, fields: dict[str, str], session_id: str, trigger: str | None) -> Call:
    """Say that a conversation is over for now."""
    body = {**fields, **({"trigger_source": trigger} if trigger else {})}
    call = session_call(d, "POST", acting, session_id, "complete", body=body or None)
    call.may = may_talk(acting)
    call.exact = lambda world, answer: found_as_meant(acting, session_id, answer, world)
    return call


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    parts = value.values() if isinstance(value, dict) else value
    return [text for part in parts for text in _texts(part)]


# What there is


def list_sessions(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    first = d.looted(d.loot.cursors, 0.12, "")
    state = d.one_of(("", "", "active", "paused"))
    limit = d.one_of((1, 3, 500))
    shown: list[str] = []

    def own(world: World) -> list[TalkKey]:
        key = key_of(acting, "")
        return [one for one in world.talks.by_key if one[:3] == key[:3]] if world.sight(acting) is not None else []

    def names(world: World) -> set[str]:
        keys = own(world)
        return world.talks.shown(keys, "metadata") | {c for key in keys for c in canaries_in(key.session_id)}

    def page(cursor: str) -> Call:
        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            for body in answer.result["sessions"]:
                check_session(world, key_of(acting, body["session_id"]), body)
                demand(not state or body["state"] == state, f"a session of another state is listed: {body}")
                shown.append(body["session_id"])
            if answer.result["next_cursor"] is None and not first and not state:
                living = {key.session_id for key in own(world) if world.talks.by_key[key].living}
                demand(len(shown) == len(set(shown)), f"a list has sessions twice: {shown}")
                demand(living <= set(shown), f"a list lacks sessions: {living - set(shown)}")

        def follow(answer: Answer) -> Call | None:
            return page(answer.result["next_cursor"]) if answer.ok and answer.result["next_cursor"] else None

        params = {"limit": str(limit), "state": state, "cursor": cursor}
        params = {**fields, **{name: value for name, value in params.items() if value}}
        url = d.url_of(acting.agent, "sessions")
        call = Call(f"GET {AGENT}/sessions", acting.key, "GET", url, acting, params=params, exact=exact, follow=follow)
        call.homes, call.names = lambda world: [], names
        return call

    return page(first)


def list_owners(d: Draw) -> Call:
    acting, _ = d.acting(reads=True)
    acting = Acting(acting.key, acting.agent, None, everybody=True, malformed=acting.agent in MALFORMED_AGENTS)
    url = d.url_of(acting.agent, "owners")
    call = Call(f"GET {AGENT}/owners", acting.key, "GET", url, acting, params={"limit": "500"})
    call.homes = lambda world: []

    def exact(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        owners = [each["owner_key"] for each in answer.result["owners"]]
        demand(len(owners) == len(set(owners)), f"a list has owners twice: {owners}")
        place = (acting.key.tenant, acting.agent)
        known = {key.owner for key in world.talks.by_key if key[:2] == place}
        known |= {home.owner for home in world.files if home[:2] == place}
        demand(set(owners) <= known, f"a list has owners that the agent does not know: {set(owners) - known}")
        talking = {key.owner for key, talk in world.talks.by_key.items() if key[:2] == place and talk.living}
        demand(talking - {None} <= set(owners), f"a list lacks owners: {talking - set(owners)}")

    call.exact = exact
    return call


def summary(d: Draw) -> Call:
    acting, fields = d.acting(reads=True)
    call = Call(f"GET {AGENT}/summary", acting.key, "GET", d.url_of(acting.agent, "summary"), acting, params=fields)
    call.homes = lambda world: []

    def exact(world: World, answer: Answer) -> None:
        if not answer.ok:
            return
        key = key_of(acting, "")
        talks = [talk for one, talk in world.talks.by_key.items() if one[:3] == key[:3]]
        most = sum(talk.living is not False for talk in talks)
        least = sum(talk.living is True for talk in talks)
        counted = answer.result["sessions"]
        demand(least <= counted <= most, f"{counted} sessions are counted, and there are {least} to {most}")

    call.exact = exact
    return call


def timeline(d: Draw) -> Call:
    """Days with what was said, learned and forgotten: what the memory has, and the names of its conversations."""
    acting, fields = d.acting(reads=True)
    cursor = d.looted(d.loot.cursors, 0.1, "")
    until = d.one_of(({}, {}, {"until": "2026-03-03"}, {"until": "9999-12-31"}))
    params = {**fields, **({"cursor": cursor} if cursor else {}), **until, "limit": d.one_of(("1", "100"))}
    call = Call(f"GET {AGENT}/timeline", acting.key, "GET", d.url_of(acting.agent, "timeline"), acting, params=params)
    key = key_of(acting, "")

    def names(world: World) -> set[str]:
        if world.sight(acting) is None:
            return set()
        keys = [one for one in world.talks.by_key if one[:3] == key[:3]]
        return world.talks.shown(keys, "said") | {c for one in keys for c in canaries_in(one.session_id)}

    call.past, call.said, call.names = True, True, names
    return call


def list_turns(d: Draw) -> Call:
    return _turns(d, d.looted(d.loot.cursors, 0.12, ""))


def get_turn(d: Draw) -> Call:
    """A turn out of a list of them, or one that anybody was shown."""
    if d.chance(0.4):
        acting, fields = d.acting(reads=True)
        return _one_turn(d, acting, fields, d.looted(d.loot.turns, 0.8, "1"))
    call = _turns(d, "")
    acting = call.acting
    assert acting is not None

    def follow(answer: Answer) -> Call | None:
        turns = answer.result["turns"] if answer.ok else []
        return _one_turn(d, acting, call.params, turns[0]["id"]) if turns else None

    call.follow = follow
    return call


def events(d: Draw) -> Call:
    """All that has happened to a memory, or what does from now on."""
    acting, fields = d.acting(reads=True)
    call = Call(f"GET {AGENT}/events", acting.key, "GET", d.url_of(acting.agent, "events"), acting, params=fields)
    call.headers = {"Last-Event-ID": encode_cursor("2000-01-01T00:00:00+00:00")} if d.chance(0.8) else {}
    return _shows_turns(call, acting)


def _one_turn(d: Draw, acting: Acting, params: dict[str, str], turn_id: str) -> Call:
    url = d.url_of(acting.agent, "turns", turn_id)
    call = Call(f"GET {AGENT}/turns/{{turn_id}}", acting.key, "GET", url, acting, params=params)
    return _shows_turns(call, acting)


def _turns(d: Draw, cursor: str) -> Call:
    acting, fields = d.acting(reads=True)
    params = {**fields, **({"cursor": cursor} if cursor else {})}
    call = Call(f"GET {AGENT}/turns", acting.key, "GET", d.url_of(acting.agent, "turns"), acting, params=params)
    return _shows_turns(call, acting)


def _shows_turns(call: Call, acting: Acting) -> Call:
    """What was asked is what its owner sent in some request; what was put in is of their memory, now or before."""
    call.past = call.said = True
    key = key_of(acting, "")
    call.names = lambda world: world.asked.get(key[:3], set()) | world.named(world.sight(acting) or [])
    return call


OPERATIONS_OF_TURNS: dict[str, tuple[int, Operation]] = {
    f"GET {AGENT}/sessions": (3, list_sessions),
    f"GET {AGENT}/owners": (2, list_owners),
    f"GET {AGENT}/summary": (2, summary),
    f"GET {AGENT}/timeline": (3, timeline),
    f"GET {AGENT}/turns": (3, list_turns),
    f"GET {AGENT}/turns/{{turn_id}}": (3, get_turn),
    f"GET {AGENT}/events": (2, events),
    f"PUT {SESSION}": (4, put_session),
    f"GET {SESSION}": (5, get_session),
    f"DELETE {SESSION}": (5, delete_session),
    f"POST {SESSION}/messages": (14, append),
    f"GET {SESSION}/messages": (7, list_messages),
    f"DELETE {SESSION}/messages": (2, clear_messages),
    f"POST {SESSION}/compact": (4, compact),
    f"POST {SESSION}/complete": (7, complete),
}
