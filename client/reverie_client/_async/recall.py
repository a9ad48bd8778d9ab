"""Search: hybrid, by keywords, and the sources of a result."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from reverie_client._async.bound import AsyncBound
from reverie_client.derived import MemorySources
from reverie_client.model import KeywordResults, Mode, Scope, SearchResults, Tier
from reverie_client.request import Call, segment


class AsyncRecall(AsyncBound):
    """Search over what the owner sees: their own memory, the team's and the tenant's."""

    async def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        min_relevance: float | None = None,
        path_prefix: str | None = None,
        tags: Sequence[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        tiers: Sequence[Tier] | None = None,
        mode: Mode | None = None,
        as_of: datetime | None = None,
        explain: bool = False,
    ) -> SearchResults:
        """Passages by words and by meaning, best first. What is not given is as the server has it: 6 results, hybrid.

        `tags` finds passages that have all of them, `since` and `until` those of a time, both included. `as_of` finds
        files as they were then. Times are aware datetimes. ValidationError for an empty query, one over 8,000
        characters, or a naive time; NotFound for an unknown agent.
        """
        body = {
            **self._owner,
            "query": query,
            "max_results": max_results,
            "min_score": min_score,
            "min_relevance": min_relevance,
            "path_prefix": path_prefix,
            "tags": None if tags is None else list(tags),
            "since": None if since is None else since.isoformat(),
            "until": None if until is None else until.isoformat(),
            "tiers": None if tiers is None else list(tiers),
            "mode": mode,
            "as_of": None if as_of is None else as_of.isoformat(),
            "explain": explain,
        }
        call = Call(method="POST", path=f"{self._path}/memory/search", body=body, is_read=True)
        return await self._connection.ask(SearchResults, call)

    async def keyword_search(
        self, query: str, *, scope: Scope | None = None, limit: int | None = None
    ) -> KeywordResults:
        """Lines of files by their words alone, best first; at most 10 unless `limit` says."""
        body = {**self._owner, "query": query, "scope": scope, "limit": limit}
        call = Call(method="POST", path=f"{self._path}/memory/keyword-search", body=body, is_read=True)
        return await self._connection.ask(KeywordResults, call)

    async def sources(self, memory_id: str) -> MemorySources:
        """Where a memory comes from, by the id that a search or an injection gave: who or what wrote each line of it.

        NotFound for an id that is none any more, or of what the owner does not see.
        """
        path = f"{self._path}/memory/{segment(memory_id, 'the id of a memory')}/sources"
        call = Call(method="GET", path=path, query=self._owner, is_read=True)
        return await self._connection.ask(MemorySources, call)
