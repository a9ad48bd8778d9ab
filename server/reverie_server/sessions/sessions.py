"""Sessions and their messages: making, finding, reading, clearing; `append` adds messages.

A session belongs to (tenant, agent, owner, id) and stays in the slice where it was begun: its owner's, or the team's.
Every write holds that slice's lock, then the session's.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from psycopg.rows import DictRow
from psycopg.types.json import Jsonb

from reverie_indexer.database.database import Connection, Database, Slice, opening_slices
from reverie_indexer.database.messages import Statement
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Conflict, NotFound
from reverie_indexer.index import transcript
from reverie_indexer.index.slices import lock_slice, own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_server.access.gate import Grant
from reverie_server.access.principal import Principal, check_place
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.model import Deferred
from reverie_server.provenance.forgotten_log import ForgottenLog
from reverie_server.sessions.append import Recorder
from reverie_server.sessions.completion import publish_completed
from reverie_server.sessions.cron_completion import complete_without_log
from reverie_server.sessions.lookup import SQL as LOOKUP
from reverie_server.sessions.lookup import (
    Key,
    lock_session,
    look_up,
    look_up_statements,
    looked_up,
    session_statement,
)
from reverie_server.sessions.model import Appended, Message, NewCompaction, NewMessage, Session, State
from reverie_server.sessions.validate import MAX_METADATA_BYTES, check_json

SQL = Queries(__file__)
# Does what some messages, those with these numbers, ask memory to forget, and gives the ids of the receipts.
AfterSaid = Callable[[Grant, Place, Session, Sequence[Message], Sequence[int]], Awaitable[Sequence[str]]]
# How far back an append looks for messages that it finds stored and unheard.
_MAX_HEARD_AGAIN = 200


async def mark_compacted(connection: Connection, tenant_id: str, session: Session, compaction: NewCompaction) -> None:
    """Mark messages of a session compacted and keep what the compaction left, in a transaction with its slice's lock.

    Conflict when the session is not as it was given: compacted by another, or cleared.
    """
    params = {
        **{name: getattr(compaction, name) for name in NewCompaction.__slots__},
        "tenant_id": tenant_id,
        "session_key": session.session_key,
        "slice_id": session.slice_id,
        "compactions": session.compactions,
        "compacted_through": session.compacted_through,
    }
    row = await (await connection.execute(SQL["compact_session"], params)).fetchone()
    if row is None:
        raise Conflict("the session was compacted or cleared meanwhile; look at it again")
    await connection.execute(SQL["add_compaction"], {**params, "number": row["compactions"]})
    await connection.execute(SQL["drop_window_summary"], params)


async def empty(connection: Connection, place: Place, slice_: Slice, session: Session) -> None:
    """Remove all messages of a session, index and summaries included, in a transaction with its slice's lock."""
    params = {"tenant_id": place.tenant_id, "session_key": session.session_key, "slice_id": slice_.slice_id}
    await transcript.remove_messages(connection, place, slice_, session.session_key, None)
    for step in ("drop_window_summary", "drop_compactions", "drop_events", "drop_messages", "empty_session"):
        await connection.execute(SQL[step], params)


def live_statements(key: Key) -> list[Statement]:
    """The statements of `Sessions.live`, where the session's slice is open; `live_of` takes their rows."""
    return [session_statement(key), Statement(SQL["live_messages"], key.params)]


def live_of(key: Key, answers: Sequence[Sequence[DictRow]]) -> tuple[Session, list[Message]] | None:
    """The session of a key and its live messages by these rows; None: there is none."""
    of_session, messages = answers
    found = looked_up(key, of_session)
    return None if found is None else (found[0], [Message(**row) for row in messages])


async def _nothing_asked(*_: object) -> Sequence[str]:
    """Where nobody listens to what is asked in a conversation."""
    return ()


async def _nothing_more(*_: object) -> None:
    """Where nothing is made of sessions, nothing goes with them."""


