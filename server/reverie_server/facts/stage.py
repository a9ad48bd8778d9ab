"""The stage `facts`: reads what messages and files state, and says what of it holds.

Messages are read since the last run, files that have changed as a whole. What was read, what then holds and the marks
are one transaction, which first compares the messages and the tombstones with those that were read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.errors import NotFound
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.model_slot import Ready
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_indexer.text.passages import Rules
from reverie_server.access.gate import Grant
from reverie_server.facts import store
from reverie_server.facts.asking import Asking
from reverie_server.facts.due import DueDocument, DueSession
from reverie_server.facts.known_people import Acquaintance
from reverie_server.facts.marked import with_marked
from reverie_server.facts.meaning import changes_by_meaning
from reverie_server.facts.model import Reading
from reverie_server.facts.profile import ProfileOfFacts
from reverie_server.facts.reading import ReadFacts, read_all
from reverie_server.facts.settle import Indexing, Settled, has_ended, passage_of, settle
from reverie_server.facts.sources import acquaintances, due_documents, due_sessions
from reverie_server.facts.store import FactSlice
from reverie_server.facts.unread import Round, Unread
from reverie_server.heuristics.fact_reader import prepare_to_read
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Work
from reverie_server.llm.generation import Method
from reverie_server.provenance.line_identity import entry_lines, line_sha256
from reverie_server.provenance.tombstones import tombstone_mark
from reverie_server.sessions.message_range import has_same_messages
from reverie_server.sessions.model import is_of_cron

log = structlog.get_logger()
# After these rounds a run ends, and the rest is another run's: a job has a time limit.
MAX_ROUNDS = 10
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class FactsDependencies:
    """What the stage works with. `now` gives the time, with its zone."""

    database: Database
    pipeline: Pipeline
    read_facts: ReadFacts
    asking: Asking
    profile: ProfileOfFacts
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is due on a slice, as it was read."""

    sessions: Sequence[DueSession]
    documents: Sequence[DueDocument]
    acquaintances: Sequence[Acquaintance]
    tombstones: object
    has_ended: bool

    @property
    def is_read(self) -> bool:
        return not self.sessions and not self.documents

    @property
    def chars(self) -> int:
        texts = [message.content for session in self.sessions for message in session.messages]
        return sum(map(len, [*texts, *(document.text for document in self.documents)]))


@dataclass(slots=True)
class _Tally:
    rounds: int = 0
    read: int = 0
    settled: Settled = field(default_factory=lambda: Settled(0, 0, 0, 0))


