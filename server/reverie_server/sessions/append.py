"""Adds messages to sessions: the messages, their passages in the index and the daily log in one transaction."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from weakref import WeakValueDictionary

import structlog

from reverie_indexer.change import Change
from reverie_indexer.database.database import Connection, Database, Slice
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, PayloadTooLarge, ValidationFailed
from reverie_indexer.index import transcript
from reverie_indexer.index.slices import own_slices
from reverie_indexer.index.transcript import MessagePassages
from reverie_indexer.model import Passage, Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.access.principal import check_place
from reverie_server.jobs.model import message_source
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.record import Derived, record
from reverie_server.provenance.tombstones import Tombstones, tombstone_mark
from reverie_server.sessions import daily_log
from reverie_server.sessions.chunk import check_passages, chunk_messages
from reverie_server.sessions.lookup import Key, lock_session, look_up
from reverie_server.sessions.model import Appended, Message, NewMessage, Session, is_of_cron, paired
from reverie_server.sessions.validate import check_messages, cleaned, with_content
from reverie_server.text import markdown_edit
from reverie_server.text.tokens import CountTokens, message_tokens

SQL = Queries(__file__)
log = structlog.get_logger()
MAX_ATTEMPTS = 50
# More of a message is not read for facts: of that much is looked whether it says something forgotten anew.
_MAX_ANEW_CHARS = 20_000
LOG_AUTHOR = "server"
LOG_REASON = "daily_log"


@dataclass(frozen=True, slots=True)
class _Seen:
    """A session as it was read: which of the new messages' ids it has, and a user's message that has no answer yet.

    `unheard` are the numbers of those it has that nobody has listened to.
    """

    session: Session | None
    place: Place
    known: frozenset[str] = frozenset()
    unheard: Sequence[int] = ()
    waiting: Message | None = None
    tombstones: object = None

    @property
    def basis(self) -> tuple[frozenset[str], object, int]:
        """The state that decides which messages are new, and which of them may ask to forget something."""
        return self.known, self.tombstones, self.waiting.seq if self.waiting is not None else 0


@dataclass(frozen=True, slots=True)
class _Prepared:
    """New messages, in order and not yet numbered, with their passages, for a session as it was seen.

    `asking` are the indexes of those that may ask to forget something, `lifted` the tombstones of what they say anew.
    """

    basis: tuple[frozenset[str], object, int]
    messages: Sequence[Message]
    asking: Sequence[int]
    passages: Sequence[Sequence[Passage]]
    model_id: int | None
    lifted: Sequence[bytes] = ()


@dataclass(slots=True)
class _Recording:
    """What is stored in the transaction that holds the slice's lock, with the log's files at `paths`.

    `waiting` passages have no vector yet. `exchanges` are the log's entries with their messages; those of
    notes in `full` are not written.
    """

    key: Key
    seen: _Seen
    prepared: _Prepared
    tombstones: Tombstones
    paths: Sequence[str] = ()
    exchanges: Sequence[tuple[daily_log.Entry, Sequence[Message]]] = ()
    full: set[str] = field(default_factory=set)
    outcome: Session | None = None
    is_new: bool = False
    waiting: int = 0

    async def run(self, connection: Connection, slice_: Slice) -> None:
        """Store the messages with their passages; raises Superseded when they were prepared for another state."""
        locked = await lock_session(connection, slice_, self.key)
        if locked is None:
            raise Superseded
        session, self.is_new = locked
        seen_seq = self.seen.session.last_seq if self.seen.session else 0
        tombstones = await tombstone_mark(connection, self.key.tenant_id, [slice_.slice_id])
        if session.last_seq != seen_seq or session.state == "terminated" or tombstones != self.seen.tombstones:
            raise Superseded
        messages = self.prepared.messages
        seqs = range(session.last_seq + 1, session.last_seq + 1 + len(messages))
        params = {
            "tenant_id": self.key.tenant_id,
            "session_key": session.session_key,
            "slice_id": slice_.slice_id,
            "seqs": list(seqs),
            "message_ids": [message.message_id for message in messages],
            "roles": [message.role for message in messages],
            "contents": [message.content for message in messages],
            "extras": [json.dumps(dict(message.extra)) for message in messages],
            "token_counts": [message.tokens for message in messages],
            "ats": [message.at for message in messages],
            "count": len(messages),
            "tokens": sum(message.tokens for message in messages),
            "unheard": [seqs[index] for index in self.prepared.asking],
            "unheard_ats": [messages[index].at for index in self.prepared.asking],
        }
        await connection.execute(SQL["add_messages"], params)
        if self.prepared.lifted:
            await self.tombstones.lift(connection, self.key.tenant_id, slice_.slice_id, self.prepared.lifted)
        if self.prepared.asking:
            await connection.execute(SQL["note_unheard"], params)
        row = await (await connection.execute(SQL["count_messages"], params)).fetchone()
        self.outcome = Session(**(row or {}))
        entries = [
            MessagePassages(seq, message.at, passages)
            for seq, message, passages in zip(seqs, messages, self.prepared.passages, strict=True)
            if passages
        ]
        if entries:
            opened = (connection, self.seen.place, slice_, session.session_key, session.path)
            file = await transcript.open_transcript(*opened)
            self.waiting = await transcript.append_messages(connection, file, entries, self.prepared.model_id)
        if self.paths:
            logged = {"slice_id": slice_.slice_id, "paths": list(self.paths), "reason": LOG_REASON}
            await connection.execute(SQL["drop_superseded"], {**params, **logged})
            await self._record_log(connection, slice_, session, dict(zip(map(id, messages), seqs, strict=True)))

    async def _record_log(
        self, connection: Connection, slice_: Slice, session: Session, seqs: Mapping[int, int]
    ) -> None:
        """Which messages the lines of the log tell of. New ones have their numbers by identity."""
        derived = [
            Derived(entry.path, [entry.line], EXTRACTIVE, LOG_REASON, [message_source(session.session_id, numbered)])
            for entry, exchange in self.exchanges
            if entry.path in self.paths and entry.path not in self.full
            for numbered in [[(seqs.get(id(message), message.seq), message.message_id) for message in exchange]]
        ]
        await record(connection, self.key.tenant_id, slice_.slice_id, derived)


class Recorder:
    """Adds messages to sessions. `log_failures` counts what could not be written to a daily log.

    `may_ask` gives the indexes, among messages that are added, of those that may ask to forget something, the user's
    message before them, if it has no answer yet, given: that they wait for being heard is noted with them, so that no
    crash loses what they ask.
    """

    def __init__(
        self,
        database: Database,
        pipeline: Pipeline,
        tombstones: Tombstones,
        count: CountTokens,
        *,
        max_file_bytes: int,
    ) -> None:
        self._database = database
        self._pipeline = pipeline
        self._tombstones = tombstones
        self._count = count
        self._max_file_bytes = max_file_bytes
        self._turns: WeakValueDictionary[Place, asyncio.Lock] = WeakValueDictionary()
        self.may_ask: Callable[[Sequence[Message], Message | None], Sequence[int]] = lambda *_: ()
        self.log_failures = 0

    async def append(
        self, grant: Grant, place: Place, session_id: str, messages: Sequence[NewMessage]
    ) -> tuple[Appended, Place]:
        """Add messages to a session, in order, each once; also the place of the session's slice.

        What memory had put into them is taken out. Left out are a message that is nothing else, one whose id the
        session has, and what was forgotten after it was said. What a user says later than that is new: its tombstones
        are lifted. Makes session and agent where new; without an owner the session is the team's. Each exchange that is
        completed goes to the daily log in the same transaction; where that cannot be written, this is counted, and the
        messages are stored all the same. Raises ValidationFailed and PayloadTooLarge for messages that may not be,
        Conflict for a terminated session, and Forbidden for one that others read, with a key bound to its owner.
        """
        now = datetime.now(UTC)
        key = Key.of(grant.principal, session_id)
        check_messages(messages, now)
        new_messages = cleaned(messages)
        seen = await self._look(key, place, new_messages)
        check_place(grant.principal, seen.place)
        # Before it is this call's turn: chunking and embedding take longer than all the rest.
        prepared = await self._prepare(grant, seen, new_messages, now)
        # Where nobody was before it, what was seen is still so; if not, the transaction finds out.
        fresh: _Seen | None = None if self._is_busy(seen.place) else seen

        async def attempt() -> tuple[Appended, Place]:
            nonlocal prepared, fresh
            seen = fresh or await self._look(key, place, new_messages)
            fresh = None
            if seen.basis != prepared.basis:
                prepared = await self._prepare(grant, seen, new_messages, now)
            if seen.session is not None and not prepared.messages:
                return Appended(seen.session, unheard=seen.unheard), seen.place
            if seen.session is not None and seen.session.state == "terminated":
                raise Conflict("the session is terminated: make it active before anything is added")
            recording = _Recording(key, seen, prepared, self._tombstones)
            await self._commit(grant, recording)
            if recording.waiting:
                self._pipeline.backfill_wanted.set()
            assert recording.outcome is not None
            first = recording.outcome.last_seq - len(prepared.messages) + 1
            stored = [replace(message, seq=seq) for seq, message in enumerate(prepared.messages, first)]
            unheard = [*seen.unheard, *(first + index for index in prepared.asking)]
            return Appended(recording.outcome, stored, recording.is_new, unheard=unheard), seen.place

        async with self._turns.setdefault(seen.place, asyncio.Lock()):
            return await until_stable(attempt, attempts=MAX_ATTEMPTS, what="the session")

    def _is_busy(self, place: Place) -> bool:
        lock = self._turns.get(place)
        return lock is not None and lock.locked()

    async def _look(self, key: Key, place: Place, messages: Sequence[NewMessage]) -> _Seen:
        async with self._database.tenant(key.tenant_id, snapshot=True) as connection:
            found = await look_up(connection, key)
            if found is None:
                slice_ids = await own_slices(connection, place)
                return _Seen(None, place, tombstones=await tombstone_mark(connection, key.tenant_id, slice_ids))
            session, place = found
            ids = [message.message_id for message in messages if message.message_id is not None]
            params = {"tenant_id": key.tenant_id, "session_key": session.session_key, "message_ids": ids}
            known = await (await connection.execute(SQL["known_ids"], params)).fetchall()
            last = await (await connection.execute(SQL["last_spoken"], params)).fetchone()
            waiting = Message(**last) if last and last["role"] == "user" else None
            tombstones = await tombstone_mark(connection, key.tenant_id, [session.slice_id])
        unheard = sorted(row["unheard"] for row in known if row["unheard"] is not None)
        return _Seen(session, place, frozenset(row["message_id"] for row in known), unheard, waiting, tombstones)

    async def _prepare(self, grant: Grant, seen: _Seen, messages: Sequence[NewMessage], now: datetime) -> _Prepared:
        """The messages that are new to the session, without what was forgotten, chunked and embedded."""
        unheard = [message for message in messages if message.message_id not in seen.known]
        if seen.tombstones is not None and any(message.at is not None for message in unheard):
            forgetful = await self._tombstones.of_transcripts(seen.place)
            unheard = await asyncio.to_thread(_without_forgotten, unheard, forgetful)
        new = await asyncio.to_thread(self._weighed, unheard, now)
        said = [(message.content[:_MAX_ANEW_CHARS], message.at) for message in new if message.role == "user"]
        lifted = await self._tombstones.said_anew(seen.place, said) if said and seen.tombstones is not None else ()
        passages = await asyncio.to_thread(chunk_messages, grant.settings, new)
        check_passages(passages)
        ready = await self._pipeline.embed(seen.place.tenant_id, [p for of_one in passages for p in of_one])
        asking = await asyncio.to_thread(self.may_ask, new, seen.waiting)
        return _Prepared(seen.basis, new, asking, passages, ready.model_id if ready else None, lifted)

    def _weighed(self, messages: Sequence[NewMessage], now: datetime) -> list[Message]:
        return [
            Message(
                seq=0,
                role=message.role,
                content=message.content,
                at=message.at or now,
                tokens=message_tokens(message.content, message.extra, self._count),
                message_id=message.message_id,
                extra=message.extra,
            )
            for message in messages
        ]

    async def _commit(self, grant: Grant, recording: _Recording) -> None:
        """One transaction, the daily log in it; without the log where that may not be written."""
        waiting = [recording.seen.waiting] if recording.seen.waiting is not None else []
        spoken = [*waiting, *recording.prepared.messages]
        of_cron = grant.settings.skip_cron_conversations and is_of_cron(recording.key.session_id)
        # A team member has sessions, and no notes: memory files are read-only for it.
        if of_cron or grant.principal.leader_agent_id is not None:
            spoken = []
        entries = daily_log.entries(spoken, grant.settings.time_zone)
        changes = self._log_changes(entries, recording.full)
        place = recording.seen.place
        recording.paths = [change.path for change in changes]
        recording.exchanges = list(zip(entries, paired(spoken), strict=True))
        if changes:
            try:
                async with self._pipeline.unit_of_work(place, changes) as unit:
                    await recording.run(unit.connection, unit.slice_)
            except (PayloadTooLarge, ValidationFailed, Conflict) as error:
                self._log_failed(error.code)
                recording.paths, changes = (), []
            for _ in recording.full:
                self._log_failed(PayloadTooLarge.code)
        if not changes:
            async with self._pipeline.unit_of_work(place) as unit:
                await recording.run(unit.connection, unit.slice_)
                await self._pipeline.on_change(unit.connection, place, ())

    def _log_changes(self, entries: Sequence[daily_log.Entry], full: set[str]) -> list[Change]:
        """The entries at the end of their days' notes; a note without room stays as it is and joins `full`."""
        lines: dict[str, list[str]] = {}
        for entry in entries:
            lines.setdefault(entry.path, []).append(entry.line)

        def edit(path: str, text: str | None) -> str:
            longer = markdown_edit.append(text, "\n\n".join(lines[path]), path)
            if text is not None and len(longer.encode()) > self._max_file_bytes:
                full.add(path)
                return text
            return longer

        return [Change(path, partial(edit, path), LOG_AUTHOR, LOG_REASON) for path in lines]

    def _log_failed(self, code: str) -> None:
        self.log_failures += 1
        log.warning("daily_log_not_written", code=code)


def _without_forgotten(messages: Sequence[NewMessage], forgetful: Callable[[str, datetime], str]) -> list[NewMessage]:
    """An old transcript does not bring back what was forgotten; what is said now, or later than that, is new."""
    remaining = [
        message if message.at is None else with_content(message, forgetful(message.content, message.at))
        for message in messages
    ]
    return [message for message in remaining if message is not None]
