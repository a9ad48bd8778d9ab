"""Running what is due in this process, to its end: for tests and benches."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from reverie_server.jobs.liveness import Liveness

if TYPE_CHECKING:
    from reverie_server.runtime import Runtime


async def drain(runtime: Runtime, *, until: datetime | None = None) -> int:
    """Run every job that is due, and what follows from it, one after the other as a worker would; how many runs.

    `until` takes what is scheduled up to that time (of the real clock, with its zone) for due, also what is deferred
    meanwhile and what waits for another attempt. A run that fails raises nothing: see the job, or the pipeline.
    """
    jobs = runtime.consolidation
    liveness = Liveness(runtime.database.conninfo)
    worker_id = await liveness.enter()
    count = 0
    try:
        await jobs.queue.rescue()
        while True:
            if until is not None:
                await jobs.queue.bring_forward(until)
            job = await jobs.queue.take(worker_id)
            if job is None:
                return count
            await jobs.runner.run(job)
            count += 1
    finally:
        await liveness.leave()
