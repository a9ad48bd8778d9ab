"""The events of a memory, as they happen: turns, reports of nights, and the state of its jobs. Never a text of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, TypeAlias

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import TooManyRequests
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.principal import Principal

SQL = Queries(__file__)
StreamedKind: TypeAlias = Literal["turn", "report", "jobs"]
# Turns are written a moment after they happened, and by several servers: what is older by this is looked for again.
_LATE = timedelta(seconds=30)
_MAX_EVENTS = 500
# After this time another stream of the key may have ended.
_RETRY_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: a turn or a report by its id, or the new counts of jobs. `position` is for resuming."""

    kind: StreamedKind
    position: datetime
    data: Mapping[str, Any]


class EventFeed:
    """The events of one principal after a time, each once in a feed. A feed begins with the counts of jobs."""

    def __init__(
        self, database: Database, principal: Principal, place: Place, since: datetime, *, is_resumed: bool
    ) -> None:
        self._database = database
        self._principal = principal
        self._place = place
        self._position = since
        self._floor = since - _LATE if is_resumed else since
        self._seen: dict[str, datetime] = {}
        self._jobs: Mapping[str, Any] | None = None

    async def new(self) -> list[Event]:
        """The events since the last time, the oldest first; counts of jobs where they are others."""
        principal = self._principal
        whose = {"tenant_id": principal.tenant_id, "agent_id": principal.agent_id, "owner_key": principal.owner_key}
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            slice_ids = await own_slices(connection, self._place)
            params = {**whose, "slice_ids": slice_ids, "since": self._floor, "limit": _MAX_EVENTS}
            found = [
                (kind, row)
                for kind in ("turn", "report")
                for row in await (await connection.execute(SQL[f"{kind}s"], params)).fetchall()
            ]
            jobs = await (await connection.execute(SQL["jobs"])).fetchone()
        events = [self._event(kind, row) for kind, row in found if f"{kind}:{row['id']}" not in self._seen]
        events.sort(key=lambda event: event.position)
        self._remember(found)
        if jobs != self._jobs:
            self._jobs = jobs
            events.append(Event("jobs", self._position, dict(jobs or {})))
        return events

    def _event(self, kind: Any, row: Mapping[str, Any]) -> Event:
        return Event(kind, row["at"], row)

    def _remember(self, found: list[tuple[str, dict[str, Any]]]) -> None:
        """Move on. Where there was more than is read at once, what is late among it is not looked for again."""
        for kind, row in found:
            self._seen[f"{kind}:{row['id']}"] = row["at"]
            self._position = max(self._position, row["at"])
        full = [
            rows[-1]
            for kind in ("turn", "report")
            if len(rows := [row["at"] for each, row in found if each == kind]) == _MAX_EVENTS
        ]
        self._floor = max(self._floor, min(full) if full else self._position - _LATE)
        self._seen = {key: at for key, at in self._seen.items() if at >= self._floor}


class Events:
    """Makes feeds, and counts the streams that send them. `now` gives the time, with its zone.

    A stream holds no slot of a request while it waits, and asks the database once a second: a key has at most
    `streams_per_key` at once, so that whoever follows everything leaves the server to others.
    """

    def __init__(
        self, database: Database, streams_per_key: int, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._streams_per_key = streams_per_key
        self._streams: Counter[str] = Counter()
        self._now = now

    @property
    def open_streams(self) -> int:
        """How many streams are under way."""
        return self._streams.total()

    @contextmanager
    def stream(self, key: str) -> Iterator[None]:
        """Count a stream of a key while the block runs. TooManyRequests where the key has as many as it may."""
        if self._streams[key] >= self._streams_per_key:
            raise TooManyRequests(
                f"this key follows {self._streams_per_key} streams of events, as many as it may; end one of them",
                _RETRY_SECONDS,
            )
        self._streams[key] += 1
        try:
            yield
        finally:
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]

    def feed(self, principal: Principal, place: Place, since: datetime | None) -> EventFeed:
        """A feed of what happens from now on, or of what has happened after `since`.

        From a feed that is resumed, what happened within half a minute before comes once more.
        """
        return EventFeed(self._database, principal, place, since or self._now(), is_resumed=since is not None)
