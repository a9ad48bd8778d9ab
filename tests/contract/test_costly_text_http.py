"""A text that costs too much is refused, and nobody else waits for it."""

from __future__ import annotations

import asyncio
import os
import re
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from tests.contract.conftest import check_problem

from reverie_indexer import cutting, isolate
from reverie_server.nights.emergence import stage as emergence
from reverie_server.text import markdown_edit as sections

HERE = os.getpid()
LONG = "The tall lantern is lit.\n\n" * 3000


def never_ends(*_: Any, **__: Any) -> Any:
    """As a pattern does that was not thought of: it holds the interpreter of its process."""
    assert os.getpid() != HERE, "it would hold this process"
    return re.fullmatch(r"(?:a+)+b", "a" * 60)


async def while_others_are_answered(wren: Any, request: Any) -> httpx.Response:
    asked = asyncio.create_task(request)
    answered = 0
    while not asked.done():
        async with asyncio.timeout(30):
            answered += (await wren.get("files/small.md")).status_code == 200
    assert answered >= 3
    return await asked


async def test_a_file_that_cannot_be_cut(wren: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await wren.put("small.md", "The lantern.\n")
    monkeypatch.setattr(isolate, "CPU_SECONDS", 0.5)
    monkeypatch.setattr(cutting, "cut_file", never_ends)
    writing = wren.http.put(wren.url("files/notes/a.md"), json={"content": LONG})
    problem = check_problem(await while_others_are_answered(wren, writing), 422, "text_too_costly")
    assert "CPU time" in problem["detail"]
    assert (await wren.get("files/notes/a.md")).status_code == 404


async def test_versions_that_cannot_be_compared(wren: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await wren.put("small.md", "The lantern.\n")
    await wren.put("notes/a.md", LONG)
    await wren.put("notes/a.md", LONG + "It went out.\n")
    there = await wren.get("files/notes/a.md/versions", diff_to=1)
    assert there.status_code == 200, there.text
    assert "-It went out." in there.json()["diff"]
    monkeypatch.setattr(isolate, "CPU_SECONDS", 0.5)
    monkeypatch.setattr(sections, "unified_diff", never_ends)
    refused = await while_others_are_answered(wren, wren.get("files/notes/a.md/versions", diff_to=1))
    check_problem(refused, 422, "text_too_costly")


async def test_a_memory_whose_candidates_cannot_be_found(wren: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    await wren.put("small.md", "The lantern.\n")
    await wren.put(f"memory/{datetime.now(UTC).date()}.md", LONG)
    monkeypatch.setattr(isolate, "CPU_SECONDS", 0.5)
    monkeypatch.setattr(emergence, "collect_best", never_ends)
    refused = await while_others_are_answered(wren, wren.http.get("/memory/wren/dreaming/candidates"))
    assert (refused.status_code, "text_too_costly" in refused.text) == (422, True)
