"""Who read, wrote, forgot, exported, or changed keys and settings, by which key, for whom, when, how many; no text.

The gate notes each permission that it gives or refuses in the `Activity` of the request, which ends before its answer
is sent. What was written, and what failed, is then in the database; what was read is collected, and written by `run`:
one row for each request (`on`), or one for each key, agent, owner and action in a minute (`sampled`), which says of how
many requests it is. A row is added and never changed; the unprivileged role cannot.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Literal

import psycopg
import structlog

from reverie_indexer.database.database import Connection, Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import Forbidden, MemoryDisabled, ReadOnlyMember, ReverieError, ValidationFailed
from reverie_server.access.keys import Caller
from reverie_server.access.request_id import current_request_id, new_request_id, of_request

log = structlog.get_logger()
SQL = Queries(__file__)
Action = Literal["read", "write", "forget", "export", "keys", "settings"]
ACTIONS: tuple[Action, ...] = ("read", "write", "forget", "export", "keys", "settings")
# `denied`: a key may not; `refused`: nothing was done for another reason; `failed`: it is not known what was done.
Outcome = Literal["ok", "denied", "refused", "failed"]
ReadsMode = Literal["off", "sampled", "on"]
SYSTEM = "system"
INTERVAL_SECONDS = 1.0
SAMPLE_SECONDS = 60.0
# What waits beyond that is lost, and counted: a database that is down must not fill the memory of the server.
MAX_WAITING = 10_000
BATCH = 500
# Rows that are removed in one transaction.
PRUNE_BATCH = 10_000
_MAX_COUNT = 2**31 - 1
# By what one entry of a request, or of a minute, is the same as another.
_Same = tuple[str, str | None, str | None, str | None, str, str]


@dataclass(slots=True)
class Entry:
    """What one key did, or tried, with one agent's memory for one owner. `count`: of how many things; None: one.

    `requests` is of how many requests it tells. `key_name` is `system` for what the server does by itself.
    """

    tenant_id: str
    action: Action
    key_id: str | None
    key_name: str | None
    agent_id: str | None
    owner_key: str | None
    outcome: Outcome = "ok"
    count: int | None = None
    requests: int = 1
    request_id: str | None = None
    at: datetime = field(default_factory=lambda: datetime.now(UTC))

    @property
    def same(self) -> _Same:
        """What it is put together with others by."""
        return (self.tenant_id, self.key_id, self.agent_id, self.owner_key, self.action, self.outcome)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """An entry as it is read back."""

    audit_id: int
    at: datetime
    action: Action
    outcome: Outcome
    key_id: str | None
    key_name: str | None
    agent_id: str | None
    owner_key: str | None
    count: int
    requests: int
    request_id: str | None


@dataclass(slots=True)
class Activity:
    """What one request does, as the gate and the use cases say. `caller` is set as soon as it is known."""

    caller: Caller | None = None
    agent_id: str | None = None
    entries: list[Entry] = field(default_factory=list)
    is_closed: bool = False


_current: ContextVar[Activity | None] = ContextVar("reverie_activity", default=None)


@contextmanager
def activity() -> Iterator[Activity]:
    """Until the end, what is noted is of one request."""
    found = Activity()
    token = _current.set(found)
    try:
        yield found
    finally:
        found.is_closed = True
        _current.reset(token)


def called_by(caller: Caller, agent_id: str | None = None) -> None:
    """Say who makes the request, also where the gate is not reached."""
    found = _current.get()
    if found is not None:
        found.caller, found.agent_id = caller, agent_id or found.agent_id


def counted(count: int) -> None:
    """Say of how many things the request is: results, messages, files."""
    found = _current.get()
    if found is not None and found.entries and not found.is_closed:
        found.entries[-1].count = count


def outcome_is(outcome: Outcome) -> None:
    """Say what came of it, where the status of the answer does not: the tools of a model answer 200."""
    found = _current.get()
    if found is not None and found.entries and not found.is_closed and found.entries[-1].outcome == "ok":
        found.entries[-1].outcome = outcome


def by_system(tenant_id: str, agent_id: str, owner_key: str | None) -> Entry:
    """What a stage of the background work did, which writes for nobody's key."""
    return Entry(tenant_id, "write", None, SYSTEM, agent_id, owner_key, request_id=current_request_id())


