"""The table of operations: agents, and what is open to everybody."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import quote

from tests.canary.calls import Answer, Call, demand
from tests.canary.draw import Draw
from tests.canary.effects import AgentGone, AgentPut
from tests.canary.operations import AGENT, Operation
from tests.canary.world import Acting, AgentState, Home, Key, World

FIXED_AGENTS = ("wren", "finch", "pip", "open", "mute")
PUBLIC = ("/healthz", "/readyz", "/metrics", "/openapi.json", "/docs")


def agents_of(world: World, key: Key) -> set[str]:
    return {a for t, a in world.agents if key.works and t == key.tenant and (key.agents is None or a in key.agents)}


def list_agents(d: Draw) -> Call:
    key = d.key(wrong=0.15)
    first = d.looted(d.loot.cursors, 0.1, "")
    limit = d.one_of(("1", "3", "500"))
    shown: list[str] = []

    def page(cursor: str) -> Call:
        def exact(world: World, answer: Answer) -> None:
            if not answer.ok:
                return
            shown.extend(agent["agent_id"] for agent in answer.result["agents"])
            demand(set(shown) <= agents_of(world, key), f"a list of agents has others than the key's: {shown}")
            if answer.result["next_cursor"] is None and not first:
                demand(sorted(shown) == sorted(agents_of(world, key)), f"a list of agents is not all: {shown}")

        def follow(answer: Answer) -> Call | None:
            return page(answer.result["next_cursor"]) if answer.ok and answer.result["next_cursor"] else None

        params = {"limit": limit, **({"cursor": cursor} if cursor else {})}
        call = Call("GET /api/v1/agents", key, "GET", "/api/v1/agents", params=params, exact=exact, follow=follow)
        call.names = lambda world: world.names(key)
        return call

    return page(first)


def get_agent(d: Draw) -> Call:
    acting, _ = d.acting()
    key, agent = acting.key, acting.agent
    call = Call(f"GET {AGENT}", key, "GET", d.url_of(agent), names=lambda world: world.names(key, agent))
    call.may = lambda world: agent in agents_of(world, key)
    return call


def put_agent(d: Draw) -> Call:
    """Agents with a part to play keep it; the others change it."""
    acting, _ = d.acting()
    key, agent = acting.key, acting.agent
    now = d.world.agents.get((key.tenant, agent), AgentState())
    state = replace(now, name=f"Agent {d.canary()}")
    if agent not in FIXED_AGENTS:
        leader = d.one_of(("finch", "wren", "solo-acme", "temp-1", "nobody")) if d.chance(0.3) else None
        state = AgentState(leader, d.chance(0.7), d.chance(0.85), state.name)
    return agent_as(d, acting, state)


def agent_as(d: Draw, acting: Acting, state: AgentState) -> Call:
    """Make an agent what it is to be."""
    key, agent = acting.key, acting.agent
    settings = {"memory_isolation": state.isolated, "memory_enabled": state.enabled}
    body = {"name": state.name, "leader_agent_id": state.leader, "settings": settings}
    call = Call(f"PUT {AGENT}", key, "PUT", d.url_of(agent), body=body, runs_alone=True)
    call.may = lambda world: is_manager(acting) and (key.agents is None or state.leader in (None, *key.agents))
    call.names = lambda world: world.names(key, agent)
    call.effects = lambda world, answer: [AgentPut(Home(key.tenant, agent, None), agent=agent, state=state)]
    return call


def delete_agent(d: Draw) -> Call:
    """Agents with a part to play are only tried by those who may not."""
    acting, _ = d.acting()
    there = [a for t, a in d.world.agents if t == d.tenant and a not in FIXED_AGENTS]
    if acting.key.role == "admin" or d.chance(0.3):
        acting = replace(acting, agent=d.looted(there, 0.9, "nobody"), malformed=False)
    if d.chance(0.4):
        admin = next(key for key in d.keys if (key.tenant, key.label) == (d.tenant, "admin"))
        acting = Acting(admin, d.looted(there, 0.9, "nobody"))
    key, agent = acting.key, acting.agent
    call = Call(f"DELETE {AGENT}", key, "DELETE", d.url_of(agent), runs_alone=True, derives=True)
    call.may = lambda world: is_manager(acting)
    call.effects = lambda world, answer: [AgentGone(Home(key.tenant, agent, None), agent=agent)]
    return call


def is_manager(acting: Acting) -> bool:
    key = acting.key
    bound_elsewhere = key.agents is not None and acting.agent not in key.agents
    return key.works and key.role == "admin" and key.owner is None and not bound_elsewhere and "/" not in acting.agent


# What is open to everybody


def public(path: str) -> Operation:
    """A route that tells nobody anything of any memory, whoever asks."""

    def operation(d: Draw) -> Call:
        return Call(f"GET {path}", d.key(), "GET", path, may=lambda world: True)

    return operation


def nowhere(d: Draw) -> Call:
    """A route that there is not, with something in it."""
    path = d.one_of((f"/{d.known_canary()}", f"{d.url_of('wren')}/nothing", "/api/v1/memory", "/api/v1/agents/"))
    method = d.one_of(("GET", "POST", "DELETE", "OPTIONS", "TRACE"))
    return Call("nowhere", d.key(), method, path, params={"q": quote(d.known_canary())}, may=lambda world: True)


OPERATIONS_ON_AGENTS: dict[str, tuple[int, Operation]] = {
    "GET /api/v1/agents": (3, list_agents),
    f"GET {AGENT}": (4, get_agent),
    f"PUT {AGENT}": (3, put_agent),
    f"DELETE {AGENT}": (2, delete_agent),
    **{f"GET {path}": (1, public(path)) for path in PUBLIC},
    "nowhere": (2, nowhere),
}
