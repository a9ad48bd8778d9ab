"""Metrics of reads by server, and of how far the standby is behind."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from reverie_indexer.database.database import Database
from reverie_indexer.database.standby import Lag, ReadCounts
from reverie_indexer.errors import DatabaseUnavailable

# The longest wait for both servers.
PATIENCE_SECONDS = 2.0
STATES = ("none", "follows", "away")


class ReadMetrics(Collector):
    """Collects the reads of this server, and the lag of the standby as `look` last found it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lag: Lag | None = None

    async def look(self) -> None:
        """Ask primary and standby how far they are."""
        self._lag = None
        if self._database.reads is None:
            return
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._lag = await self._database.lag()
        except (DatabaseUnavailable, TimeoutError):
            pass

    def collect(self) -> Iterator[Metric]:
        """The metrics; without a standby its lag is 0, and while it is away there is none."""
        counts = self._database.reads
        state = "none" if counts is None else "away" if self._lag is None else "follows"
        lag = Lag(0, 0.0) if counts is None else self._lag
        counts = counts or ReadCounts()
        reads = CounterMetricFamily(
            "reverie_reads", "Reads of requests, by server, where there is a standby", labels=["server"]
        )
        reads.add_metric(["standby"], counts.standby)
        reads.add_metric(["primary"], counts.primary)
        yield reads
        fallbacks = CounterMetricFamily(
            "reverie_reads_fallback", "Reads that the standby could not do, by why", labels=["reason"]
        )
        for reason, count in counts.fallbacks.items():
            fallbacks.add_metric([reason], count)
        yield fallbacks
        standby = GaugeMetricFamily("reverie_standby", "1: what the standby does", labels=["state"])
        for each in STATES:
            standby.add_metric([each], float(state == each))
        yield standby
        if lag is not None:
            yield GaugeMetricFamily("reverie_standby_lag_bytes", "The log that the standby lacks", value=lag.bytes)
            yield GaugeMetricFamily(
                "reverie_standby_lag_seconds", "Age of its last change, where it lacks any", value=lag.seconds
            )
