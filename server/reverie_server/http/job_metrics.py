"""Metrics of the background work by stage, over all tenants; never by agent, tenant or owner."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from reverie_indexer.errors import DatabaseUnavailable
from reverie_server.jobs.health import STATES, Health, Totals
from reverie_server.jobs.model import STAGES
from reverie_server.jobs.scheduled_backups import BackupHealth, BackupState, BackupStates, ScheduledBackups
from reverie_server.jobs.stage_runs import BUCKETS, StageRuns
from reverie_server.llm.outcomes import ANSWERED, ModelUse

# The longest wait for the database. After it the metrics are shown without those of the queue.
PATIENCE_SECONDS = 2.0
_OF_DUMPS = (
    "reverie_backup_age_seconds",
    "reverie_backup_bytes",
    "reverie_backup_failed",
    "reverie_backup_overdue_seconds",
)
_OF_BASES = (
    "reverie_base_backup_age_seconds",
    "reverie_base_backup_bytes",
    "reverie_base_backup_failed",
    "reverie_base_backup_overdue_seconds",
)


class JobMetrics(Collector):
    """Collects the runs of all workers and the state of the queue, as `look` last read them.

    `calls_per_day` is what one tenant may ask of the language model.
    """

    def __init__(self, health: Health, backups: BackupHealth, calls_per_day: int) -> None:
        self._health = health
        self._backups = backups
        self._backup = BackupStates()
        self._calls_per_day = calls_per_day
        self._totals: Totals | None = None
        self._runs: list[StageRuns] = []

    async def look(self) -> None:
        """Read the queue and the runs; without an answer in time, no job metrics are shown."""
        self._totals = None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._runs = await self._health.runs()
                self._backup = await self._backups.states()
                self._totals = await self._health.totals()
        except (DatabaseUnavailable, TimeoutError):
            pass

    def collect(self) -> Iterator[Metric]:
        """The metrics; each stage and state is there from the start."""
        yield GaugeMetricFamily(
            "reverie_database_up", "Whether PostgreSQL answered in time", value=self._totals is not None
        )
        if self._totals is None:
            return
        runs = CounterMetricFamily("reverie_stage_runs", "Runs of stages", labels=["stage", "status", "method"])
        for each in self._runs:
            runs.add_metric([each.stage, each.status, each.method], each.runs)
        yield runs
        seconds = HistogramMetricFamily("reverie_stage_seconds", "Time of runs of stages", labels=["stage"])
        for stage in sorted({each.stage for each in self._runs}):
            of_stage = [each for each in self._runs if each.stage == stage]
            buckets = [sum(counts) for counts in zip(*(each.buckets for each in of_stage), strict=True)]
            seconds.add_metric([stage], cumulated(BUCKETS, buckets), sum(each.seconds for each in of_stage))
        yield seconds
        jobs = GaugeMetricFamily("reverie_jobs", "Unfinished jobs of all tenants", labels=["stage", "state"])
        for stage in STAGES:
            for state in STATES:
                jobs.add_metric([stage, state], self._totals.jobs.get((stage, state), 0))
        yield jobs
        ages = GaugeMetricFamily(
            "reverie_jobs_oldest_seconds", "For how long the oldest job waits or runs", labels=["stage", "state"]
        )
        for stage in STAGES:
            for state in ("pending", "running"):
                ages.add_metric([stage, state], self._totals.ages.get((stage, state), 0.0))
        yield ages
        yield GaugeMetricFamily("reverie_workers", "Workers that live", value=self._totals.workers)
        yield from _backup_metrics(_OF_DUMPS, "backup", self._backups.dumps, self._backup.dumps)
        yield from self._archive_metrics()
        yield from _model_metrics(self._totals.model_use)
        yield GaugeMetricFamily(
            "reverie_model_calls_today_most",
            "The same of the tenant that made the most",
            value=self._totals.most_model_calls,
        )
        yield GaugeMetricFamily(
            "reverie_model_calls_budget", "Requests that a tenant may make on a day", value=self._calls_per_day
        )

    def _archive_metrics(self) -> Iterator[Metric]:
        yield from _backup_metrics(_OF_BASES, "base backup", self._backups.bases, self._backup.bases)
        # Without an archive nothing fails and nothing waits.
        archiver = self._backup.archiver
        yield GaugeMetricFamily(
            "reverie_wal_archive_failed",
            "Whether the last attempt to archive WAL failed",
            value=archiver is not None and archiver.has_failed,
        )
        yield GaugeMetricFamily(
            "reverie_wal_archive_waiting_seconds",
            "For how long the oldest finished segment of WAL has waited to be archived",
            value=0.0 if archiver is None else archiver.waiting_seconds,
        )


def _backup_metrics(
    names: tuple[str, str, str, str], what: str, backups: ScheduledBackups, state: BackupState
) -> Iterator[Metric]:
    age_name, bytes_name, failed_name, overdue_name = names
    if state.taken_at is not None:
        age = (backups.now() - state.taken_at).total_seconds()
        yield GaugeMetricFamily(age_name, f"Age of the last good {what} by the clock", value=age)
        yield GaugeMetricFamily(bytes_name, f"Size of the last good {what}", value=state.bytes)
    has_failed = backups.schedule is not None and state.failed_at is not None
    failed = f"Whether a {what} by the clock failed and none was made since"
    yield GaugeMetricFamily(failed_name, failed, value=has_failed)
    overdue = f"For how long the next {what} by the clock has been due"
    yield GaugeMetricFamily(overdue_name, overdue, value=backups.overdue(state).total_seconds())


def _model_metrics(use: ModelUse) -> Iterator[Metric]:
    yield GaugeMetricFamily("reverie_model_calls_today", "Requests to the language model today (UTC)", value=use.calls)
    outcomes = GaugeMetricFamily(
        "reverie_model_outcomes_today", "What uses of the language model came to today (UTC)", labels=["outcome"]
    )
    for outcome, count in sorted({ANSWERED: use.answered, **use.failures}.items()):
        outcomes.add_metric([outcome], count)
    yield outcomes
    down = "Whether the last use of the language model got no answer"
    yield GaugeMetricFamily("reverie_model_down", down, value=use.down is not None)


def cumulated(bounds: Sequence[float], found: Sequence[int]) -> list[tuple[str, float]]:
    """The buckets of a histogram as Prometheus has them, of counts by bucket: each has all before it, too."""
    return [(bound, sum(found[: index + 1])) for index, bound in enumerate([*map(str, bounds), "+Inf"])]
