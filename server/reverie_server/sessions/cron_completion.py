"""Completes a session of a job by the clock: its lines leave the daily log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from reverie_indexer.change import Change
from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index import store
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_indexer.pipeline import Pipeline
from reverie_indexer.retry import Superseded, until_stable
from reverie_server.access.gate import Grant
from reverie_server.access.principal import check_place
from reverie_server.jobs.defer import Delays
from reverie_server.jobs.model import Deferred
from reverie_server.sessions.append import LOG_AUTHOR, LOG_REASON
from reverie_server.sessions.completion import CRON, publish_completed
from reverie_server.sessions.daily_log import entries
from reverie_server.sessions.lookup import Key, look_up
from reverie_server.sessions.model import Message

SQL = Queries(__file__)
MAX_ATTEMPTS = 50


async def complete_without_log(
    database: Database, pipeline: Pipeline, delays: Delays, grant: Grant, session_id: str
) -> list[Deferred] | None:
    """Publish that what a job by the clock said is complete, and take its lines out of the daily notes, at once.

    The jobs that follow; None: there is no such session. Lines that a person has changed stay. Raises Conflict when the
    session is written to all the time, and Forbidden as `publish_completed`.
    """
    key = Key.of(grant.principal, session_id)

    async def attempt() -> list[Deferred] | None:
        found = await _read(database, key, grant.settings.time_zone)
        if found is None:
            return None
        check_place(grant.principal, found.place)
        async with pipeline.unit_of_work(found.place, found.changes) as unit:
            current = await look_up(unit.connection, key)
            if current is None or current[0].last_seq != found.last_seq:
                raise Superseded
            done = await publish_completed(unit.connection, grant.principal, session_id, CRON, delays)
        return list(done or ())

    return await until_stable(attempt, attempts=MAX_ATTEMPTS, what="the session")


@dataclass(frozen=True, slots=True)
class _Found:
    """A session as it was read, and how its notes are without the lines of what it has not completed yet."""

    place: Place
    last_seq: int
    changes: Sequence[Change]


async def _read(database: Database, key: Key, time_zone: str) -> _Found | None:
    async with database.tenant(key.tenant_id, snapshot=True) as connection:
        found = await look_up(connection, key)
        if found is None:
            return None
        session, place = found
        params = {
            "tenant_id": key.tenant_id,
            "session_key": session.session_key,
            "slice_id": session.slice_id,
            "after": session.completed_through,
            "through": session.last_seq,
        }
        rows = await (await connection.execute(SQL["said"], params)).fetchall()
        lines = _lines([Message(**row) for row in rows], time_zone)
        slice_ids = await own_slices(connection, place)
        notes = await store.read_documents(connection, key.tenant_id, slice_ids, sorted(lines))
    changes = [
        Change(note.path, partial(_without, lines[note.path]), LOG_AUTHOR, LOG_REASON)
        for note, text in notes
        if note.deleted_at is None and not lines[note.path].keys().isdisjoint(text.splitlines())
    ]
    return _Found(place, session.last_seq, changes)


def _lines(messages: Sequence[Message], time_zone: str) -> dict[str, Counter[str]]:
    """The lines of the log that tell of messages, by note, each as often as it is there."""
    found: dict[str, Counter[str]] = {}
    for entry in entries(messages, time_zone):
        found.setdefault(entry.path, Counter())[entry.line] += 1
    return found


def _without(lines: Counter[str], text: str | None) -> str:
    """A note without lines of the log, each with the blank line above it; the last ones go where a line is repeated."""
    left = Counter(lines)
    kept: list[str] = []
    for line in reversed((text or "").splitlines(keepends=True)):
        if left[line.rstrip("\r\n")] > 0:
            left[line.rstrip("\r\n")] -= 1
            # Below it stood a blank line, which would now follow the one above.
            while kept and not kept[-1].strip():
                kept.pop()
            continue
        kept.append(line)
    return "".join(reversed(kept)).rstrip("\n") + "\n" if kept else ""
