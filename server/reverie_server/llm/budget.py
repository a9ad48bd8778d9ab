"""How many calls of the language model a tenant may make on a day."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_server.llm.errors import LanguageModelUnavailable
from reverie_server.llm.outcomes import Outcomes, today_utc

SQL = Queries(__file__)


class CallBudget:
    """Counts calls in the database, so that all processes share one budget. `outcomes` counts their results."""

    def __init__(self, database: Database, calls_per_day: int, today: Callable[[], date] = today_utc) -> None:
        self._database = database
        self._calls_per_day = calls_per_day
        self._today = today
        self.outcomes = Outcomes(database, today)

    async def spend(self, tenant_id: str) -> None:
        """Count one call before it is made; LanguageModelUnavailable (`over_budget`) when the day has none left.

        The call counts whatever its result, also when the provider refuses it.
        """
        params = {"tenant_id": tenant_id, "day": self._today(), "budget": self._calls_per_day}
        row = None
        if self._calls_per_day > 0:
            async with self._database.tenant(tenant_id) as connection:
                row = await (await connection.execute(SQL["spend_call"], params)).fetchone()
        if row is None:
            raise LanguageModelUnavailable(
                "over_budget",
                f"the {self._calls_per_day} calls of the language model for today (UTC) are spent "
                "(REVERIE_LLM_CALLS_PER_DAY)",
            )
