"""One OpenAI-compatible endpoint through the `openai` package: single requests, and the reasons of their failures."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.endpoint_client import parse_retry_after
from reverie_indexer.errors import SetupError
from reverie_server.access.work_slot import without_slot
from reverie_server.llm.errors import LanguageModelUnavailable, Reason

if TYPE_CHECKING:
    import openai

# What is asked of an endpoint for somebody else: the path below its base URL.
Resource = Literal["chat/completions", "responses", "models"]
# The default time-out of clients of the protocol, whose requests are forwarded.
FORWARD_TIMEOUT_SECONDS = 600.0
# The limit of a whole answer that is passed on piece by piece.
_FORWARD_WHOLE_SECONDS = 1800.0
_CONNECT_TIMEOUT_SECONDS = 10.0
_TELLING_SECONDS = 1.0
_GATEWAY_STATUSES = frozenset({502, 503, 504})
_PASSING = frozenset({408, 409, 425, 429})  # and every 5xx
_STATUS_WORDS = {
    401: "refuses the API key",
    402: "wants payment",
    403: "does not allow this API key to use the model",
    404: "knows no such address or model",
    413: "finds the prompt too long",
    429: "has no room for another request now",
}


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """The endpoint and its limits. `/chat/completions` is appended to `base_url`; a server may need no key.

    `timeout_seconds` bounds one whole call with its retries, of which there are at most `max_retries`. Of an answer at
    most `max_response_bytes` are read. After `breaker_failures` in a row, or one time-out, no request is sent for
    `breaker_pause_seconds`; the pause grows each time that the next request fails too.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0
    max_retries: int = 2
    max_response_bytes: int = 8 * 1024 * 1024
    breaker_failures: int = 3
    breaker_pause_seconds: float = 10.0

    @property
    def host(self) -> str:
        """Host and port, for messages: the rest of the address may hold credentials."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def check(self) -> None:
        """Raise SetupError for an address that cannot be one."""
        try:
            parts = urlsplit(self.base_url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            usable = False
        if not usable:
            raise SetupError("REVERIE_LLM_BASE_URL must begin with http:// or https:// and name a host")


@dataclass(frozen=True, slots=True)
class Failed:
    """A request that gave no completion. `wait_seconds`: what the endpoint asked to wait, if it did.

    `code`, `param` and `message` are the endpoint's own words; the message may quote the prompt and goes nowhere.
    """

    reason: Reason
    detail: str
    may_pass: bool
    status: int | None = None
    wait_seconds: float | None = None
    code: str | None = None
    param: str | None = None
    message: str = ""

    def error(self) -> LanguageModelUnavailable:
        """The failure as the error that callers get."""
        again = self.wait_seconds if self.reason == "paused" else None
        return LanguageModelUnavailable(self.reason, self.detail, self.status, again)


class RawAnswer:
    """The unchanged answer of an endpoint, also an error. Its body can be read once, whole or in pieces."""

    def __init__(self, status: int, headers: Mapping[str, str], pieces: AsyncIterator[bytes]) -> None:
        self.status = status
        self.headers = headers
        self._pieces = pieces

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it arrives; LanguageModelUnavailable when the connection breaks."""
        async for piece in self._pieces:
            yield piece

    async def body(self) -> bytes:
        """The whole body; LanguageModelUnavailable when the connection breaks."""
        return b"".join([piece async for piece in self._pieces])


