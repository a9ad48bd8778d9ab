"""The Python client against a real server over real HTTP: one suite for the sync and the async class."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from reverie_client import AsyncReverie, Reverie

LISTS = (
    *("agents", "dream_archive_month", "dream_reports", "duplicates", "entities", "episodes", "files", "messages"),
    *("unmet_requests", "versions"),
)
_END = object()


class InThreads:
    """A sync client with the face of an async one: each call in a thread, while the server answers in the loop."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._inner, name)
        if name == "agent":
            return lambda *args, **kwargs: InThreads(attribute(*args, **kwargs))
        if name in LISTS:
            return lambda *args, **kwargs: self._each(attribute(*args, **kwargs))
        if callable(attribute):
            return lambda *args, **kwargs: asyncio.to_thread(attribute, *args, **kwargs)
        return attribute

    async def _each(self, items: Any) -> AsyncIterator[Any]:
        while (item := await asyncio.to_thread(next, items, _END)) is not _END:
            yield item

    async def aclose(self) -> None:
        self._inner.close()


Connect = Callable[..., Any]


@pytest.fixture(params=["sync", "async"])
async def connect(
    request: pytest.FixtureRequest, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Connect]:
    """Clients of the test's server."""
    monkeypatch.delenv("REVERIE_URL", raising=False)
    monkeypatch.delenv("REVERIE_API_KEY", raising=False)
    server = str(client.base_url).split("/api/")[0]
    made = []

    def make(base_url: str = server, **options: Any) -> Any:
        kind = {
            "sync": lambda: InThreads(Reverie(base_url, **options)),
            "async": lambda: AsyncReverie(base_url, **options),
        }
        made.append(kind[request.param]())
        return made[-1]

    yield make
    for one in made:
        await one.aclose()


@pytest.fixture
def reverie(connect: Connect) -> Any:
    return connect()


@pytest.fixture
def me(reverie: Any) -> Any:
    return reverie.agent("me", owner_key="user:42")
