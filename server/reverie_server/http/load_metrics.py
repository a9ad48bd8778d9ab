"""Metrics of load: requests, refusals, paused endpoints, connections, the pool of the database, times of searches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import get_args

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from reverie_indexer.breaker import Breaker
from reverie_indexer.embed.endpoint import EndpointEmbedder
from reverie_server.access.wrong_keys import KeyGuard
from reverie_server.http.admission import Admission
from reverie_server.http.bodies import BodyMemory
from reverie_server.http.connections import CLOSED, Connections
from reverie_server.http.job_metrics import cumulated
from reverie_server.runtime import Runtime
from reverie_server.search.calibration.scale import State
from reverie_server.search.search_times import BOUNDS, PARTS


def breakers_of(runtime: Runtime) -> Mapping[str, Breaker]:
    """The circuit breakers of the configured endpoints: `llm` and `embedder`; and of the `reranker`."""
    breakers = {}
    if runtime.llm is not None:
        breakers["llm"] = runtime.llm.breaker
    ready = runtime.models.ready
    if ready is not None and isinstance(ready.embedder, EndpointEmbedder):
        breakers["embedder"] = ready.embedder.breaker
    if runtime.reranking is not None:
        breakers["reranker"] = runtime.reranking.breaker
    return breakers


class LoadMetrics(Collector):
    """Counts of refused and running requests. `connections` is None until the server is made."""

    def __init__(self, runtime: Runtime, guard: KeyGuard, admission: Admission, memory: BodyMemory) -> None:
        self._runtime = runtime
        self._guard = guard
        self._admission = admission
        self._memory = memory
        self.connections: Connections | None = None

    def collect(self) -> Iterator[Metric]:
        """The metrics; each reason is there from the start."""
        admission = self._admission
        requests = GaugeMetricFamily("reverie_requests", "Requests now, by what they do", labels=["state"])
        requests.add_metric(["working"], admission.running)
        requests.add_metric(["waiting"], admission.waiting)
        yield requests
        limits = GaugeMetricFamily("reverie_requests_limit", "The most of them that there may be", labels=["state"])
        limits.add_metric(["working"], admission.limits.running)
        limits.add_metric(["waiting"], admission.limits.waiting)
        yield limits
        yield GaugeMetricFamily(
            "reverie_body_memory_bytes", "Bytes of request bodies in memory", value=self._memory.used_bytes
        )
        refused = CounterMetricFamily("reverie_requests_refused", "Requests that got no turn", labels=["code"])
        for code in ("too_many_requests", "overloaded"):
            refused.add_metric([code], admission.refused[code])
        yield refused
        wrong = CounterMetricFamily("reverie_wrong_keys", "Keys that are none", labels=["outcome"])
        wrong.add_metric(["refused"], self._guard.wrong)
        wrong.add_metric(["slowed_down"], self._guard.unread)
        yield wrong
        paused = GaugeMetricFamily("reverie_endpoint_paused", "1: not asked for a while", labels=["endpoint"])
        pauses = CounterMetricFamily("reverie_endpoint_pauses", "Pauses of endpoints", labels=["endpoint"])
        for name, breaker in sorted(breakers_of(self._runtime).items()):
            paused.add_metric([name], float(breaker.state != "closed"))
            pauses.add_metric([name], breaker.opened)
        yield from (paused, pauses)
        yield from self._database()
        yield from self._search()
        yield from self._hot_slices()
        constants = GaugeMetricFamily(
            "reverie_relevance", "1: whose constants relevance goes by with the embedding model", labels=["constants"]
        )
        for state in get_args(State):
            constants.add_metric([state], float(self._runtime.calibration.state == state))
        yield constants
        if self.connections is not None:
            yield GaugeMetricFamily("reverie_connections", "Open connections", value=len(self.connections))
            closed = CounterMetricFamily(
                "reverie_connections_closed", "Connections that the server ended", labels=["reason"]
            )
            for reason in CLOSED:
                closed.add_metric([reason], self.connections.closed[reason])
            yield closed

    def _database(self) -> Iterator[Metric]:
        """The connections of this process to PostgreSQL, and the faults that it knows of."""
        use = self._runtime.database.pool_use()
        connections = GaugeMetricFamily(
            "reverie_database_connections", "Connections to PostgreSQL, by state", labels=["state"]
        )
        connections.add_metric(["used"], use.used)
        connections.add_metric(["idle"], use.idle)
        yield connections
        yield GaugeMetricFamily("reverie_database_connections_limit", "The most that there may be", value=use.most)
        yield GaugeMetricFamily("reverie_database_waiting", "Who waits for a connection now", value=use.waiting)
        yield CounterMetricFamily("reverie_database_waits", "Waits for a connection", value=use.waits)
        yield CounterMetricFamily("reverie_database_wait_seconds", "The time of these waits", value=use.wait_seconds)
        faults = GaugeMetricFamily("reverie_database_fault", "1: known of the database now", labels=["fault"])
        faults.add_metric(["storage_full"], float(self._runtime.database.faults.storage_full))
        faults.add_metric(["data_damaged"], float(self._runtime.database.faults.damaged))
        yield faults

    def _search(self) -> Iterator[Metric]:
        """The state of the embedding model, and what takes the time of searches."""
        embedder = GaugeMetricFamily("reverie_embedder", "1: the state of the embedding model", labels=["state"])
        for state in ("loading", "ready", "failed", "none"):
            embedder.add_metric([state], float(self._runtime.models.state == state))
        yield embedder
        seconds = HistogramMetricFamily("reverie_search_seconds", "Time of searches, by part", labels=["part"])
        for part in PARTS:
            times = self._runtime.search.times.parts[part]
            seconds.add_metric([part], cumulated(BOUNDS, times.buckets), times.seconds)
        yield seconds

    def _hot_slices(self) -> Iterator[Metric]:
        """The slices that the process holds, and how often they were enough."""
        hot = self._runtime.hot_slices
        yield GaugeMetricFamily(
            "reverie_hot_slices_bytes", "Memory of slices that are held for search", value=hot.used_bytes
        )
        yield GaugeMetricFamily(
            "reverie_hot_slices_limit_bytes",
            "The most that they may take",
            value=self._runtime.settings.hot_slices_bytes,
        )
        yield GaugeMetricFamily("reverie_hot_slices", "Slices that are held for search", value=len(hot))
        searches = CounterMetricFamily("reverie_hot_slices_searches", "Searches by slices held", labels=["outcome"])
        searches.add_metric(["hit"], hot.counts.hits)
        searches.add_metric(["miss"], hot.counts.misses)
        yield searches
        changes = CounterMetricFamily("reverie_hot_slices_changes", "What became of slices held", labels=["change"])
        counts = hot.counts
        for change, count in {
            "load": counts.loads,
            "refresh": counts.refreshes,
            "eviction": counts.evictions,
            "mismatch": counts.mismatches,
        }.items():
            changes.add_metric([change], count)
        yield changes
