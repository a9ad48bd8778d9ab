"""Texts of which nothing is seen: every way in answers them, none fails."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import httpx
import pytest

UNSEEN = ["\u200b" * 200, "\ufeff\u200d", "\u00ad \u2060\n\u200c"]


@pytest.mark.parametrize("text", UNSEEN)
async def test_a_text_of_which_nothing_is_seen_is_none_to_forget(
    wren: Any, client: httpx.AsyncClient, problem: Any, text: str
) -> None:
    await wren.put("a.md", f"Ada{text}likes tea.", owner_key="user:1")
    for dry_run in (True, False):
        body = {"text": text, "owner_key": "user:1", "dry_run": dry_run}
        problem(await client.post(wren.url("memory/forget"), json=body), 422, "validation_error")
    assert (await wren.read("a.md", owner_key="user:1"))["content"] == f"Ada{text}likes tea."


@pytest.mark.parametrize("text", UNSEEN)
async def test_no_way_in_fails_on_a_text_of_which_nothing_is_seen(
    wren: Any, client: httpx.AsyncClient, text: str
) -> None:
    await wren.put("MEMORY.md", f"# Long-term Memory\n\n## Notes\n\n- {text}\n", owner_key="user:1")
    messages = [{"role": "user", "content": text}, {"role": "assistant", "content": text}]
    sent = [
        ("memory/search", {"query": text}),
        ("memory/keyword-search", {"query": text}),
        ("memory/forget", {"query": text}),
        ("memory/forget", {"id": text}),
        ("memory/inject", {"message": text, "recent_user_messages": [text]}),
        ("memory/save", {"content": text, "category": text}),
        ("memory/update", {"old_text": text, "new_text": "x"}),
        ("memory/update", {"old_text": "Notes", "new_text": text}),
        ("memory/clear", {"path_prefix": text}),
        ("memory/compact", {}),
        ("files/a.md/writes", {"strategy": "append", "content": text}),
        ("files/a.md/writes", {"strategy": "replace_section", "content": text, "section": text}),
        ("files/a.md/writes", {"strategy": "upsert_kv", "content": f"{text}: {text}"}),
        ("sessions/api:1/messages", {"messages": messages}),
        ("sessions/api:1/complete", {}),
        ("context", {"session_id": "api:1", "message": text, "system_prompt": text}),
        ("graph/search", {"query": text}),
    ]
    for path, body in sent:
        answer = await client.post(wren.url(path), json={**body, "owner_key": "user:1"})
        assert answer.status_code < 500, (path, answer.text)
    name = quote(text.strip())
    for path in (f"sessions/{name}", f"files/{name}.md", f"episodes/{name}"):
        answer = await client.get(wren.url(path), params={"owner_key": "user:1"})
        assert answer.status_code in (404, 422), (path, answer.text)
    assert (await wren.search("Notes", owner_key="user:1"))["count"] >= 0
