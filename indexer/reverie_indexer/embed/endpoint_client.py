"""One request to an OpenAI-compatible `/embeddings`, with its retries and the checks of its answer."""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.protocol import Vector, unit_vector
from reverie_indexer.errors import EmbedderUnavailable, SetupError

T = TypeVar("T")
# A batch of 64 vectors with 4096 numbers of 20 characters each has five million.
_MAX_RESPONSE_BYTES = 32 * 1024 * 1024
_FIRST_PAUSE_SECONDS = 0.5
# An attempt that has less time left is not begun: it would say of an endpoint that refuses that it does not answer.
_LEAST_ATTEMPT_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0
_REFUSED = frozenset({400, 413, 422})
_PASSING = frozenset({408, 409, 425, 429})  # and every 5xx
_REASONS = {
    401: "refuses the API key",
    403: "does not allow this API key to use the model",
    404: "knows no such address or model",
}


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """Where to embed and within which limits.

    `base_url` is what `/embeddings` is appended to. Without `dimension` it is asked for, by one call at
    start; with it, `request_dimension` sends it along, for models that can shorten their vectors. `revision`
    is for the operator to change when the service changes the model under its name. `timeout_seconds` bounds
    one attempt, `deadline_seconds` all attempts for one batch, `max_retry_after_seconds` what a `Retry-After`
    may ask for: a longer one counts as this.
    """

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    dimension: int | None = None
    request_dimension: bool = False
    revision: str = "unversioned"
    batch_texts: int = 64
    timeout_seconds: float = 30.0
    deadline_seconds: float = 60.0
    max_retry_after_seconds: float = 30.0

    @property
    def host(self) -> str:
        """Host and port, for messages: the rest of the address may hold credentials."""
        parts = urlsplit(self.base_url)
        return f"{parts.hostname}:{parts.port}" if parts.port else str(parts.hostname)

    def check(self) -> None:
        """Raise `SetupError` for values that cannot work."""
        parts = urlsplit(self.base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SetupError("The address of the embedding endpoint must begin with http:// or https://.")
        if self.batch_texts < 1:
            raise SetupError("The batch size of the embedding endpoint must be at least 1.")


@dataclass(frozen=True, slots=True)
class Clock:
    """Time as the retries see it; replaced in tests."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(frozen=True, slots=True)
class Refused:
    """The endpoint takes this request never, in this form: HTTP 400, 413 or 422."""

    status: int


@dataclass(frozen=True, slots=True)
class _TryAgain:
    """A failure that may pass. `wait_seconds` is what the endpoint asked for, if it did."""

    reason: str
    wait_seconds: float | None = None


class EndpointClient:
    """Sends batches; the caller splits them. No message holds a key or what the endpoint wrote."""

    def __init__(self, config: EndpointConfig, clock: Clock) -> None:
        import openai

        from reverie_indexer.bounded_http import bounded_client

        config.check()
        self._config = config
        self._clock = clock
        self._client = openai.AsyncOpenAI(
            # Never None: the library would then send OPENAI_API_KEY to whatever host this is.
            api_key=config.api_key or "none",
            base_url=config.base_url,
            max_retries=0,
            timeout=config.timeout_seconds,
            http_client=bounded_client(_MAX_RESPONSE_BYTES),
        )
        self.breaker = Breaker(clock=clock.monotonic)

    async def request(self, texts: Sequence[str]) -> list[Vector | None] | Refused:
        """One vector a text, of length 1; None for what cannot be a direction (zero, NaN, infinite).

        Waits and repeats while the failure may pass. Raises `EmbedderUnavailable` when the deadline is over,
        the failure will not pass, or the answer does not fit the request; at once while the endpoint is not asked
        because it has not answered lately.
        """
        wait = self.breaker.wait_seconds()
        if wait > 0:
            raise self._unavailable("has not answered lately, and is not asked for a while", retry_after_seconds=wait)
        deadline = self._clock.monotonic() + self._config.deadline_seconds
        pause = _FIRST_PAUSE_SECONDS
        while True:
            answer = await self._watched(self._attempt(texts, deadline - self._clock.monotonic()))
            if not isinstance(answer, _TryAgain):
                self.breaker.succeed()
                return answer if isinstance(answer, Refused) else self._parse(answer, len(texts))
            if answer.wait_seconds is None:
                wait = pause * random.uniform(0.5, 1.0)  # noqa: S311  (spreads clients, protects nothing)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            else:
                wait = min(answer.wait_seconds, self._config.max_retry_after_seconds)
            if self._clock.monotonic() + wait + _LEAST_ATTEMPT_SECONDS >= deadline:
                self.breaker.fail(timed_out=True)
                raise self._unavailable(answer.reason, retry_after_seconds=answer.wait_seconds)
            await self._watched(self._clock.sleep(wait))

    async def _watched(self, step: Awaitable[T]) -> T:
        """The result of a step; the breaker is told where it ends the request."""
        try:
            return await step
        except EmbedderUnavailable:
            self.breaker.succeed()  # an answer that is of no use is an answer
            raise
        except asyncio.CancelledError:
            self.breaker.give_up()
            raise

    async def aclose(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _attempt(self, texts: Sequence[str], remaining_seconds: float) -> bytes | Refused | _TryAgain:
        import httpx2
        import openai

        from reverie_indexer.bounded_http import is_too_large

        dimensions = self._config.dimension if self._config.request_dimension else None
        try:
            # The library's time-out is for each read of the socket; this one is for the whole.
            async with asyncio.timeout(min(self._config.timeout_seconds, remaining_seconds)):
                response = await self._client.embeddings.with_raw_response.create(
                    input=list(texts),
                    model=self._config.model,
                    encoding_format="float",
                    dimensions=openai.omit if dimensions is None else dimensions,
                )
            return response.http_response.content
        except openai.APIStatusError as error:
            return self._judge(error.status_code, error.response.headers.get("retry-after"), error.code)
        except (TimeoutError, openai.APITimeoutError):
            return _TryAgain("did not answer in time")
        except (openai.APIConnectionError, httpx2.RequestError) as error:
            if is_too_large(error):
                raise self._unavailable("answers with too much, or compressed") from None
            return _TryAgain("cannot be reached")

    def _judge(self, status: int, retry_after: str | None, code: str | None) -> Refused | _TryAgain:
        if status in _REFUSED:
            return Refused(status)
        if code == "insufficient_quota":
            raise self._unavailable("has no quota left for this API key")
        if status in _PASSING or status >= 500:
            return _TryAgain(f"answered HTTP {status}", parse_retry_after(retry_after, datetime.now(UTC)))
        raise self._unavailable(f"{_REASONS.get(status, 'cannot be used')} (HTTP {status})")

    def _parse(self, content: bytes, count: int) -> list[Vector | None]:
        try:
            items = json.loads(content)["data"]
            by_index = {int(item["index"]): np.asarray(item["embedding"], np.float64) for item in items}
        except (ValueError, TypeError, KeyError) as error:
            raise self._unavailable("answered something that is not a list of embeddings") from error
        if len(items) != count or by_index.keys() != set(range(count)):
            raise self._unavailable(
                f"answered {len(items)} embeddings with {len(by_index)} different indexes to {count} texts"
            )
        return [self._unit(by_index[index]) for index in range(count)]

    def _unit(self, raw: NDArray[np.float64]) -> Vector | None:
        expected = self._config.dimension
        if raw.ndim != 1 or raw.size == 0 or (expected is not None and raw.size != expected):
            expectation = f"{expected} are expected" if expected else "a list of numbers is expected"
            raise self._unavailable(f"answered a vector of {raw.size} dimensions where {expectation}")
        return unit_vector(raw)

    def _unavailable(self, what: str, **extra: Any) -> EmbedderUnavailable:
        return EmbedderUnavailable(f"The embedding endpoint {self._config.host} {what}.", **extra)


def parse_retry_after(value: str | None, now: datetime) -> float | None:
    """Seconds to wait by a `Retry-After` header, in either form of RFC 9110 10.2.3; None if it has neither.

    A date in the past gives 0.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        return seconds if 0.0 <= seconds < float("inf") else None
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    if until.tzinfo is None:  # "-0000": UTC of unknown origin
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())
