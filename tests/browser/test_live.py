"""A page follows what happens to its memory: it says so by itself, and its bar stays true."""

from __future__ import annotations

import re

import httpx
from tests.browser.conftest import Look, post
from tests.browser.sight import OWNER

from reverie_server.runtime import Runtime


async def test_a_page_says_that_something_has_happened(lived: httpx.AsyncClient, look: Look, runtime: Runtime) -> None:
    object.__setattr__(runtime.settings, "events_stream_seconds", 30.0)
    sight = await look()
    async with sight.page.expect_response(lambda answer: "/events?" in answer.url):
        await sight.visit("turns")
    assert await sight.page.locator(".news").is_hidden()
    rows = await sight.page.locator("main tbody tr").count()
    await post(lived, "agents/wren/context", message="What is the boat called?", session_id="web:1")
    await runtime.turn_log.flush()
    await sight.page.get_by_role("link", name="Load it again").wait_for()
    await sight.press(sight.page.get_by_role("link", name="Load it again"))
    assert await sight.page.locator("main tbody tr").count() == rows + 1


async def test_the_bar_stays_true(lived: httpx.AsyncClient, look: Look, runtime: Runtime) -> None:
    object.__setattr__(runtime.settings, "events_stream_seconds", 30.0)
    sight = await look()
    async with sight.page.expect_response(lambda answer: "/events?" in answer.url):
        await sight.visit("overview")
    assert "no jobs waiting" in await sight.text(".trustbar")
    message = {"role": "user", "content": "My sister Ines lives in Oslo."}
    answer = await lived.post("agents/wren/sessions/web:3/messages", json={"owner_key": OWNER, "messages": [message]})
    assert answer.status_code < 300
    await sight.page.locator(".trustbar", has_text="3 conversations").wait_for()
    await sight.page.locator(".trustbar", has_text=re.compile(r"\d jobs? waiting")).wait_for()
