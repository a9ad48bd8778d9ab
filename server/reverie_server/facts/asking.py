"""Asks a model what completed conversations say of the facts that are stored: add, same, replaces, ends.

The facts that were read without a model are there already, and stay. A model that fails is asked again later.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_indexer.text.passages import Rules
from reverie_server.access.gate import Grant
from reverie_server.facts import store
from reverie_server.facts.answers import (
    MAX_BY_MEANING,
    MAX_BY_WORDS,
    AnswerBasis,
    StoredFact,
    first_question,
    nearest,
    numbered,
    readings_of,
    stored_lines,
)
from reverie_server.facts.model import Reading
from reverie_server.facts.reading import ReadFacts
from reverie_server.facts.settle import Indexing, passage_of, settle
from reverie_server.facts.store import FactSlice
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Trigger, Work
from reverie_server.llm.answers import Facts
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.provider import LanguageModel
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.sessions.message_range import has_same_messages
from reverie_server.sessions.model import Message, is_of_cron
from reverie_server.text.fences import strip_injected

log = structlog.get_logger()
SQL = Queries(__file__)
# A failed model is asked again after the first, twice as long each time up to the second, at most MAX_FAILURES times.
RETRY_SECONDS = 600.0
LONGEST_RETRY_SECONDS = 6 * 3600.0
MAX_FAILURES = 12
# Of one run; after MAX_FAILED of them failed, the model is asked no more in it.
MAX_QUESTIONS, MAX_FAILED = 20, 2
# Of one question, and what the nearest facts are looked for among; with these passages of what the user says.
MAX_MESSAGES, MAX_FACTS, MAX_PASSAGES = 400, 1000, 60
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class AskingRules:
    """The limits of a model call; a long conversation is asked about in several questions."""

    max_tokens: int = 4096
    timeout_seconds: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingDependencies:
    """What asking works with. `now` gives the time, with its zone."""

    database: Database
    pipeline: Pipeline
    tombstones: Tombstones
    model: LanguageModel | None
    read_facts: ReadFacts
    rules: AskingRules = AskingRules()
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Asked:
    """How many statements of a model were accepted, and why a configured model was not used."""

    statements: int = 0
    questions: int = 0
    failed: int = 0
    fallback: str | None = None

    def and_also(self, other: Asked) -> Asked:
        """Both together; of two reasons the first."""
        counts = (self.statements + other.statements, self.questions + other.questions, self.failed + other.failed)
        return Asked(*counts, self.fallback or other.fallback)


@dataclass(slots=True)
class _Tried:
    """The sessions in which a run got no answer. For a retry each other one that waits for its time is due."""

    is_retry: bool
    failed: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A stretch of a session, as stored and without forgotten texts; with the facts that are stored."""

    session_key: int
    slice_id: int
    session_id: str
    asked_through: int
    through_seq: int
    attempts: int
    stored: Sequence[Message]
    messages: Sequence[Message]
    facts: Sequence[StoredFact]
    near: Sequence[int]
    tombstones: object
    clean: Callable[[str, datetime], str]

    @property
    def key(self) -> dict[str, Any]:
        names = ("session_key", "asked_through", "through_seq", "attempts")
        return {name: getattr(self, name) for name in names}


