"""Compaction of a session: what matters is noted down, a summary stands for older messages, and they stay stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
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
from reverie_server.heuristics.extract import noted, summarise
from reverie_server.heuristics.grounding import Sources, refusal
from reverie_server.heuristics.notes import bullets, new_lines, note_lines
from reverie_server.heuristics.orders import standing_order
from reverie_server.jobs.model import message_source
from reverie_server.llm.answers import Flush
from reverie_server.llm.generation import EXTRACTIVE, Made
from reverie_server.llm.prompts import load_prompt
from reverie_server.llm.provider import LanguageModel
from reverie_server.prompt.summary import Summaries, Summary
from reverie_server.prompt.window import stretch_before
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones
from reverie_server.sessions import transcript
from reverie_server.sessions.daily_log import local_day
from reverie_server.sessions.message_range import is_unchanged
from reverie_server.sessions.model import Message, NewCompaction, Session, is_of_cron
from reverie_server.sessions.sessions import Sessions, mark_compacted
from reverie_server.text import markdown_edit as sections
from reverie_server.text.redact import essence

log = structlog.get_logger()
# How often others may change what is compacted while it is.
_ATTEMPTS = 3
_FLUSH_TOKENS = 2000
# What its lines are recorded as made by.
FLUSH = "flush"


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did: messages marked and left, the summary that stands for all marked ones, lines added to the
    daily note. `method` is how the summary was made; `removed` 0: there was nothing to compact."""

    removed: int
    kept: int
    summary: str
    flushed: int
    method: Literal["llm", "extractive"]


@dataclass(frozen=True, slots=True)
class FlushRules:
    """At most so many rounds, which take so long altogether."""

    max_rounds: int = 5
    timeout_seconds: float = 90.0


