"""The stage `episodic`: each completed range of a session's messages becomes one episode, exactly once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.episode_index import EpisodeEntry, index_episode, passages_of_episode
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Passage, Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_indexer.text.passages import Rules as IndexRules
from reverie_server.access.gate import Grant
from reverie_server.episodes.make import EpisodeMaking, EpisodeText
from reverie_server.episodes.source import (
    MessageRange,
    check_unchanged,
    message_range_of,
    move_cursor,
    next_message_range,
)
from reverie_server.episodes.store import SQL as EPISODES
from reverie_server.episodes.store import Episode, path_of
from reverie_server.jobs.defer import Delays, defer, publish
from reverie_server.jobs.model import Event, Outcome, Work
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.sessions.daily_log import local_day
from reverie_server.settings.agent import AgentSettings

log = structlog.get_logger()
SQL = Queries(__file__)
# The attempts to summarise messages that others change meanwhile.
_ATTEMPTS = 3
# The episodes that one run makes, and makes again. The rest is for the next run.
_NEW_EPISODES = 8
_REMADE_EPISODES = 8
# The wait after the first failure of the model. It doubles with each further one up to the longest, MAX_ATTEMPTS times.
RETRY_SECONDS = 600.0
LONGEST_RETRY_SECONDS = 6 * 3600.0
MAX_ATTEMPTS = 20


# Called with the transaction and the tenant of an episode that was written, its slice and itself.
OnWritten = Callable[[Connection, str, int, int], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class EpisodicDependencies:
    """The dependencies of the stage. `now` gives the time, with its zone."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    making: EpisodeMaking
    delays: Delays
    on_written: OnWritten
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


