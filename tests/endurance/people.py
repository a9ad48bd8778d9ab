"""People who write, ask and forget, each repeating a request until it is acknowledged, whatever is killed meanwhile.

Each knows what the server must have of it: what was acknowledged, and not what was forgotten. Whatever it writes has a
word that nobody else writes, so that any answer tells whose it is.
"""

from __future__ import annotations

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

TENANTS = ("acme", "umbra")
OWNERS = ("user:1", "user:2", "user:3")
WORD = re.compile(r"zq\d+x\d+")
FILES = 12
# A file is written anew with so many passages at most.
PASSAGES = 3
# What is killed is back by then.
PATIENCE_SECONDS = 180.0
KINDS = ("The {word} lantern is lit.", "Our {word} boat lies in the harbour.", "Ada keeps the {word} key in a drawer.")


@dataclass
class Progress:
    """Of all people together; `done` counts requests that were acknowledged."""

    done: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    reached: asyncio.Event = field(default_factory=asyncio.Event)

    def acknowledge(self) -> None:
        self.done += 1
        self.reached.set()

    async def until(self, count: int) -> None:
        """Wait for so many."""
        while self.done < count:
            self.reached.clear()
            await self.reached.wait()


@dataclass
class Person:
    """One owner in one tenant, who does one thing after the other.

    `files` are path → text, `messages` session → ids, `completed` sessions, `spoken` word → the sentence that has it.
    """

    number: int
    tenant: str
    owner: str
    key: str
    urls: list[str]
    rng: random.Random
    progress: Progress
    files: dict[str, str] = field(default_factory=dict)
    messages: dict[str, list[str]] = field(default_factory=dict)
    completed: set[str] = field(default_factory=set)
    spoken: dict[str, str] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    _words: int = 0
    _sessions: int = 1

    async def act(self, http: httpx.AsyncClient) -> None:
        """Do something, until it is acknowledged."""
        deeds: dict[Callable[[httpx.AsyncClient], Awaitable[None]], int] = {
            self._write: 20,
            self._delete: 4,
            self._say: 30,
            self._complete: 5,
            self._search: 25,
            self._ask_for_context: 8,
            self._read: 10,
            self._forget: 5,
        }
        await self.rng.choices(list(deeds), list(deeds.values()))[0](http)

    def _sentence(self) -> str:
        self._words += 1
        word = f"zq{self.number}x{self._words}"
        self.spoken[word] = self.rng.choice(KINDS).format(word=word)
        return self.spoken[word]

    async def _write(self, http: httpx.AsyncClient) -> None:
        path = f"notes/n{self.rng.randrange(FILES)}.md"
        text = "\n\n".join(self._sentence() for _ in range(self.rng.randint(1, PASSAGES))) + "\n"
        await self.ask(http, "PUT", f"files/{path}", content=text)
        self._drop(path)
        self.files[path] = text

    async def _delete(self, http: httpx.AsyncClient) -> None:
        if self.files:
            path = self.rng.choice(sorted(self.files))
            await self.ask(http, "DELETE", f"files/{path}", also=(404,))
            self._drop(path)

    def _drop(self, path: str) -> None:
        for word in WORD.findall(self.files.pop(path, "")):
            self.spoken.pop(word, None)

    async def _say(self, http: httpx.AsyncClient) -> None:
        said = self.messages.setdefault(self._session, [])
        new = []
        for role in ("user", "assistant")[: self.rng.randint(1, 2)]:
            content = self._sentence() if role == "user" else "Noted."
            new.append({"id": f"m{len(said) + len(new)}", "role": role, "content": content})
        await self.ask(http, "POST", f"sessions/{self._session}/messages", messages=new)
        said += [message["id"] for message in new]

    @property
    def _session(self) -> str:
        return f"web:{self.number}-{self._sessions}"

    async def _complete(self, http: httpx.AsyncClient) -> None:
        if self.messages.get(self._session):
            await self.ask(http, "POST", f"sessions/{self._session}/complete")
            self.completed.add(self._session)
            self._sessions += 1

    async def _search(self, http: httpx.AsyncClient) -> None:
        if self.spoken:
            word = self.rng.choice(sorted(self.spoken))
            answer = await self.ask(http, "POST", "memory/search", query=word, max_results=20)
            texts = [result["text"] for result in answer.json()["results"]]
            assert any(word in WORD.findall(text) for text in texts), f"{word} is not found: {texts}"

    async def _ask_for_context(self, http: httpx.AsyncClient) -> None:
        if self.spoken:
            await self.ask(
                http,
                "POST",
                "context",
                message="Where do I find the key to the lantern on our boat?",
                session_id=self._session,
            )

    async def _read(self, http: httpx.AsyncClient) -> None:
        if self.files:
            path = self.rng.choice(sorted(self.files))
            answer = await self.ask(http, "GET", f"files/{path}")
            assert answer.json()["content"] == self.files[path], path

    async def _forget(self, http: httpx.AsyncClient) -> None:
        if self.spoken:
            word = self.rng.choice(sorted(self.spoken))
            await self.ask(http, "POST", "memory/forget", text=self.spoken[word], dry_run=False)
            self.forgotten.add(word)
            del self.spoken[word]
            for path, text in self.files.items():
                if word in WORD.findall(text):
                    # What is left of it is the server's to say; nothing else of the file has gone.
                    self.files[path] = (await self.ask(http, "GET", f"files/{path}")).json()["content"]
                    left = set(WORD.findall(text)) - {word}
                    assert set(WORD.findall(self.files[path])) == left, self.files[path]

    async def ask(
        self, http: httpx.AsyncClient, method: str, path: str, *, also: tuple[int, ...] = (), **body: Any
    ) -> httpx.Response:
        """The answer that says yes (or has a status of `also`); nothing in it is somebody else's, or forgotten."""
        headers = {"Authorization": f"Bearer {self.key}"}
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            assert time.monotonic() < deadline, f"{method} {path} is not done; so far {self.progress.refused}"
            url = f"{self.rng.choice(self.urls)}/api/v1/agents/wren/{path}"
            forgotten = frozenset(self.forgotten)
            try:
                answer = await http.request(method, url, json=body or None, headers=headers)
            except httpx.TransportError as error:
                self.progress.refused[type(error).__name__] += 1
                await asyncio.sleep(0.05)
                continue
            shown = set(WORD.findall(answer.text))
            foreign = {word for word in shown if not word.startswith(f"zq{self.number}x")}
            assert not foreign, f"{method} {path} shows what is not {self.tenant} {self.owner}'s: {foreign}"
            assert not shown & forgotten - {*WORD.findall(str(body))}, f"{method} {path} shows {shown & forgotten}"
            if answer.status_code < 300 or answer.status_code in also:
                self.progress.acknowledge()
                return answer
            # 429 while others are served, 503 while something is away.
            assert answer.status_code in (429, 503), f"{method} {path}: {answer.status_code} {answer.text[:500]}"
            assert answer.headers.get("Retry-After"), f"{method} {path}: no Retry-After with {answer.status_code}"
            self.progress.refused[str(answer.status_code)] += 1
            await asyncio.sleep(0.05)