class Facts:
    """The stage `facts`. It defers the work that a run does not reach."""

    def __init__(self, dependencies: FactsDependencies) -> None:
        self._dependencies = dependencies
        self._database = dependencies.database

    async def run(self, work: Work, grant: Grant, place: Place) -> Outcome:
        """Read what is new on a slice into its facts, and say which of them hold.

        Raises Conflict when messages that were read are changed all the time, or files deleted, and what the database
        raises.
        """
        tally = _Tally()
        attempt = partial(self._round, grant, place, tally)
        try:
            while await until_stable(attempt, attempts=_ATTEMPTS, what="what facts are read in"):
                if tally.rounds == MAX_ROUNDS:
                    await self._defer_rest(work)
                    break
            asked = await self._dependencies.asking.run(work, grant, place)
            await self._dependencies.profile.renew(place, grant.settings.language)
        except NotFound:
            return Outcome("skipped", "the agent is gone")
        if asked.questions:
            log.info("facts_asked", statements=asked.statements, questions=asked.questions, fallback=asked.fallback)
        if not tally.rounds and not asked.questions:
            return Outcome("skipped", "nothing new was said or written")
        method: Method = "llm" if asked.questions and asked.fallback is None else "extractive"
        if not tally.rounds:
            return Outcome("completed", f"{asked.statements} statements of a model", method, asked.fallback)
        settled = tally.settled
        reason = f"{tally.read} statements read; {settled.current} of {settled.facts} facts hold"
        log.info("facts_read", statements=tally.read, facts=settled.facts, contradictions=settled.contradictions)
        return Outcome("completed", reason, method, asked.fallback)

    async def _round(self, grant: Grant, place: Place, tally: _Tally) -> bool:
        """Read a page of what is due, and say what holds by now; False where nothing is due and nothing has ended."""
        seen = await self._look(grant, place)
        # Facts of which only time goes on are settled once.
        if seen is None or (seen.is_read and (tally.rounds > 0 or not seen.has_ended)):
            return False
        settings = grant.settings
        arguments = (seen.sessions, seen.documents, settings.language, ZoneInfo(settings.time_zone))
        others = (self._dependencies.read_facts, seen.acquaintances)
        compiling = partial(prepare_to_read, settings.language)
        readings = await isolated(read_all, *arguments, *others, chars=seen.chars, before_fork=compiling)
        ready = await self._embed(place, readings, settings.language)
        about = Round(place, settings.language, seen.sessions, readings, seen.acquaintances)
        # Nobody reads these messages again once the model is loaded.
        marked = await with_marked(ready or await self._dependencies.pipeline.model(), about)
        if marked.new:
            ready = await self._embed(place, [marked.new], settings.language)
        by_meaning = await changes_by_meaning(self._database, ready, about)
        if by_meaning.readings:
            ready = await self._embed(place, [by_meaning.readings], settings.language)
        found = [*marked.readings, by_meaning.readings]
        indexing = Indexing(Rules(language=settings.language), ready.model_id if ready else None)
        async with self._dependencies.pipeline.unit_of_work(place) as unit:
            facts = FactSlice(unit.connection, place.tenant_id, unit.slice_.slice_id, self._dependencies.now())
            await self._store(facts, seen, found, by_meaning.unread)
            tally.settled = await settle(facts, place, unit.slice_, indexing)
        if tally.settled.waiting:
            self._dependencies.pipeline.backfill_wanted.set()
        tally.rounds += 1
        tally.read += sum(map(len, found))
        return True

    async def _embed(self, place: Place, readings: Sequence[Sequence[Reading]], language: str) -> Ready | None:
        passages = [passage_of(reading.stated, language) for of_one in readings for reading in of_one]
        return await self._dependencies.pipeline.embed(place.tenant_id, passages)

    async def _look(self, grant: Grant, place: Place) -> _Seen | None:
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, place)
            if not slice_ids:
                return None
            skips_cron = grant.settings.skip_cron_conversations
            sessions = await due_sessions(connection, place.tenant_id, slice_ids[0], skips_cron=skips_cron)
            documents = await due_documents(connection, place.tenant_id, slice_ids[0])
            people = await acquaintances(connection, place.tenant_id, slice_ids[0]) if sessions or documents else []
            mark = await tombstone_mark(connection, place.tenant_id, slice_ids)
            ended = await has_ended(connection, place.tenant_id, slice_ids[0], self._dependencies.now())
        if grant.settings.skip_cron_conversations:
            sessions = [session.unread() if is_of_cron(session.session_id) else session for session in sessions]
        return _Seen(sessions, documents, people, mark, ended)

    async def _store(
        self, facts: FactSlice, seen: _Seen, readings: Sequence[Sequence[Reading]], unread: Sequence[Unread]
    ) -> None:
        """Write what was read with the marks. Raises Superseded where something is not as it was read."""
        if await tombstone_mark(facts.connection, facts.tenant_id, [facts.slice_id]) != seen.tombstones:
            raise Superseded
        for statement in unread:
            if not await has_same_messages(facts.connection, facts.tenant_id, statement, [statement.message]):
                raise Superseded
        for session in seen.sessions:
            through = (session.facts_through, session.through_seq)
            if not await store.mark_session(facts, session.session_key, *through):
                raise Superseded
            if session.messages and not await has_same_messages(
                facts.connection, facts.tenant_id, session, session.messages
            ):
                raise Superseded
            span = (session.facts_through + 1, session.through_seq)
            await store.drop_sources_of_messages(facts, session.session_key, *span)
        texts = [document.text for document in seen.documents]
        for document in seen.documents:
            # A file that is written all the time is read all the same: the next round reads the newer version.
            newer = await store.mark_document(facts, document.document_id, document.version)
            if newer is None:
                raise Superseded
            texts.append(newer)
        lines = {line_sha256(line) for text in texts for line in entry_lines(text)}
        await store.drop_sources_of_documents(facts, [document.document_id for document in seen.documents], lines)
        await store.add(facts, [reading for of_one in readings for reading in of_one])

    async def _defer_rest(self, work: Work) -> None:
        async with self._database.tenant(work.tenant_id) as connection:
            await defer(connection, work)
