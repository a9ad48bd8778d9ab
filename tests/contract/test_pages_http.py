"""The pages of the Memory Browser over HTTP: who sees what, forms, and a memory that means harm."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import psycopg
import pytest
from tests.contract.test_access_http import with_key
from tests.jobs import deferred

from reverie_indexer.database.database import Database
from reverie_server.app.pending_jobs import drain
from reverie_server.jobs.model import Work
from reverie_server.runtime import Runtime

__all__ = ["with_key"]

ME = "user:1"
PAGES = (
    *("overview", "memory", "facts", "contradictions", "conversations", "search", "graph", "nights", "forget"),
    *("prompt", "jobs", "agent", "connect", "timeline", "turns", "snapshot", "nights/next"),
)
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
ADMIN_PAGES = ("people", "keys", "audit")
SECRET = "The heron keeps its lantern in the east boathouse."
# Their own scripts alone, each by an address that changes with it.
LIVE, TIME = "live.js", "time.js"
SCRIPTS = r'<script src="/browser/static/([a-z.]+)\?[0-9a-f]{12}" defer>'
HOSTILE = (
    "# <script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [link](http://evil.example/x) "
    "![pixel](http://evil.example/p.png) \u202eevil\n\n```\n</pre><script>alert(2)</script>\n```\n"
)


def scripts(text: str) -> list[str]:
    """The names of a page's scripts; of one that is not the pages' own, all of its tag."""
    return [own[1] if (own := re.fullmatch(SCRIPTS, tag)) else tag for tag in re.findall(r"<script[^>]*>", text)]


def root_of(client: httpx.AsyncClient) -> str:
    return str(client.base_url).split("/api/")[0]


@pytest.fixture
async def browser(client: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """A client that keeps cookies and says where its forms come from, as a browser does."""
    root = root_of(client)
    headers = {"Origin": root, "Sec-Fetch-Site": "same-origin"}
    async with httpx.AsyncClient(base_url=root, headers=headers, timeout=30) as browser:
        yield browser


async def remember(client: httpx.AsyncClient, path: str = "notes/a.md", content: str = SECRET, **owner: str) -> None:
    answer = await client.put(f"/agents/wren/files/{path}", json={"content": content, **(owner or {"owner_key": ME})})
    assert answer.status_code in (200, 201), answer.text


async def look(browser: httpx.AsyncClient, page: str, owner: str | None = ME, **params: Any) -> httpx.Response:
    whose = {} if owner is None else {"owner": owner}
    return await browser.get(f"/browser/wren/{page}", params={**whose, **params})


async def send(
    browser: httpx.AsyncClient, page: str, fields: dict[str, Any], owner: str | None = ME, **more: Any
) -> httpx.Response:
    """Send a form with the token of the page."""
    shown = await look(browser, "search", owner)
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', shown.text)
    assert token is not None, shown.text
    whose = {} if owner is None else {"owner": owner}
    data = {"form_token": token[1], **fields}
    return await browser.post(f"/browser/wren/{page}", data=data, params=whose, **more)


async def sign_in(browser: httpx.AsyncClient, key: str, **more: str) -> httpx.Response:
    return await browser.post("/browser/login", data={"key": key, **more})


async def test_an_open_server_shows_its_pages_to_whoever_is_on_the_machine(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client)
    start = await browser.get("/", follow_redirects=True)
    assert (start.status_code, start.url.path) == (200, "/browser/wren/overview")
    for page in (*PAGES, *ADMIN_PAGES):
        shown = await look(browser, page)
        assert shown.status_code == 200, f"{page}: {shown.text}"
        assert shown.headers["cache-control"] == "no-store"
        policy = shown.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe-inline" not in policy
        assert " style=" not in shown.text
        assert scripts(shown.text) == [LIVE, *([TIME] if page == "facts" else [])]
    assert SECRET in (await look(browser, "memory/file", path="notes/a.md")).text
    assert (await browser.get("/browser/static/reverie.css")).status_code == 200
    assert (await browser.get("/browser/static/../cookies.py")).status_code == 404


async def test_a_server_with_keys_asks_to_sign_in_and_a_session_ends_with_its_key(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    key_id, key = await runtime.keys.create("default", "member")
    refused = await look(browser, "memory")
    assert (refused.status_code, refused.headers["location"]) == (303, "/browser/login?next=/browser/wren/memory")
    assert SECRET not in refused.text
    wrong = await sign_in(browser, "rv_0123456789abcdef_" + "A" * 43)
    assert (wrong.status_code, "not valid" in wrong.text, "set-cookie" in wrong.headers) == (401, True, False)
    entered = await sign_in(browser, key, next="/browser/wren/memory")
    assert (entered.status_code, entered.headers["location"]) == (303, "/browser/wren/memory")
    cookie = entered.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert key not in cookie
    assert "notes/a.md" in (await look(browser, "memory")).text
    # The cookie is worth nothing beside the pages.
    assert (await browser.get("/api/v1/agents")).status_code == 401
    await runtime.keys.revoke(key_id)
    assert (await look(browser, "memory")).status_code == 303


@pytest.mark.parametrize("elsewhere", ["http://evil.example/", "//evil.example", "/browser//evil.example", "/docs"])
async def test_signing_in_leads_nowhere_else(browser: httpx.AsyncClient, runtime: Runtime, elsewhere: str) -> None:
    _, key = await runtime.keys.create("default", "member")
    assert (await sign_in(browser, key, next=elsewhere)).headers["location"] == "/browser"


async def test_signing_out_ends_the_session(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    _, key = await runtime.keys.create("default", "member")
    await sign_in(browser, key)
    stolen = dict(browser.cookies)
    assert (await look(browser, "memory")).status_code == 200
    assert (await browser.post("/browser/logout", data={"form_token": ""})).status_code == 303
    async with httpx.AsyncClient(base_url=root_of(client), cookies=stolen) as thief:
        assert (await look(thief, "memory")).status_code == 303


async def test_a_form_of_another_site_or_session_changes_nothing(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    _, key = await runtime.keys.create("default", "member")
    await sign_in(browser, key)
    fields = {"path": "notes/a.md", "content": "Changed.\n"}
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
        refused = await send(browser, "memory/file", fields, headers={"Origin": origin})
        assert refused.status_code == 403, origin
    assert (await send(browser, "memory/file", fields, headers={"Sec-Fetch-Site": "cross-site"})).status_code == 403
    assert (await send(browser, "memory/file", {**fields, "form_token": "0" * 64})).status_code == 403
    plain = await send(browser, "memory/file", fields, headers={"Content-Type": "text/plain"})
    assert plain.status_code == 422
    assert SECRET in (await look(browser, "memory/file", path="notes/a.md")).text
    assert (await send(browser, "memory/file", fields)).status_code == 303
    assert "Changed." in (await look(browser, "memory/file", path="notes/a.md")).text


async def test_a_bound_key_sees_its_own_and_a_viewer_changes_nothing(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client, owner_key="user:2")
    _, bound = await runtime.keys.create("default", "member", owner_key=ME)
    _, viewer = await runtime.keys.create("default", "viewer")
    await sign_in(browser, bound)
    for page in PAGES:
        shown = await look(browser, page, "user:2")
        assert shown.status_code == 403, page
        assert SECRET not in shown.text
        assert (await look(browser, page, None)).status_code == 200
    for page in ADMIN_PAGES:
        assert (await look(browser, page, None)).status_code == 403, page
    await sign_in(browser, viewer)
    fields = {"path": "notes/a.md", "content": "Changed.\n"}
    assert SECRET in (await look(browser, "memory/file", "user:2", path="notes/a.md")).text
    assert (await send(browser, "memory/file", fields, "user:2")).status_code == 403


async def test_two_people_who_edit_at_once_both_keep_their_words(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client)
    first = {"path": "notes/a.md", "version": "1", "content": "Hers.\n"}
    assert (await send(browser, "memory/file", first)).status_code == 303
    late = await send(browser, "memory/file", {**first, "content": "His.\n"})
    assert late.status_code == 412
    assert "His." in late.text
    assert "Hers." in late.text
    assert 'name="version" value="2"' in late.text
    assert "Hers." in (await look(browser, "memory/file", path="notes/a.md")).text


async def test_a_hostile_memory_is_shown_and_does_nothing(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client, "notes/b.md", HOSTILE)
    message = {"role": "user", "content": HOSTILE}
    await client.post("/agents/wren/sessions/web:1/messages", json={"owner_key": ME, "messages": [message]})
    for page, params in (("memory/file", {"path": "notes/b.md"}), ("conversations/web:1", {})):
        shown = (await look(browser, page, **params)).text
        assert "&lt;script&gt;" in shown
        assert scripts(shown) == [LIVE]
        assert "<img" not in shown
        assert 'href="http' not in shown
        assert "http://evil.example/x" in shown


async def test_a_long_line_is_shown_as_it_is(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client, content="[" * 900_000)
    shown = await look(browser, "memory/file", path="notes/a.md")
    assert shown.status_code == 200
    assert "[[[[" in shown.text


async def test_forgetting_goes_in_two_steps_and_leaves_a_receipt(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client, content=f"{SECRET} The gate is green.\n")
    listed = await send(browser, "forget", {"query": "Where is the heron's lantern?"})
    items = re.findall(r'name="item" value="([^"]+)"', listed.text)
    assert items
    nothing = await send(browser, "forget/remove", {"query": "x"})
    assert (nothing.status_code, "nothing was removed" in nothing.text) == (422, True)
    gone = await send(browser, "forget/remove", {"query": "Where is the heron's lantern?", "item": items})
    assert gone.status_code == 303, gone.text
    receipt = await browser.get(gone.headers["location"])
    assert "Forgotten: rcp-" in receipt.text
    assert "lantern" not in receipt.text
    file = (await look(browser, "memory/file", path="notes/a.md")).text
    assert "lantern" not in file
    assert "The gate is green." in file


async def test_what_is_not_there_is_a_page_that_says_so(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client)
    for page, params, status in (
        ("memory/file", {"path": "none.md"}, 404),
        ("conversations/web:9", {}, 404),
        ("nights/none", {}, 404),
        ("forget/rcp-9", {}, 404),
        ("facts", {"min_trust": "x"}, 422),
        ("facts", {"cursor": "x"}, 422),
    ):
        shown = await look(browser, page, **params)
        assert shown.status_code == status, (page, shown.text)
        assert shown.headers["content-type"].startswith("text/html")
    assert (await look(browser, "overview", "nobody")).status_code == 422
    assert (await browser.get("/browser/nobody/overview")).status_code == 404


async def test_a_person_is_deleted_by_typing_their_key(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client)
    seen = await send(browser, "person", {"person": ME})
    assert "All of this would go" in seen.text
    kept = await send(browser, "person/delete", {"person": ME, "confirm": "user:11"})
    assert "All of this would go" in kept.text
    assert SECRET in (await look(browser, "memory/file", path="notes/a.md")).text
    archive = await send(browser, "person/export", {"person": ME})
    assert (archive.headers["content-type"], archive.content[:2]) == ("application/zip", b"PK")
    gone = await send(browser, "person/delete", {"person": ME, "confirm": ME})
    assert "All of this is gone" in gone.text
    assert (await look(browser, "memory/file", path="notes/a.md")).status_code == 404


async def test_a_key_is_made_shown_once_and_revoked(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client)
    made = await send(browser, "keys", {"role": "admin", "name": "Ada <b>"})
    key = re.search(r"rv_[a-z0-9]{16}_[A-Za-z0-9_-]{43}", made.text)
    assert key is not None
    assert "Ada &lt;b&gt;" in made.text
    assert (await look(browser, "keys")).status_code == 303
    await sign_in(browser, key[0])
    listed = await look(browser, "keys")
    assert key[0] not in listed.text
    revoked = await send(browser, f"keys/{key[0].split('_')[1]}", {})
    assert revoked.status_code == 303
    assert (await look(browser, "keys")).status_code == 303


async def test_settings_of_an_agent_are_set_and_follow_the_server_again(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client)
    assert (await send(browser, "agent", {"episodic_ttl_days": "7", "agent_name": "Wren"})).status_code == 303
    assert (await client.get("/agents/wren")).json()["settings"] == {"episodic_ttl_days": 7}
    refused = await send(browser, "agent", {"episodic_ttl_days": "many"})
    assert (refused.status_code, "episodic_ttl_days" in refused.text) == (422, True)
    assert (await send(browser, "agent", {"episodic_ttl_days": ""})).status_code == 303
    assert (await client.get("/agents/wren")).json()["settings"] == {}


async def test_facts_are_changed_and_contradictions_shown(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    messages = [{"role": "user", "content": text} for text in ("I live in Bergen.", "My boss is Petra Lind.")]
    await client.post("/agents/wren/sessions/web:1/messages", json={"owner_key": ME, "messages": messages})
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    shown = await look(browser, "facts", q="bergen")
    assert "Petra" not in shown.text
    [fact_id] = re.findall(r'id="(fact-\d+)"', shown.text)
    assert (await send(browser, f"facts/{fact_id}/helpful", {"text": "x"})).status_code == 303
    assert "1 helpful" in (await look(browser, "facts", q="bergen")).text
    assert "1 trusted" in (await look(browser, "overview")).text
    gone = await send(browser, f"facts/{fact_id}/forget", {"text": "x"})
    assert gone.headers["location"].startswith("/browser/wren/forget/rcp-")
    assert "Bergen" not in (await look(browser, "conversations/web:1")).text
    assert (await send(browser, f"facts/{fact_id}/nonsense", {})).status_code == 404


async def test_what_a_search_finds_with_its_parts_and_without_its_words_in_an_address(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client)
    found = await send(browser, "search", {"query": "Where is the heron's lantern?"})
    assert SECRET in found.text
    for part in ("relevance", "meaning", "neighbours", "matched:", "Would it be injected?"):
        assert part in found.text
    assert "lantern" not in str(found.url)
    assert (await send(browser, "search", {"query": "x", "mode": "guess"})).status_code == 422


async def test_the_prompt_of_a_message_with_its_sections(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client, "PROFILE.md", "# Profile\n\n- Name: Ada </pre><script>\n")
    await remember(client)
    shown = await send(browser, "prompt", {"message": "Where is the heron's lantern?", "session": "web:1"})
    assert shown.status_code == 200, shown.text
    assert '<span class="piece profile">## Profile' in shown.text
    assert '<span class="piece memory_context">&lt;memory-context&gt;' in shown.text
    assert scripts(shown.text) == [LIVE]
    assert (await look(browser, "conversations/web:1")).status_code == 404, "nothing of it is stored"


async def test_the_api_reference_comes_from_this_server_alone(browser: httpx.AsyncClient) -> None:
    for path in ("/docs", "/redoc"):
        shown = await browser.get(path)
        assert shown.status_code == 200
        assert "http" not in shown.text
        assets = re.findall(r'(?:src|href)="([^"]+)"', shown.text)
        assert assets
        for asset in assets:
            assert (await browser.get(asset)).status_code == 200, asset


async def test_a_part_of_a_name_leads_to_agents_and_people(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client)
    await remember(client, owner_key="user:17")
    there = await look(browser, "which", agent="wren", person="user:17")
    assert (there.status_code, there.headers["location"]) == (303, "/browser/wren/overview?owner=user%3A17")
    shared = await look(browser, "which", agent="wren", person="")
    assert shared.headers["location"] == "/browser/wren/overview"
    agents = await look(browser, "which", agent="WR", person="")
    assert (agents.status_code, "Which agent?" in agents.text, "/browser/wren/which" in agents.text) == (
        200,
        True,
        True,
    )
    people = await look(browser, "which", agent="wren", person="17")
    assert ("Which person?" in people.text, "owner=user%3A17" in people.text) == (True, True)
    assert (await look(browser, "which", agent="wren", person="nobody at all")).status_code == 422


async def test_only_an_administrator_finds_people_by_a_part(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client, owner_key="user:17")
    _, key = await runtime.keys.create("default", "member")
    await sign_in(browser, key)
    found = await look(browser, "which", agent="wren", person="17")
    assert (found.status_code, "user:17" in found.text) == (422, False)


async def test_colours_are_chosen_and_kept(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client)
    assert "data-theme" not in (await look(browser, "memory")).text
    chosen = await send(browser, "theme", {"theme": "dark", "back": "/browser/wren/memory?owner=user%3A1"})
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/browser/wren/memory?owner=user%3A1")
    assert '<html lang="en" data-theme="dark">' in (await look(browser, "memory")).text
    away = await send(browser, "theme", {"theme": "", "back": "http://evil.example/"})
    assert away.headers["location"] == "/browser"
    assert "data-theme" not in (await look(browser, "memory")).text
    assert (await send(browser, "theme", {"theme": "neon", "back": "/browser"})).status_code == 422


async def test_the_days_of_a_memory_and_where_its_lines_come_from(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    session = "/agents/wren/sessions/web:1"
    for text in ("Please remember: my locker is number 34.", "I work at Aldi."):
        body = {"messages": [{"role": "user", "content": text}], "owner_key": ME}
        await client.post(f"{session}/messages", json=body)
    await client.post(f"{session}/complete", json={"owner_key": ME})
    await drain(runtime)
    days = (await look(browser, "timeline")).text
    assert "my locker is number 34" in days
    assert "2 messages in 1 conversation" in days
    assert "my locker" not in (await look(browser, "timeline", kind="night")).text
    today = datetime.now(UTC).date()
    assert "my locker" in (await look(browser, "timeline", until=today.isoformat())).text
    earlier = (await look(browser, "timeline", until=(today - timedelta(days=2)).isoformat())).text
    assert "my locker" not in earlier
    assert "up to" in earlier
    assert (await look(browser, "timeline", until="soon")).status_code == 422
    assert "my locker" not in (await look(browser, "timeline", owner="user:2")).text
    lines = (await look(browser, "memory/lines", path="MEMORY.md")).text
    assert "learned from a conversation" in lines
    assert "web:1, message 1" in lines
    assert "/browser/wren/conversations/web%3A1?owner=user%3A1#m1" in lines
    assert "Said: 2" in (await look(browser, "overview")).text


async def test_the_overview_names_what_waits_for_a_person(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime, database: Database, conninfo: str
) -> None:
    await remember(client, "memory/2023-05-04.md", "- My boss is Petra Lindqvist.\n")
    await remember(client, "memory/2023-05-04-02.md", "- My boss is Karin Holm.\n")
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    await deferred(database, Work("dedup", "default", "wren", ME))
    calm = (await look(browser, "overview", "user:2")).text
    assert "Nothing.</li>" in calm
    assert "Lindqvist" in (await look(browser, "overview")).text.partition("What needs you")[2].partition("</ul>")[0]
    assert "failed for good" not in (await look(browser, "overview")).text
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET status = 'failed' WHERE task_name = 'dedup'")
    for owner, is_theirs in ((ME, True), (None, True), ("user:2", False)):
        needed = (await look(browser, "overview", owner)).text.partition("What needs you")[2].partition("</ul>")[0]
        assert ("A job of the stage dedup failed for good" in needed) == is_theirs, owner


async def test_the_next_night_shows_the_best_and_counts_all(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    day = datetime.now(UTC).date() - timedelta(days=1)
    lines = "".join(f"- My locker at the station of line {n} is number {100 + n}.\n" for n in range(25))
    await remember(client, f"memory/{day.isoformat()}.md", lines)
    shown = (await look(browser, "nights/next")).text
    assert "25 lines of the notes may enter long-term memory; the best 20 are shown." in shown
    assert (shown.count("<title>score "), shown.count("Stopped:")) == (20, 20)


async def test_a_fact_with_what_it_replaced(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    for text in ("I work at Aldi.", "I work at Lidl now."):
        body = {"messages": [{"role": "user", "content": text}], "owner_key": ME}
        await client.post("/agents/wren/sessions/web:1/messages", json=body)
        await client.post("/agents/wren/sessions/web:1/complete", json={"owner_key": ME})
        await drain(runtime)
    found = (await client.get("/agents/wren/facts", params={"owner_key": ME, "q": "Aldi"})).json()["facts"]
    [old] = [fact for fact in found if fact["state"] == "superseded"]
    shown = (await look(browser, f"facts/{old['id']}")).text
    assert "number 1 of 2" in shown
    assert shown.index("Aldi") < shown.index("Lidl")
    assert (await look(browser, f"facts/{old['id']}", owner="user:2")).status_code == 404


async def test_two_settings_of_a_search_beside_each_other(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client, content=f"{SECRET}\n\nThe harbour is closed in winter.\n")
    fields = {"query": "heron lantern", "mode": "vector", "mode_2": "text", "beside": "1"}
    shown = (await send(browser, "search", fields)).text
    assert "<h2>Meaning</h2>" in shown
    assert "<h2>Words</h2>" in shown
    assert "as here beside" in shown
    assert "<b>not beside</b>" in shown
    assert "<h2>Words</h2>" not in (await send(browser, "search", {"query": "heron", "mode": "vector"})).text


async def test_what_was_given_stands_beside_the_message_that_it_was_for(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client)
    asked = "Where does the heron keep its lantern?"
    body = {"message": asked, "session_id": "web:1", "owner_key": ME}
    await client.post("/agents/wren/context", json=body)
    said = {"messages": [{"role": "user", "content": asked}], "owner_key": ME}
    await client.post("/agents/wren/sessions/web:1/messages", json=said)
    assert await runtime.turn_log.flush()
    shown = (await look(browser, "conversations/web:1")).text
    assert re.search(r"Memory gave 1 to the prompt</a>: “The heron keeps its lantern", shown)


async def test_an_archive_is_looked_at_before_it_is_brought_in(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client, "memory/a.md")
    archive = (await send(browser, "export", {})).content
    await remember(client, "memory/a.md", "Something else.")
    token = re.search(r'name="form_token" value="([0-9a-f]+)"', (await look(browser, "snapshot")).text)
    assert token is not None
    address = f"/browser/wren/snapshot/preview?owner={ME}"
    sent = {"files": {"file": ("memory.zip", archive, "application/zip")}}
    seen = await browser.post(address, data={"form_token": token[1]}, **sent)
    assert (seen.status_code, "Would change (1)" in seen.text, "memory/a.md" in seen.text) == (200, True, True)
    assert "Something else." in (await look(browser, "memory/file", path="memory/a.md")).text
    found = re.search(r'name="archive" value="([^"]+)"', seen.text)
    assert found is not None
    done = await send(browser, "snapshot", {"archive": found[1]})
    assert (done.status_code, "Changed (1)" in done.text) == (200, True)
    assert SECRET in (await look(browser, "memory/file", path="memory/a.md")).text
    assert (await send(browser, "snapshot", {"archive": "?"})).status_code == 422
    assert (await browser.post(address, data={"form_token": "0" * 64}, **sent)).status_code == 403
    assert (await browser.post(address, data={"form_token": token[1]}, files={"file": ("a", b"x")})).status_code == 400
    assert (await browser.post(address, data={"form_token": token[1]}, files={"other": ("a", b"")})).status_code == 422
    foreign = {"Origin": "http://evil.example", "Sec-Fetch-Site": "cross-site"}
    assert (await browser.post(address, data={"form_token": token[1]}, headers=foreign, **sent)).status_code == 403


@pytest.mark.parametrize("path", ["/browser/login", "/browser/static/live.js", "/browser/static/nothing"])
async def test_who_has_no_key_yet_sends_no_more_than_one(browser: httpx.AsyncClient, path: str) -> None:
    large = await browser.post(path, content=b"key=" + b"%41" * 4000, headers=FORM)
    assert large.status_code == 413
    small = await browser.post("/browser/login", content=b"key=%41", headers=FORM)
    assert small.status_code == 401


async def test_a_version_that_is_no_number_is_refused(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await remember(client)
    answer = await send(browser, "memory/restore", {"path": "notes/a.md", "version": "x"})
    assert answer.status_code == 422, answer.text
    assert "a whole number" in answer.text


async def test_ones_own_copy_of_a_shared_file_is_saved(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await client.put("/agents/wren/files/notes/a.md", json={"content": "For all.\n"})
    shown = await look(browser, "memory/file", path="notes/a.md", edit="1")
    assert 'name="version"' not in shown.text
    assert "Restore" not in shown.text
    saved = await send(browser, "memory/file", {"path": "notes/a.md", "content": "For me.\n"})
    assert saved.status_code == 303, saved.text
    found = [
        (await client.get("/agents/wren/files/notes/a.md", params=whose)).json()["content"]
        for whose in ({}, {"owner_key": ME})
    ]
    assert found == ["For all.\n", "For me.\n"]
    assert 'name="version" value="1"' in (await look(browser, "memory/file", path="notes/a.md", edit="1")).text


async def test_a_member_opens_a_file_of_its_leader(client: httpx.AsyncClient, browser: httpx.AsyncClient) -> None:
    await client.put("/agents/lead/files/notes/b.md", json={"content": "The leader's.\n"})
    await client.put("/agents/wren", json={"leader_agent_id": "lead"})
    shown = await look(browser, "memory/file", owner=None, path="notes/b.md")
    assert shown.status_code == 200
    assert "The leader" in shown.text


async def opened(browser: httpx.AsyncClient, page: str, link: str, owner: str | None = ME) -> httpx.Response:
    """What the one link of a page with some words leads to."""
    shown = (await look(browser, page, owner)).text
    [address] = {found for found, text in re.findall(r'<a href="([^"]+)">([^<]+)</a>', shown) if text == link}
    return await browser.get(address.replace("&amp;", "&"))


async def test_who_signs_in_with_a_bound_key_opens_the_shared_file_as_the_shared_one(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client, "notes/a.md", "Mine.\n")
    await client.put("/agents/wren/files/notes/a.md", json={"content": "For all.\n"})
    await client.put("/agents/wren/files/notes/b.md", json={"content": "For all, too.\n"})
    _, bound = await runtime.keys.create("default", "member", owner_key=ME)
    await sign_in(browser, bound)
    listed = (await look(browser, "memory", None)).text
    own, shared = re.findall(r'<a href="([^"]+)">notes/a.md</a>', listed)
    for address, text, label in ((own, "Mine.", ME), (shared, "For all.", "shared by all people")):
        shown = (await browser.get(address.replace("&amp;", "&"))).text
        assert (f"<p>{text}</p>" in shown, f'"quiet">{label} · version' in shown) == (True, True), address
        lines = await browser.get(address.replace("&amp;", "&").replace("memory/file", "memory/lines"))
        assert (text in lines.text, f'"quiet">{label} · version' in lines.text) == (True, True), address
        # What others read is not this key's to write: there is no button that only refuses.
        is_own = label == ME
        assert ("edit=1" in shown) == is_own
    refused = await send(browser, "memory/file", {"path": "notes/a.md", "content": "x", "scope": "team"}, None)
    assert refused.status_code == 403
    # Of a file that is only shared one's own may still be made.
    copy = await look(browser, "memory/file", None, path="notes/b.md", edit="1")
    assert f"What you save is a file of {ME} alone" in copy.text


async def test_a_shared_file_is_edited_and_restored_where_a_person_has_one_of_the_name(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    await remember(client, "notes/a.md", "Mine.\n")
    await client.put("/agents/wren/files/notes/a.md", json={"content": "For all.\n"})
    page = {"path": "notes/a.md", "scope": "team"}
    shown = (await look(browser, "memory/file", **page, edit="1")).text
    assert ('name="scope" value="team"' in shown, 'name="version" value="1"' in shown) == (True, True)
    saved = await send(browser, "memory/file", {**page, "version": "1", "content": "For all of us.\n"})
    assert (saved.status_code, "scope=team" in saved.headers["location"]) == (303, True)
    late = await send(browser, "memory/file", {**page, "version": "1", "content": "For nobody.\n"})
    assert (late.status_code, "For all of us." in late.text, "Mine." in late.text) == (412, True, False)
    compared = (await look(browser, "memory/file", **page, diff_to="1")).text
    assert "-For all of us." in compared
    restored = await send(browser, "memory/restore", {**page, "version": "1"})
    assert (restored.status_code, "scope=team" in restored.headers["location"]) == (303, True)
    found = [
        (await client.get("/agents/wren/files/notes/a.md", params=whose)).json()["content"]
        for whose in ({}, {"owner_key": ME})
    ]
    assert found == ["For all.\n", "Mine.\n"]
    assert (await look(browser, "memory/file", path="notes/a.md", scope="theirs")).status_code == 422
    assert (await look(browser, "memory/file", path="notes/a.md", scope="global")).status_code == 404


async def test_a_file_is_read_in_a_scope(client: httpx.AsyncClient) -> None:
    await remember(client, "notes/a.md", "Mine.\n")
    await client.put("/agents/wren/files/notes/a.md", json={"content": "For all.\n"})
    for scope, text in (("personal", "Mine.\n"), ("team", "For all.\n"), (None, "Mine.\n")):
        params = {"owner_key": ME, **({"scope": scope} if scope else {})}
        assert (await client.get("/agents/wren/files/notes/a.md", params=params)).json()["content"] == text
        lines = (await client.get("/agents/wren/files/notes/a.md/sources", params=params)).json()["lines"]
        assert [line["text"] for line in lines] == [text.strip()]
    assert (await client.get("/agents/wren/files/notes/a.md", params={"scope": "personal"})).status_code == 404


async def test_what_all_share_is_linked_where_it_stands(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    path = "notes/boat.md"
    await remember(client, path, "- Mine.\n")
    await client.put(f"/agents/wren/files/{path}", json={"content": "- My boss is Petra Lindqvist.\n"})
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    await client.post("/agents/wren/context", json={"message": "Who is Petra Lindqvist?", "owner_key": ME})
    await runtime.turn_log.flush()
    for page in ("facts", "overview"):
        assert "Petra Lindqvist" in (await opened(browser, page, f"{path}:1")).text, page
    [turn] = (await client.get("/agents/wren/turns", params={"owner_key": ME})).json()["turns"]
    assert f'scope=team">{path}</a>' in (await look(browser, f"turns/{turn['id']}")).text
    found = (await send(browser, "search", {"query": "Petra Lindqvist", "tier": "document"})).text
    assert f'scope=team">{path}:1</a>' in found


async def a_night(client: httpx.AsyncClient, **owner: str) -> dict[str, Any]:
    """The report of a night that lets a note enter MEMORY.md."""
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    note = {"content": "- My locker at the station is number 34.\n", **owner}
    await client.put(f"/agents/wren/files/memory/{yesterday}.md", json=note)
    body = {"topic": "the locker", **owner}
    ran = (await client.post("/memory/wren/dreaming/focused", json=body)).json()["data"]
    found = (await client.get(f"/memory/wren/dream/reports/{ran['report_id']}", params=owner)).json()["data"]
    assert found["diff"], found
    return dict(found)


def undo_of(shown: str) -> dict[str, str]:
    """The fields of the form that undoes a night."""
    [form] = re.findall(r'<form method="post" action="[^"]+/undo[^"]*">(.*?)</form>', shown, re.DOTALL)
    return dict(re.findall(r'name="([a-z_]+)" value="([^"]*)"', form))


@pytest.mark.parametrize("is_isolated", [True, False])
async def test_undoing_a_night_says_that_the_file_was_changed_and_takes_back_nothing_unseen(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, is_isolated: bool
) -> None:
    """Without isolation the reports of whoever is chosen are the team's, and so is the file."""
    memory, path = "/agents/wren/files/MEMORY.md", "MEMORY.md"
    await client.put(memory, json={"owner_key": ME, "content": "# Long-term Memory\n\n## Notes\n\n- Tea.\n"})
    await client.put("/agents/wren", json={"settings": {"memory_isolation": is_isolated}})
    report = await a_night(client, owner_key=ME)
    night = f"nights/{report['id']}"
    shown = (await look(browser, night)).text
    assert "has been changed since" not in shown
    undo = undo_of(shown)
    present = (
        await client.get(memory, params={"owner_key": ME, "scope": "personal" if is_isolated else "team"})
    ).json()
    later = f"{present['content']}- Ada moved.\n"
    await client.put(memory, json={"owner_key": ME, "content": later})
    # What was changed after the page was made is not taken back unseen.
    late = await send(browser, f"{night}/undo", undo)
    assert (late.status_code, "has been changed since" in late.text) == (412, True)
    shown = (await look(browser, night)).text
    assert "has been changed since" in shown
    address = re.search(r'href="([^"]+)">See all that would go', shown)
    assert address is not None
    assert "-- Ada moved." in (await browser.get(address[1].replace("&amp;", "&"))).text
    done = await send(browser, f"{night}/undo", undo_of(shown))
    assert done.status_code == 303, done.text
    restored = (await browser.get(done.headers["location"])).text
    assert ("present one again" in restored, "locker" in restored.partition("<article")[2]) == (True, False)
    found = await client.get(memory, params={"owner_key": ME, "scope": "personal" if is_isolated else "team"})
    assert ("locker" in found.json()["content"], path in restored) == (False, True)


