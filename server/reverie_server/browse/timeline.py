"""Days of a memory: what was said, what came of it, what was learned, what no longer holds, and what was forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, TypeAlias, get_args

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.model import Place
from reverie_server.access.principal import Principal

SQL = Queries(__file__)
TimelineKind: TypeAlias = Literal["conversation", "episode", "night", "learned", "ended", "forgotten"]
KINDS: tuple[TimelineKind, ...] = get_args(TimelineKind)
# Of each kind and day; the counts are of all.
MAX_ENTRIES = 12
_CHARACTERS = 240


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """Something that happened on a day.

    `id` is that of the conversation, episode, report, fact or receipt. `amount` counts a conversation's messages of
    the day, an episode's messages, what a night promoted, or the texts that were forgotten. `text` is the first that
    the user said that day, the abstract, the night's reason, the fact, or "" for what was forgotten. `status` is the
    outcome of a night, the state of a fact, the method of an episode, the kind of a receipt.
    """

    kind: TimelineKind
    id: str
    at: datetime
    text: str
    amount: int
    status: str | None
    session_id: str | None


@dataclass(frozen=True, slots=True)
class Day:
    """A day on which something happened, in the agent's time zone; it begins at `starts`.

    `counts` has how many of each kind, and `messages` how many messages. `entries` are by time, at most twelve a kind.
    """

    day: date
    starts: datetime
    counts: dict[str, int] = field(default_factory=dict)
    entries: list[TimelineEntry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DayFilter:
    """Which days: before a time and not before another, and of which kinds of events something is told."""

    since: datetime
    before: datetime
    kinds: Sequence[TimelineKind] = KINDS
    has_entries: bool = True


class Timeline:
    """The days of a memory."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(self, principal: Principal, place: Place, day_filter: DayFilter, zone: str, limit: int) -> list[Day]:
        """The days on which something happened, the newest first, at most `limit`."""
        params: dict[str, Any] = {
            "tenant_id": principal.tenant_id,
            "owner_key": principal.owner_key,
            "zone": zone,
            "since": day_filter.since,
            "before": day_filter.before,
            "kinds": list(day_filter.kinds),
            "limit": limit,
            "each": MAX_ENTRIES,
            "characters": _CHARACTERS,
        }
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            visible = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            params["slice_ids"] = [each.slice_id for each in visible]
            own_ids = await own_slices(connection, place)
            params["own_id"] = own_ids[0] if own_ids else None
            params["is_shared"] = place.scope != "personal"
            rows = await (await connection.execute(SQL["days"], params)).fetchall()
            days = {row["starts"]: Day(row["day"], row["starts"]) for row in rows}
            if days:
                params["since"] = min(days)
                for row in await (await connection.execute(SQL["counts"], params)).fetchall():
                    counts = days[row["starts"]].counts
                    counts[row["kind"]] = row["count"]
                    if row["kind"] == "conversation":
                        counts["messages"] = row["total"]
                if day_filter.has_entries:
                    for row in await (await connection.execute(SQL["entries"], params)).fetchall():
                        days[row.pop("starts")].entries.append(TimelineEntry(**{**row, "text": row["text"] or ""}))
        return list(days.values())
