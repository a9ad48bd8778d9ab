"""A real Chromium at a real server, with a memory that has something for every page.

Without Playwright or a Chromium the tests are left out, and say so; with REVERIE_TEST_NEEDS_BROWSER they fail.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.browser.chromium import find
from tests.browser.sight import OWNER, Sight

from reverie_server.app.pending_jobs import drain
from reverie_server.runtime import Runtime

if TYPE_CHECKING:
    from playwright.async_api import Browser

LINE = "The heron keeps its lantern in the east boathouse."
NUMBER = "0151 5550 1234"
TALK = (
    ("user", "I live in Bergen. My boss is Petra Lind, and my sister Ines works at Kilde."),
    ("assistant", "Bergen, Petra Lind, and Ines at Kilde."),
    ("user", f"My phone number is {NUMBER}. Please remember that the boat is called Alma."),
    ("assistant", "I will remember that the boat is called Alma."),
)


@pytest.fixture
async def chromium() -> AsyncIterator[Browser]:
    """The browser."""
    try:
        from playwright.async_api import Error, async_playwright
    except ModuleNotFoundError:
        _leave_out("Playwright is not installed (make browser)")
    found = find()
    if found is None:
        _leave_out("there is no Chromium (make browser)")
    start = {"executable_path": found.path, "args": found.arguments, "env": {**os.environ, **found.environment}}
    async with async_playwright() as playwright:
        try:
            browser = await playwright.chromium.launch(**start)
        except Error:
            # On a busy machine Chromium dies of a SIGSEGV as it starts, once in some thousand times.
            browser = await playwright.chromium.launch(**start)
        yield browser
        await browser.close()


def _leave_out(reason: str) -> Any:
    if os.environ.get("REVERIE_TEST_NEEDS_BROWSER"):
        pytest.fail(f"the tests of pages cannot run: {reason}")
    pytest.skip(f"the tests of pages are left out: {reason}")


Look = Callable[..., Awaitable[Sight]]


@pytest.fixture
async def look(chromium: Browser, client: httpx.AsyncClient) -> AsyncIterator[Look]:
    """Open a window of its own, with cookies of its own, at the test's server."""
    root = str(client.base_url).split("/api/")[0]
    opened: list[Sight] = []

    async def open_window(owner: str | None = OWNER, **options: Any) -> Sight:
        context = await chromium.new_context(**options)
        context.set_default_timeout(15_000)
        sight = Sight(await context.new_page(), root, owner)
        sight.watch()
        opened.append(sight)
        return sight

    yield open_window
    for sight in opened:
        await sight.page.context.close()
        assert sight.wrong == [], "a page said something to the console, asked another server, or opened a dialog"


@pytest.fixture
async def lived(client: httpx.AsyncClient, runtime: Runtime) -> httpx.AsyncClient:
    """The client of a memory with files, conversations, facts, a contradiction, a night, a turn and a receipt."""
    day = datetime.now(UTC) - timedelta(days=1)
    note = f"memory/{day:%Y-%m-%d}.md"
    await put(client, "MEMORY.md", "# Long-term Memory\n\n## Notes\n\n- Alma is a green rowing boat.\n")
    await put(client, "MEMORY.md", "# Long-term Memory\n\n## Notes\n\n- Alma is a red rowing boat.\n")
    await put(client, note, f"# {day:%Y-%m-%d}\n\n- {LINE}\n- The budget is 300 euros.\n")
    await put(client, f"memory/{day:%Y-%m-%d}-02.md", f"# {day:%Y-%m-%d}\n\n- The budget is 500 euros.\n")
    messages = [
        {"role": role, "content": content, "at": (day + timedelta(minutes=number)).isoformat()}
        for number, (role, content) in enumerate(TALK)
    ]
    for session in ("web:1", "web:2"):
        await post(
            client, f"agents/wren/sessions/{session}/messages", messages=messages[: 4 if session == "web:1" else 1]
        )
        await post(client, f"agents/wren/sessions/{session}/complete", trigger_source="api")
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    for query in ("Where does the heron keep its lantern?", "lantern in the east boathouse", "heron boathouse"):
        await post(client, "agents/wren/memory/search", query=query)
    await post(client, "agents/wren/context", message="Where is the heron's lantern?", session_id="web:1")
    await runtime.turn_log.flush()
    await post(client, "agents/wren/memory/forget", text="Alma is a green rowing boat.", dry_run=False)
    await post(client, "memory/wren/dreaming/focused", topic="the heron and its lantern")
    asked = [{"role": "user", "content": "Forget what I said about the quagga."}]
    await post(client, "agents/wren/sessions/web:7/messages", messages=asked)
    await drain(runtime, until=datetime.now(UTC) + timedelta(hours=1))
    return client


async def put(client: httpx.AsyncClient, path: str, content: str, owner: str = OWNER) -> None:
    """Write a file."""
    answer = await client.put(f"agents/wren/files/{path}", json={"owner_key": owner, "content": content})
    assert answer.status_code in (200, 201), answer.text


async def post(client: httpx.AsyncClient, path: str, owner: str = OWNER, **body: Any) -> Any:
    """The answer to a request of the owner's."""
    answer = await client.post(path, json={"owner_key": owner, **body})
    assert answer.status_code < 300, answer.text
    return answer.json()
