"""Answers of an HTTP endpoint, bounded in bytes: for clients of the `openai` package."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import openai


class ResponseTooLarge(httpx2.ReadError):
    """The answer of the endpoint is over the limit."""


class _BoundedStream(httpx2.AsyncByteStream):
    """The bytes of an answer up to a limit, over which ResponseTooLarge is raised."""

    def __init__(self, stream: Any, max_bytes: int) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            self._left -= len(piece)
            if self._left < 0:
                raise ResponseTooLarge("the answer is too large")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()


def bounded_client(max_bytes: int) -> httpx2.AsyncClient:
    """A client like the package's own that reads at most `max_bytes` of each answer, errors included.

    It asks for uncompressed answers and refuses compressed ones: a few bytes of these may stand for many.
    """

    async def bound(response: httpx2.Response) -> None:
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        length = response.headers.get("content-length", "0")
        if encoding != "identity" or (length.isdecimal() and int(length) > max_bytes):
            await response.aclose()
            raise ResponseTooLarge("the answer is too large, or compressed")
        response.stream = _BoundedStream(response.stream, max_bytes)

    client: httpx2.AsyncClient = openai.DefaultAsyncHttpxClient(
        headers={"Accept-Encoding": "identity"}, event_hooks={"response": [bound]}
    )
    return client


def is_too_large(error: BaseException | None) -> bool:
    """Whether an error is ResponseTooLarge, or was raised from it."""
    while error is not None:
        if isinstance(error, ResponseTooLarge):
            return True
        error = error.__cause__
    return False
