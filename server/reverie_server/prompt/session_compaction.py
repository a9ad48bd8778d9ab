"""Compaction of a session: note the important lines, and let a summary stand for older messages, which stay stored."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from functools import partial
from typing import Literal
from weakref import WeakValueDictionary

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Slice
from reverie_indexer.errors import Conflict, PayloadTooLarge, ReverieError
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.files.well_known import note_path
from reverie_server.heuristics.extract import notes_of, summarise
from reverie_server.heuristics.grounding import Sources, refusal
from reverie_server.heuristics.notes import bullets, new_lines, note_lines
from reverie_server.heuristics.orders import why_order
from reverie_server.heuristics.said_in import SaidIn
from reverie_server.jobs.model import message_source
from reverie_server.llm.answers import Flush
from reverie_server.llm.generation import EXTRACTIVE, Generation
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel
from reverie_server.prompt.summary import Summaries, Summary
from reverie_server.prompt.window import all_but_last
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.sessions import transcript
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.message_range import is_unchanged
from reverie_server.sessions.model import Message, NewCompaction, Session, is_of_cron
from reverie_server.sessions.sessions import Sessions, mark_compacted
from reverie_server.text import markdown_edit
from reverie_server.text.redact import essence

log = structlog.get_logger()
# How often a compaction begins again because its messages were changed meanwhile.
_ATTEMPTS = 3
_FLUSH_TOKENS = 2000
# The name under which the lines of the note are recorded in provenance.
FLUSH = "flush"


@dataclass(frozen=True, slots=True)
class Compacted:
    """The result of a compaction. `removed` messages were marked, none where nothing was to be done; `kept` were not.

    `summary` stands for all marked messages, and `method` says how it was made. `flushed` lines were added to the daily
    note.
    """

    removed: int
    kept: int
    summary: str
    flushed: int
    method: Literal["llm", "extractive"]


@dataclass(frozen=True, slots=True)
class FlushRules:
    """At most `max_rounds` requests to the model, which take at most `timeout_seconds` together."""

    max_rounds: int = 5
    timeout_seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class _Note:
    """A line for the daily note, its generation, and the messages that it was made of."""

    line: str
    generation: Generation
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class _CompactionText:
    """The notes and the summary of the compacted messages. `generated` None: the summary was made without a model."""

    notes: Sequence[_Note]
    summary: str
    generated: Summary | None


class SessionCompaction:
    """Compacts sessions. `now` gives the time, with its zone."""

    def __init__(
        self,
        pipeline: Pipeline,
        sessions: Sessions,
        tombstones: Tombstones,
        model: LanguageModel | None,
        summaries: Summaries,
        rules: FlushRules,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._pipeline = pipeline
        self._sessions = sessions
        self._tombstones = tombstones
        self._model = model
        self._summaries = summaries
        self._rules = rules
        self._now = now
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def lock(self, session: Session) -> asyncio.Lock:
        """The lock under which a session is compacted in this process."""
        return self._locks.setdefault(session.session_key, asyncio.Lock())

    async def compact(self, grant: Grant, place: Place, session: Session, *, keep_last: int) -> Compacted:
        """Compact a session's live messages but the last `keep_last`. A call of tools and its results stay together.

        `place` is that of the session's slice. Notes, summary and marks are one transaction: a compaction that is
        killed has changed nothing. Where another process has compacted the session meanwhile, nothing is left to do.
        NotFound when the session is gone, Conflict when its messages are changed all the time.
        """
        tenant_id = grant.principal.tenant_id
        principal = replace(grant.principal, owner_key=session.owner_key)

        async def attempt() -> Compacted:
            present, live = await self._sessions.live(principal, session.session_id)
            messages = all_but_last(live, keep_last)
            if not messages:
                return Compacted(0, len(live), present.summary, 0, "extractive")
            clean = await self._tombstones.without_forgotten(place)
            # A conversation of a cron job leaves no notes where the agent skips these.
            is_skipped = grant.settings.skip_cron_conversations and is_of_cron(present.session_id)
            # Nor one of a team member, which writes no memory files.
            is_noted = not is_skipped and grant.principal.leader_agent_id is None
            text = await self._write_text(tenant_id, present, messages, clean, is_noted=is_noted)
            try:
                flushed = await self._store(grant, place, present, messages, text)
            except Conflict:
                raise Superseded from None
            method: Literal["llm", "extractive"] = "llm" if text.generated else "extractive"
            log.info("session_compacted", messages=len(messages), flushed=flushed, method=method)
            return Compacted(len(messages), len(live) - len(messages), text.summary, flushed, method)

        async with self.lock(session):
            return await until_stable(attempt, attempts=_ATTEMPTS, what="the session")

    async def _write_text(
        self,
        tenant_id: str,
        session: Session,
        messages: Sequence[Message],
        clean: Callable[[str], str],
        *,
        is_noted: bool,
    ) -> _CompactionText:
        """Notes and summary of the messages, without what was forgotten: `clean` takes it out of a text."""
        notes = await self._notes(tenant_id, messages) if is_noted else []
        clean_notes = await asyncio.to_thread(_cleaned, notes, clean)
        generated = await self._summaries.write(tenant_id, session.summary, messages)
        if generated is not None:
            summary = generated.text
        else:
            count, max_tokens = self._summaries.count, self._summaries.max_tokens
            heuristic = await asyncio.to_thread(
                summarise, messages, session.summary, max_tokens=max_tokens, count=count
            )
            summary = transcript.clipped(heuristic, max_tokens, count)
        summary = await asyncio.to_thread(clean, summary)
        return _CompactionText(clean_notes, summary, generated)

    async def _notes(self, tenant_id: str, messages: Sequence[Message]) -> list[_Note]:
        """The lines for the daily note from all messages, in at most `max_rounds` rounds.

        The heuristics read a part that the model fails at or has no time for. Where the model finds nothing, they are
        not asked.
        """
        notes: list[_Note] = []
        deadline = asyncio.get_running_loop().time() + self._rules.timeout_seconds
        for part in transcript.parts(messages, self._rules.max_rounds):
            part_notes = await self._generated_notes(tenant_id, part, notes, deadline)
            if part_notes is None:
                extracted = await asyncio.to_thread(notes_of, part)
                part_notes = [
                    _Note(note.line, EXTRACTIVE, [note.message]) for note in extracted if why_order(note.line) is None
                ]
            notes = _distinct([*notes, *part_notes])
        return notes

    async def _generated_notes(
        self, tenant_id: str, part: Sequence[Message], notes: Sequence[_Note], deadline: float
    ) -> list[_Note] | None:
        """The model's lines for a part, which follow from its messages; None where the model gave none that do."""
        transcript_text = transcript.transcript(part, "notes")
        if not transcript_text:
            return []
        seconds_left = deadline - asyncio.get_running_loop().time()
        if self._model is None or seconds_left <= 0:
            return None
        inputs = {"previous": bullets([note.line for note in notes]), "transcript": transcript_text}
        try:
            answer = await self._model.structured(
                tenant_id, load_prompt("flush"), inputs, Flush, max_tokens=_FLUSH_TOKENS, timeout_seconds=seconds_left
            )
        except ReverieError as error:
            log.warning("flush_failed", code=error.code, detail=error.detail, messages=len(part))
            return None
        generation = Generation("llm", answer.prompt, answer.prompt_version, answer.model)
        lines = await asyncio.to_thread(_grounded, answer.value.lines, part)
        # A model whose every line was refused is no better than none.
        return [_Note(line, generation, part) for line in lines] if lines or not answer.value.lines else None

    async def _store(
        self, grant: Grant, place: Place, session: Session, messages: Sequence[Message], text: _CompactionText
    ) -> int:
        """Store notes, summary and marks in one transaction; the number of lines that the daily notes got."""
        tenant_id = place.tenant_id
        zone = grant.settings.time_zone
        notes_by_day: dict[date, list[_Note]] = defaultdict(list)
        for note in text.notes:
            message = SaidIn(note.messages, grant.settings.language).message_of(note.line)
            notes_by_day[local_day(message.at, zone)].append(note)
        added: dict[str, list[str]] = {}

        def edit(path: str, notes: Sequence[_Note], content: str | None) -> str:
            added[path] = new_lines([note.line for note in notes], content or "")
            return markdown_edit.append(content, bullets(added[path]), path) if added[path] else content or ""

        async def mark(connection: Connection, slice_: Slice) -> None:
            if not await is_unchanged(connection, tenant_id, session, messages):
                raise Superseded
            generated = text.generated
            done = NewCompaction(
                from_seq=messages[0].seq,
                through_seq=messages[-1].seq,
                summary=text.summary,
                flushed=sum(map(len, added.values())),
                method="llm" if generated else "extractive",
                prompt=generated.prompt if generated else None,
                prompt_version=generated.prompt_version if generated else None,
                model=generated.model if generated else None,
            )
            await mark_compacted(connection, tenant_id, session, done)
            origins = {note.line: note for note in text.notes}
            derived = [_derived(path, origins[line], session) for path, lines in added.items() for line in lines]
            await record(connection, tenant_id, slice_.slice_id, derived, at=self._now())

        changes = [
            Change(note_path(day), partial(edit, note_path(day), notes), "server", "memory flush")
            for day, notes in sorted(notes_by_day.items())
        ]
        try:
            async with self._pipeline.unit_of_work(place, changes) as unit:
                await mark(unit.connection, unit.slice_)
        except PayloadTooLarge:
            # The day's note is full: the messages stay, and search finds them.
            log.warning("flush_does_not_fit", lines=len(text.notes))
            added.clear()
            async with self._pipeline.unit_of_work(place) as unit:
                await mark(unit.connection, unit.slice_)
        return sum(map(len, added.values()))


def _grounded(lines: Sequence[str], part: Sequence[Message]) -> list[str]:
    """The lines that follow from the messages, and are no orders to the agent."""
    sources = Sources(part)
    kept: list[str] = []
    for line in note_lines(lines):
        if (reason := refusal(line, sources, about_user=False)) is None:
            kept.append(line)
        else:
            log.warning("flush_line_refused", reason=reason)
    return kept


def _cleaned(notes: Sequence[_Note], clean: Callable[[str], str]) -> list[_Note]:
    """The notes, cleaned of forgotten text."""
    kept = [replace(note, line=line) for note in notes for line in note_lines(clean(bullets([note.line])).splitlines())]
    return _distinct(kept)


def _distinct(notes: Sequence[_Note]) -> list[_Note]:
    """The notes as lines of a note; of those that say the same the first one stays."""
    distinct: dict[str, _Note] = {}
    for note in notes:
        for line in note_lines([note.line]):
            distinct.setdefault(essence(line), replace(note, line=line))
    return list(distinct.values())


def _derived(path: str, note: _Note, session: Session) -> Derived:
    source = message_source(session.session_id, [(m.seq, m.message_id) for m in note.messages])
    return Derived(path, [note.line], note.generation, FLUSH, [source])
