"""The beginning of every run: keys, agents of the same names in both tenants, and a memory for each home."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import httpx
from tests.canary.background import Background
from tests.canary.calls import Call
from tests.canary.draw import KEYS, Draw, keys_with
from tests.canary.driver import Driver
from tests.canary.logs import Logs
from tests.canary.operations import OPERATIONS_ON_FILES, put
from tests.canary.operations_admin import OPERATIONS_OF_ADMINS
from tests.canary.operations_agents import OPERATIONS_ON_AGENTS, agent_as
from tests.canary.operations_control import OPERATIONS_OF_CONTROL
from tests.canary.operations_derived import OPERATIONS_OF_WHAT_IS_DERIVED
from tests.canary.operations_facts import OPERATIONS_ON_FACTS
from tests.canary.operations_graph import OPERATIONS_ON_GRAPHS
from tests.canary.operations_keeping import OPERATIONS_OF_KEEPING
from tests.canary.operations_memory import OPERATIONS_OF_MEMORY
from tests.canary.operations_pages import OPERATIONS_OF_PAGES
from tests.canary.operations_prompts import OPERATIONS_OF_PROMPTS, turn
from tests.canary.operations_turns import OPERATIONS_OF_TURNS, complete_session, keep, say
from tests.canary.parrot import parrot
from tests.canary.tools import OPERATIONS_OF_TOOLS
from tests.canary.world import OWNERS, TENANTS, Acting, AgentState, Key, World
from tests.conftest import PLAIN
from tests.scripted_model import ScriptedModel

from reverie_server.runtime import Runtime

TABLE = {
    **OPERATIONS_OF_ADMINS,
    **OPERATIONS_ON_AGENTS,
    **OPERATIONS_ON_FILES,
    **OPERATIONS_OF_MEMORY,
    **OPERATIONS_OF_KEEPING,
    **OPERATIONS_OF_TOOLS,
    **OPERATIONS_OF_TURNS,
    **OPERATIONS_OF_PROMPTS,
    **OPERATIONS_OF_WHAT_IS_DERIVED,
    **OPERATIONS_ON_GRAPHS,
    **OPERATIONS_ON_FACTS,
    **OPERATIONS_OF_CONTROL,
    **OPERATIONS_OF_PAGES,
}
# As they are in the end: who is to be a member, or to be switched off, is written to first.
PARTS = {
    "finch": AgentState(),
    "wren": AgentState(),
    "open": AgentState(isolated=False),
    "pip": AgentState(leader="finch"),
    "mute": AgentState(enabled=False),
}
FILLED = ("MEMORY.md", "notes/harbour.md")


async def make_keys(runtime: Runtime) -> list[Key]:
    """Every kind of key for each tenant, and what is none."""
    secrets = {}
    for tenant in TENANTS:
        for label, (role, owner, agents) in KEYS.items():
            agent_ids = sorted(agents) if agents else None
            key_id, key = await runtime.keys.create(tenant, role, owner_key=owner, agent_ids=agent_ids)  # type: ignore[arg-type]
            secrets[f"{tenant} {label}"] = key
            if label == "revoked":
                await runtime.keys.revoke(key_id)
    return keys_with(secrets, f"rv_{'0' * 16}_{'x' * 43}")


def first_calls(d: Draw) -> Iterator[Call]:
    """Requests that all succeed, by the tenants' admins."""
    admins = [key for key in d.keys if key.label == "admin"]
    for key in admins:
        for agent, part in PARTS.items():
            yield agent_as(d, Acting(key, agent), AgentState(isolated=part.isolated, name=f"Agent {d.canary()}"))
            for owner in (None, *OWNERS) if part.enabled else (None,):
                # What a member does not have is read from its leader.
                paths = FILLED[:1] if part.leader else FILLED
                for path in (*paths, f"notes/{d.canary()}.md") if owner else paths:
                    yield put(d, Acting(key, agent, owner), {"owner_key": owner} if owner else {}, None, path)
                if part.enabled and not part.leader:
                    fields = {"owner_key": owner} if owner else {}
                    said = ("user", "assistant") * (4 if owner in OWNERS[:2] else 1)
                    yield say(d, Acting(key, agent, owner), fields, "web:1", (*said, "user"))
                    yield keep(d, Acting(key, agent, owner), fields, "web:1", None)
                    # Older messages are summarised in so small a window.
                    yield turn(d, Acting(key, agent, owner), fields, "web:1", 200)
                    if owner in (None, OWNERS[0]):
                        yield complete_session(d, Acting(key, agent, owner), fields, "web:1", "web")
        for path in FILLED:
            yield put(d, Acting(key, "wren"), {"scope": "global"}, "global", path)
        yield agent_as(d, Acting(key, f"solo-{key.tenant}"), AgentState(name=f"Agent {d.canary()}"))
        for agent in ("pip", "mute"):
            yield agent_as(d, Acting(key, agent), replace(PARTS[agent], name=f"Agent {d.canary()}"))


def _client(base_url: str) -> httpx.AsyncClient:
    """A client that does not take up a connection again that the server is about to close: jobs take seconds."""
    return httpx.AsyncClient(base_url=base_url, timeout=60, limits=httpx.Limits(keepalive_expiry=2), verify=PLAIN)


@asynccontextmanager
async def staged(runtime: Runtime, base_url: str, seed: int, model: ScriptedModel) -> AsyncIterator[Driver]:
    """A driver of a server whose memories are filled, and something is derived of them; `model` is a parrot."""
    world = World()
    model.script = parrot
    draw = Draw(seed, world, await make_keys(runtime))
    with Logs().recording() as logs:
        async with _client(base_url) as client, Background(runtime, world, model) as background:
            driver = Driver(client, draw, TABLE, logs, background)
            for call in first_calls(draw):
                call.headers = {}
                answer = await driver.perform(call)
                assert answer.ok, f"{call}\n{answer.text}"
            await driver.work()
            logs.check()
            driver.steps = 0
            yield driver
