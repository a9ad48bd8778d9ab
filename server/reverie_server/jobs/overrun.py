"""The end of a worker's process one of whose jobs is over its time and does not stop."""

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

log = structlog.get_logger()
LOOK_SECONDS = 1.0
# How often a job is seen that is over its time, before it is taken for one that does not stop. No time is measured: a
# machine that was suspended meanwhile is no reason.
PATIENT_LOOKS = 5
NOTE_SECONDS = 5.0


async def end_when_overrun(runner: StageRunner, queue: Queue, threads: JobThreads, end: Callable[[], None]) -> None:
    """Until a job, or a thread that one left, does not stop when its time is over: note that, and call `end`.

    `end` ends the process, and with it the other jobs, which are put back.
    """
    began: dict[int, float] = {}
    looks: Counter[int] = Counter()
    timeout_seconds = queue.rules.timeout_seconds
    while True:
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
    """Write down which job it was; where that cannot be done in time, the rescue finds it out."""
    job = runner.running.get(job_id)
    log.error("job_does_not_stop", job=job_id, **({} if job is None else {"stage": job.stage}))
    if job is None:
        return
    try:
        async with asyncio.timeout(NOTE_SECONDS):
            await queue.overran(job)
    except (ReverieError, TimeoutError):
        log.warning("overrun_not_noted", job=job_id)
