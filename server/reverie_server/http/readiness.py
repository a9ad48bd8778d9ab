"""What `/readyz` asks the database: whoever asks at once, and soon after, shares one look, since anybody may ask."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass

from reverie_indexer.database.database import Database, ServerState
from reverie_indexer.errors import DatabaseUnavailable
from reverie_server.jobs.scheduled_backups import BackupHealth

# The longest time that a look waits for the database.
READY_SECONDS = 5.0
# For so long a look is remembered from its end.
KEPT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Seen:
    """How the database is, and a sentence for each thing that is wrong with its backups."""

    database: ServerState
    backup_troubles: tuple[str, ...] = ()


class DatabaseLook:
    """Looks at a database and at its backups by the clock; the last look counts for `KEPT_SECONDS`."""

    def __init__(
        self, database: Database, backups: BackupHealth, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._database = database
        self._backups = backups
        self._clock = clock
        self._alone = asyncio.Lock()
        self._seen = Seen("unavailable")
        self._seen_at = float("-inf")

    async def seen(self) -> Seen:
        """What is seen now, or was just before."""
        # Who waits for somebody else's look finds it done.
        async with self._alone:
            if self._clock() - self._seen_at >= KEPT_SECONDS:
                self._seen = await self._look()
                self._seen_at = self._clock()
            return self._seen

    async def _look(self) -> Seen:
        until = asyncio.get_running_loop().time() + READY_SECONDS
        state = await self._database.state(READY_SECONDS)
        if state == "unavailable" or not self._backups.are_made:
            return Seen(state)
        try:
            async with asyncio.timeout_at(until):
                return Seen(state, tuple(self._backups.reasons(await self._backups.states())))
        except (DatabaseUnavailable, TimeoutError):
            return Seen(state)
