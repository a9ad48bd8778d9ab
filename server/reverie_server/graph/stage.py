"""The stage `semantic`: takes entities and relations from an episode into the knowledge graph of its slice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import lock_slice, own_slices
from reverie_indexer.model import Place
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.episodes.source import SQL as MESSAGES
from reverie_server.episodes.source import messages_of
from reverie_server.episodes.store import Episode, mark_semantic, read_episode
from reverie_server.graph.answers import (
    AnswerBasis,
    Known,
    known_lines,
    numbered,
    read_answer,
    readable,
)
from reverie_server.graph.heuristics import extract
from reverie_server.graph.known import mentioned
from reverie_server.graph.model import SPEAKER, Origin, Reading
from reverie_server.graph.names import windows
from reverie_server.graph.store import Graph, Stored, store_readings
from reverie_server.jobs.defer import Delays, defer, publish
from reverie_server.jobs.model import Event, Outcome, Work
from reverie_server.llm.answers import Semantic as SemanticAnswer
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.llm.provider import LanguageModel
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.sessions.message_range import has_same_messages
from reverie_server.sessions.model import Message
from reverie_server.sessions.transcript import parts

log = structlog.get_logger()
SQL = Queries(__file__)
# A failed model is asked again after the first, twice as long each time up to the second, at most MAX_ATTEMPTS times.
RETRY_SECONDS = 600.0
LONGEST_RETRY_SECONDS = 6 * 3600.0
MAX_ATTEMPTS = 12
# How often the episode may change while it is read.
_ATTEMPTS = 3
_NO_SPEAKER = "nobody"


@dataclass(frozen=True, slots=True)
class SemanticRules:
    """The least confidence to keep, and the limits of model calls; a long episode is read in several parts."""

    min_confidence: float = 0.75
    max_tokens: int = 4096
    timeout_seconds: float = 60.0
    max_parts: int = 5


@dataclass(frozen=True, slots=True)
class SemanticDependencies:
    """The parts that the stage works with. `now` gives the time, with its zone."""

    database: Database
    tombstones: Tombstones
    model: LanguageModel | None
    delays: Delays
    rules: SemanticRules
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Seen:
    """An episode with its messages, as stored and without forgotten texts; forgetting changes `forgotten`."""

    episode: Episode
    stored: Sequence[Message]
    messages: Sequence[Message]
    forgotten: tuple[Any, ...]
    clean: Callable[[str], str]


class Semantic:
    """The stage `semantic`."""

    def __init__(self, dependencies: SemanticDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Read an episode into the graph, once; where it was made again, instead of what it said before.

        Raises Conflict when the episode is changed all the time, and what the database raises.
        """
        if work.episode_id is None:
            return Outcome("skipped", "no episode is named")
        attempt = partial(self._attempt, place, work.episode_id, grant.settings.language)
        return await until_stable(attempt, attempts=_ATTEMPTS, what="the episode")

    async def _attempt(self, place: Place, episode_id: int, language: str) -> Outcome:
        seen = await self._look(place, episode_id)
        if seen is None:
            return Outcome("skipped", "the episode is gone")
        if seen.episode.semantic_at is not None:
            return Outcome("skipped", "the graph has the episode already")
        readings, fallback = await self._read(place, seen)
        try:
            stored = await self._store(place, seen, readings, language, fallback)
        except NotFound:
            return Outcome("skipped", "the agent is gone")
        methods = {reading.generation.method for reading in readings}
        reason = f"{stored.entities} entities, {stored.relations} relations"
        log.info("graph_extended", entities=stored.entities, relations=stored.relations, parts=len(readings))
        return Outcome("completed", reason, "llm" if "llm" in methods else "extractive", fallback)

    async def _look(self, place: Place, episode_id: int) -> _Seen | None:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            if not slice_ids:
                return None
            episode = await read_episode(
                connection, place.tenant_id, slice_ids[0], episode_id, now=self._dependencies.now()
            )
            if episode is None:
                return None
            stored = await messages_of(connection, place.tenant_id, episode)
            forgotten = await _forgotten(connection, place.tenant_id, slice_ids)
        without_forgotten = await self._dependencies.tombstones.of_transcripts(place)
        messages = await asyncio.to_thread(readable, stored, without_forgotten)
        return _Seen(episode, stored, messages, forgotten, lambda text: without_forgotten(text, episode.ended_at))

    async def _read(self, place: Place, seen: _Seen) -> tuple[list[Reading], str | None]:
        """The readings of the episode's parts, and why a configured model was not used for one of them."""
        if not seen.messages:
            # It may have a summary still; but nothing of it could say where it comes from.
            return [], None
        text = "\n".join((seen.episode.summary, *(message.content for message in seen.messages)))
        # The user is spoken of in most conversations, though seldom by name.
        names = await asyncio.to_thread(windows, text) | ({SPEAKER} if place.scope == "personal" else set())
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            known = await mentioned(connection, place.tenant_id, slice_ids, names, seen.episode.ended_at)
        readings: list[Reading] = []
        fallback = None
        for part in parts(seen.messages, self._dependencies.rules.max_parts):
            found = [*known, *_new(readings, known)]
            reading, why_not = await self._read_part(place, seen, part, found)
            readings.append(reading)
            fallback = fallback or why_not
        return readings, fallback

    async def _read_part(
        self, place: Place, seen: _Seen, part: Sequence[Message], known: Sequence[Known]
    ) -> tuple[Reading, str | None]:
        rules = self._dependencies.rules
        with_speaker = place.scope == "personal"
        inputs = {
            "known": known_lines(known),
            "summary": seen.clean(seen.episode.summary),
            "transcript": numbered(part),
            "speaker": SPEAKER if with_speaker else _NO_SPEAKER,
        }
        question = Question("semantic", inputs, SemanticAnswer, rules.max_tokens, rules.timeout_seconds)
        answer = await ask(self._dependencies.model, place.tenant_id, question)
        if answer.value is None:
            entities, relations = await asyncio.to_thread(extract, part, known, with_speaker=with_speaker)
            sure = {entity.external_id for entity in entities if entity.confidence >= rules.min_confidence}
            kept = [r for r in relations if r.confidence >= rules.min_confidence and {r.source, r.target} <= sure]
            return Reading([e for e in entities if e.external_id in sure], kept, EXTRACTIVE), answer.fallback
        texts = {message.seq: message.content for message in part}
        said_at = {message.seq: message.at for message in part}
        basis = AnswerBasis(texts, said_at, known, rules.min_confidence, inputs["summary"])
        entities, relations = await asyncio.to_thread(read_answer, answer.value, basis, seen.clean)
        return Reading(entities, relations, answer.generation), None

    async def _store(
        self, place: Place, seen: _Seen, readings: Sequence[Reading], language: str, fallback: str | None
    ) -> Stored:
        """Store the readings in one transaction. Raises Superseded where the episode has changed.

        After a `fallback` the model is asked again later, and its answer then replaces these.
        """
        episode, now = seen.episode, self._dependencies.now()
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            is_same = (
                slice_.slice_id == episode.slice_id
                and await _forgotten(connection, place.tenant_id, [slice_.slice_id]) == seen.forgotten
                and (not seen.stored or await has_same_messages(connection, place.tenant_id, episode, seen.stored))
            )
            if not is_same or not await self._take(connection, place, episode, fallback):
                raise Superseded
            said_at = {message.seq: message.at for message in seen.messages}
            origin = Origin(episode.episode_id, episode.session_key, episode.session_id, said_at, now)
            graph = Graph(connection, place.tenant_id, slice_.slice_id, now, language)
            stored = await store_readings(graph, origin, readings)
            if stored.entities:
                payload = {"episode_id": episode.episode_id, "entities": stored.entities, "relations": stored.relations}
                ids = (place.tenant_id, place.agent_id, place.owner_key)
                event = Event("entity.upserted", *ids, slice_.slice_id, payload)
                await publish(connection, event, self._dependencies.delays)
            return stored

    async def _take(self, connection: Connection, place: Place, episode: Episode, fallback: str | None) -> bool:
        """Mark the episode as read, or defer reading it again. False where another run did or it has changed."""
        ids = (connection, place.tenant_id, episode.slice_id, episode.episode_id)
        if fallback is None:
            return await mark_semantic(*ids, episode.summary, self._dependencies.now())
        params = {
            "tenant_id": place.tenant_id,
            "slice_id": episode.slice_id,
            "episode_id": episode.episode_id,
            "summary": episode.summary,
        }
        row = await (await connection.execute(SQL["attempts"], params)).fetchone()
        if row is None:
            return False
        if row["semantic_attempts"] >= MAX_ATTEMPTS:
            return await mark_semantic(*ids, episode.summary, self._dependencies.now())
        await connection.execute(SQL["failed_again"], params)
        pause = min(LONGEST_RETRY_SECONDS, RETRY_SECONDS * 2 ** row["semantic_attempts"])
        again = Work("semantic", place.tenant_id, place.agent_id, place.owner_key, episode_id=episode.episode_id)
        await defer(connection, replace(again, trigger="retry"), after_seconds=pause)
        return True


def _new(readings: Sequence[Reading], known: Sequence[Known]) -> list[Known]:
    """The entities that earlier parts of the episode mention and the graph does not know yet."""
    known_ids = {entity.external_id for entity in known}
    found = {entity.external_id: entity for reading in readings for entity in reading.entities}
    return [
        Known(None, entity.external_id, entity.type, entity.name, entity.aliases)
        for entity in found.values()
        if entity.external_id not in known_ids
    ]


async def _forgotten(connection: Connection, tenant_id: str, slice_ids: Sequence[int]) -> tuple[Any, ...]:
    """A value that changes whenever something is forgotten in the slice."""
    params = {"tenant_id": tenant_id, "slice_ids": list(slice_ids)}
    row = await (await connection.execute(MESSAGES["forgotten_mark"], params)).fetchone()
    return tuple((row or {}).values())
