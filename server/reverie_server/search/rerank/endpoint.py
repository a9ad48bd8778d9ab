"""A reranker behind HTTP: `/rerank` as Cohere, Jina, vLLM and llama.cpp have it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

import httpx2

from reverie_indexer.bounded_http import bounded_client, is_too_large
from reverie_indexer.errors import SetupError
from reverie_server.search.rerank.protocol import RerankFailed

# Some endpoints repeat the texts in their answer.
_MAX_RESPONSE_BYTES = 4 * 1024 * 1024
_PASSING = frozenset({408, 425, 429})  # and every 5xx


@dataclass(frozen=True, slots=True)
class EndpointConfig:
    """The endpoint: `/rerank` is appended to `base_url`; a server may need no key."""

    base_url: str
    model: str
    api_key: str | None = field(default=None, repr=False)


class EndpointReranker:
    """One model of one endpoint. No reason of a failure holds a key or what the endpoint wrote.

    Raises SetupError for an address that cannot be one.
    """

    def __init__(self, config: EndpointConfig) -> None:
        try:
            self._url = httpx2.URL(f"{config.base_url.rstrip('/')}/rerank")
        except httpx2.InvalidURL:
            self._url = httpx2.URL("")
        if self._url.scheme not in ("http", "https") or not self._url.host or (self._url.port or 0) > 65_535:
            raise SetupError("REVERIE_RERANKER_BASE_URL must begin with http:// or https:// and name a host")
        self._model = config.model
        self._headers = {"Authorization": f"Bearer {config.api_key}"} if config.api_key else {}
        self._client = bounded_client(_MAX_RESPONSE_BYTES)

    async def scores(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """See `Reranker.scores`: one request, without a time limit of its own."""
        body = {"model": self._model, "query": query, "documents": list(texts), "top_n": len(texts)}
        try:
            response = await self._client.post(
                self._url, json=body, headers=self._headers, timeout=None, follow_redirects=False
            )
        except httpx2.RequestError as error:
            if is_too_large(error):
                raise self._failed("answered with too much, or compressed") from None
            raise self._failed("cannot be reached", is_outage=True) from None
        status = response.status_code
        if status != 200:
            raise self._failed(f"answered HTTP {status}", is_outage=status in _PASSING or status >= 500)
        return self._parse(response.content, len(texts))

    async def aclose(self) -> None:
        """See `Reranker.aclose`."""
        await self._client.aclose()

    def _parse(self, content: bytes, count: int) -> list[float]:
        try:
            results = json.loads(content)["results"]
            if len(results) != count:
                raise self._failed(f"answered {len(results)} scores to {count} texts")
            by_index = {result["index"]: float(result["relevance_score"]) for result in results}
            return [by_index[index] for index in range(count)]
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise self._failed("answered something that is not a score for each text") from None

    def _failed(self, what: str, *, is_outage: bool = False) -> RerankFailed:
        host = f"{self._url.host}:{self._url.port}" if self._url.port else self._url.host
        return RerankFailed(f"at {host} {what}", is_outage=is_outage)
