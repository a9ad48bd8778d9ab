"""The audit: which key read, wrote, forgot, exported, or changed keys or settings, for whom, and when; no texts.

The gate notes each permission and each refusal in the `Activity` of the request, which ends before the answer is sent.
Entries of writes and failures are then in the database. Entries of reads are collected, and `run` writes them: one row
for each request (`on`), or one row a minute for each key, agent, owner and action (`sampled`), with the number of
requests. Rows are added and never changed: the unprivileged role has no right to.
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
# `denied`: the key may not; `refused`: nothing was done, for another reason; `failed`: what was done is not known.
Outcome = Literal["ok", "denied", "refused", "failed"]
ReadsMode = Literal["off", "sampled", "on"]
SYSTEM = "system"
INTERVAL_SECONDS = 1.0
# While the database takes no writes, the attempts become rarer up to this.
MAX_INTERVAL_SECONDS = 30.0
SAMPLE_SECONDS = 60.0
# Further entries are dropped and counted: a database that is down must not fill the memory of the server.
MAX_WAITING = 10_000
BATCH = 500
# Rows removed in one transaction.
PRUNE_BATCH = 10_000
_MAX_COUNT = 2**31 - 1
# Entries of a minute with equal keys become one: tenant, key, agent, owner, action, outcome.
_MergeKey = tuple[str, str | None, str | None, str | None, str, str]


@dataclass(slots=True)
class Entry:
    """An action of one key on one agent's memory for one owner, done or attempted.

    `count` is the number of results, messages or files (None: one), `requests` the number of requests in this entry.
    `key_name` is `system` for background work.
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
    def merge_key(self) -> _MergeKey:
        """The key under which entries of a minute are merged."""
        return (self.tenant_id, self.key_id, self.agent_id, self.owner_key, self.action, self.outcome)


@dataclass(frozen=True, slots=True)
class AuditRow:
    """A row of the audit."""

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
    """The entries of one request. `caller` is set as soon as it is known."""

    caller: Caller | None = None
    agent_id: str | None = None
    entries: list[Entry] = field(default_factory=list)
    is_closed: bool = False


_current: ContextVar[Activity | None] = ContextVar("reverie_activity", default=None)


@contextmanager
def activity() -> Iterator[Activity]:
    """The activity of one request: it gets all entries until the end of the `with`."""
    current = Activity()
    token = _current.set(current)
    try:
        yield current
    finally:
        current.is_closed = True
        _current.reset(token)


def called_by(caller: Caller, agent_id: str | None = None) -> None:
    """Set the caller of the current request, for requests that do not reach the gate."""
    current = _current.get()
    if current is not None:
        current.caller, current.agent_id = caller, agent_id or current.agent_id


def counted(count: int) -> None:
    """Set the count of the current entry: the number of results, messages or files."""
    current = _current.get()
    if current is not None and current.entries and not current.is_closed:
        current.entries[-1].count = count


def outcome_is(outcome: Outcome) -> None:
    """Set the outcome of the current entry, where the status of the answer does not show it: tools answer 200."""
    current = _current.get()
    if current is not None and current.entries and not current.is_closed and current.entries[-1].outcome == "ok":
        current.entries[-1].outcome = outcome


def by_system(tenant_id: str, agent_id: str, owner_key: str | None) -> Entry:
    """The entry of a write by a stage of the background work, which has no key."""
    return Entry(tenant_id, "write", None, SYSTEM, agent_id, owner_key, request_id=current_request_id())


