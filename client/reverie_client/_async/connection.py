"""Requests to the server: send them, retry where that is safe, raise the error of a failed answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import httpx

from reverie_client.answer import failure, later, parsed
from reverie_client.errors import ReverieError, ValidationError
from reverie_client.model import Page
from reverie_client.request import (
    DEFAULT_TIMEOUT_SECONDS,
    LONG_TIMEOUT_SECONDS,
    Call,
    retry_wait_seconds,
    transport_error,
)

T = TypeVar("T")


class AsyncConnection:
    """One server, reached with one key through one httpx client."""

    def __init__(self, http: httpx.AsyncClient, base_url: str, api_key: str | None, max_retries: int) -> None:
        self._http = http
        self._base_url = base_url
        self._api_key = api_key
        self._max_retries = max_retries
        # Of what was written: a server that reads elsewhere then reads nothing older.
        self._position: str | None = None

    @property
    def base_url(self) -> str:
        """The server's URL, without `/api/v1`."""
        return self._base_url

    async def ask(self, kind: type[T], call: Call) -> T:
        """Send `call` and give its answer as `kind`; any ReverieError."""
        return parsed(kind, await self.send(call))

    async def each(self, kind: type[Page[T]], call: Call) -> AsyncIterator[T]:
        """The items of a list in its order; pages are fetched as they are needed. Any ReverieError."""
        cursor = None
        while True:
            page = await self.ask(kind, replace(call, query={**call.query, "cursor": cursor}))
            for item in page.items:
                yield item
            cursor = page.next_cursor
            if cursor is None:
                return

    async def send(self, call: Call) -> httpx.Response:
        """Send `call`, again where that is safe and may help, and give the successful answer; any ReverieError."""
        attempt = 0
        while True:
            try:
                return await self._send_once(call)
            except ReverieError as error:
                wait = retry_wait_seconds(error, is_read=call.is_read, attempt=attempt)
                if wait is None or attempt >= self._max_retries:
                    raise
            await asyncio.sleep(wait)
            attempt += 1

    async def lines(self, call: Call, headers: Mapping[str, str]) -> AsyncIterator[str]:
        """The lines of an answer as they come; any ReverieError."""
        # What sends nothing for so long is no longer there.
        timeout = httpx.Timeout(DEFAULT_TIMEOUT_SECONDS, read=LONG_TIMEOUT_SECONDS)
        sent = {**call.headers(self._api_key, self._position), **headers}
        try:
            async with self._http.stream(
                call.method, call.url(self._base_url), headers=sent, timeout=timeout
            ) as response:
                if not response.is_success:
                    await response.aread()
                    failed = failure(response)
                    assert failed is not None
                    raise failed
                async for line in response.aiter_lines():
                    yield line
        except httpx.RequestError as error:
            raise transport_error(error, self._base_url) from error

    async def _send_once(self, call: Call) -> httpx.Response:
        timeout: Any = httpx.USE_CLIENT_DEFAULT
        if call.timeout_seconds is not None:
            # Whoever waits long for an answer need not wait long for a connection.
            timeout = httpx.Timeout(call.timeout_seconds, connect=min(call.timeout_seconds, DEFAULT_TIMEOUT_SECONDS))
        try:
            response = await self._http.request(
                call.method,
                call.url(self._base_url),
                content=call.content(),
                headers=call.headers(self._api_key, self._position),
                timeout=timeout,
            )
        except httpx.RequestError as error:
            raise transport_error(error, self._base_url) from error
        except httpx.InvalidURL as error:
            raise ValidationError("validation_error", None, f"the path cannot be sent: {error}") from error
        self._position = later(self._position, response)
        if (failed := failure(response)) is not None:
            raise failed
        return response
