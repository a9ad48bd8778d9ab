"""Episodes: list, read, search and remove summaries of conversations."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

from reverie_client._async.bound import AsyncBound
from reverie_client.derived import Episode, EpisodePage, EpisodeResults
from reverie_client.model import Mode
from reverie_client.request import Call, segment


class AsyncEpisodes(AsyncBound):
    """Episodes, which the background work makes of conversations that are complete. Every method may raise NotFound."""

    def episodes(self, session_id: str | None = None, *, page_size: int | None = None) -> AsyncIterator[Episode]:
        """The owner's visible episodes, of one conversation or of all, newest first, without expired ones; pages are
        fetched as they are needed."""
        query = {**self._owner, "session_id": session_id, "limit": page_size}
        call = Call(method="GET", path=f"{self._path}/episodes", query=query, is_read=True)
        return self._connection.each(EpisodePage, call)

    async def episode(self, episode_id: str) -> Episode:
        """An episode with the messages that it is made of."""
        call = Call(method="GET", path=self._episode(episode_id), query=self._owner, is_read=True)
        return await self._connection.ask(Episode, call)

    async def delete_episode(self, episode_id: str) -> None:
        """Remove an episode for good, the owner's if the view has an owner, else the team's. The conversation stays."""
        await self._connection.send(Call(method="DELETE", path=self._episode(episode_id), query=self._owner))

    async def search_episodes(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        mode: Mode | None = None,
        as_of: datetime | None = None,
    ) -> EpisodeResults:
        """Search episodes by words and by meaning, best first; at most 6 by default.

        `as_of`, an aware datetime, finds what had ended by then. ValidationError for an empty query or a naive time.
        """
        body = {
            **self._owner,
            "query": query,
            "max_results": max_results,
            "min_score": min_score,
            "mode": mode,
            "as_of": None if as_of is None else as_of.isoformat(),
        }
        call = Call(method="POST", path=f"{self._path}/episodes/search", body=body, is_read=True)
        return await self._connection.ask(EpisodeResults, call)

    def _episode(self, episode_id: str) -> str:
        return f"{self._path}/episodes/{segment(episode_id, 'the id of an episode')}"
