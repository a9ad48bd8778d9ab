"""Runs one job of a stage to its end, for a worker, the quarantine or `app.pending_jobs`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import structlog

from reverie_indexer import tracing
from reverie_indexer.errors import ReverieError
from reverie_indexer.tracing import Span
from reverie_server.access.request_id import of_request
from reverie_server.jobs.model import STAGES, Outcome, Runs, Stage, Work
from reverie_server.jobs.queue import Job, Queue
from reverie_server.jobs.threads import JobThreads, current_job
from reverie_server.text.error_site import code_of, error_site

log = structlog.get_logger()
# The time in which a cancelled job must be put back.
PUT_BACK_SECONDS = 5.0
# The arguments that a job may have; its stage is a column of its own.
_ARGS = frozenset(each.name for each in fields(Work)) - {"stage", "is_last_attempt"}


class StageRunner:
    """Runs jobs of stages, and records the outcome of each in the queue, in the state of the slice, and in the log."""

    def __init__(self, queue: Queue, stages: Mapping[Stage, Runs]) -> None:
        self._queue = queue
        self._stages = stages
        # The threads of jobs, which the process of a worker sets.
        self.threads: JobThreads | None = None
        self.running: dict[int, Job] = {}

    async def run(self, job: Job) -> None:
        """Run a job and record its outcome. A cancelled job is put back.

        Raises only DatabaseUnavailable, when the outcome could not be recorded.
        """
        self.running[job.job_id] = job
        current_job.set(job.job_id)
        work = work_of(job, is_last_attempt=self._queue.rules.is_last(job.attempts))
        try:
            with (
                of_request(None if work is None else work.request_id),
                # Not a text: the stage of a job is one of ours where there is work.
                tracing.root(
                    "job" if work is None else f"job {work.stage}",
                    "consumer",
                    cause=None if work is None else work.traceparent,
                    attempt=job.attempts + 1,
                ) as span,
            ):
                await self._run(job, work, span)
        finally:
            del self.running[job.job_id]

    async def _run(self, job: Job, work: Work | None, span: Span) -> None:
        began = time.monotonic()
        error = "unknown_stage" if job.stage not in self._stages else "job_not_understood"
        try:
            if work is not None and work.stage in self._stages:
                outcome = await self._attempt(work)
                span.put(status=outcome.status, method=outcome.method, fallback=outcome.fallback)
                await self._record_done(job, work, outcome, time.monotonic() - began)
                return
        except asyncio.CancelledError:
            await self._give_back(job)
            raise
        except ReverieError as caught:
            error = caught.code
        except TimeoutError:
            error = "timeout"
            if self.threads is not None:
                # A thread cannot be stopped: the job lasts until it ends. If it never ends, `overrun` ends the process.
                await self.threads.ended(job.job_id)
        except Exception as caught:  # noqa: BLE001  # the edge of a job: errors are recorded without their messages
            error = f"{code_of(caught)}: {error_site(caught)}"
        # Outside the handlers, so that a later exception has no context, which may hold memory text.
        span.put(status="failed", code=error)
        await self._record_failed(job, work, error, time.monotonic() - began)

    async def _attempt(self, work: Work) -> Outcome:
        await self._queue.started(work)
        async with asyncio.timeout(self._queue.rules.timeout_seconds):
            return await self._stages[work.stage].run(work)

    async def _record_done(self, job: Job, work: Work, outcome: Outcome, seconds: float) -> None:
        is_holder = await self._queue.done(job, work, outcome, seconds)
        log.info(
            "job",
            **_ids(job, work),
            status=outcome.status,
            reason=outcome.reason,
            method=outcome.method,
            fallback=outcome.fallback,
            seconds=round(seconds, 3),
            **({} if is_holder else {"taken_over": True}),
        )

    async def _record_failed(self, job: Job, work: Work | None, error: str, seconds: float) -> None:
        is_last = self._queue.rules.is_last(job.attempts)
        is_holder = await self._queue.failed(job, work, error, seconds)
        log.warning(
            "job",
            **_ids(job, work),
            status="failed",
            code=error,
            attempt=job.attempts + 1,
            is_last_attempt=is_last,
            seconds=round(seconds, 3),
            **({} if is_holder else {"taken_over": True}),
        )

    async def _give_back(self, job: Job) -> None:
        """Put a job back although this task is being cancelled; where that fails, the next rescue does it."""
        giving = asyncio.create_task(self._queue.put_back(job))
        done, _ = await asyncio.wait({giving}, timeout=PUT_BACK_SECONDS)
        if not done:
            giving.cancel()
        results = await asyncio.gather(giving, return_exceptions=True)
        log.info("job_put_back", job=job.job_id, stage=job.stage, in_time=results[0] is True)


def work_of(job: Job, *, is_last_attempt: bool) -> Work | None:
    """The work of a job; None for a job that another version of the server deferred and this one cannot read."""
    is_whose = all(isinstance(job.args.get(name), str) for name in ("tenant_id", "agent_id"))
    if job.stage not in STAGES or not is_whose or not job.args.keys() <= _ARGS:
        return None
    args: dict[str, Any] = {"owner_key": None, **job.args}
    return Work(job.stage, **args, is_last_attempt=is_last_attempt)


def _ids(job: Job, work: Work | None) -> dict[str, Any]:
    named = {} if work is None else {"tenant": work.tenant_id, "agent": work.agent_id, "trigger": work.trigger}
    return {"job": job.job_id, "stage": job.stage, **named}
