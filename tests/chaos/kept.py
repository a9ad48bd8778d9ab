"""What a server has of the conversations that clients had with it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import httpx

WAIT_SECONDS = 120.0


async def check_conversations(http: httpx.AsyncClient, said: Mapping[str, Sequence[str]]) -> None:
    """Each message (by session → ids) is there, once and in order, and each completed session comes to one episode.

    Paths of `http` are relative to the agent's.
    """
    await check_messages(http, said)
    async with asyncio.timeout(WAIT_SECONDS):
        while len(episodes := await _episodes(http)) < len(said) or await _work(http):  # noqa: ASYNC110  # a worker's
            await asyncio.sleep(0.3)
    assert sorted(episodes) == sorted(said)
    dead_letters = (await http.get("pipeline")).json()["dead_letters"]
    assert dead_letters == [], dead_letters


async def check_messages(http: httpx.AsyncClient, said: Mapping[str, Sequence[str]]) -> None:
    """Each message (by session → ids) is there, once and in order."""
    for session, ids in said.items():
        assert await _messages(http, session) == list(ids), session


async def _messages(http: httpx.AsyncClient, session: str) -> list[str]:
    return [each["id"] for each in await _listed(http, f"sessions/{session}/messages", "messages")]


async def _episodes(http: httpx.AsyncClient) -> list[str]:
    return [each["session_id"] for each in await _listed(http, "episodes", "episodes")]


async def _listed(http: httpx.AsyncClient, path: str, name: str) -> list[dict[str, str]]:
    rows: list[dict[str, str]] = []
    cursor: str | None = None
    while True:
        page = {"limit": "100"} if cursor is None else {"limit": "100", "cursor": cursor}
        answer = await http.get(path, params=page)
        assert answer.status_code == 200, answer.text
        rows += answer.json()[name]
        cursor = answer.json().get("next_cursor")
        if cursor is None:
            return rows


async def _work(http: httpx.AsyncClient) -> int:
    """Jobs of episodes that have not ended."""
    health = (await http.get("pipeline")).json()["stages"]["episodic"]
    return int(health["pending"] + health["running"] + health["scheduled"])
