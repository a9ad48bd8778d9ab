"""The schedule: defers the nightly stages of every slice, and removes data that is kept no longer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_server.jobs.defer import defer_many
from reverie_server.jobs.model import Stage, Work
from reverie_server.jobs.nights_due import NIGHTLY_HOUR, nightly_days, nightly_start

SQL = Queries(__file__)
log = structlog.get_logger()
# The number of slices that one transaction looks after.
PAGE = 500

Nightly = Literal["emergence", "compaction"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NightlyDefaults:
    """The settings for agents without their own. For all agents hold the hour of the night and `from_chars`, the
    characters from which on a MEMORY.md is compacted."""

    from_chars: int
    time_zone: str = "UTC"
    memory_enabled: bool = True
    emergence_enabled: bool = True
    compaction_enabled: bool = True
    hour: int = NIGHTLY_HOUR


def _work(stage: Stage, row: DictRow) -> Work:
    return Work(stage, row["tenant_id"], row["agent_id"], row["owner_key"], trigger="cron")


class Cron:
    """Starts the scheduled work of all tenants. `now` gives the time, with its zone."""

    def __init__(
        self,
        database: Database,
        defaults: NightlyDefaults,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database = database
        self._defaults = defaults
        self._now = now

    async def defer_nightly(self) -> int:
        """Defer the nightly stages of all slices whose night has begun and that had none yet; how many jobs.

        After nights in which nothing ran, one run makes up for all. May be called at any time, and by several at once:
        a slice is marked in the transaction that defers its job.
        """
        params: dict[str, Any] = {**asdict(self._defaults), "limit": PAGE}
        now = self._now()
        rows = await self._database.maintenance_query(SQL["zones"], params)
        days = nightly_days(now, [row["zone"] for row in rows], self._defaults.hour)
        begun = [nightly_start(day, zone, self._defaults.hour) for zone, day in days.items()]
        params |= {"zones": list(days), "days": list(days.values()), "begun": begun, "now": now}
        return await self._defer("emergence", params) + await self._defer("compaction", params)

    async def _defer(self, stage: Nightly, params: dict[str, Any]) -> int:
        deferred, seen = 0, PAGE
        while seen == PAGE:
            async with self._database.maintenance() as connection:
                rows = await (await connection.execute(SQL[stage], params)).fetchall()
                works = [_work(stage, row) for row in rows if row["is_due"]]
                # Before the night is looked at what was to begin has begun.
                await defer_many(connection, [_work("facts", row) for row in rows if row.get("has_ended")])
                await defer_many(connection, works)
            seen = len(rows)
            deferred += len(works)
        if deferred:
            log.info("nightly_deferred", stage=stage, jobs=deferred)
        return deferred