async def add(connection: Connection, tenant_id: str, entries: Sequence[Entry]) -> None:
    """Add entries of one tenant, in the caller's transaction, which acts for that tenant."""
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
    """Collects and writes entries. `written` and `lost` count rows; rows are lost beyond `MAX_WAITING`."""

    def __init__(self, database: Database, reads: ReadsMode = "sampled") -> None:
        self._database = database
        self._reads = reads
        # Written before the answer, with those of simultaneous requests; each second; each minute; each second.
        self._urgent: list[Entry] = []
        self._refusals: dict[_MergeKey, Entry] = {}
        self._sampled_reads: dict[_MergeKey, Entry] = {}
        self._reads_one_by_one: list[Entry] = []
        self._writing = asyncio.Lock()
        self._stopping = asyncio.Event()
        # The number of failed attempts to write.
        self._failures = 0
        self.written = 0
        self.lost = 0

    @contextmanager
    def attempt(self, caller: Caller, agent_id: str | None, owner_key: str | None, action: Action) -> Iterator[Entry]:
        """Note an attempted action. An error of ours that the body of the `with` raises sets the outcome."""
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
                # A malformed owner key may be any text.
                entry.owner_key = None
            raise
        finally:
            self._note(entry)

    def _note(self, entry: Entry) -> None:
        current = _current.get()
        if current is None or current.is_closed:
            # A command, or work after the answer.
            self._collect(entry)
            return
        for known in current.entries:
            if (known.tenant_id, known.agent_id, known.owner_key) == (entry.tenant_id, entry.agent_id, entry.owner_key):
                if entry.action != "read" or entry.outcome != "ok":
                    known.action, known.outcome = entry.action, entry.outcome
                return
        current.entries.append(entry)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """The activity of one call of a tool: its entries are written like those of a request.

        Within a request over HTTP the call is a part of that request.
        """
        current = _current.get()
        if current is not None and not current.is_closed:
            yield
            return
        with of_request(new_request_id()), activity() as of_call:
            status = 500
            try:
                yield
                status = 200
            finally:
                await self.finish(of_call, status)

    async def finish(self, finished: Activity, status: int) -> None:
        """Collect or write the entries of a request that is answered with `status`. Raises nothing."""
        finished.is_closed = True
        if not finished.entries and status == 403 and finished.caller is not None:
            caller = finished.caller
            agent_id, owner_key = finished.agent_id, caller.owner_key
            entry = Entry(caller.tenant_id, "read", caller.key_id, caller.key_name, agent_id, owner_key, "denied")
            finished.entries.append(replace(entry, request_id=current_request_id()))
        is_urgent = False
        for entry in finished.entries:
            if entry.outcome == "ok" and status >= 400:
                entry.outcome = "denied" if status == 403 else "refused" if status < 500 else "failed"
            is_urgent = self._collect(entry) or is_urgent
        # A request without urgent entries, such as a health check, does not wait for those of others.
        if is_urgent:
            await self._write_urgent()

    def _collect(self, entry: Entry) -> bool:
        """Collect an entry; whether it must be written before the answer."""
        is_urgent = False
        if entry.outcome in ("denied", "refused"):
            if entry.outcome == "denied" or entry.action != "read":
                _merge(self._refusals, entry)
        elif entry.action != "read":
            self._urgent.append(entry)
            is_urgent = True
        elif entry.outcome == "ok" and self._reads == "sampled":
            _merge(self._sampled_reads, entry)
        elif entry.outcome == "ok" and self._reads == "on":
            self._reads_one_by_one.append(entry)
        self._bound()
        return is_urgent

    def _bound(self) -> None:
        """Drop the entries beyond `MAX_WAITING`, reads first."""
        over = sum(map(len, (self._urgent, self._refusals, self._sampled_reads, self._reads_one_by_one))) - MAX_WAITING
        for waiting in (self._reads_one_by_one, self._urgent) if over > 0 else ():
            dropped = min(over, len(waiting))
            del waiting[:dropped]
            over -= dropped
            self.lost += dropped
        for collected in (self._sampled_reads, self._refusals) if over > 0 else ():
            for key in list(collected)[: max(0, over)]:
                del collected[key]
                over -= 1
                self.lost += 1

    async def run(self) -> None:
        """Write the collected entries until stopped, and then the rest. A failed write is tried again."""
        loop = asyncio.get_running_loop()
        sample_at = loop.time() + SAMPLE_SECONDS
        wait_seconds = INTERVAL_SECONDS
        while not self._stopping.is_set():
            failures = self._failures
            with suppress(TimeoutError):
                async with asyncio.timeout(wait_seconds):
                    await self._stopping.wait()
            is_due = loop.time() >= sample_at
            if is_due:
                sample_at = loop.time() + SAMPLE_SECONDS
            await self.flush(with_sampled=is_due or self._stopping.is_set())
            is_failing = self._failures != failures
            wait_seconds = min(2 * wait_seconds, MAX_INTERVAL_SECONDS) if is_failing else INTERVAL_SECONDS

    def stop(self) -> None:
        """Let `run` write the rest and end."""
        self._stopping.set()

    async def flush(self, *, with_sampled: bool = True) -> None:
        """Write the collected entries; those that cannot be written now stay."""
        collected = [
            *self._refusals.values(),
            *self._reads_one_by_one,
            *(self._sampled_reads.values() if with_sampled else ()),
        ]
        self._refusals, self._reads_one_by_one = {}, []
        if with_sampled:
            self._sampled_reads = {}
        self._urgent += collected
        if self._urgent:
            await self._write_urgent()

    async def _write_urgent(self) -> None:
        """Write the urgent entries of all requests so far: one transaction for many requests.

        Entries that cannot be written stay for `run`: a request that waited for a failed attempt makes no other.
        """
        failures = self._failures
        async with self._writing:
            while self._urgent and self._failures == failures:
                tenant_id = self._urgent[0].tenant_id
                batch = [entry for entry in self._urgent if entry.tenant_id == tenant_id][:BATCH]
                batch_ids = set(map(id, batch))
                self._urgent = [entry for entry in self._urgent if id(entry) not in batch_ids]
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
        """A page of a tenant's entries, newest first. `before` is the time and the id of the last row so far."""
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
    """Remove the rows of all tenants that are older than `keep_days`; their number.

    Each transaction removes a batch: after `keep_days` was lowered there may be more rows than one statement has time
    for.
    """
    removed = 0
    while True:
        async with database.maintenance() as connection:
            pruned = await connection.execute(SQL["prune"], {"keep_days": keep_days, "limit": PRUNE_BATCH})
        removed += pruned.rowcount
        if pruned.rowcount < PRUNE_BATCH:
            return removed


def _merge(into: dict[_MergeKey, Entry], entry: Entry) -> None:
    known = into.setdefault(entry.merge_key, entry)
    if known is not entry:
        known.requests += entry.requests
        known.count = (1 if known.count is None else known.count) + (1 if entry.count is None else entry.count)