class Endpoint:
    """Sends requests. The client is made, and its library imported, with the first one."""

    def __init__(self, config: EndpointConfig) -> None:
        config.check()
        self.config = config
        self.breaker = Breaker(config.breaker_failures, config.breaker_pause_seconds)
        self._client: openai.AsyncOpenAI | None = None

    def paused(self) -> Failed | None:
        """The failure `paused` where the breaker is open, else None; a call may still find another one probing."""
        left = self.breaker.open_seconds
        return self._paused(left) if left > 0 else None

    async def post(self, body: Mapping[str, Any], deadline: float) -> bytes | Failed:
        """One request that is not streamed: the body of a 200, whatever it holds. `deadline` is the loop's time."""
        client = await self._connected()
        import httpx2
        import openai

        if (wait := self.breaker.wait_seconds()) > 0:
            return self._paused(wait)
        answered = self.breaker.succeeded
        remaining = max(0.001, deadline - asyncio.get_running_loop().time())
        try:
            # The library's time-out is for each read of the socket; this one is for the whole.
            with without_slot():
                async with asyncio.timeout_at(deadline):
                    response = await client.chat.completions.with_raw_response.create(
                        messages=[],
                        model=self.config.model,
                        extra_body=dict(body),
                        timeout=openai.Timeout(remaining, connect=min(remaining, _CONNECT_TIMEOUT_SECONDS)),
                    )
        except openai.APIStatusError as error:
            self._note(has_failed=error.status_code >= 500)
            return self._judge(error)
        except (TimeoutError, openai.APITimeoutError):
            if self.breaker.succeeded > answered:
                # Others were answered meanwhile: this request takes long, and the endpoint is not at fault.
                self.breaker.give_up()
            else:
                # The time-out of a call that had hardly any time left tells little about the endpoint.
                self.breaker.fail(timed_out=remaining >= _TELLING_SECONDS)
            return self._failed("timeout", "did not answer in time", may_pass=True)
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            return self._broken(error)
        except asyncio.CancelledError:
            self.breaker.give_up()
            raise
        self.breaker.succeed()
        return response.http_response.content

    @asynccontextmanager
    async def forward(
        self, resource: Resource, body: Mapping[str, Any], authorization: str | None = None
    ) -> AsyncIterator[RawAnswer | Failed]:
        """Send somebody else's request as it is, once; the connection closes with the context.

        `body` is the query of a GET. `authorization` takes the place of the configured key. Failed when nothing was
        answered.
        """
        with without_slot():
            async with self._forwarded(resource, body, authorization) as answer:
                yield answer

    @asynccontextmanager
    async def _forwarded(
        self, resource: Resource, body: Mapping[str, Any], authorization: str | None
    ) -> AsyncIterator[RawAnswer | Failed]:
        client = await self._connected()
        import httpx2
        import openai

        if (wait := self.breaker.wait_seconds()) > 0:
            yield self._paused(wait)
            return
        timeout = openai.Timeout(FORWARD_TIMEOUT_SECONDS, connect=_CONNECT_TIMEOUT_SECONDS)
        headers = {} if authorization is None else {"Authorization": authorization}
        sent: Any
        if resource == "models":
            models = client.models.with_streaming_response
            sent = models.list(extra_query=dict(body), extra_headers=headers, timeout=timeout)
        elif resource == "responses":
            responses = client.responses.with_streaming_response
            sent = responses.create(extra_body=dict(body), extra_headers=headers, timeout=timeout)
        else:
            model = str(body.get("model", self.config.model))
            completions = client.chat.completions.with_streaming_response
            sent = completions.create(
                messages=[], model=model, extra_body=dict(body), extra_headers=headers, timeout=timeout
            )
        try:
            response = await sent.__aenter__()
        except openai.APIStatusError as error:
            answer = error.response
            # An error of this one request, even a 500, need not concern others.
            self._note(has_failed=answer.status_code in _GATEWAY_STATUSES)
            yield RawAnswer(answer.status_code, answer.headers, _once(answer.content))
            return
        except openai.APITimeoutError:
            self.breaker.fail(timed_out=True)
            yield self._failed("timeout", "did not answer in time", may_pass=True)
            return
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            yield self._broken(error)
            return
        except asyncio.CancelledError:
            self.breaker.give_up()
            raise
        self.breaker.succeed()
        try:
            yield RawAnswer(response.status_code, response.headers, self._read(response))
        finally:
            await sent.__aexit__(None, None, None)

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def _connected(self) -> openai.AsyncOpenAI:
        if self._client is None:
            # Seconds, the first time; the library puts off what a request needs to the request itself.
            await asyncio.to_thread(importlib.import_module, "openai.resources.chat.completions")
            import openai

            from reverie_indexer.bounded_http import bounded_client

            client = openai.AsyncOpenAI(
                # Never None: the library would then send OPENAI_API_KEY to whatever host this is.
                api_key=self.config.api_key or "none",
                base_url=self.config.base_url,
                max_retries=0,
                http_client=bounded_client(self.config.max_response_bytes),
            )
            client.organization = client.project = None  # from the environment, like the key, and not for this host
            # Two first requests at once: the second's client is dropped unused.
            self._client = self._client or client
        return self._client

    async def _read(self, response: Any) -> AsyncIterator[bytes]:
        import httpx2

        from reverie_indexer.bounded_http import is_too_large

        try:
            async with aclosing(response.iter_bytes()) as pieces:
                deadline = asyncio.get_running_loop().time() + _FORWARD_WHOLE_SECONDS
                while True:
                    async with asyncio.timeout_at(deadline):
                        piece = await anext(pieces, None)
                    if piece is None:
                        return
                    yield piece
        except TimeoutError:
            raise self._failed("timeout", "came to no end in time", may_pass=True).error() from None
        except httpx2.RequestError as error:
            what = "answers with too much" if is_too_large(error) else "broke off in its answer"
            raise self._failed("unreachable", what, may_pass=True).error() from None

    def _note(self, *, has_failed: bool) -> None:
        if has_failed:
            self.breaker.fail()
        else:
            self.breaker.succeed()

    def _broken(self, error: Exception) -> Failed:
        """The failure of a broken connection. An answer that is too large is no outage, and would come again."""
        from reverie_indexer.bounded_http import is_too_large

        if is_too_large(error):
            self.breaker.succeed()
            return self._failed("unusable", "answers with too much, or compressed", may_pass=False)
        self.breaker.fail()
        return self._failed("unreachable", "cannot be reached, or broke off", may_pass=True)

    def _paused(self, wait_seconds: float) -> Failed:
        why = self._says("has not answered lately, and is not asked for a while")
        return Failed("paused", why, may_pass=False, wait_seconds=wait_seconds)

    def _judge(self, error: openai.APIStatusError) -> Failed:
        status, headers = error.status_code, error.response.headers
        may_pass = (status in _PASSING or status >= 500) and error.code != "insufficient_quota"
        if headers.get("x-should-retry") in ("true", "false"):
            may_pass = headers["x-should-retry"] == "true"
        words = _STATUS_WORDS.get(status, "fails" if status >= 500 else "does not take the request")
        reason: Reason = "rate_limited" if status == 429 else "failed" if status >= 500 else "rejected"
        return Failed(
            reason,
            self._says(f"{words} (HTTP {status})"),
            may_pass,
            status,
            _wait_seconds(headers),
            error.code,
            error.param,
            str(error.message),
        )

    def _failed(self, reason: Reason, what: str, *, may_pass: bool) -> Failed:
        return Failed(reason, self._says(what), may_pass)

    def _says(self, what: str) -> str:
        return f"the language model's endpoint {self.config.host} {what}"


def _wait_seconds(headers: Mapping[str, str]) -> float | None:
    """The seconds that a failed answer asks to wait: `Retry-After-Ms`, else `Retry-After` in either form."""
    now = datetime.now(UTC)
    milliseconds = parse_retry_after(headers.get("retry-after-ms"), now)
    return milliseconds / 1000 if milliseconds is not None else parse_retry_after(headers.get("retry-after"), now)


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body
