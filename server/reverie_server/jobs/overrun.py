"""Ends a worker's process when one of its jobs is over its time and does not stop."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable

import structlog

from reverie_indexer.errors import ReverieError
from reverie_server.jobs.queue import Queue
from reverie_server.jobs.runner import StageRunner
from reverie_server.jobs.threads import JobThreads
from reverie_server.text.cancelled import is_cancelled

log = structlog.get_logger()
LOOK_SECONDS = 1.0
# A job that is seen over its time more often than this does not stop. Looks are counted, not seconds, so that a machine
# that was suspended meanwhile ends no process.
PATIENT_LOOKS = 5
NOTE_SECONDS = 5.0


async def end_when_overrun(runner: StageRunner, queue: Queue, threads: JobThreads, end: Callable[[], None]) -> None:
    """Wait for a job, or a thread that one left, that does not stop when its time is over: record it and call `end`.

    `end` ends the process and its other jobs, which are put back.
    """
    began: dict[int, float] = {}
    looks: Counter[int] = Counter()
    timeout_seconds = queue.rules.timeout_seconds
    while not is_cancelled():
        await asyncio.sleep(LOOK_SECONDS)
        now = time.monotonic()
        began = {job_id: began.get(job_id, now) for job_id in runner.running}
        late = {job_id for job_id, at in began.items() if now - at > timeout_seconds}
        late |= threads.longer_than(timeout_seconds)
        looks = Counter({job_id: looks[job_id] + 1 for job_id in late})
        overrun = [job_id for job_id, count in looks.items() if count > PATIENT_LOOKS]
        if overrun:
            await _note(runner, queue, overrun[0])
            end()


async def _note(runner: StageRunner, queue: Queue, job_id: int) -> None:
    """Record which job does not stop; where that fails or takes too long, the rescue finds it out."""
    job = runner.running.get(job_id)
    log.error("job_does_not_stop", job=job_id, **({} if job is None else {"stage": job.stage}))
    if job is None:
        return
    try:
        async with asyncio.timeout(NOTE_SECONDS):
            await queue.overran(job)
    except (ReverieError, TimeoutError):
        log.warning("overrun_not_noted", job=job_id)
