"""A key does what it says: every way to write, by keys that are bound in every way, into everybody's memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import httpx
import psycopg
import pytest
from psycopg import sql
from psycopg.rows import tuple_row
from tests.conftest import PLAIN
from tests.contract.writing import (
    AGENT,
    BACKUP,
    OF_EVERYBODY,
    OF_TENANT,
    OK,
    PROXIED,
    READING,
    ROWS,
    Row,
    Says,
    status_of,
)
from tests.graphs import Graph, answers, day, thing
from tests.proxied import Served
from tests.rows import written_out
from tests.scripted_model import ScriptedModel

from reverie_indexer.change import overwrite
from reverie_indexer.model import Place
from reverie_server.access.keys import ROLES, Role
from reverie_server.tools.catalogue import REGISTRY

ADA, BEN = "user:ada", "user:ben"
Row_ = tuple[Any, ...]


@dataclass(frozen=True)
class Bound:
    """What a key is bound to, and its role."""

    role: Role
    owner: str | None
    agents: tuple[str, ...] | None

    @property
    def name(self) -> str:
        bound = [word for word, is_it in (("owner", self.owner), ("agent", self.agents)) if is_it]
        return f"{self.role}-{'+'.join(bound) or 'unbound'}"


BOUND = [Bound(role, owner, agents) for role, owner, agents in product(ROLES, (None, ADA), (None, (AGENT,)))]
SAYS: list[Says] = [{}, {"owner_key": ADA}, {"owner_key": BEN}]
SCOPED: list[Says] = [{"scope": "team"}, {"scope": "global"}, {"scope": "team", "owner_key": ADA}]


def may(key: Bound, row: Row, says: Says) -> bool:
    """One's own, or, with a key that is bound to nobody, also the team's; what all agents read is an admin's."""
    if key.role == "viewer":
        return False
    scope = says.get("scope")
    if key.owner is not None:
        return says.get("owner_key", key.owner) == key.owner and scope is None
    return scope != "global" or (key.role == "admin" and key.agents is None)


@dataclass
class House:
    """A server where the team, the tenant, Ada and Ben have a memory each, and an admin's client to refill it."""

    served: Served
    conninfo: str
    admin: httpx.AsyncClient
    clients: dict[Bound, httpx.AsyncClient] = field(default_factory=dict)

    async def client(self, key: Bound) -> httpx.AsyncClient:
        _, secret = await self.served.runtime.keys.create(
            "default", key.role, owner_key=key.owner, agent_ids=key.agents
        )
        return self._with(secret)

    def _with(self, secret: str) -> httpx.AsyncClient:
        headers = {"Authorization": f"Bearer {secret}"}
        return httpx.AsyncClient(base_url=self.served.base_url, headers=headers, timeout=60, verify=PLAIN)

    async def fill(self, needs: Sequence[str], says: Says) -> None:
        """Make sure that what a request is to change is there."""
        url = f"/api/v1/agents/{AGENT}"
        for need in needs:
            match need:
                case "file":
                    body = {"content": "first line\n", **says}
                    answer = await self.admin.put(f"{url}/files/victim.md", json=body)
                case "memory":
                    body = {"content": "# Long-term Memory\n\n## Notes\n\n- The otter sleeps.\n", **says}
                    answer = await self.admin.put(f"{url}/files/MEMORY.md", json=body)
                case "backup":
                    await self._backup(says.get("owner_key"))
                    continue
                case "session":
                    body = {"messages": [{"role": "user", "content": "The heron nests."}], **says}
                    answer = await self.admin.post(f"{url}/sessions/web:1/messages", json=body)
                case _:
                    self._failed_job(says.get("owner_key"))
                    continue
            assert answer.status_code in OK, answer.text

    async def _backup(self, owner: str | None) -> None:
        """The server alone writes them."""
        place = Place("default", AGENT, "personal" if owner else "team", owner)
        change = replace(overwrite(BACKUP, "# Before\n", by="server", reason="backup"), reserved=True)
        await self.served.runtime.pipeline.write_many(place, [change])

    def _failed_job(self, owner: str | None) -> None:
        with psycopg.connect(self.conninfo) as connection:
            connection.execute("SELECT set_config('reverie.maintenance', 'on', true)")
            args = psycopg.types.json.Jsonb({"tenant_id": "default", "agent_id": AGENT, "owner_key": owner})
            made = connection.execute("SELECT defer_job('dedup', %s, %s, 0)", [f"unit of {owner}", args]).fetchone()
            connection.execute("UPDATE procrastinate_jobs SET status = 'failed' WHERE id = %s", made)

    def of_others(self) -> dict[str, list[Row_]]:
        """All rows that are not Ada's: those that a key of hers must leave as they are."""
        with psycopg.connect(self.conninfo, row_factory=tuple_row) as connection:
            connection.execute("SELECT set_config('reverie.maintenance', 'on', false)")
            tables = connection.execute(
                "SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_name)"
                " WHERE column_name = 'slice_id' AND table_type = 'BASE TABLE' AND table_name !~ '^vectors_'"
                " AND columns.table_schema = 'public' ORDER BY 1"
            ).fetchall()
            found_slices = connection.execute("SELECT slice_id FROM slices WHERE owner_key = 'user:ada'").fetchall()
            hers = [slice_id for (slice_id,) in found_slices]
            found = {
                name: connection.execute(
                    sql.SQL("SELECT {} FROM {} t WHERE NOT slice_id = ANY (%s) ORDER BY 1").format(
                        written_out(connection, name), sql.Identifier(name)
                    ),
                    [hers],
                ).fetchall()
                for (name,) in tables
            }
            agents = sql.SQL("SELECT {} FROM agents t ORDER BY 1").format(written_out(connection, "agents"))
            found["agents"] = connection.execute(agents).fetchall()
            found["jobs"] = connection.execute(
                "SELECT id, status, attempts FROM procrastinate_jobs"
                " WHERE args ->> 'owner_key' IS DISTINCT FROM 'user:ada' ORDER BY 1"
            ).fetchall()
        return found


