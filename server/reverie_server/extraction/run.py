"""One run of extraction on a slice: rounds of messages, until none are left or the run had its share of rounds."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from itertools import count
from zoneinfo import ZoneInfo

import structlog

from reverie_indexer.database.database import Connection
from reverie_indexer.errors import PayloadTooLarge, TextTooCostly
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.retry import until_stable
from reverie_server.access.gate import Grant
from reverie_server.extraction import store as extraction_store
from reverie_server.extraction.asked import NearStatements, asked_to_remember
from reverie_server.extraction.basis import Basis, FileSnapshot
from reverie_server.extraction.propose import STAGE, UNGROUNDED, Proposal, from_answer, heuristic_proposal, problem_of
from reverie_server.extraction.store import MessageRange, Pending, Retry
from reverie_server.extraction.text import (
    FILE_CHARS,
    NOTE_CHARS,
    is_too_little,
    may_ask_to_remember,
    spoken,
    transcript_of,
)
from reverie_server.extraction.weigh import weighed_memorable
from reverie_server.extraction.write import (
    DoneMeanwhileError,
    ExtractionDependencies,
    Round,
    RoundWriter,
    SliceState,
    retry_wait_seconds,
)
from reverie_server.files.well_known import PROFILE, note_path
from reverie_server.heuristics.memorable import Heard
from reverie_server.jobs.defer import defer
from reverie_server.jobs.model import Outcome, Work
from reverie_server.llm.answers import Extraction as Answer
from reverie_server.llm.ask import Question, ask
from reverie_server.llm.generation import Method
from reverie_server.long_term.longterm import MEMORY, STAND_IN
from reverie_server.provenance.record import machine_lines
from reverie_server.provenance.tombstones import tombstone_mark
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.model import Message, Session

log = structlog.get_logger()
# After these rounds a run ends, and the rest is deferred to another run: a job has a time limit.
MAX_ROUNDS = 8
# The attempts of a round whose inputs others change meanwhile.
_ATTEMPTS = 3
MAX_RETRIES = 10
# Reasons for which the next question would fail, too.
_DOWN = frozenset({"unreachable", "timeout", "rejected", "rate_limited", "failed", "over_budget"})
# The shares of an answer's tokens that a file may have which the model rewrites.
_MEMORY_SHARE, _PROFILE_SHARE = 0.6, 0.2


@dataclass(slots=True)
class Tally:
    """The results of a run so far."""

    sessions: set[int] = field(default_factory=set)
    rounds: int = 0
    lines: int = 0
    files: int = 0
    too_little: set[int] = field(default_factory=set)
    short: Round | None = None
    refused: Counter[str] = field(default_factory=Counter)
    methods: set[Method] = field(default_factory=set)
    fallback: str | None = None
    is_down: bool = False

    def outcome(self) -> Outcome:
        """The outcome of the whole run."""
        if not self.rounds and self.files:
            reason = f"too little was said; {self.files} files have lines that hold again"
            return Outcome("completed", reason, "extractive")
        if not self.rounds:
            return Outcome("skipped", "too little was said" if self.too_little else "nothing new was said")
        reason = (
            f"{len(self.sessions)} conversations in {self.rounds} rounds: {self.lines} lines noted, "
            f"{self.files} files written anew"
        )
        if self.refused:
            reasons = ", ".join(f"{count} since {why}" for why, count in sorted(self.refused.items()))
            reason += f"; {self.refused.total()} lines of the model refused: {reasons}"
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

    async def run(self) -> Outcome:
        """Do the rounds of this run, and defer the rest."""
        left = MAX_ROUNDS
        while left and (round_ := await self._next_round()) is not None:
            if round_.is_short and not await self._may_ask(round_):
                await self._pass_over(round_)
                continue
            await self._do_round(round_)
            left -= 1
        if self._tally.short is not None and not self._tally.rounds:
            await self._do_round(self._tally.short)
        await self._defer_rest()
        return self._tally.outcome()

    async def _next_round(self) -> Round | None:
        """The next round; None where all is done."""
        skip_cron = self._grant.settings.skip_cron_conversations and self._work.trigger != "api"
        while True:
            async with self._dependencies.database.tenant(self._tenant_id) as connection:
                slice_ids = await own_slices(connection, self._place)
                if not slice_ids:
                    return None
                for pending, through_seq in await self._due(connection, slice_ids[0]):
                    message_range = await extraction_store.read_message_range(
                        connection, self._tenant_id, pending.session, pending.extracted_through + 1, through_seq
                    )
                    heard = [
                        m for m in spoken(message_range.messages) if not (skip_cron and m.seq in message_range.of_cron)
                    ]
                    if not heard:
                        # Nothing to extract: mark the messages that were read.
                        is_cut = len(message_range.messages) == extraction_store.MAX_RANGE_MESSAGES
                        end = message_range.messages[-1].seq if is_cut else through_seq
                        await extraction_store.advance(connection, self._tenant_id, pending, end)
                        continue
                    is_short = is_too_little(heard, message_range.earlier, self._dependencies.rules)
                    return replace(self._round_of(pending, message_range, heard), is_short=is_short)
                if not await self._due(connection, slice_ids[0]):
                    return await self._next_retry(connection, slice_ids[0])

    @staticmethod
    async def _may_ask(round_: Round) -> bool:
        """Whether a conversation that is too little may ask to remember something in words that no pattern has."""
        with suppress(TextTooCostly):
            return await isolated(may_ask_to_remember, round_.heard, chars=sum(len(m.content) for m in round_.heard))
        return False

    async def _pass_over(self, round_: Round) -> None:
        """Mark that what the session of a round completed is too little."""
        session = round_.pending.session
        self._tally.too_little.add(session.session_key)
        self._tally.short = Round(round_.pending, round_.messages, (), is_too_little=True)
        through_seq = session.completed_through if self._work.session_key is None else session.last_seq
        async with self._dependencies.database.tenant(self._tenant_id) as connection:
            if await own_slices(connection, self._place):
                await extraction_store.mark_seen(connection, self._tenant_id, round_.pending, through_seq)

    async def _due(self, connection: Connection, slice_id: int) -> list[tuple[Pending, int]]:
        """The sessions to extract, each with the number of the last message to extract."""
        key = self._work.session_key
        if key is None:
            # A session that was marked as too short is due again only through a race with its next message.
            without = sorted(self._tally.too_little)
            found = await extraction_store.due_sessions(connection, self._tenant_id, slice_id, without=without)
            return [(pending, pending.session.completed_through) for pending in found]
        pending = await extraction_store.read_session(connection, self._tenant_id, slice_id, key)
        if pending is None or pending.extracted_through >= pending.session.last_seq or key in self._tally.too_little:
            return []
        return [(pending, pending.session.last_seq)]

    def _round_of(self, pending: Pending, message_range: MessageRange, heard: Sequence[Message]) -> Round:
        most = self._dependencies.rules.max_messages
        messages = message_range.messages
        if len(heard) > most:
            messages = [m for m in messages if m.seq < heard[most].seq]
        return Round(pending, messages, heard[:most])

    async def _next_retry(self, connection: Connection, slice_id: int) -> Round | None:
        """The next retry that is due, as a round. Removes on the way those whose messages are gone."""
        if self._dependencies.model is None or self._tally.is_down:
            return None
        key = self._work.session_key
        found = await extraction_store.due_retries(connection, self._tenant_id, slice_id, self._dependencies.now(), key)
        for retry in found:
            pending = await extraction_store.read_session(connection, self._tenant_id, slice_id, retry.session_key)
            if pending is not None:
                span = (retry.from_seq, retry.through_seq)
                message_range = await extraction_store.read_message_range(
                    connection, self._tenant_id, pending.session, *span
                )
                heard = [m for m in spoken(message_range.messages) if m.seq not in message_range.of_cron]
                if heard and retry.attempts < MAX_RETRIES:
                    return Round(pending, message_range.messages, heard, retry)
            await extraction_store.drop_retry(connection, self._tenant_id, slice_id, retry)
        return None

    async def _do_round(self, round_: Round) -> None:
        """Read, propose and store a round. Tried again where its inputs changed, the last time without whole files."""
        numbers = count()

        async def attempt() -> None:
            nonlocal round_
            number = next(numbers)
            if number > 0:
                current = await self._reread(round_)
                if current is None:
                    return
                round_ = current
            await self._attempt(round_, with_files=number < _ATTEMPTS - 1)

        with suppress(DoneMeanwhileError):
            await until_stable(attempt, attempts=_ATTEMPTS, what="what is extracted")

    async def _attempt(self, round_: Round, *, with_files: bool) -> None:
        state = await self._read_state(round_)
        if round_.is_short and not state.basis.asked.meant:
            await self._pass_over(round_)
            return
        proposal = await self._propose(state)
        if proposal.fallback is not None and round_.retry is not None:
            await self._postpone(round_.retry, proposal.fallback)
            return
        if not with_files:
            proposal = replace(proposal, files=())
        if round_.is_too_little and not proposal.files:
            return
        lines = await self._store(round_, state, proposal)
        if round_.is_too_little:
            self._tally.files += len(proposal.files)
        else:
            self._count_round(round_.pending.session.session_key, proposal, lines)

    async def _reread(self, round_: Round) -> Round | None:
        """The round with its messages as they are now; None where it is done or no message is left."""
        span = (round_.messages[0].seq, round_.through_seq)
        heard = {m.seq for m in round_.heard}
        async with self._dependencies.database.tenant(self._tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, self._place)
            session = round_.pending.session
            pending = await extraction_store.read_session(
                connection, self._tenant_id, slice_ids[0], session.session_key
            )
            if pending is None:
                return None
            if round_.retry is None and pending.extracted_through != round_.pending.extracted_through:
                return None
            message_range = await extraction_store.read_message_range(
                connection, self._tenant_id, pending.session, *span
            )
        still_heard = [m for m in spoken(message_range.messages) if m.seq in heard]
        if not message_range.messages:
            return None
        return replace(round_, pending=pending, messages=message_range.messages, heard=still_heard)

    async def _read_state(self, round_: Round) -> SliceState:
        session = round_.pending.session
        now = self._dependencies.now()
        today = local_day(now, self._grant.settings.time_zone)
        said = round_.heard or round_.messages
        day = local_day(said[-1].at, self._grant.settings.time_zone) if said else today
        path = note_path(day)
        async with self._dependencies.database.tenant(self._tenant_id, snapshot=True) as connection:
            slice_ids = await own_slices(connection, self._place)
            mark = await tombstone_mark(connection, self._tenant_id, slice_ids)
            found = await store.read_documents(
                connection, self._tenant_id, slice_ids, [MEMORY, STAND_IN, PROFILE, path]
            )
            alive = {document.path: (document, text) for document, text in found if document.deleted_at is None}
            memory_path = next((name for name in (MEMORY, STAND_IN) if name in alive), MEMORY)
            files = {}
            for name in (memory_path, PROFILE):
                machine = await machine_lines(connection, self._tenant_id, slice_ids[0], name)
                said_at = await extraction_store.said_at(connection, self._tenant_id, slice_ids[0], name)
                text = alive[name][1] if name in alive else None
                outdated = await extraction_store.outdated_lines(
                    connection, self._tenant_id, slice_ids[0], name, text or "", machine, now=now
                )
                of_facts = await machine_lines(connection, self._tenant_id, slice_ids[0], name, stage="facts")
                files[name] = FileSnapshot(name, text, machine, said_at, outdated, of_facts)
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
            memory=files[memory_path],
            profile=files[PROFILE],
            saved=saved,
            replaceable=self._replaceable(files[memory_path], files[PROFILE]),
            clean=clean,
            language=self._grant.settings.language,
            names=[(self._work.owner_key or "").rpartition(":")[2]],
            time_zone=self._grant.settings.time_zone,
            asked=await asked_to_remember(
                self._dependencies.models, round_.heard, self._grant.settings.language, self._near_statements(session)
            ),
        )
        return SliceState(basis, alive[path][1] if path in alive else None, day, today, mark)

    def _near_statements(self, session: Session) -> NearStatements:
        """What the owner of a session said on any day, by its meaning."""
        principal = replace(self._grant.principal, owner_key=session.owner_key)
        grant = replace(self._grant, principal=principal)
        return partial(self._dependencies.near_statements.find, grant, self._place)

    def _replaceable(self, memory: FileSnapshot, profile: FileSnapshot) -> frozenset[str]:
        """The paths of the files that fit into an answer. Of a longer file the end would be lost."""
        room = self._dependencies.rules.max_tokens
        shares = ((memory, _MEMORY_SHARE), (profile, _PROFILE_SHARE))
        return frozenset(f.path for f, share in shares if self._dependencies.count(f.text or "") <= share * room)

    async def _propose(self, state: SliceState) -> Proposal:
        rules, basis = self._dependencies.rules, state.basis
        if not basis.heard:
            # What facts say has ended leaves the files all the same.
            return await asyncio.to_thread(heuristic_proposal, basis, rules, None, Heard((), (), {}))
        model = None if self._tally.is_down else self._dependencies.model
        names = {basis.memory.path: MEMORY, PROFILE: PROFILE}
        inputs = {
            "today": state.today.isoformat(),
            "replaceable": " and ".join(sorted(names[path] for path in basis.replaceable)) or "no file",
            "profile": (basis.profile.text or "")[:FILE_CHARS],
            "memory": (basis.memory.text or "")[:FILE_CHARS],
            "note": (state.note or "")[-NOTE_CHARS:],
            "saved": "\n".join(basis.saved)[-NOTE_CHARS:],
            "transcript": transcript_of(basis.heard, self._zone, rules.message_chars),
        }
        check = partial(problem_of, basis=basis, rules=rules)
        question = Question("extraction", inputs, Answer, rules.max_tokens, rules.timeout_seconds, check)
        answer = await ask(model, self._tenant_id, question)
        if answer.value is None:
            fallback = self._tally.fallback if self._tally.is_down else answer.fallback
            self._tally.is_down |= fallback in _DOWN
            self._tally.fallback = self._tally.fallback or fallback
            return await self._without_model(basis, fallback)
        proposal = await asyncio.to_thread(from_answer, answer.value, answer.generation, basis, rules)
        for path, reason in proposal.refused.items():
            log.warning("extraction_refused", file=path, reason=reason)
        for line in proposal.dropped:
            # The line itself may be an attack, or memory: neither belongs into a log.
            log.warning("extraction_line_refused", reason=line.reason)
        if proposal.is_all_refused:
            self._tally.fallback = self._tally.fallback or UNGROUNDED
            without_model = await self._without_model(basis, UNGROUNDED)
            return replace(without_model, dropped=proposal.dropped)
        return proposal

    async def _without_model(self, basis: Basis, fallback: str | None) -> Proposal:
        heard = await weighed_memorable(self._dependencies.models, basis)
        return await asyncio.to_thread(heuristic_proposal, basis, self._dependencies.rules, fallback, heard)

    async def _store(self, round_: Round, state: SliceState, proposal: Proposal) -> int:
        """Write files, provenance and marks in one transaction; returns the number of lines that the note got.

        Raises Superseded or DoneMeanwhileError, with nothing written.
        """
        writer = RoundWriter(self._dependencies, self._place, self._work, round_, state, proposal)
        try:
            async with self._dependencies.pipeline.unit_of_work(self._place, await writer.changes()) as unit:
                await writer.within(unit.connection, unit.slice_)
        except PayloadTooLarge:
            # The daily note, or the archive, is full. The messages stay, and search finds them.
            log.warning("extraction_does_not_fit", lines=len(proposal.lines))
            writer = replace(writer, proposal=replace(proposal, lines=(), files=()))
            async with self._dependencies.pipeline.unit_of_work(self._place) as unit:
                await writer.within(unit.connection, unit.slice_)
        return sum(map(len, writer.added.values()))

    async def _postpone(self, retry: Retry, reason: str) -> None:
        due_at = self._dependencies.now() + timedelta(seconds=retry_wait_seconds(retry.attempts + 1))
        async with self._dependencies.database.tenant(self._tenant_id) as connection:
            slice_ids = await own_slices(connection, self._place)
            await extraction_store.postpone(connection, self._tenant_id, slice_ids[0], retry, reason, due_at)
        self._tally.is_down = True

    def _count_round(self, session_key: int, proposal: Proposal, lines: int) -> None:
        tally = self._tally
        tally.sessions.add(session_key)
        tally.rounds += 1
        tally.lines += lines
        tally.files += len(proposal.files)
        tally.refused.update(line.reason for line in proposal.dropped)
        tally.methods.add(proposal.generation.method)

    async def _defer_rest(self) -> None:
        """Defer the sessions that this run did not reach, and the next retry."""
        ids = (self._tenant_id, self._work.agent_id, self._work.owner_key)
        async with self._dependencies.database.tenant(self._tenant_id) as connection:
            slice_ids = await own_slices(connection, self._place)
            if not slice_ids:
                return
            is_due, retry_at = await extraction_store.waiting(connection, self._tenant_id, slice_ids[0])
            if is_due and self._work.session_key is None:
                await defer(connection, Work(STAGE, *ids), after_seconds=self._dependencies.cooldown_seconds)
            if retry_at is not None:
                wait = max(self._dependencies.cooldown_seconds, (retry_at - self._dependencies.now()).total_seconds())
                await defer(connection, Work(STAGE, *ids, trigger="retry"), after_seconds=wait)