async def add(connection: Connection, tenant_id: str, entries: Sequence[Entry]) -> None:
    """Add entries of one tenant, in the caller's transaction, which acts for it."""
    params = {
        "tenant_id": tenant_id,
        "times": [entry.at for entry in entries],
        "actions": [entry.action for entry in entries],
        "outcomes": [entry.outcome for entry in entries],
        "key_ids": [entry.key_id for entry in entries],
        "key_names": [entry.key_name for entry in entries],
        "agent_ids": [entry.agent_id for entry in entries],
        "owner_keys": [entry.owner_key for entry in entries],
        "counts": [min(1 if entry.count is None else entry.count, _MAX_COUNT) for entry in entries],
        "requests": [entry.requests for entry in entries],
        "request_ids": [entry.request_id for entry in entries],
    }
    await connection.execute(SQL["add"], params)


class Audit:
    """Takes down what is done. `written` and `lost` count rows; lost is what had no room in a fault."""

    def __init__(self, database: Database, reads: ReadsMode = "sampled") -> None:
        self._database = database
        self._reads = reads
        # At once, in batches of whoever comes together; soon; once a minute.
        self._urgent: list[Entry] = []
        self._soon: dict[_Same, Entry] = {}
        self._sampled: dict[_Same, Entry] = {}
        self._each: list[Entry] = []
        self._writing = asyncio.Lock()
        self._stopping = asyncio.Event()
        # How many attempts to write have failed.
        self._failures = 0
        self.written = 0
        self.lost = 0

    @contextmanager
    def attempt(self, caller: Caller, agent_id: str | None, owner_key: str | None, action: Action) -> Iterator[Entry]:
        """Note what is attempted; what the body of the `with` raises says what came of it."""
        name = caller.key_name if caller.key_id is not None else None
        request_id = current_request_id()
        entry = Entry(caller.tenant_id, action, caller.key_id, name, agent_id, owner_key, request_id=request_id)
        try:
            yield entry
        except (Forbidden, ReadOnlyMember, MemoryDisabled):
            entry.outcome = "denied"
            raise
        except ReverieError as error:
            entry.outcome = "refused"
            if isinstance(error, ValidationFailed):
                # What is no owner's key may be any text.
                entry.owner_key = None
            raise
        finally:
            self._note(entry)

    def _note(self, entry: Entry) -> None:
        found = _current.get()
        if found is None or found.is_closed:
            # A command, or what goes on after the answer.
            self._collect(entry)
            return
        for known in found.entries:
            if (known.tenant_id, known.agent_id, known.owner_key) == (entry.tenant_id, entry.agent_id, entry.owner_key):
                if entry.action != "read" or entry.outcome != "ok":
                    known.action, known.outcome = entry.action, entry.outcome
                return
        found.entries.append(entry)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """What is noted until the end is of one call of a tool, which is taken down like a request.

        Within a request over HTTP it is a part of that.
        """
        found = _current.get()
        if found is not None and not found.is_closed:
            yield
            return
        with of_request(new_request_id()), activity() as doing:
            status = 500
            try:
                yield
                status = 200
            finally:
                await self.finish(doing, status)

    async def finish(self, done: Activity, status: int) -> None:
        """Take down what a request did, which is answered with `status`. Raises nothing."""
        done.is_closed = True
        if not done.entries and status == 403 and done.caller is not None:
            who = done.caller
            entry = Entry(who.tenant_id, "read", who.key_id, who.key_name, done.agent_id, who.owner_key, "denied")
            done.entries.append(replace(entry, request_id=current_request_id()))
        is_urgent = False
        for entry in done.entries:
            if entry.outcome == "ok" and status >= 400:
                entry.outcome = "denied" if status == 403 else "refused" if status < 500 else "failed"
            is_urgent = self._collect(entry) or is_urgent
        # Who has done nothing that is taken down at once does not wait for what others have: a health check, above all.
        if is_urgent:
            await self._write_urgent()

    def _collect(self, entry: Entry) -> bool:
        """Put an entry to those that wait; whether it is to be written before the answer."""
        is_urgent = False
        if entry.outcome in ("denied", "refused"):
            if entry.outcome == "denied" or entry.action != "read":
                _merge(self._soon, entry)
        elif entry.action != "read":
            self._urgent.append(entry)
            is_urgent = True
        elif entry.outcome == "ok" and self._reads == "sampled":
            _merge(self._sampled, entry)
        elif entry.outcome == "ok" and self._reads == "on":
            self._each.append(entry)
        self._bound()
        return is_urgent

    def _bound(self) -> None:
        """Forget what waits beyond the bound: reads first."""
        over = sum(map(len, (self._urgent, self._soon, self._sampled, self._each))) - MAX_WAITING
        for waiting in (self._each, self._urgent) if over > 0 else ():
            dropped = min(over, len(waiting))
            del waiting[:dropped]
            over -= dropped
            self.lost += dropped
        for collected in (self._sampled, self._soon) if over > 0 else ():
            for key in list(collected)[: max(0, over)]:
                del collected[key]
                over -= 1
                self.lost += 1

    async def run(self) -> None:
        """Write what is collected, until stopped, and then what is left. What fails is tried again."""
        loop = asyncio.get_running_loop()
        sample_at = loop.time() + SAMPLE_SECONDS
        while not self._stopping.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(INTERVAL_SECONDS):
                    await self._stopping.wait()
            is_due = loop.time() >= sample_at
            if is_due:
                sample_at = loop.time() + SAMPLE_SECONDS
            await self.flush(with_sampled=is_due or self._stopping.is_set())

    def stop(self) -> None:
        """Let `run` write what is left and end."""
        self._stopping.set()

    async def flush(self, *, with_sampled: bool = True) -> None:
        """Write what is collected; what cannot be written now stays."""
        collected = [*self._soon.values(), *self._each, *(self._sampled.values() if with_sampled else ())]
        self._soon, self._each = {}, []
        if with_sampled:
            self._sampled = {}
        self._urgent += collected
        if self._urgent:
            await self._write_urgent()

    async def _write_urgent(self) -> None:
        """Write what waits, with whatever others have brought meanwhile: one transaction for many requests.

        What cannot be written stays for `run`: who waited for an attempt that failed does not make the next one.
        """
        failures = self._failures
        async with self._writing:
            while self._urgent and self._failures == failures:
                tenant_id = self._urgent[0].tenant_id
                batch = [entry for entry in self._urgent if entry.tenant_id == tenant_id][:BATCH]
                taken = set(map(id, batch))
                self._urgent = [entry for entry in self._urgent if id(entry) not in taken]
                try:
                    async with self._database.tenant(tenant_id) as connection:
                        await add(connection, tenant_id, batch)
                except (ReverieError, psycopg.Error) as error:
                    self._urgent[:0] = batch
                    self._bound()
                    self._failures += 1
                    code = error.code if isinstance(error, ReverieError) else type(error).__name__
                    log.warning("audit_not_written", code=code, waiting=len(self._urgent))
                    return
                except BaseException:
                    self._urgent[:0] = batch
                    raise
                self.written += len(batch)

    async def page(
        self,
        tenant_id: str,
        *,
        since: datetime | None = None,
        owner_key: str | None = None,
        action: Action | None = None,
        before: tuple[datetime, int] | None = None,
        limit: int = 50,
    ) -> list[AuditRow]:
        """A page of a tenant's entries, newest first; `before` is the time and id of the last one before it."""
        await self.flush()
        before_at, before_id = before or (None, None)
        params = {
            "tenant_id": tenant_id,
            "since": since,
            "owner_key": owner_key,
            "action": action,
            "before_at": before_at,
            "before_id": before_id,
            "limit": limit,
        }
        async with self._database.tenant(tenant_id, snapshot=True) as connection:
            rows = await (await connection.execute(SQL["page"], params)).fetchall()
        return [AuditRow(**row) for row in rows]


async def prune(database: Database, *, keep_days: int) -> int:
    """Remove what is kept no longer, of all tenants; how many rows.

    Some in each transaction: who keeps it for less long from now on may have more than a statement has time for.
    """
    removed = 0
    while True:
        async with database.maintenance() as connection:
            pruned = await connection.execute(SQL["prune"], {"keep_days": keep_days, "limit": PRUNE_BATCH})
        removed += pruned.rowcount
        if pruned.rowcount < PRUNE_BATCH:
            return removed


def _merge(into: dict[_Same, Entry], entry: Entry) -> None:
    known = into.setdefault(entry.same, entry)
    if known is not entry:
        known.requests += entry.requests
        known.count = (1 if known.count is None else known.count) + (1 if entry.count is None else entry.count)
