"""Clients that say and write things until each is acknowledged, whatever happens to the database."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx
from tests.conftest import PLAIN

CLIENTS = 4
_MESSAGES_A_SESSION = 6


@dataclass
class Load:
    """What `base_url`, an agent's, has acknowledged, and how it answered.

    Each client has sessions and files of its own. `acknowledged_at` are times of the monotonic clock.
    """

    base_url: str
    messages: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)
    acknowledged_at: list[float] = field(default_factory=list)
    answers: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    ends: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Until `ends` is set and what was begun is acknowledged."""
        await asyncio.gather(*(self._client(number) for number in range(CLIENTS)))

    async def reached(self, count: int) -> None:
        """Until so many have been acknowledged."""
        while len(self.acknowledged_at) < count:  # noqa: ASYNC110  # of several clients
            await asyncio.sleep(0.1)

    def pause(self, since: float) -> tuple[float, float]:
        """When the longest time without an acknowledgement began, of those that end after `since`; its end."""
        times = sorted(self.acknowledged_at)
        gaps = [pair for pair in pairwise(times) if pair[1] >= since]
        return max(gaps, key=lambda pair: pair[1] - pair[0])

    async def _client(self, number: int) -> None:
        said = turn = 0
        async with httpx.AsyncClient(base_url=self.base_url, timeout=300, verify=PLAIN) as http:
            while not self.ends.is_set():
                session, path = f"web:{number}-{said}", f"notes/c{number}-{turn % 3}.md"
                for _ in range(_MESSAGES_A_SESSION):
                    text = f"We decided to light lantern {number}x{turn}."
                    message = {"id": f"m{turn}", "role": "user", "content": text}
                    await self._insist(http, "POST", f"sessions/{session}/messages", messages=[message])
                    self.messages.setdefault(session, []).append(f"m{turn}")
                    await self._insist(http, "PUT", f"files/{path}", content=text)
                    self.files.setdefault(path, []).append(text)
                    turn += 1
                    await asyncio.sleep(0.05)
                await self._insist(http, "POST", f"sessions/{session}/complete")
                said += 1

    async def _insist(self, http: httpx.AsyncClient, method: str, path: str, **body: Any) -> None:
        while True:
            began = time.monotonic()
            try:
                answer = await http.request(method, path, json=body)
            except httpx.TransportError as error:
                self.wrong.append(f"{method} {path}: {error!r}")
                await asyncio.sleep(0.2)
                continue
            self.slowest_seconds = max(self.slowest_seconds, time.monotonic() - began)
            if answer.status_code < 300:
                self.acknowledged_at.append(time.monotonic())
                self.answers[str(answer.status_code)] += 1
                return
            code, retry_after = answer.json().get("code"), answer.headers.get("Retry-After", "")
            self.answers[f"{answer.status_code} {code}"] += 1
            if (answer.status_code, code) != (503, "database_unavailable") or not retry_after.isdecimal():
                self.wrong.append(f"{method} {path}: {answer.status_code} {retry_after!r} {answer.text}")
            await asyncio.sleep(0.2)


async def check_files(http: httpx.AsyncClient, files: dict[str, list[str]]) -> None:
    """Each has what was acknowledged last, and each text that was acknowledged as one version."""
    for path, texts in files.items():
        assert (await http.get(f"files/{path}")).json()["content"] == texts[-1]
        answer = await http.get(f"files/{path}/versions", params={"limit": 500})
        versions = answer.json()["versions"]
        assert len(versions) == len(texts), (path, texts, versions)
