"""The worker: procrastinate's, over a pool of its own, restarted whenever it ends before it is told to.

`runner` runs a job, `queue` records its outcome, `liveness` says whether the worker lives.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import procrastinate
import structlog
from procrastinate import jobs as queue_jobs
from procrastinate import manager
from procrastinate.job_context import JobContext
from procrastinate.worker import Worker as QueueWorker

from reverie_indexer.database.database import Database
from reverie_indexer.database.watched import WatchedConnection, connection_parameters
from reverie_indexer.errors import DatabaseUnavailable, ReverieError
from reverie_server.jobs.liveness import Liveness
from reverie_server.jobs.model import STAGES
from reverie_server.jobs.queue import ALL_QUEUES, CRON_QUEUE, QUARANTINE_QUEUE, QUEUES, SQL, STAGE_QUEUE, Job, Queue
from reverie_server.text.cancelled import is_cancelled

if TYPE_CHECKING:
    from reverie_server.jobs.runner import StageRunner

log = structlog.get_logger()
SHUTDOWN_SECONDS = 5.0
RESTART_SECONDS = 0.5
MAX_RESTART_SECONDS = 15.0
# A worker that lived longer was well: the delay before its successor begins at RESTART_SECONDS again.
WELL_SECONDS = 60.0
STATE_SECONDS = 30.0
# Periodic jobs are deferred up to this late rather than never: a worker may be started at any time of the day.
CRON_MAX_DELAY_SECONDS = 6 * 3600.0 + 60.0


@dataclass(frozen=True, slots=True)
class Periodic:
    """A periodic job: runs at the times of `cron` (in UTC), once for all workers together that have its queue."""

    name: str
    cron: str
    run: Callable[[], Awaitable[None]]
    queue: str = CRON_QUEUE


@dataclass(frozen=True, slots=True)
class WorkerRules:
    """How many jobs run at once, and how often, in seconds, the worker reads the queue where nothing wakes it.

    Jobs that still run `shutdown_seconds` after the worker was told to end are cancelled and put back.
    """

    concurrency: int = 2
    poll_seconds: float = 5.0
    shutdown_seconds: float = SHUTDOWN_SECONDS


class Worker:
    """Runs jobs until it is cancelled, also through failures of PostgreSQL."""

    def __init__(
        self,
        database: Database,
        queue: Queue,
        runner: StageRunner,
        periodic: Iterable[Periodic],
        rules: WorkerRules,
        start_quarantine: Callable[[], None] | None = None,
    ) -> None:
        """`start_quarantine` starts a process that runs the jobs in quarantine. Without it they run here."""
        self._database = database
        self._queue = queue
        self._runner = runner
        self._periodic = tuple(periodic)
        self._rules = rules
        self._start_quarantine = start_quarantine
        self._liveness = Liveness(database.conninfo)
        self._running: QueueWorker | None = None

    async def run(self) -> None:
        """Run until cancelled. Jobs that run then get `shutdown_seconds`, and are put back after that."""
        silence_library()
        wait_seconds = RESTART_SECONDS
        while not is_cancelled():
            await self._until_writable()
            began = time.monotonic()
            try:
                await self._work()
            except Exception as error:  # noqa: BLE001  # the edge of all jobs: a lost connection, mostly
                log.warning("worker_ended", error=type(error).__name__)
            if time.monotonic() - began > WELL_SECONDS:
                wait_seconds = RESTART_SECONDS
            log.warning("worker_restarts", wait_seconds=wait_seconds)
            await asyncio.sleep(wait_seconds)
            wait_seconds = min(2 * wait_seconds, MAX_RESTART_SECONDS)
            try:
                # Brings a dead embedded PostgreSQL back.
                await self._database.ping()
            except DatabaseUnavailable:
                log.warning("worker_waits", code=DatabaseUnavailable.code)

    async def _until_writable(self) -> None:
        """Wait while the database is read-only: what runs its jobs is at another server."""
        is_waiting = False
        while not is_cancelled() and await self._database.state(STATE_SECONDS) == "read_only":
            if not is_waiting:
                log.info("worker_waits_for_a_writable_database")
            is_waiting = True
            await asyncio.sleep(self._rules.poll_seconds)

    async def _work(self) -> None:
        app = self._app()
        async with app.open_async():
            self._running = QueueWorker(
                app,
                queues=self._queues(),
                name="reverie",
                concurrency=self._rules.concurrency,
                fetch_job_polling_interval=self._rules.poll_seconds,
                abort_job_polling_interval=max(self._rules.poll_seconds, 5.0),
                shutdown_graceful_timeout=self._rules.shutdown_seconds,
                install_signal_handlers=False,
            )
            tending = asyncio.create_task(self._tend(), name="tend-worker")
            try:
                await self._running.run()  # type: ignore[no-untyped-call]  # the library's
            finally:
                tending.cancel()
                await asyncio.gather(tending, return_exceptions=True)
                await self._liveness.leave()

    def _queues(self) -> list[str]:
        quarantine = [] if self._start_quarantine else [QUARANTINE_QUEUE]
        return [*QUEUES, *quarantine, *sorted({each.queue for each in self._periodic} - {*QUEUES})]

    def _app(self) -> procrastinate.App:
        app = procrastinate.App(
            connector=procrastinate.PsycopgConnector(
                conninfo=self._database.conninfo,
                min_size=1,
                max_size=2,
                timeout=5.0,
                connection_class=WatchedConnection,
                kwargs={"prepare_threshold": None, **connection_parameters(self._database.conninfo)},
            ),
            periodic_defaults={"max_delay": CRON_MAX_DELAY_SECONDS},
        )
        app.job_manager = _Jobs(app.connector, self._liveness, self._rescue)
        for stage in STAGES:
            app.task(name=stage, queue=STAGE_QUEUE, pass_context=True)(self._run_stage)
        for each in self._periodic:
            task = app.task(name=each.name, queue=each.queue, lock=each.name, queueing_lock=each.name)(_by_clock(each))
            app.periodic(cron=each.cron)(task)
        return app

    async def _run_stage(self, context: JobContext, /, **_: Any) -> None:
        """A job of a stage. It settles itself; the queue's library never sees what a stage raised."""
        taken = context.job
        assert taken.id is not None
        assert taken.worker_id is not None
        args: Mapping[str, Any] = taken.task_kwargs
        try:
            await self._runner.run(Job(taken.id, taken.task_name, args, taken.attempts, taken.lock, taken.worker_id))
        except DatabaseUnavailable:
            # The outcome is not recorded, and the job stays this worker's while it lives: restart as another worker.
            log.warning("job_not_settled", job=taken.id, stage=taken.task_name)
            if self._running is not None:
                self._running.stop()  # type: ignore[no-untyped-call]  # the library's

    async def _rescue(self) -> None:
        await self._queue.rescue()
        if self._start_quarantine is not None and await self._queue.has_quarantined():
            self._start_quarantine()
        await self._queue.remove_dead_workers()

    async def _tend(self) -> None:
        """Renew the lock that shows that this worker lives, and rescue the jobs of dead workers."""
        while not is_cancelled():
            await asyncio.sleep(self._rules.poll_seconds)
            try:
                await self._liveness.renew()
                await self._rescue()
            except ReverieError as error:
                log.warning("worker_not_tended", code=error.code)
            except Exception as error:  # noqa: BLE001  # a fault in it must not end the rescue of others
                log.warning("worker_not_tended", error=type(error).__name__)