class Asking:
    """The part of the stage `facts` that a model does."""

    def __init__(self, dependencies: AskingDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database

    async def run(self, work: Work, grant: Grant, place: Place) -> Asked:
        """Ask about what was completed since; nothing without a model.

        Raises Conflict when others change what is asked about all the time, NotFound, and what the database raises.
        """
        asked = Asked()
        if self._dependencies.model is None:
            return asked
        tried = _Tried(is_retry=work.trigger == "retry")
        attempt = partial(self._attempt, grant, place, tried)
        while asked.questions < MAX_QUESTIONS and asked.failed < MAX_FAILED:
            found = await until_stable(attempt, attempts=_ATTEMPTS, what="what a model is asked about")
            if found is None:
                break
            asked = asked.and_also(found)
        await self._defer_rest(work, place, RETRY_SECONDS if asked.failed == MAX_FAILED else 0.0)
        return asked

    async def _attempt(self, grant: Grant, place: Place, tried: _Tried) -> Asked | None:
        seen = await self._look(grant, place, tried)
        if seen is None:
            return None
        language = grant.settings.language
        readings, fallback = await self._ask(place.tenant_id, seen, language)
        passages = [passage_of(reading.stated, language) for reading in readings]
        ready = await self._dependencies.pipeline.embed(place.tenant_id, passages)
        indexing = Indexing(Rules(language=language), ready.model_id if ready else None)
        async with self._dependencies.pipeline.unit_of_work(place) as unit:
            facts = FactSlice(unit.connection, place.tenant_id, unit.slice_.slice_id, self._dependencies.now())
            if fallback is not None and seen.attempts < MAX_FAILURES:
                await self._postpone(facts, seen)
                tried.failed.append(seen.session_key)
            else:
                await self._store(facts, seen, readings)
                settled = await settle(facts, place, unit.slice_, indexing)
                if settled.waiting:
                    self._dependencies.pipeline.backfill_wanted.set()
        return Asked(len(readings), 1, int(fallback is not None), fallback)

    async def _defer_rest(self, work: Work, place: Place, min_wait: float) -> None:
        """Defer what this run did not reach, and what failed once it is time: one job stands for both."""
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ids = await own_slices(connection, place)
            now = self._dependencies.now()
            params = {"tenant_id": place.tenant_id, "slice_id": slice_ids[0] if slice_ids else None, "now": now}
            row = await (await connection.execute(SQL["waiting"], params)).fetchone()
            if row is None or row["at"] is None:
                return
            wait = max(min_wait, (row["at"] - now).total_seconds())
            trigger: Trigger = "retry" if wait > 0 else "event"
            again = Work("facts", work.tenant_id, work.agent_id, work.owner_key, trigger=trigger)
            await defer(connection, again, after_seconds=wait)

    async def _look(self, grant: Grant, place: Place, tried: _Tried) -> _Seen | None:
        without_forgotten = await self._dependencies.tombstones.of_transcripts(place)
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            if not slice_ids:
                return None
            params = {"tenant_id": place.tenant_id, "slice_id": slice_ids[0]}
            due = {**params, "now": self._dependencies.now(), "is_retry": tried.is_retry, "failed": tried.failed}
            row = await (await connection.execute(SQL["due"], due)).fetchone()
            if row is None:
                return None
            span = {"after": row["facts_asked_through"], "through_seq": row["completed_through"]}
            values = {**params, **span, "session_key": row["session_key"], "limit": MAX_MESSAGES}
            stored = [Message(**m) for m in await (await connection.execute(SQL["messages"], values)).fetchall()]
            is_whole = len(stored) < MAX_MESSAGES
            if len(asked := first_question(stored)) < len(stored):
                stored, is_whole = list(asked), False
            through_seq = row["completed_through"] if is_whole else stored[-1].seq
            is_left_out = await self._is_left_out(connection, grant, row["session_id"], values)
            rows = await (await connection.execute(SQL["stored"], {**params, "limit": MAX_FACTS})).fetchall()
            near = await self._near(connection, place, {**values, "through_seq": through_seq})
            mark = await tombstone_mark(connection, place.tenant_id, slice_ids)
        heard = [
            replace(message, content=text)
            for message in stored
            if message.role in ("user", "assistant") and not is_left_out(message.seq)
            for text in [without_forgotten(strip_injected(message.content), message.at).strip()]
            if text
        ]
        return _Seen(
            session_key=row["session_key"],
            slice_id=row["slice_id"],
            session_id=row["session_id"],
            asked_through=row["facts_asked_through"],
            through_seq=through_seq,
            attempts=row["facts_attempts"],
            stored=stored,
            messages=heard,
            facts=[StoredFact(**fact) for fact in rows],
            near=near,
            tombstones=mark,
            clean=without_forgotten,
        )

    async def _near(self, connection: Connection, place: Place, values: dict[str, Any]) -> list[int]:
        """The stored facts that are nearest in meaning, as far as they and the messages have vectors."""
        ready = await self._dependencies.pipeline.embed(place.tenant_id, [])
        if ready is None:
            return []
        # Those that are shown for their words, too, take no place of others.
        most = {"limit": MAX_FACTS, "passages": MAX_PASSAGES, "nearest": MAX_BY_WORDS + MAX_BY_MEANING}
        params = {**values, **most, "model_id": ready.model_id}
        return [row["fact_id"] for row in await (await connection.execute(SQL["near"], params)).fetchall()]

    async def _is_left_out(
        self, connection: Connection, grant: Grant, session_id: str, values: dict[str, Any]
    ) -> Callable[[int], bool]:
        """Tells the messages that a scheduled job wrote, where they are skipped, by number."""
        if not grant.settings.skip_cron_conversations:
            return lambda _: False
        if is_of_cron(session_id):
            return lambda _: True
        spans = await (await connection.execute(SQL["of_cron"], values)).fetchall()
        return lambda seq: any(span["from_seq"] <= seq <= span["through_seq"] for span in spans)

    async def _ask(self, tenant_id: str, seen: _Seen, language: str) -> tuple[list[Reading], str | None]:
        """What a model answers that the messages say, and why it was not used."""
        if not any(message.role == "user" for message in seen.messages):
            return [], None
        chars = sum(len(message.content) for message in seen.messages)
        shown = await isolated(nearest, seen.facts, seen.messages, seen.near, chars=chars)
        inputs = {
            "today": self._dependencies.now().date().isoformat(),
            "stored": stored_lines(shown),
            "transcript": numbered(seen.messages),
        }
        rules = self._dependencies.rules
        question = Question("facts", inputs, Facts, rules.max_tokens, rules.timeout_seconds)
        answer = await ask(self._dependencies.model, tenant_id, question)
        if answer.value is None:
            return [], answer.fallback
        read_facts = self._dependencies.read_facts
        basis = AnswerBasis(seen.session_key, seen.session_id, seen.messages, shown, seen.clean, read_facts, language)
        return await isolated(readings_of, answer.value, answer.generation, basis, chars=chars), None

    async def _store(self, facts: FactSlice, seen: _Seen, readings: Sequence[Reading]) -> None:
        """Write what was accepted, with the mark. Raises Superseded where something is not as it was read."""
        await self._check(facts, seen)
        if await (await facts.connection.execute(SQL["mark"], {**facts.key, **seen.key})).fetchone() is None:
            raise Superseded
        wanted = {reading.of_fact_id for reading in readings if reading.of_fact_id is not None}
        params = {**facts.key, "fact_ids": sorted(wanted)}
        there = {row["fact_id"] for row in await (await facts.connection.execute(SQL["are_there"], params)).fetchall()}
        if there != wanted:
            raise Superseded
        await facts.connection.execute(SQL["drop_sources"], {**facts.key, **seen.key})
        await store.add(facts, readings)

    async def _postpone(self, facts: FactSlice, seen: _Seen) -> None:
        await self._check(facts, seen)
        pause = timedelta(seconds=min(LONGEST_RETRY_SECONDS, RETRY_SECONDS * 2**seen.attempts))
        params = {**facts.key, **seen.key, "retry_at": facts.at + pause}
        if await (await facts.connection.execute(SQL["postpone"], params)).fetchone() is None:
            raise Superseded

    async def _check(self, facts: FactSlice, seen: _Seen) -> None:
        is_same = seen.slice_id == facts.slice_id and (
            await tombstone_mark(facts.connection, facts.tenant_id, [facts.slice_id]) == seen.tombstones
        )
        if not is_same or (
            seen.stored and not await has_same_messages(facts.connection, facts.tenant_id, seen, seen.stored)
        ):
            raise Superseded