class Sessions:
    """The conversations of agents. What names a session by its id raises ValidationFailed for one that none may have.

    `after_append` is called after each append that stored something, or that found messages unheard, with the session
    as it then is and the place of its slice; it returns at once and raises nothing. `after_said` does what the messages
    ask memory to forget before the append returns, and gives the ids of the receipts; it raises nothing.
    `before_extraction` decides what is left of that, before anything is made of a place's sessions. `on_delete` removes
    what was made of a session that is deleted, by its key, in that transaction; `on_empty` what its messages state,
    where it is deleted or emptied.
    `forgotten_log`, where there is one, learns of both.
    """

    def __init__(self, database: Database, pipeline: Pipeline, recorder: Recorder, delays: Delays) -> None:
        self._database = database
        self._pipeline = pipeline
        self._recorder = recorder
        self._delays = delays
        self.after_append: Callable[[Grant, Place, Session], None] = lambda *_: None
        self.after_said: AfterSaid = _nothing_asked
        self.before_extraction: Callable[[Grant, Place], Awaitable[None]] = _nothing_more
        self.on_delete: Callable[[Connection, Place, Slice, int], Awaitable[None]] = _nothing_more
        self.on_empty: Callable[[Connection, Place, Slice, int], Awaitable[None]] = _nothing_more
        self.forgotten_log: ForgottenLog | None = None

    async def find(self, principal: Principal, session_id: str) -> Session:
        """The session of that id; see `locate`."""
        return (await self.locate(principal, session_id))[0]

    async def locate(self, principal: Principal, session_id: str, *, to_write: bool = False) -> tuple[Session, Place]:
        """The session of that id and the place of its slice: the owner's, or, where none is named, the team's.

        NotFound, whoever else has one of that id; with `to_write` Forbidden for one that others read, with a key that
        is bound to its owner.
        """
        key = Key.of(principal, session_id)
        found = looked_up(key, (await self._database.read(principal.tenant_id, look_up_statements(key)))[-1])
        if found is None:
            raise NotFound(f"there is no session {session_id!r}")
        if to_write:
            check_place(principal, found[1])
        return found

    async def put(
        self, grant: Grant, place: Place, session_id: str, *, state: State | None, metadata: Mapping[str, Any] | None
    ) -> tuple[Session, bool]:
        """Make or change a session; it, and whether it is new. None leaves what is there. Makes an unknown agent.

        Without an owner it is the team's, whoever else has one of that id. Forbidden as in `locate`,
        ValidationFailed or PayloadTooLarge for metadata over 16 KiB of JSON.
        """
        if metadata is not None:
            check_json(metadata, MAX_METADATA_BYTES, "the metadata of a session")
        key = Key.of(grant.principal, session_id)
        async with self._database.tenant(place.tenant_id, snapshot=True) as connection:
            found = await look_up(connection, key)
        if found is not None:
            check_place(grant.principal, found[1])
        async with self._pipeline.unit_of_work(found[1] if found else place) as unit:
            connection, slice_ = unit.connection, unit.slice_
            locked = await lock_session(connection, slice_, key)
            if locked is None:
                raise Conflict("the session was moved meanwhile; try again")
            session, is_new = locked
            params = {
                "tenant_id": place.tenant_id,
                "session_key": session.session_key,
                "state": state,
                "metadata": None if metadata is None else Jsonb(dict(metadata)),
            }
            row = await (await connection.execute(SQL["change_session"], params)).fetchone()
            return Session(**(row or {})), is_new

    async def append(self, grant: Grant, place: Place, session_id: str, messages: Sequence[NewMessage]) -> Appended:
        """Add messages to a session, in order, each once: see `Recorder.append`."""
        appended, session_place = await self._recorder.append(grant, place, session_id, messages)
        if not appended.messages and not appended.unheard:
            return appended
        session, unheard, said = appended.session, appended.unheard, appended.messages
        try:
            if unheard and (not said or unheard[0] < said[0].seq):
                # The server ended between storing and hearing them, and the caller has sent them again.
                after = max(unheard[0] - 1, session.last_seq - _MAX_HEARD_AGAIN)
                said = await self.messages(grant.principal, session, after=after, limit=_MAX_HEARD_AGAIN)
            forgotten = await self.after_said(grant, session_place, session, said, unheard)
            return replace(appended, forgotten=forgotten)
        finally:
            self.after_append(grant, session_place, session)

    async def forget_after(self, place: Place, session: Session, seq: int) -> None:
        """Note that the message `seq` of a session asks to forget what the user says next; 0 for none."""
        async with self._database.tenant(place.tenant_id) as connection:
            if await own_slices(connection, place):
                params = {
                    "tenant_id": place.tenant_id,
                    "session_key": session.session_key,
                    "slice_id": session.slice_id,
                    "seq": seq,
                }
                await connection.execute(SQL["forget_after"], params)

    async def messages(
        self, principal: Principal, session: Session, *, after: int, limit: int, max_bytes: int | None = None
    ) -> list[Message]:
        """A page of the session's messages, in order, those after the number `after`.

        With `max_bytes` the page ends with the message that reaches so many bytes of text.
        """
        params = {
            "tenant_id": principal.tenant_id,
            "session_key": session.session_key,
            "slice_id": session.slice_id,
            "after": after,
            "limit": limit,
            "max_bytes": max_bytes,
        }
        opening = opening_slices(principal.tenant_id, principal.agent_id, session.owner_key)
        statements = [*opening, Statement(SQL["messages"], params)]
        return [Message(**row) for row in (await self._database.read(principal.tenant_id, statements))[-1]]

    async def live(self, principal: Principal, session_id: str) -> tuple[Session, list[Message]]:
        """The session of that id (see `locate`), and those of its messages that are not compacted, in order."""
        key = Key.of(principal, session_id)
        opening = opening_slices(principal.tenant_id, principal.agent_id, principal.owner_key)
        answers = await self._database.read(principal.tenant_id, [*opening, *live_statements(key)])
        found = live_of(key, answers[len(opening) :])
        if found is None:
            raise NotFound(f"there is no session {session_id!r}")
        return found

    async def complete(self, principal: Principal, session_id: str, trigger_source: str) -> list[Deferred]:
        """Publish that what was said since the last time is complete; the jobs that follow. Nothing said: none.

        NotFound.
        """
        async with self._database.tenant(principal.tenant_id) as connection:
            deferred = await publish_completed(connection, principal, session_id, trigger_source, self._delays)
        if deferred is None:
            raise NotFound(f"there is no session {session_id!r}")
        return deferred

    async def complete_by_clock(self, grant: Grant, session_id: str) -> list[Deferred]:
        """As `complete`, of what came by the clock and the agent does not keep: it leaves the daily log."""
        deferred = await complete_without_log(self._database, self._pipeline, self._delays, grant, session_id)
        if deferred is None:
            raise NotFound(f"there is no session {session_id!r}")
        return deferred

    async def clear(self, principal: Principal, session_id: str) -> None:
        """Remove all messages of a session for good, from the index and its summaries too; NotFound.

        Episodes that were made of them stay. Without an owner: the team's.
        """
        await self._remove(principal, session_id, with_session=False)

    async def delete(self, principal: Principal, session_id: str) -> None:
        """Remove a session with all its messages and episodes for good; NotFound. Without an owner: the team's."""
        await self._remove(principal, session_id, with_session=True)

    async def _remove(self, principal: Principal, session_id: str, *, with_session: bool) -> None:
        found, place = await self.locate(principal, session_id, to_write=True)
        async with self._database.tenant(place.tenant_id) as connection:
            slice_ = await lock_slice(connection, place)
            session = await self._locked(connection, principal, found)
            await self._take_away(connection, place, slice_, principal, session, with_session=with_session)

    async def remove_unchanged(
        self, principal: Principal, found: Session, connection: Connection, place: Place, slice_: Slice
    ) -> None:
        """Do what `delete` does, for a session that was located, in a transaction with its slice's lock.

        NotFound where it has gone meanwhile, Conflict where more was said in it.
        """
        session = await self._locked(connection, principal, found)
        if session.last_seq != found.last_seq:
            raise Conflict("more was said in the session meanwhile; try again")
        await self._take_away(connection, place, slice_, principal, session, with_session=True)

    async def _locked(self, connection: Connection, principal: Principal, found: Session) -> Session:
        params = Key.of(principal, found.session_id).params
        row = await (await connection.execute(LOOKUP["lock_session"], params)).fetchone()
        if row is None or row["session_key"] != found.session_key:
            raise NotFound(f"there is no session {found.session_id!r}")
        return Session(**row)

    async def _take_away(
        self,
        connection: Connection,
        place: Place,
        slice_: Slice,
        principal: Principal,
        session: Session,
        *,
        with_session: bool,
    ) -> None:
        if with_session:
            await self.on_delete(connection, place, slice_, session.session_key)
        await self.on_empty(connection, place, slice_, session.session_key)
        await empty(connection, place, slice_, session)
        if with_session:
            params = {"tenant_id": place.tenant_id, "session_key": session.session_key}
            await connection.execute(SQL["drop_session"], params)
        if self.forgotten_log is not None:
            names = (place.tenant_id, principal.agent_id, session.owner_key, session.session_id)
            await self.forgotten_log.note(connection, "session" if with_session else "messages", *names)
