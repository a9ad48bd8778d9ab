"""Episodes for people: list, read, search, remove and index them anew; and their upkeep."""

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
from reverie_server.episodes import store
from reverie_server.episodes.removal import EpisodeRemoval
from reverie_server.episodes.stage import entry_of, passages_of_stored
from reverie_server.episodes.store import Episode, parse_id
from reverie_server.provenance.forgotten_log import ForgottenLog
from reverie_server.search.request import Mode, SearchOutcome, request_for, rules_for
from reverie_server.search.search import Search
from reverie_server.settings.agent import AgentSettings

# The passages of one episode that may come before the first passage of the next one.
_PASSAGES_EACH = 8
_MAX_PASSAGES = 400
_PAGE = 100


@dataclass(frozen=True, slots=True)
class SourcedEpisode:
    """An episode with those of its source messages that still exist."""

    episode: Episode
    sources: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class FoundEpisode:
    """An episode with the highest score of its passages, 0..1.2."""

    sourced: SourcedEpisode
    score: float


@dataclass(frozen=True, slots=True)
class EpisodeQuery:
    """A search among episodes."""

    query: str
    max_results: int = 6
    min_score: float = 0.0
    mode: Mode = "hybrid"
    as_of: datetime | None = None


class Episodes:
    """The episodes of agents. `now` gives the time, by which episodes expire: nobody sees an expired one."""

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        search: Search,
        removal: EpisodeRemoval,
        *,
        has_model: bool,
        forgotten_log: ForgottenLog | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._search = search
        self._removal = removal
        self._has_model = has_model
        self._forgotten_log = forgotten_log
        self._now = now

    async def page(
        self, principal: Principal, session_id: str | None = None, *, before: int | None, limit: int
    ) -> list[SourcedEpisode]:
        """A page of the episodes that the principal sees, newest first, numbered below `before`; of one conversation
        where its id is given."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            return await self._read(connection, principal, session_id=session_id, before=before, limit=limit)

    async def get(self, principal: Principal, public_id: str) -> SourcedEpisode:
        """The episode with this id. A team member also sees what its leader shares. NotFound."""
        episodes = await self._by_numbers(principal, [parse_id(public_id)])
        if not episodes:
            raise NotFound(f"there is no episode {public_id!r}")
        return episodes[0]

    async def delete(self, place: Place, public_id: str) -> None:
        """Remove an episode of a place for good, with its index, cache and graph entries. NotFound."""
        number = parse_id(public_id)
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ids = await own_slices(connection, place)
            episodes = await store.read_episodes(
                connection, place.tenant_id, slice_ids, now=self._now(), episode_ids=[number], limit=1
            )
            if not episodes:
                raise NotFound(f"there is no episode {public_id!r}")
            await self._removal.remove(connection, place, await lock_slice(connection, place), [number])
            if self._forgotten_log is not None:
                await self._forgotten_log.note(connection, "episode", place.tenant_id, str(number))

    async def search(self, grant: Grant, query: EpisodeQuery) -> tuple[list[FoundEpisode], SearchOutcome]:
        """The episodes whose passages answer a query best, best first, and the outcome of the search.

        The outcome has the passages of these episodes only. Raises the errors of `Search.search`.
        """
        request = request_for(
            grant,
            query.query,
            max_results=min(_MAX_PASSAGES, _PASSAGES_EACH * query.max_results),
            min_score=query.min_score,
            tiers=("episodic",),
            mode=query.mode,
            as_of=query.as_of,
        )
        outcome = await self._search.search(request, rules_for(grant, self._search.rules))
        scores: dict[int, float] = {}
        for result in outcome.results:
            if result.episode is not None:
                # The first passage of an episode has its highest score.
                scores.setdefault(result.episode.episode_id, result.score)
        best = list(scores)[: query.max_results]
        by_number = {one.episode.episode_id: one for one in await self._by_numbers(grant.principal, best)}
        episodes = [FoundEpisode(by_number[number], scores[number]) for number in best if number in by_number]
        passages = [result for result in outcome.results if result.episode and result.episode.episode_id in by_number]
        return episodes, replace(outcome, results=passages)

    async def prune(self, now: datetime) -> int:
        """Remove the expired episodes of all tenants, and retry those that a model failed at; the number removed."""
        removed = await store.prune(self._database, now)
        if self._has_model:
            await store.ask_again(self._database, now)
        return removed

    async def reindex(self, place: Place, settings: AgentSettings) -> Reindexed:
        """Index the episodes of a place anew, each in a transaction of its own; `documents` counts the episodes."""
        documents = chunks = embedded = reused = 0
        before: int | None = None
        while True:
            async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
                slice_ids = await own_slices(connection, place)
                page = await store.read_episodes(
                    connection, place.tenant_id, slice_ids, now=self._now(), before=before, limit=_PAGE
                )
            for episode in page:
                counts = await self._index_again(place, settings, episode)
                documents += 1
                chunks, embedded, reused = chunks + counts[0], embedded + counts[1], reused + counts[2]
            if len(page) < _PAGE:
                return Reindexed(documents, chunks, embedded, reused)
            before = page[-1].episode_id

    async def _index_again(self, place: Place, settings: AgentSettings, episode: Episode) -> tuple[int, int, int]:
        """Index one episode: its passages, the newly embedded ones, and the unchanged ones."""
        passages = await asyncio.to_thread(passages_of_stored, settings, episode)
        ready = await self._pipeline.embed(place.tenant_id, passages)
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            present = await store.read_episode(
                connection, place.tenant_id, slice_.slice_id, episode.episode_id, now=self._now()
            )
            if present is None or (present.summary, present.key_topics) != (episode.summary, episode.key_topics):
                # The transaction that changed it has indexed it.
                return 0, 0, 0
            model_id = ready.model_id if ready else None
            done = await index_episode(connection, place, slice_, entry_of(episode), passages, model_id)
        if done.waiting:
            self._pipeline.backfill_wanted.set()
        return done.chunks, done.chunks - done.reused - done.waiting, done.reused

    async def _by_numbers(self, principal: Principal, numbers: Sequence[int]) -> list[SourcedEpisode]:
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            found = await self._read(connection, principal, episode_ids=numbers)
            if len(found) < len(numbers) and principal.leader_agent_id is not None:
                # What the leader shares; never what is personal there.
                leader = Principal(principal.tenant_id, principal.leader_agent_id, None)
                found += await self._read(connection, leader, episode_ids=numbers)
            return found

    async def _read(self, connection: Connection, principal: Principal, **which: Any) -> list[SourcedEpisode]:
        visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
        slice_ids = [slice_.slice_id for slice_ in visible]
        found = await store.read_episodes(connection, principal.tenant_id, slice_ids, now=self._now(), **which)
        sources = await store.sources_of(connection, principal.tenant_id, found)
        return [SourcedEpisode(episode, sources[episode.episode_id]) for episode in found]