class Episodic:
    """The stage `episodic`."""

    def __init__(self, dependencies: EpisodicDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database
        self._pipeline = dependencies.pipeline
        self._making = dependencies.making

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Make the episodes that are due for a session, then make those again for which the model failed.

        Raises Conflict when the session is changed all the time, and database errors.
        """
        if work.session_key is None:
            return Outcome("skipped", "no session is named")
        texts: list[EpisodeText | None] = []
        while has_more := await self._summarise_next(work.session_key, place, grant.settings, texts):
            if len(texts) >= _NEW_EPISODES:
                async with self._database.tenant(place.tenant_id) as connection:
                    await defer(connection, work)
                break
        fallback = next((text.fallback for text in texts if text is not None and text.fallback), None)
        remade = 0
        if self._making.has_model and fallback is None and not has_more:
            remade, fallback = await self._remake_all(work.session_key, place, grant.settings)
        return _outcome(texts, remade, fallback)

    async def _summarise_next(
        self, session_key: int, place: Place, settings: AgentSettings, texts: list[EpisodeText | None]
    ) -> bool:
        """Summarise the next messages and append the episode's text to `texts` (None: there is no episode).

        Whether there may be more messages.
        """
        rules, has_model = self._making.rules, self._making.has_model

        async def attempt() -> bool:
            message_range = await next_message_range(
                self._database,
                place,
                session_key,
                max_tokens=rules.max_range_tokens,
                has_model=has_model,
                skips_cron=settings.skip_cron_conversations,
            )
            if message_range is None:
                return False
            clean = await self._dependencies.tombstones.without_forgotten(place)
            text = await self._making.make(place.tenant_id, message_range.messages, message_range.previous, clean)
            await self._store(place, settings, message_range, text)
            texts.append(text)
            log.info(
                "session_summarised",
                messages=len(message_range.messages),
                method=text.generation.method if text else None,
            )
            return True

        return await until_stable(attempt, attempts=_ATTEMPTS, what="the session")

    async def _store(
        self, place: Place, settings: AgentSettings, message_range: MessageRange, text: EpisodeText | None
    ) -> None:
        """Write cursor, episode, index, event and jobs in one transaction. Raises Superseded, with nothing written."""
        passages = passages_of(settings, text, message_range.messages[-1].at) if text is not None else []
        ready = await self._pipeline.embed(place.tenant_id, passages) if passages else None
        async with self._pipeline.unit_of_work(place) as unit:
            connection, slice_ = unit.connection, unit.slice_
            await move_cursor(connection, place, slice_, message_range)
            await check_unchanged(connection, place, slice_, message_range)
            if text is None:
                return
            row = self._row(place, settings, message_range, text)
            added = await (await connection.execute(EPISODES["add"], row)).fetchone()
            episode_id = (added or {})["episode_id"]
            path = path_of(message_range.session_id, row["through_seq"])
            entry = EpisodeEntry(episode_id, message_range.session_key, path, row["ended_at"], row["expires_at"])
            model_id = ready.model_id if ready else None
            waiting = (await index_episode(connection, place, slice_, entry, passages, model_id)).waiting
            await self._publish(connection, place, slice_, episode_id, message_range.session_key)
            if text.fallback is not None:
                await defer_again(connection, place, message_range.session_key, attempts=1)
        if waiting:
            self._pipeline.backfill_wanted.set()

    def _row(
        self, place: Place, settings: AgentSettings, message_range: MessageRange, text: EpisodeText
    ) -> dict[str, Any]:
        now = self._dependencies.now()
        return {
            **_text_columns(text),
            "tenant_id": place.tenant_id,
            "slice_id": message_range.slice_id,
            "agent_id": place.agent_id,
            "owner_key": message_range.owner_key,
            "session_key": message_range.session_key,
            "session_id": message_range.session_id,
            "from_seq": message_range.messages[0].seq,
            "through_seq": message_range.messages[-1].seq,
            "compactions": message_range.compactions,
            "started_at": message_range.messages[0].at,
            "ended_at": message_range.messages[-1].at,
            "created_at": now,
            "expires_at": now + timedelta(days=settings.episodic_ttl_days),
        }

    async def _publish(
        self, connection: Connection, place: Place, slice_: Slice, episode_id: int, session_key: int
    ) -> None:
        await self._dependencies.on_written(connection, place.tenant_id, slice_.slice_id, episode_id)
        payload = {"episode_id": episode_id, "session_key": session_key}
        ids = (place.tenant_id, place.agent_id, place.owner_key, slice_.slice_id)
        await publish(connection, Event("episodic.created", *ids, payload), self._dependencies.delays)

    async def _remake_all(self, session_key: int, place: Place, settings: AgentSettings) -> tuple[int, str | None]:
        """Make the episodes again for which the model failed; the number of them, and why it stopped."""
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            params = {
                "tenant_id": place.tenant_id,
                "slice_ids": await own_slices(connection, place),
                "session_key": session_key,
                "most": MAX_ATTEMPTS,
                "now": self._dependencies.now(),
                "limit": _REMADE_EPISODES + 1,
            }
            rows = await (await connection.execute(SQL["to_remake"], params)).fetchall()
        remade = 0
        for row in rows[:_REMADE_EPISODES]:
            done, fallback = await self._remake(row["episode_id"], place, settings)
            remade += done
            if fallback is not None:
                return remade, fallback
        if len(rows) > _REMADE_EPISODES and remade:
            async with self._database.tenant(place.tenant_id) as connection:
                await defer_again(connection, place, session_key, attempts=1)
        return remade, None

    async def _remake(self, episode_id: int, place: Place, settings: AgentSettings) -> tuple[bool, str | None]:
        """Make one episode again with the model; whether that was done, and why the model was not used.

        An episode some of whose messages are gone stays as it is: it would be made of fewer.
        """
        found = await message_range_of(self._database, place, episode_id, now=self._dependencies.now())
        if found is None:
            return False, None
        episode, message_range = found
        clean = await self._dependencies.tombstones.without_forgotten(place)
        text = await self._making.make(place.tenant_id, message_range.messages, None, clean)
        if text is None:
            return False, None
        if text.fallback is not None:
            await self._failed_again(place, episode, text.fallback)
            return False, text.fallback
        passages = passages_of(settings, text, episode.ended_at)
        ready = await self._pipeline.embed(place.tenant_id, passages)
        try:
            async with self._pipeline.unit_of_work(place) as unit:
                connection, slice_ = unit.connection, unit.slice_
                await check_unchanged(connection, place, slice_, message_range)
                params = {"tenant_id": place.tenant_id, **replacement_params(episode, text, attempts=episode.attempts)}
                if await (await connection.execute(EPISODES["rewrite"], params)).fetchone() is None:
                    raise Superseded
                model_id = ready.model_id if ready else None
                await index_episode(connection, place, slice_, entry_of(episode), passages, model_id)
                await self._publish(connection, place, slice_, episode.episode_id, episode.session_key)
        except Superseded:
            # The next run reads it anew.
            await self._failed_again(place, episode, episode.fallback or "changed")
            return False, None
        self._pipeline.backfill_wanted.set()
        return True, None

    async def _failed_again(self, place: Place, episode: Episode, fallback: str) -> None:
        async with self._database.tenant(place.tenant_id) as connection:
            if episode.slice_id not in await own_slices(connection, place):
                return
            params = {
                "tenant_id": place.tenant_id,
                "slice_id": episode.slice_id,
                "episode_id": episode.episode_id,
                "attempts": episode.attempts,
                "fallback": fallback,
            }
            await connection.execute(SQL["failed_again"], params)
            if episode.attempts + 1 < MAX_ATTEMPTS:
                await defer_again(connection, place, episode.session_key, attempts=episode.attempts + 1)


async def defer_again(connection: Connection, place: Place, session_key: int, *, attempts: int) -> None:
    """Defer making episodes of a session again, for which the model has failed `attempts` times."""
    work = Work("episodic", place.tenant_id, place.agent_id, place.owner_key, session_key, trigger="retry")
    wait = min(LONGEST_RETRY_SECONDS, RETRY_SECONDS * 2 ** max(0, attempts - 1))
    await defer(connection, work, after_seconds=wait)


def passages_of(settings: AgentSettings, text: EpisodeText, ended_at: datetime) -> list[Passage]:
    """The passages of an episode by the rules of an agent. Pure."""
    rules = IndexRules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
    return passages_of_episode(text.summary, text.key_topics, local_day(ended_at, settings.time_zone), rules)


def passages_of_stored(settings: AgentSettings, episode: Episode) -> list[Passage]:
    """The passages of a stored episode by the rules of an agent. Pure."""
    rules = IndexRules(chunk_max_chars=settings.chunk_max_chars, language=settings.language)
    day = local_day(episode.ended_at, settings.time_zone)
    return passages_of_episode(episode.summary, episode.key_topics, day, rules)


def entry_of(episode: Episode) -> EpisodeEntry:
    """The index entry of an episode."""
    return EpisodeEntry(episode.episode_id, episode.session_key, episode.path, episode.ended_at, episode.expires_at)


def replacement_params(episode: Episode, text: EpisodeText, *, attempts: int) -> dict[str, Any]:
    """The parameters of `rewrite`: the new texts of an episode, if its summary is still the one that was read."""
    return {
        **_text_columns(text),
        "slice_id": episode.slice_id,
        "episode_id": episode.episode_id,
        "was": episode.summary,
        "attempts": attempts,
    }


def _text_columns(text: EpisodeText) -> dict[str, Any]:
    return {
        "summary": text.summary,
        "abstract": text.abstract,
        "key_topics": list(text.key_topics),
        "method": text.generation.method,
        "prompt": text.generation.prompt,
        "prompt_version": text.generation.prompt_version,
        "model": text.generation.model,
        "fallback": text.fallback,
    }


def _outcome(results: list[EpisodeText | None], remade: int, fallback: str | None) -> Outcome:
    texts = [text for text in results if text is not None]
    if not results and not remade and fallback is None:
        return Outcome("skipped", "nothing new was completed")
    if not texts and not remade:
        return Outcome("completed", "nothing was said that makes an episode", fallback=fallback)
    method = texts[-1].generation.method if texts else "llm"
    again = f", {remade} made again" if remade else ""
    return Outcome("completed", f"{len(texts)} episodes made{again}", method, fallback)
