"""Runs the jobs that a process died with, one at a time in a process of their own: the next death has one cause."""

from __future__ import annotations

import asyncio
import time

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.errors import DatabaseUnavailable
from reverie_server.jobs.liveness import Liveness
from reverie_server.jobs.queue import QUARANTINE_QUEUE, Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.text.cancelled import is_cancelled

log = structlog.get_logger()
LOOK_SECONDS = 1.0
RENEW_SECONDS = 5.0
# The process waits this long for another job to become due: jobs wait after a death.
IDLE_SECONDS = 30.0


async def run_quarantined(database: Database, queue: Queue, runner: StageRunner) -> None:
    """Run the due jobs in quarantine, until none has been due for IDLE_SECONDS. Raises DatabaseUnavailable."""
    liveness = Liveness(database.conninfo)
    worker_id = await liveness.enter()
    renewing = asyncio.create_task(_renew(liveness), name="renew-liveness")
    idle_since = time.monotonic()
    try:
        while not is_cancelled() and time.monotonic() - idle_since < IDLE_SECONDS:
            job = await queue.take(worker_id, [QUARANTINE_QUEUE])
            if job is None:
                await asyncio.sleep(LOOK_SECONDS)
                continue
            await runner.run(job)
            idle_since = time.monotonic()
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        await liveness.leave()


async def _renew(liveness: Liveness) -> None:
    while not is_cancelled():
        await asyncio.sleep(RENEW_SECONDS)
        try:
            await liveness.renew()
        except DatabaseUnavailable as error:
            log.warning("worker_not_tended", code=error.code)
