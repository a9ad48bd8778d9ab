"""A memory in numbers: how much there is, how far it can be trusted, and what waits for a person."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from reverie_indexer.database.database import Database, visible_slices
from reverie_indexer.database.queries import Queries
from reverie_server.access.principal import Principal

SQL = Queries(__file__)


@dataclass(frozen=True, slots=True)
class Summary:
    """Counts of what a principal sees with an agent: shared memory, and the owner's where one is named.

    `facts` hold now: `trusted` have more trust than they began with, `doubted` less than half of that, and `old` were
    said or confirmed half a year ago. `contradictions` and `duplicates` are open; for `unmet_requests` to forget
    nothing was found; of jobs, `failed_jobs` are those that failed for good, `open_jobs` those that wait or run.
    """

    facts: int
    trusted: int
    doubted: int
    old: int
    files: int
    sessions: int
    messages: int
    episodes: int
    entities: int
    contradictions: int
    duplicates: int
    unmet_requests: int
    failed_jobs: int
    open_jobs: int


class Summaries:
    """Counts what there is. `half_life_days` is that of trust, 0 for none; `now` gives the time, with its zone."""

    def __init__(
        self, database: Database, half_life_days: float, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._database = database
        self._half_life_days = half_life_days
        self._now = now

    async def of(self, principal: Principal) -> Summary:
        """The counts, in one snapshot."""
        async with self._database.tenant(principal.tenant_id, snapshot=True) as connection:
            slices = await visible_slices(connection, principal.tenant_id, principal.agent_id, principal.owner_key)
            params = {
                "tenant_id": principal.tenant_id,
                "agent_id": principal.agent_id,
                "owner_key": principal.owner_key,
                "slice_ids": [each.slice_id for each in slices],
                "half_life": self._half_life_days,
                "now": self._now(),
            }
            row = await (await connection.execute(SQL["summary"], params)).fetchone()
            jobs = await (await connection.execute(SQL["jobs"])).fetchone()
        return Summary(**(row or {}), **(jobs or {}))