@pytest.fixture
async def house(served: Served, conninfo: str) -> AsyncIterator[House]:
    async with httpx.AsyncClient(base_url=served.base_url, timeout=60, verify=PLAIN) as client:
        _, secret = await served.runtime.keys.create("default", "admin")
        client.headers["Authorization"] = f"Bearer {secret}"
        house = House(served, conninfo, client)
        for says in ({}, {"owner_key": ADA}, {"owner_key": BEN}):
            await house.fill(("file", "memory", "backup", "session", "job"), says)
        await house.fill(("file",), {"scope": "global"})
        for name in ("AGENTS.md", "SOUL.md"):
            body = {"content": f"# {name} of the team\n"}
            assert (await client.put(f"/api/v1/agents/{AGENT}/files/{name}", json=body)).status_code == 200
        async with AsyncExitStack() as stack:
            for key in BOUND:
                house.clients[key] = await stack.enter_async_context(await house.client(key))
            yield house


async def ask(client: httpx.AsyncClient, row: Row, says: Says) -> httpx.Response:
    sent = row.send(says)
    url = row.url if row.url.startswith(("/v1", "/mcp")) else f"/api/v1{row.url}"
    headers = dict(sent.headers)
    if sent.content is not None:
        return await client.request(row.method, url, params=sent.params, headers=headers, content=sent.content)
    return await client.request(row.method, url, params=sent.params, headers=headers, json=sent.json)


def where(key: Bound, says: Says) -> Says:
    """Where a request of this key writes, as a key that is bound to nobody would say."""
    return {"owner_key": key.owner} if key.owner and not says else says


async def check(house: House, row: Row, key: Bound, says: Says) -> None:
    """What is forbidden is refused and changes nothing; what is not is done; a key of Ada's changes what is hers."""
    allowed = may(key, row, says)
    if allowed:
        await house.fill(row.needs, where(key, says))
    before = house.of_others() if key.owner else {}
    answer = await ask(house.clients[key], row, says)
    assert house.served.runtime.proxy is not None
    await house.served.runtime.proxy.idle()
    await house.served.runtime.compactions.idle()
    status, told = status_of(row, answer), (row.name, key.name, dict(says), answer.text[:300])
    if allowed:
        assert status in row.done, told
    elif row.path in PROXIED and key.owner in (None, says.get("owner_key", key.owner)):
        # The turn goes on; nothing of it is recorded.
        assert (status, answer.headers.get("x-reverie-warning")) == (200, "read_only_key"), told
    else:
        assert status == 403, told
    if before:
        after = house.of_others()
        assert before.keys() == after.keys()
        for table, rows in before.items():
            assert rows == after[table], (table, *told)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_key_writes_where_it_may_and_nowhere_else(house: House, row: Row) -> None:
    for key in BOUND:
        # Whom else a key names that is bound to nobody, and what a viewer names at all, makes no difference.
        named = SAYS if key.owner else SAYS[::2]
        says = [*named, *(SCOPED if row.is_scoped else [])]
        for one in says if key.role != "viewer" else says[:1]:
            await check(house, row, key, one)


