"""Episodes for those who ask for them: listing, searching, removing, indexing anew; and their upkeep."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from reverie_indexer.database.database import Connection, Database, visible_slices
from reverie_indexer.errors import NotFound
from reverie_indexer.index.episode_index import index_episode
from reverie_indexer.index.slices import lock_slice, own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.reindex import Reindexed
from reverie_server.access.gate import Grant
from reverie_server.access.principal import Principal
from reverie_server.episodes import store as stored
from reverie_server.episodes.removal import EpisodeRemoval
from reverie_server.episodes.stage import entry_of, passages_of_stored
from reverie_server.episodes.store import Episode, parse_id
from reverie_server.search.request import Mode, SearchOutcome, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings

# Passages of one episode that may stand before the first of the next.
_PASSAGES_EACH = 8
_MAX_PASSAGES = 400
_PAGE = 100


@dataclass(frozen=True, slots=True)
class ShownEpisode:
    """An episode with the messages that it is made of, as far as they are there still."""

    episode: Episode
    sources: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """An episode that was found, with the best score of its passages, 0..1.2."""

    shown: ShownEpisode
    score: float


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """What is searched for among episodes."""

    query: str
    max_results: int = 6
    min_score: float = 0.0
    mode: Mode = "hybrid"
    as_of: datetime | None = None


class Episodes:
    """The episodes of agents. `now` gives the time; what has expired by it nobody sees."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        search: Search,
        removal: EpisodeRemoval,
        *,
        has_model: bool,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._search = search
        self._removal = removal
        self._has_model = has_model
        self._now = now

    async def page(self, principal: Principal, *, before: int | None, limit: int) -> list[ShownEpisode]:
        """A page of what the principal sees, newest first: those numbered below `before`."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            return await self._read(connection, principal, before=before, limit=limit)

    async def get(self, principal: Principal, public_id: str) -> ShownEpisode:
        """The episode of that id; NotFound. A team member sees what its leader shares too."""
        found = await self._of_numbers(principal, [parse_id(public_id)])
        if not found:
            raise NotFound(f"there is no episode {public_id!r}")
        return found[0]

    async def delete(self, place: Place, public_id: str) -> None:
        """Remove an episode of a place for good, from the index, the cache and the graph too; NotFound."""
        number = parse_id(public_id)
        async with self._database.tenant(place.tenant_id) as connection:
            own = await own_slices(connection, place)
            found = await stored.read_episodes(
                connection, place.tenant_id, own, now=self._now(), episode_ids=[number], limit=1
            )
            if not found:
                raise NotFound(f"there is no episode {public_id!r}")
            await self._removal.remove(connection, place, await lock_slice(connection, place), [number])

    async def search(self, grant: Grant, asked: EpisodeQuery) -> tuple[list[FoundEpisode], SearchOutcome]:
        """The episodes whose passages answer a query best, best first, and how it was searched.

        Raises what `Search.search` raises.
        """
        request = request_for(
            grant,
            asked.query,
            max_results=min(_MAX_PASSAGES, _PASSAGES_EACH * asked.max_results),
            min_score=asked.min_score,
            tiers=("episodic",),
            mode=asked.mode,
            as_of=asked.as_of,
        )
        outcome = await self._search.search(request, rules_for(grant, self._search.rules))
        scores: dict[int, float] = {}
        for result in outcome.results:
            if result.episode is not None:
                # They come in the order of their scores.
                scores.setdefault(result.episode.episode_id, result.score)
        best = list(scores)[: asked.max_results]
        shown = {one.episode.episode_id: one for one in await self._of_numbers(grant.principal, best)}
        results = [FoundEpisode(shown[number], scores[number]) for number in best if number in shown]
        used = {found.shown.episode.episode_id for found in results}
        kept = [result for result in outcome.results if result.episode and result.episode.episode_id in used]
        return results, replace(outcome, results=kept)

    async def prune(self, now: datetime) -> int:
        """Remove what has expired, of all tenants, and have made again what a model failed at; how many went."""
        removed = await stored.prune(self._database, now)
        if self._has_model:
            await stored.ask_again(self._database, now)
        return removed

    async def reindex(self, place: Place, settings: AgentSettings) -> Reindexed:
        """Cut and embed the episodes of a place anew, each in a transaction of its own; `documents` counts them."""
        documents = chunks = embedded = reused = 0
        before: int | None = None
        while True:
            async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
                own = await own_slices(connection, place)
                page = await stored.read_episodes(
                    connection, place.tenant_id, own, now=self._now(), before=before, limit=_PAGE
                )
            for episode in page:
                counts = await self._index_again(place, settings, episode)
                documents += 1
                chunks, embedded, reused = chunks + counts[0], embedded + counts[1], reused + counts[2]
            if len(page) < _PAGE:
                return Reindexed(documents, chunks, embedded, reused)
            before = page[-1].episode_id

    async def _index_again(self, place: Place, settings: AgentSettings, episode: Episode) -> tuple[int, int, int]:
        """Passages: all, new ones with their vector, and those that stayed."""
        passages = await asyncio.to_thread(passages_of_stored, settings, episode)
        ready = await self._pipeline.embed(place.tenant_id, passages)
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            present = await stored.read_episode(
                connection, place.tenant_id, slice_.slice_id, episode.episode_id, now=self._now()
            )
            if present is None or (present.summary, present.key_topics) != (episode.summary, episode.key_topics):
                # Whoever changed it has indexed it.
                return 0, 0, 0
            model_id = ready.model_id if ready else None
            done = await index_episode(connection, place, slice_, entry_of(episode), passages, model_id)
        if done.waiting:
            self._pipeline.backfill_wanted.set()
        return done.chunks, done.chunks - done.reused - done.waiting, done.reused

    async def _of_numbers(self, principal: Principal, numbers: Sequence[int]) -> list[ShownEpisode]:
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            found = await self._read(connection, principal, episode_ids=numbers)
            if len(found) < len(numbers) and principal.leader_agent_id is not None:
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                found += await self._read(connection, leader, episode_ids=numbers)
            return found

    async def _read(self, connection: Connection, principal: Principal, **which: Any) -> list[ShownEpisode]:
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        slice_ids = [slice_.slice_id for slice_ in visible]
        found = await stored.read_episodes(connection, principal.tenant_id, slice_ids, now=self._now(), **which)
        sources = await stored.sources_of(connection, principal.tenant_id, found)
        return [ShownEpisode(episode, sources[episode.episode_id]) for episode in found]