class _Jobs(manager.JobManager):
    """The library's access to the queue, where ours differs."""

    def __init__(self, connector: Any, liveness: Liveness, rescue: Callable[[], Awaitable[None]]) -> None:
        super().__init__(connector)
        self._liveness = liveness
        self._rescue = rescue

    async def register_worker(self) -> int:
        """A new worker's id, whose lock is held; then, before its first job, the jobs that dead ones left."""
        worker_id = await self._liveness.enter()
        await self._rescue()
        if is_cancelled():
            # The library stops where a cancellation reaches it, and this one was swallowed on the way.
            raise asyncio.CancelledError
        return worker_id

    async def unregister_worker(self, worker_id: int) -> None:
        """The worker has ended: its lock goes with its row."""
        del worker_id
        await self._liveness.leave()

    async def prune_stalled_workers(self, seconds_since_heartbeat: float) -> list[int]:
        """Leave it to the rescue: who lives is known by the locks, not by heartbeats."""
        del seconds_since_heartbeat
        return []

    async def fetch_job(self, queues: Iterable[str] | None, worker_id: int) -> queue_jobs.Job | None:
        """The next job, which no longer holds its queueing lock."""
        row = await self.connector.execute_query_one_async(
            query=SQL["take"].decode(), queues=list(queues or ALL_QUEUES), worker_id=worker_id
        )
        return None if row["id"] is None else queue_jobs.Job.from_row(row)

    async def finish_job(self, job: queue_jobs.Job, status: queue_jobs.Status, delete_job: bool) -> None:
        """A job of a stage has settled itself."""
        if job.task_name not in STAGES:
            await super().finish_job(job, status, delete_job)


def _by_clock(each: Periodic) -> Callable[..., Awaitable[None]]:
    async def run(timestamp: int) -> None:
        del timestamp
        try:
            await each.run()
        except ReverieError as error:
            log.warning("periodic_failed", name=each.name, code=error.code)
        except Exception as error:  # noqa: BLE001  # the edge of a job: it runs again at its next time
            log.warning("periodic_failed", name=each.name, error=type(error).__name__)

    return run


class _Forwarded(logging.Handler):
    """Forwards the library's warnings to our log without their messages, which quote arguments and errors."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log one line: what the library did, and the class of the error."""
        error = record.exc_info[1] if record.exc_info else None
        log.warning(
            "queue_trouble",
            action=getattr(record, "action", record.funcName),
            error=None if error is None else type(error).__name__,
        )


def silence_library() -> None:
    """Keep the library's own log lines, which hold jobs' arguments, out of every log."""
    library = logging.getLogger("procrastinate")
    library.handlers = [_Forwarded(logging.WARNING)]
    library.setLevel(logging.WARNING)
    library.propagate = False
