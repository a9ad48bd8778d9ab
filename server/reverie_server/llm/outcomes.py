"""The outcomes of the uses of the language model, counted by day in the database, because workers use it too."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

import structlog
from psycopg.rows import DictRow

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.errors import ReverieError
from reverie_server.llm.errors import LanguageModelUnavailable

log = structlog.get_logger()
SQL = Queries(__file__)
ANSWERED = "answered"
# A model that answers is not down, also when its answer cannot be used.
_UP = frozenset({ANSWERED, "unusable", "truncated", "refused", "empty"})
KEEP_DAYS = 30


def today_utc() -> date:
    """The day in UTC."""
    return datetime.now(UTC).date()


@dataclass(frozen=True, slots=True)
class ModelUse:
    """How the language model did: counts are those of today (UTC), times those of the last thirty days.

    `calls` are requests, retries included; `answered` and `failures`, by reason, are what the uses came to, which may
    each have taken several requests. `down` is the reason of the newest use where that got no answer at all.
    """

    calls: int = 0
    answered: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    last_answered_at: datetime | None = None
    last_failed_at: datetime | None = None
    down: str | None = None


class Outcomes:
    """Writes and reads the outcomes. No text of a prompt or an answer is stored."""

    def __init__(self, database: Database, today: Callable[[], date] = today_utc) -> None:
        self._database = database
        self._today = today

    @asynccontextmanager
    async def noted(self, tenant_id: str) -> AsyncIterator[None]:
        """Count the outcome of the use of the model inside the block. A failure to count is logged, not raised."""
        try:
            yield
        except LanguageModelUnavailable as error:
            await self._note(tenant_id, error.reason)
            raise
        await self._note(tenant_id, ANSWERED)

    async def of(self, tenant_id: str) -> ModelUse:
        """How the model did for a tenant."""
        params = {"tenant_id": tenant_id, "day": self._today()}
        return _use(await self._database.query(tenant_id, SQL["outcomes"], params), self._today())

    async def totals(self) -> ModelUse:
        """How the model did for all tenants."""
        return _use(await self._database.maintenance_query(SQL["totals"], {"day": self._today()}), self._today())

    async def most_calls(self) -> int:
        """The requests of today of the tenant that made the most."""
        return int((await self._database.maintenance_query(SQL["most_calls"], {"day": self._today()}))[0]["calls"])

    async def _note(self, tenant_id: str, outcome: str) -> None:
        params = {"tenant_id": tenant_id, "day": self._today(), "outcome": outcome, "keep_days": KEEP_DAYS}
        try:
            async with self._database.tenant(tenant_id) as connection:
                await connection.execute(SQL["note_outcome"], params)
        except ReverieError as error:
            log.warning("model_outcome_not_noted", code=error.code)


def _use(rows: Sequence[DictRow], today: date) -> ModelUse:
    """The rows have their `outcome`, or None for the requests of today."""
    noted = [row for row in rows if row["outcome"] is not None]
    of_today = {row["outcome"]: row["uses"] for row in noted if row["day"] == today}
    failed = [row["last_at"] for row in noted if row["outcome"] != ANSWERED]
    answered = [row["last_at"] for row in noted if row["outcome"] == ANSWERED]
    newest = max(noted, key=lambda row: (row["last_at"], row["outcome"]), default=None)
    return ModelUse(
        calls=sum(row["uses"] for row in rows if row["outcome"] is None),
        answered=of_today.pop(ANSWERED, 0),
        failures=of_today,
        last_answered_at=max(answered, default=None),
        last_failed_at=max(failed, default=None),
        down=newest["outcome"] if newest is not None and newest["outcome"] not in _UP else None,
    )