@pytest.mark.parametrize(("method", "path", "url", "body"), OF_EVERYBODY)
async def test_what_is_everybodys_is_changed_by_an_admin_who_is_bound_to_nobody(
    house: House, method: str, path: str, url: str, body: Any
) -> None:
    for key in BOUND:
        await house.admin.put("/api/v1/agents/crow", json={})
        before = house.of_others()
        answer = await house.clients[key].request(method, f"/api/v1{url}", json=body)
        is_bound = key.owner is not None or (key.agents is not None and AGENT not in url)
        expected = key.role == "admin" and not is_bound
        assert (answer.status_code in OK) is expected, (path, key.name, answer.text)
        if not expected:
            assert answer.status_code == 403, answer.text
            assert house.of_others() == before


@pytest.mark.parametrize(("method", "path", "url", "body", "done"), OF_TENANT)
async def test_what_is_the_tenants_is_changed_by_an_admin_who_is_bound_to_nothing(
    house: House, method: str, path: str, url: str, body: Any, done: tuple[int, ...]
) -> None:
    for key in BOUND:
        answer = await house.clients[key].request(method, f"/api/v1{url}", json=body)
        expected = done if key.role == "admin" and key.owner is None and key.agents is None else (403,)
        assert answer.status_code in expected, (path, key.name, answer.text)


async def test_without_isolation_a_key_of_an_owner_writes_nothing(house: House) -> None:
    """All writes are the team's then, which others read."""
    settings = {"settings": {"memory_isolation": False}}
    assert (await house.admin.put(f"/api/v1/agents/{AGENT}", json=settings)).status_code == 200
    before = house.of_others()
    for role in ROLES[1:]:
        for row in ROWS:
            answer = await ask(house.clients[Bound(role, ADA, None)], row, {})
            if row.path in PROXIED:
                assert answer.headers["x-reverie-warning"] == "read_only_key"
            else:
                assert status_of(row, answer) == 403, (row.name, answer.text)
    assert house.of_others() == before


async def test_an_edit_falls_back_to_no_file_of_the_team(house: House) -> None:
    """A key that is bound reads what the team has, and edits, deletes and restores its owner's alone."""
    url = f"/api/v1/agents/{AGENT}/files/handbook.md"
    assert (await house.admin.put(url, json={"content": "first line\n"})).status_code == 201
    ada = house.clients[Bound("admin", ADA, None)]
    assert (await ada.get(url)).json()["content"] == "first line\n"
    edit = {"old_text": "first line", "new_text": "x"}
    for answer in (
        await ada.patch(url, json=edit),
        await ada.delete(url),
        await ada.post(f"{url}/versions/1/restore", json={}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    told = await ada.post(f"/api/v1/agents/{AGENT}/tools/edit_workspace_memory_file", json={
        "arguments": {"filename": "handbook.md", **edit}})  # fmt: skip
    assert told.json()["error"]["code"] == "not_found"
    assert (await house.admin.get(url)).json()["content"] == "first line\n"


async def test_a_key_of_an_owner_changes_nothing_in_the_graph_of_the_team(
    house: House, scripted: ScriptedModel
) -> None:
    team = Graph(house.served.runtime, None, AGENT)
    answers(scripted, {"entities": [thing("Ada"), thing("Reverie")], "relations": []})
    await team.hear("Ada works on Reverie.", day(0))
    listed = (await house.admin.get(f"/api/v1/agents/{AGENT}/graph/entities")).json()["entities"]
    first, second = [entity["id"] for entity in listed][:2]
    before = house.of_others()
    ada = house.clients[Bound("admin", ADA, None)]
    assert [e["id"] for e in (await ada.get(f"/api/v1/agents/{AGENT}/graph/entities")).json()["entities"]]
    merge = {"keep": first, "absorb": second}
    answer = await ada.post(f"/api/v1/agents/{AGENT}/graph/merge", json=merge)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert house.of_others() == before
    done = await house.admin.post(f"/api/v1/agents/{AGENT}/graph/merge", json=merge)
    assert done.status_code == 200, done.text


async def test_everything_that_writes_is_in_the_table(served: Served) -> None:
    """A route or tool without a row fails here: say who may write what with it."""
    async with httpx.AsyncClient(base_url=served.base_url, verify=PLAIN) as client:
        paths: Mapping[str, Mapping[str, Any]] = (await client.get("/openapi.json")).json()["paths"]
    writing = {
        f"{method.upper()} {path}" for path, methods in paths.items() for method in methods if method != "get"
    } - READING
    assert writing == {f"{row.method} {row.path}" for row in ROWS if row.path != "/mcp"} | {
        f"{method} {path}" for method, path, *_ in [*OF_EVERYBODY, *OF_TENANT]
    }
    tools = {tool.name for tool in REGISTRY if not tool.hints.read_only}
    for path in ("/mcp", "/api/v1/agents/{a}/tools/{name}"):
        assert {row.tool for row in ROWS if row.path == path} == tools