@dataclass(frozen=True, slots=True)
class _Note:
    """A line for the daily note, how it was made, and of which messages."""

    line: str
    made: Made
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class _Made:
    """What is to be left of a stretch. `written` None: the summary was made without a model."""

    notes: Sequence[_Note]
    summary: str
    written: Summary | None


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
        """What is held while a session is compacted in this process."""
        return self._locks.setdefault(session.session_key, asyncio.Lock())

    async def compact(self, grant: Grant, place: Place, session: Session, *, keep_last: int) -> Compacted:
        """Compact a session's live messages but the last so many, and no call of tools without its results.

        `place` is the one of the session's slice. Notes, summary and marks are one transaction: what is killed in the
        middle has done nothing. A compaction by another process meanwhile counts as this one's. NotFound when the
        session is gone, Conflict when its messages are changed all the time.
        """
        tenant_id = grant.principal.tenant_id
        principal = replace(grant.principal, owner_key=session.owner_key)

        async def attempt() -> Compacted:
            present = await self._sessions.find(principal, session.session_id)
            live = await self._sessions.live(principal, present)
            stretch = stretch_before(live, keep_last)
            if not stretch:
                return Compacted(0, len(live), present.summary, 0, "extractive")
            clean = await self._tombstones.without_forgotten(place)
            # Of what came by the clock nothing is noted down where it is not kept.
            is_noted = not (grant.settings.skip_cron_conversations and is_of_cron(present.session_id))
            made = await self._make(tenant_id, present, stretch, clean, is_noted=is_noted)
            try:
                flushed = await self._store(grant, place, present, stretch, made)
            except Conflict:
                raise Superseded from None
            method: Literal["llm", "extractive"] = "llm" if made.written else "extractive"
            log.info("session_compacted", messages=len(stretch), flushed=flushed, method=method)
            return Compacted(len(stretch), len(live) - len(stretch), made.summary, flushed, method)

        async with self.lock(session):
            return await until_stable(attempt, attempts=_ATTEMPTS, what="the session")

    async def _make(
        self,
        tenant_id: str,
        session: Session,
        stretch: Sequence[Message],
        clean: Callable[[str], str],
        *,
        is_noted: bool,
    ) -> _Made:
        found = await self._noted(tenant_id, stretch) if is_noted else []
        notes = await asyncio.to_thread(_cleaned, found, clean)
        written = await self._summaries.write(tenant_id, session.summary, stretch)
        if written is not None:
            summary = written.text
        else:
            count, max_tokens = self._summaries.count, self._summaries.max_tokens
            made = await asyncio.to_thread(summarise, stretch, session.summary, max_tokens=max_tokens, count=count)
            summary = transcript.clipped(made, max_tokens, count)
        summary = await asyncio.to_thread(clean, summary)
        return _Made(notes, summary, written)

    async def _noted(self, tenant_id: str, stretch: Sequence[Message]) -> list[_Note]:
        """What of the stretch is worth a line of the daily note: all of it is looked at, in as many rounds as allowed.

        What the model fails at, or has no time for, is looked through without it; where it finds nothing, there is
        nothing.
        """
        notes: list[_Note] = []
        deadline = asyncio.get_running_loop().time() + self._rules.timeout_seconds
        for part in transcript.parts(stretch, self._rules.max_rounds):
            found = await self._asked(tenant_id, part, notes, deadline)
            if found is None:
                extracted = await asyncio.to_thread(noted, part)
                found = [
                    _Note(note.line, EXTRACTIVE, [note.message])
                    for note in extracted
                    if standing_order(note.line) is None
                ]
            notes = _distinct([*notes, *found])
        return notes

    async def _asked(
        self, tenant_id: str, part: Sequence[Message], notes: Sequence[_Note], deadline: float
    ) -> list[_Note] | None:
        said = transcript.transcript(part, "notes")
        if not said:
            return []
        left = deadline - asyncio.get_running_loop().time()
        if self._model is None or left <= 0:
            return None
        inputs = {"previous": bullets([note.line for note in notes]), "transcript": said}
        try:
            answer = await self._model.structured(
                tenant_id, load_prompt("flush"), inputs, Flush, max_tokens=_FLUSH_TOKENS, timeout_seconds=left
            )
        except ReverieError as error:
            log.warning("flush_failed", code=error.code, detail=error.detail, messages=len(part))
            return None
        made = Made("llm", answer.prompt, answer.prompt_version, answer.model)
        lines = await asyncio.to_thread(_grounded, answer.value.lines, part)
        # A model whose every line was refused is no better than none.
        return [_Note(line, made, part) for line in lines] if lines or not answer.value.lines else None

    async def _store(
        self, grant: Grant, place: Place, session: Session, stretch: Sequence[Message], made: _Made
    ) -> int:
        """Notes, summary and marks in one transaction; how many lines were added."""
        tenant_id = place.tenant_id
        path = note_path(local_day(self._now(), grant.settings.time_zone))
        added: list[str] = []

        def edit(text: str | None) -> str:
            nonlocal added
            added = new_lines([note.line for note in made.notes], text or "")
            return sections.append(text, bullets(added), path) if added else text or ""

        async def mark(connection: Connection, slice_: Slice) -> None:
            if not await is_unchanged(connection, tenant_id, session, stretch):
                raise Superseded
            by = made.written
            done = NewCompaction(
                from_seq=stretch[0].seq,
                through_seq=stretch[-1].seq,
                summary=made.summary,
                flushed=len(added),
                method="llm" if by else "extractive",
                prompt=by.prompt if by else None,
                prompt_version=by.prompt_version if by else None,
                model=by.model if by else None,
            )
            await mark_compacted(connection, tenant_id, session, done)
            origins = {note.line: note for note in made.notes}
            derived = [_derived(path, origins[line], session) for line in added]
            await record(connection, tenant_id, slice_.slice_id, derived, at=self._now())

        note = Change(path, edit, "server", "memory flush")
        try:
            await self._pipeline.write_many(place, [note] if made.notes else [], mark)
        except PayloadTooLarge:
            # The day's note is full: the messages are there still, and found by search.
            log.warning("flush_does_not_fit", lines=len(made.notes))
            added = []
            await self._pipeline.write_many(place, [], mark)
        return len(added)


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
    """The notes without what was forgotten."""
    kept = [replace(note, line=line) for note in notes for line in note_lines(clean(bullets([note.line])).splitlines())]
    return _distinct(kept)


def _distinct(notes: Sequence[_Note]) -> list[_Note]:
    """The notes as lines of a note, those that say the same once."""
    found: dict[str, _Note] = {}
    for note in notes:
        for line in note_lines([note.line]):
            found.setdefault(essence(line), replace(note, line=line))
    return list(found.values())


def _derived(path: str, note: _Note, session: Session) -> Derived:
    source = message_source(session.session_id, [(m.seq, m.message_id) for m in note.messages])
    return Derived(path, [note.line], note.made, FLUSH, [source])
