"""One run of extraction on a slice: round after round, until nothing is left or its time is up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import partial
from itertools import count
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.database.database import Connection
from reverie_indexer.errors import PayloadTooLarge
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.retry import until_stable
from reverie_server.access.gate import Grant
from reverie_server.extraction import store as extraction_store
from reverie_server.extraction.propose import (
    PROFILE,
    STAGE,
    UNGROUNDED,
    Basis,
    HeldFile,
    Proposal,
    extractive,
    from_answer,
    problem_of,
)
from reverie_server.extraction.store import Pending, Retry, Stretch
from reverie_server.extraction.text import (
    FILE_CHARS,
    NOTE_CHARS,
    is_too_little,
    spoken,
    transcript_of,
)
from reverie_server.extraction.write import (
    DoneMeanwhileError,
    ExtractionDependencies,
    Read,
    Round,
    Writing,
    retry_wait_seconds,
)
from reverie_server.files.well_known import note_path
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Work
from reverie_server.llm.answers import Extraction as Answer
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import EXTRACTIVE, Method
from reverie_server.long_term.longterm import MEMORY, STAND_IN
from reverie_server.provenance.record import machine_lines
from reverie_server.provenance.tombstones import standing
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.model import Message

log = structlog.get_logger()
# A run ends after so many rounds and goes on in another one: a job has its time.
MAX_ROUNDS = 8
# How often others may change what a round was made of.
_ATTEMPTS = 3
MAX_RETRIES = 10
# Reasons for which the next question would fail as well.
_DOWN = frozenset({"unreachable", "timeout", "rejected", "rate_limited", "failed", "over_budget"})
# How much of an answer's room a file may take that is to be written anew in it.
_MEMORY_SHARE, _PROFILE_SHARE = 0.6, 0.2


@dataclass(slots=True)
class Tally:
    """What a run came to so far."""

    sessions: set[int] = field(default_factory=set)
    rounds: int = 0
    lines: int = 0
    files: int = 0
    too_little: set[int] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    methods: set[Method] = field(default_factory=set)
    fallback: str | None = None
    is_down: bool = False

    def outcome(self) -> Outcome:
        """What it comes to as a whole."""
        if not self.rounds:
            return Outcome("skipped", "too little was said" if self.too_little else "nothing new was said")
        reason = (
            f"{len(self.sessions)} conversations in {self.rounds} rounds: {self.lines} lines noted, "
            f"{self.files} files written anew"
        )
        if self.refused:
            whys = ", ".join(f"{count} since {why}" for why, count in sorted(self.refused.items()))
            reason += f"; {self.refused.total()} lines of the model refused: {whys}"
        method: Method = "llm" if "llm" in self.methods else "extractive"
        return Outcome("completed", reason, method, self.fallback)


class Run:
    """One run of the stage on a slice."""

    def __init__(self, dependencies: ExtractionDependencies, grant: Grant, place: Place, work: Work) -> None:
        self._dependencies = dependencies
        self._grant = grant
        self._place = place
        self._work = work
        self._tenant_id = work.tenant_id
        self._zone = ZoneInfo(grant.settings.time_zone)
        self._tally = Tally()

    async def all(self) -> Outcome:
        """Round after round, and what is left is deferred."""
        for _ in range(MAX_ROUNDS):
            round_ = await self._next()
            if round_ is None:
                break
            await self._do(round_)
        await self._defer_rest()
        return self._tally.outcome()

    async def _next(self) -> Round | None:
        """The next round; conversations that have too little to say are marked on the way. None: all is done."""
        skip_cron = self._grant.settings.skip_cron_conversations and self._work.trigger != "api"
        while True:
            async with self._dependencies.database.tenant(self._tenant_id) as connection:
                own = await own_slices(connection, self._place)
                if not own:
                    return None
                for pending, through_seq in await self._due(connection, own[0]):
                    stretch = await extraction_store.read_stretch(
                        connection, self._tenant_id, pending.session, pending.extracted_through + 1, through_seq
                    )
                    heard = [m for m in spoken(stretch.messages) if not (skip_cron and m.seq in stretch.of_cron)]
                    if not heard:
                        # Nothing to read: done with, as far as it was looked at.
                        is_cut = len(stretch.messages) == extraction_store.STRETCH_MESSAGES
                        end = stretch.messages[-1].seq if is_cut else through_seq
                        await extraction_store.advance(connection, self._tenant_id, pending, end)
                        continue
                    if is_too_little(heard, stretch.earlier, self._dependencies.rules):
                        self._tally.too_little.add(pending.session.session_key)
                        await extraction_store.mark_seen(connection, self._tenant_id, pending, through_seq)
                        continue
                    return self._round_of(pending, stretch, heard)
                if not await self._is_more(connection, own[0]):
                    return await self._next_retry(connection, own[0])

    async def _due(self, connection: Connection, slice_id: int) -> list[tuple[Pending, int]]:
        """The sessions to look at, each with the number up to which."""
        key = self._work.session_key
        if key is None:
            # One that is left as too short is not due any more, but for a race with its next message.
            without = sorted(self._tally.too_little)
            found = await extraction_store.due_sessions(connection, self._tenant_id, slice_id, without=without)
            return [(pending, pending.session.completed_through) for pending in found]
        pending = await extraction_store.read_session(connection, self._tenant_id, slice_id, key)
        if pending is None or pending.extracted_through >= pending.session.last_seq or key in self._tally.too_little:
            return []
        return [(pending, pending.session.last_seq)]

    async def _is_more(self, connection: Connection, slice_id: int) -> bool:
        """Whether another page of sessions is due."""
        return bool(await self._due(connection, slice_id))

    def _round_of(self, pending: Pending, stretch: Stretch, heard: Sequence[Message]) -> Round:
        most = self._dependencies.rules.max_messages
        messages = stretch.messages
        if len(heard) > most:
            messages = [m for m in messages if m.seq < heard[most].seq]
        return Round(pending, messages, heard[:most])

    async def _next_retry(self, connection: Connection, slice_id: int) -> Round | None:
        """The next stretch that the model is to be asked for again; those that are gone are dropped on the way."""
        if self._dependencies.model is None or self._tally.is_down:
            return None
        key = self._work.session_key
        found = await extraction_store.due_retries(connection, self._tenant_id, slice_id, self._dependencies.now(), key)
        for retry in found:
            pending = await extraction_store.read_session(connection, self._tenant_id, slice_id, retry.session_key)
            if pending is not None:
                span = (retry.from_seq, retry.through_seq)
                stretch = await extraction_store.read_stretch(connection, self._tenant_id, pending.session, *span)
                heard = [m for m in spoken(stretch.messages) if m.seq not in stretch.of_cron]
                if heard and retry.attempts < MAX_RETRIES:
                    return Round(pending, stretch.messages, heard, retry)
            await extraction_store.drop_retry(connection, self._tenant_id, slice_id, retry)
        return None

    async def _do(self, round_: Round) -> None:
        """Read, propose and store; begun again where something changed meanwhile, at last without whole files."""
        numbers = count()

        async def attempt() -> None:
            nonlocal round_
            number = next(numbers)
            if number > 0:
                again = await self._again(round_)
                if again is None:
                    return
                round_ = again
            await self._attempt(round_, with_files=number < _ATTEMPTS - 1)

        with suppress(DoneMeanwhileError):
            await until_stable(attempt, attempts=_ATTEMPTS, what="what is extracted")

    async def _attempt(self, round_: Round, *, with_files: bool) -> None:
        read = await self._read(round_)
        proposal = await self._propose(read)
        if proposal.fallback is not None and round_.retry is not None:
            await self._postpone(round_.retry, proposal.fallback)
            return
        if not with_files:
            proposal = replace(proposal, files=())
        lines = await self._store(round_, read, proposal)
        self._note(round_.pending.session.session_key, proposal, lines)

    async def _again(self, round_: Round) -> Round | None:
        """The round as it now is; None where it is done or nothing of it is left."""
        span = (round_.messages[0].seq, round_.through_seq)
        heard = {m.seq for m in round_.heard}
        async with self._dependencies.database.tenant(self._tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, self._place)
            session = round_.pending.session
            pending = await extraction_store.read_session(connection, self._tenant_id, own[0], session.session_key)
            if pending is None:
                return None
            if round_.retry is None and pending.extracted_through != round_.pending.extracted_through:
                return None
            stretch = await extraction_store.read_stretch(connection, self._tenant_id, pending.session, *span)
        left = [m for m in spoken(stretch.messages) if m.seq in heard]
        return Round(pending, stretch.messages, left, round_.retry) if stretch.messages else None

    async def _read(self, round_: Round) -> Read:
        session = round_.pending.session
        # What is asked for again belongs to the note that has what went without the model.
        day = round_.retry.noted_on if round_.retry else self._today()
        path = note_path(day)
        async with self._dependencies.database.tenant(self._tenant_id, snapshot=True) as connection:
            own = await own_slices(connection, self._place)
            since = await standing(connection, self._tenant_id, own)
            found = await store.read_documents(connection, self._tenant_id, own, [MEMORY, STAND_IN, PROFILE, path])
            alive = {document.path: (document, text) for document, text in found if document.deleted_at is None}
            memory_path = next((name for name in (MEMORY, STAND_IN) if name in alive), MEMORY)
            held = {}
            for name in (memory_path, PROFILE):
                machine = await machine_lines(connection, self._tenant_id, own[0], name)
                held[name] = HeldFile(name, alive[name][1] if name in alive else None, machine)
            saved: list[str] = []
            if memory_path in alive:
                document = alive[memory_path][0]
                saved = await extraction_store.saved_lines(
                    connection, self._tenant_id, document.document_id, session.created_at
                )
        clean = await self._dependencies.tombstones.without_forgotten(self._place)
        basis = Basis(
            session_id=session.session_id,
            heard=round_.heard,
            memory=held[memory_path],
            profile=held[PROFILE],
            saved=saved,
            replaceable=self._replaceable(held[memory_path], held[PROFILE]),
            clean=clean,
            language=self._grant.settings.language,
            names=[(self._work.owner_key or "").rpartition(":")[2]],
        )
        return Read(basis, alive[path][1] if path in alive else None, day, since)

    def _today(self) -> date:
        return local_day(self._dependencies.now(), self._grant.settings.time_zone)

    def _replaceable(self, memory: HeldFile, profile: HeldFile) -> frozenset[str]:
        """The files that fit into an answer; of a longer one the end would be lost."""
        room = self._dependencies.rules.max_tokens
        shares = ((memory, _MEMORY_SHARE), (profile, _PROFILE_SHARE))
        return frozenset(f.path for f, share in shares if self._dependencies.count(f.text or "") <= share * room)

    async def _propose(self, read: Read) -> Proposal:
        rules, basis = self._dependencies.rules, read.basis
        if not basis.heard:
            return Proposal(EXTRACTIVE)
        model = None if self._tally.is_down else self._dependencies.model
        names = {basis.memory.path: MEMORY, PROFILE: PROFILE}
        inputs = {
            "today": read.day.isoformat(),
            "replaceable": " and ".join(sorted(names[path] for path in basis.replaceable)) or "no file",
            "profile": (basis.profile.text or "")[:FILE_CHARS],
            "memory": (basis.memory.text or "")[:FILE_CHARS],
            "note": (read.note or "")[-NOTE_CHARS:],
            "saved": "\n".join(basis.saved)[-NOTE_CHARS:],
            "transcript": transcript_of(basis.heard, self._zone, rules.message_chars),
        }
        check = partial(problem_of, basis=basis, rules=rules)
        question = Question("extraction", inputs, Answer, rules.max_tokens, rules.timeout_seconds, check)
        asked = await ask(model, self._tenant_id, question)
        if asked.value is None:
            fallback = self._tally.fallback if self._tally.is_down else asked.fallback
            self._tally.is_down |= fallback in _DOWN
            self._tally.fallback = self._tally.fallback or fallback
            return await asyncio.to_thread(extractive, basis, rules, fallback)
        proposal = await asyncio.to_thread(from_answer, asked.value, asked.made, basis, rules)
        for path, reason in proposal.refused.items():
            log.warning("extraction_refused", file=path, reason=reason)
        for _, reason in proposal.dropped:
            # The line itself may be an attack, or memory: neither belongs into a log.
            log.warning("extraction_line_refused", reason=reason)
        if proposal.is_all_refused:
            self._tally.fallback = self._tally.fallback or UNGROUNDED
            without = await asyncio.to_thread(extractive, basis, rules, UNGROUNDED)
            return replace(without, dropped=proposal.dropped)
        return proposal

    async def _store(self, round_: Round, read: Read, proposal: Proposal) -> int:
        """Files, their origins and the marks in one transaction; how many lines the note got.

        Raises Superseded or DoneMeanwhileError, with nothing written.
        """
        writing = Writing(self._dependencies, self._place, self._work, round_, read, proposal)
        try:
            async with self._dependencies.pipeline.unit_of_work(self._place, writing.changes()) as unit:
                await writing.within(unit.connection, unit.slice_)
        except PayloadTooLarge:
            # The day's note, or the archive, is full: what was said is there still, and found by search.
            log.warning("extraction_does_not_fit", lines=len(proposal.lines))
            writing = replace(writing, proposal=replace(proposal, lines=(), files=()))
            async with self._dependencies.pipeline.unit_of_work(self._place) as unit:
                await writing.within(unit.connection, unit.slice_)
        return len(writing.added)

    async def _postpone(self, retry: Retry, reason: str) -> None:
        due_at = self._dependencies.now() + timedelta(seconds=retry_wait_seconds(retry.attempts + 1))
        async with self._dependencies.database.tenant(self._tenant_id) as connection:
            own = await own_slices(connection, self._place)
            await extraction_store.postpone(connection, self._tenant_id, own[0], retry, reason, due_at)
        self._tally.is_down = True

    def _note(self, session_key: int, proposal: Proposal, lines: int) -> None:
        tally = self._tally
        tally.sessions.add(session_key)
        tally.rounds += 1
        tally.lines += lines
        tally.files += len(proposal.files)
        tally.refused.update(reason for _, reason in proposal.dropped)
        tally.methods.add(proposal.made.method)

    async def _defer_rest(self) -> None:
        """What this run did not get to, and what the model is to be asked for again."""
        ids = (self._tenant_id, self._work.agent_id, self._work.owner_key)
        async with self._dependencies.database.tenant(self._tenant_id) as connection:
            own = await own_slices(connection, self._place)
            if not own:
                return
            is_due, retry_at = await extraction_store.waiting(connection, self._tenant_id, own[0])
            if is_due and self._work.session_key is None:
                await defer(connection, Work(STAGE, *ids), after_seconds=self._dependencies.cooldown_seconds)
            if retry_at is not None:
                wait = max(self._dependencies.cooldown_seconds, (retry_at - self._dependencies.now()).total_seconds())
                await defer(connection, Work(STAGE, *ids, trigger="retry"), after_seconds=wait)
