"""Agents, owners, keys and connections through the Python client."""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest

import reverie_client
from reverie_server.runtime import Runtime

Connect = Callable[..., Any]


async def test_an_owner_sees_their_own_and_what_is_shared(reverie: Any, me: Any) -> None:
    await me.write("a.md", "mine")
    await reverie.agent("me").write("b.md", "ours")
    await me.write("c.md", "ours too", scope="team")
    assert (await me.read("a.md")).resolved_from == "personal"
    assert (await me.read("b.md")).resolved_from == "team"
    other = reverie.agent("me", end_user_id="42")
    assert (await other.read("c.md")).scope == "team"
    with pytest.raises(reverie_client.NotFound):
        await other.read("a.md")
    await other.write("a.md", "theirs")
    assert (await other.read("a.md")).owner_key == "api:42" == other.owner_key


@pytest.mark.parametrize("agent_id", [".", "..", "a:b", "-", "A.b_c-1:2"])
async def test_any_agent_id_that_the_server_allows_arrives(reverie: Any, agent_id: str) -> None:
    await reverie.agent(agent_id).write("a.md", "here")
    assert (await reverie.get_agent(agent_id)).agent_id == agent_id
    assert (await reverie.agent(agent_id).read("a.md")).content == "here"
    await reverie.delete_agent(agent_id)
    with pytest.raises(reverie_client.NotFound):
        await reverie.get_agent(agent_id)


async def test_an_owner_with_awkward_characters_is_nobody_else(reverie: Any) -> None:
    odd = reverie.agent("me", owner_key="user:a b&c=ü#%25+/?")
    await odd.write("a.md", "one")
    assert (await odd.read("a.md")).owner_key == "user:a b&c=ü#%25+/?"
    await odd.delete("a.md")
    assert [file async for file in odd.files("a.md")] == []


async def test_agents_have_settings_and_leaders(reverie: Any) -> None:
    made = await reverie.put_agent("boss", name="Ada", settings={"language": "german"})
    assert (made.agent_id, made.name, made.leader_agent_id, made.settings) == (
        "boss",
        "Ada",
        None,
        {"language": "german"},
    )
    assert made.created_at.utcoffset() == timedelta(0)
    member = await reverie.put_agent("member", leader_agent_id="boss")
    assert member.leader_agent_id == "boss"
    with pytest.raises(reverie_client.ReadOnlyMember) as caught:
        await reverie.agent("member").write("a.md", "x")
    assert caught.value.code == "read_only_member"
    await reverie.put_agent("quiet", settings={"memory_enabled": False})
    with pytest.raises(reverie_client.MemoryDisabled):
        await reverie.agent("quiet").search("x")
    with pytest.raises(reverie_client.ValidationError) as invalid:
        await reverie.put_agent("boss", settings={"langauge": "german"})
    assert invalid.value.extra["errors"][0]["field"].endswith("langauge")


async def test_keys_open_and_close(connect: Connect, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    _, viewer = await runtime.keys.create("default", "viewer")
    _, member = await runtime.keys.create("default", "member")
    with pytest.raises(reverie_client.Unauthorized):
        await connect().agent("me").write("a.md", "x")
    await connect(api_key=f" {member}\n").agent("me").write("a.md", "x")
    monkeypatch.setenv("REVERIE_API_KEY", viewer)
    reading = connect()
    assert (await reading.agent("me").read("a.md")).content == "x"
    with pytest.raises(reverie_client.Forbidden):
        await reading.agent("me").write("a.md", "y")


async def test_the_url_may_come_from_the_environment_and_name_the_api(
    connect: Connect, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REVERIE_URL", f"{client.base_url}")
    await connect("").agent("me").write("a.md", "x")
    assert (await connect().get_agent("me")).agent_id == "me"


async def test_where_nothing_listens_nothing_was_done(connect: Connect) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        nobody = connect(f"http://127.0.0.1:{unused.getsockname()[1]}", max_retries=1)
        with pytest.raises(reverie_client.ConnectionFailed, match="is the server running") as caught:
            await nobody.agent("me").write("a.md", "x")
    assert (caught.value.code, caught.value.status, caught.value.may_have_arrived) == ("connection_failed", None, False)


async def test_an_admin_lists_and_clears_everybody(connect: Connect, runtime: Runtime) -> None:
    _, key = await runtime.keys.create("default", "admin")
    reverie = connect(api_key=key)
    for owner in ("user:1", "user:2"):
        await reverie.agent("me", owner_key=owner).write("a.md", "text")
    everybody = reverie.agent("me", owner_key="*")
    assert [file.owner_key async for file in everybody.files("a.md", page_size=1)] == ["user:1", "user:2"]
    assert (await everybody.clear(path_prefix="a.md")).removed["document"] == 2
    with pytest.raises(reverie_client.ValidationError):
        await everybody.read("a.md")