async def test_undoing_the_first_night_of_a_person_deletes_the_file_that_it_made(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    report = await a_night(client, owner_key=ME)
    assert report["version_before"] is None
    assert "What it changed, and undo" in (await look(browser, "overview")).text
    shown = (await look(browser, f"nights/{report['id']}")).text
    assert "Undo: delete MEMORY.md" in shown
    done = await send(browser, f"nights/{report['id']}/undo", undo_of(shown))
    assert "It is undone" in (await browser.get(done.headers["location"])).text
    gone = await client.get("/agents/wren/files/MEMORY.md", params={"owner_key": ME, "scope": "personal"})
    assert gone.status_code == 404
    again = (await look(browser, f"nights/{report['id']}")).text
    assert "Undo" not in again.partition("What changed in")[2]
    # Nothing to undo any more, and nobody's file is deleted twice.
    assert (await send(browser, f"nights/{report['id']}/undo", undo_of(shown))).status_code in (404, 412)


async def test_undo_is_spoken_of_where_there_is_one(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    messages = [
        {"role": "user", "content": f"I work at Aldi. My boss is Petra Lind. We have {n} lockers."} for n in (3, 4)
    ]
    for session in range(6):
        body = {"owner_key": ME, "messages": messages}
        await client.post(f"/agents/wren/sessions/web:{session}/messages", json=body)
        await client.post(f"/agents/wren/sessions/web:{session}/complete", json={"owner_key": ME})
    await drain(runtime)
    await deferred(runtime.database, Work("dreaming", "default", "wren", ME))
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    reports = (await client.get("/memory/wren/dream/reports", params={"owner_key": ME})).json()["data"]["reports"]
    [report] = [each for each in reports if each["mode"] == "dreaming" and each["diff"]]
    shown = (await look(browser, "overview")).text
    assert ("What it changed</a>" in shown, "What it changed, and undo" in shown) == (True, False)
    night = (await look(browser, f"nights/{report['id']}")).text
    assert "Undo" not in night
    assert "There is no undo of this" in night


async def test_a_decided_contradiction_is_in_the_archive_as_the_page_says(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await remember(client, "memory/2023-05-04.md", "- The budget is 300 euros.\n")
    await remember(client, "memory/2023-05-04-02.md", "- The budget is 500 euros.\n")
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    shown = (await look(browser, "contradictions")).text
    assert "its line moves from its file into <code>memory/archive/</code>" in shown
    [number] = re.findall(r"/contradictions/(con-\d+)", shown.partition("Keep A")[0])
    [kept] = re.findall(r'<p class="text">([^<]+)</p>', shown.partition("Keep A")[0])
    assert (await send(browser, f"contradictions/{number}", {"keep": "a"})).status_code == 303
    [lost] = {"The budget is 300 euros.", "The budget is 500 euros."} - {kept}
    archive = f"memory/archive/{datetime.now(UTC):%Y-%m}.md"
    assert lost in (await look(browser, "memory/file", path=archive)).text
    notes = [(await look(browser, "memory/file", path=f"memory/2023-05-04{n}.md")).text for n in ("", "-02")]
    assert lost not in "".join(notes)


async def test_confirming_a_fact_does_what_the_page_says(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    for text in ("I work at Aldi.", "I work at Lidl now."):
        body = {"messages": [{"role": "user", "content": text}], "owner_key": ME}
        await client.post("/agents/wren/sessions/web:1/messages", json=body)
        await client.post("/agents/wren/sessions/web:1/complete", json={"owner_key": ME})
        await drain(runtime)
    found = (await client.get("/agents/wren/facts", params={"owner_key": ME})).json()["facts"]
    [old] = [fact for fact in found if fact["state"] == "superseded"]
    [new] = [fact for fact in found if "Lidl" in fact["text"] and fact["state"] == "current"]
    await send(browser, f"facts/{new['id']}/unhelpful", {})
    done = await send(browser, f"facts/{new['id']}/confirm", {})
    after = (await browser.get(done.headers["location"])).text
    assert "as far as it had faded" in after
    assert (await client.get(f"/agents/wren/facts/{new['id']}", params={"owner_key": ME})).json()["fact"][
        "trust"
    ] < 0.31
    # Of what holds no longer nothing would come of a confirmation.
    shown = (await look(browser, f"facts/{old['id']}")).text
    assert [f"facts/{each['id']}/confirm?" in shown.replace("%2F", "/") for each in (old, new)] == [False, True]
    assert "rises when you rate it helpful" in (await look(browser, "overview")).text


async def test_dismissing_the_card_brings_up_what_an_earlier_night_let_in(
    client: httpx.AsyncClient, browser: httpx.AsyncClient
) -> None:
    first = await a_night(client, owner_key=ME)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    note = {"content": "- My bicycle is parked at the harbour.\n", "owner_key": ME}
    await client.put(f"/agents/wren/files/memory/{yesterday}-02.md", json=note)
    await client.post("/memory/wren/dreaming/focused", json={"topic": "the bicycle", "owner_key": ME})
    shown = (await look(browser, "overview")).text.partition("New in long-term memory")[2].partition("</section>")[0]
    assert ("bicycle" in shown, "locker" in shown, "Dismiss these" in shown) == (True, False, True)
    seen = await send(browser, "card/seen", {})
    after = (await browser.get(seen.headers["location"])).text
    assert "an earlier night" in after.partition('class="done"')[2].partition("</p>")[0]
    assert first["promoted"][0]["text"] in after.partition("New in long-term memory")[2]


async def test_a_conversation_has_its_episode_however_many_came_after_it(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime, conninfo: str
) -> None:
    for session, text in (("web:1", "I moved to Bergen in May."), ("web:2", "I sold the green boat.")):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
        url = f"/agents/wren/sessions/{session}"
        await client.post(f"{url}/messages", json={"messages": messages, "owner_key": ME})
        await client.post(f"{url}/complete", json={"owner_key": ME})
        await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    columns = (
        "tenant_id, slice_id, agent_id, owner_key, session_key, session_id, compactions, summary, abstract, "
        "key_topics, method, started_at, ended_at, created_at, expires_at"
    )
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(
            f"INSERT INTO episodes (from_seq, through_seq, {columns}) SELECT 2 + n, 2 + n, {columns} FROM episodes, "
            "generate_series(1, 120) AS n WHERE session_id = 'web:2'"
        )
    found = (await look(browser, "conversations/web:1")).text.partition("What it came to")[2]
    assert ("Bergen" in found, "green boat" in found, "No episode" in found) == (True, False, False)
    many = (await look(browser, "conversations/web:2")).text.partition("What it came to")[2]
    assert ("the newest 100" in many, "Bergen" in many) == (True, False)
    listed = await client.get("/agents/wren/episodes", params={"owner_key": ME, "session_id": "web:1"})
    assert [each["session_id"] for each in listed.json()["episodes"]] == ["web:1"]
    await client.post("/agents/wren/sessions/web:3/messages", json={"messages": messages, "owner_key": ME})
    assert "none has been made of it yet" in (await look(browser, "conversations/web:3")).text


async def test_a_conversation_shows_no_episode_of_somebody_elses_of_the_same_name(
    client: httpx.AsyncClient, browser: httpx.AsyncClient, runtime: Runtime
) -> None:
    await client.put("/agents/wren", json={"settings": {"memory_isolation": False}})
    for owner, text in ((ME, "I moved to Bergen in May."), ("user:2", "I sold the green boat.")):
        messages = [{"role": "user", "content": text}, {"role": "assistant", "content": "Noted."}]
        await client.post("/agents/wren/sessions/web:1/messages", json={"messages": messages, "owner_key": owner})
        await client.post("/agents/wren/sessions/web:1/complete", json={"owner_key": owner})
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    found = (await look(browser, "conversations/web:1")).text.partition("What it came to")[2]
    assert ("Bergen" in found, "green boat" in found) == (True, False)
