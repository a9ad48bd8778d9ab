"""The table of operations: the pages of the Memory Browser, asked for with keys as its sessions stand for them."""

from __future__ import annotations

import re
from urllib.parse import quote

from tests.canary.calls import Answer, Call
from tests.canary.draw import MALFORMED_AGENTS, Draw
from tests.canary.operations import Operation
from tests.canary.words import canaries_in
from tests.canary.world import Acting, World

PAGES = (
    *(
        "overview",
        "memory",
        "facts",
        "contradictions",
        "conversations",
        "search",
        "prompt",
        "graph",
        "nights",
        "forget",
    ),
    *("jobs", "agent", "connect", "timeline", "turns", "snapshot"),
)
_TOKEN = re.compile(r'name="form_token" value="([0-9a-f]{64})"')


def _acting(d: Draw) -> tuple[Acting, dict[str, str]]:
    """Who looks, and the owner in the address: pages know no other word for one."""
    acting, fields = d.acting(reads=True)
    while "end_user_id" in fields:
        acting, fields = d.acting(reads=True)
    return acting, {"owner": fields["owner_key"]} if "owner_key" in fields else {}


def _page(d: Draw, label: str, name: str, acting: Acting, params: dict[str, str], method: str = "GET") -> Call:
    agent = quote(acting.agent, safe="").replace("..", "%2e%2e")
    call = Call(f"PAGE {label}", acting.key, method, f"/browser/{agent}/{name}", acting, params=params)
    call.past = call.said = True

    def names(world: World) -> set[str]:
        asked = world.asked.get((acting.key.tenant, acting.agent, acting.owner or acting.key.owner), set())
        return world.names(acting.key) | world.named(world.sight(acting) or []) | asked

    call.names = names
    return call


def look(d: Draw) -> Call:
    acting, params = _acting(d)
    return _page(d, "look", d.one_of(PAGES), acting, params)


def look_at_file(d: Draw) -> Call:
    acting, params = _acting(d)
    name = d.one_of(("memory/file", "memory/lines"))
    return _page(d, "file", name, acting, {**params, "path": d.path()})


def look_at_talk(d: Draw) -> Call:
    acting, params = _acting(d)
    return _page(d, "conversation", f"conversations/{quote(d.session_id(acting), safe='')}", acting, params)


def find(d: Draw) -> Call:
    """Search by the form of the page, with the token that the page gave."""
    acting, params = _acting(d)
    form = d.one_of(("search", "forget"))
    query = d.looted(d.loot.lines, 0.6, d.line())

    def follow(answer: Answer) -> Call | None:
        token = _TOKEN.search(answer.text)
        if not answer.ok or token is None:
            return None
        sent = _page(d, "find", form, acting, params, "POST")
        fields = {"form_token": token[1], "query": query}
        sent.content = "&".join(f"{name}={quote(value, safe='')}" for name, value in fields.items()).encode()
        sent.echo = frozenset(canaries_in(query))
        sent.headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
        return sent

    call = _page(d, "find", form, acting, params)
    call.follow = follow
    call.label = "PAGE look"
    return call


def look_at_people(d: Draw) -> Call:
    acting, _ = _acting(d)
    acting = Acting(acting.key, acting.agent, None, everybody=True, malformed=acting.agent in MALFORMED_AGENTS)
    call = _page(d, "people", "people", acting, {})
    call.homes, call.names = lambda world: [], lambda world: world.names(acting.key)
    return call


OPERATIONS_OF_PAGES: dict[str, tuple[int, Operation]] = {
    "PAGE look": (8, look),
    "PAGE file": (4, look_at_file),
    "PAGE conversation": (4, look_at_talk),
    "PAGE find": (6, find),
    "PAGE people": (2, look_at_people),
}
