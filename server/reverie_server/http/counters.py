"""Metrics of injections, recalls and the audit, by outcome; never by agent, tenant or owner, whom any reader would see.

Per agent it is in the logs: one line `injection` for each turn, with tenant and agent, and without a word of memory.
"""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from reverie_server.access.audit import Audit
from reverie_server.inject.inject import OUTCOMES, Injector
from reverie_server.proxy.proxy import Proxy
from reverie_server.search.recall_log import RecallLog
from reverie_server.sessions.append import Recorder


class TurnCounters(Collector):
    """Collects the counts of injections, recalls, proxy failures and audit rows when the metrics are read."""

    def __init__(
        self,
        injector: Injector,
        recalls: RecallLog,
        proxy: Proxy | None = None,
        recorder: Recorder | None = None,
        audit: Audit | None = None,
    ) -> None:
        self._audit = audit
        self._injector = injector
        self._recalls = recalls
        self._proxy = proxy
        self._recorder = recorder

    def collect(self) -> Iterator[CounterMetricFamily]:
        """The counters; each outcome is there from the start."""
        injections = CounterMetricFamily("reverie_injections", "Turns that asked for memory", labels=["outcome"])
        for outcome in OUTCOMES:
            injections.add_metric([outcome], self._injector.outcomes[outcome])
        yield injections
        recalls = CounterMetricFamily("reverie_recalls", "Memories shown to somebody", labels=["outcome"])
        recalls.add_metric(["written"], self._recalls.written)
        recalls.add_metric(["lost"], self._recalls.lost)
        yield recalls
        failures = CounterMetricFamily(
            "reverie_proxy_memory_failures", "What memory could not do for turns of the proxy", labels=["code"]
        )
        for code, count in sorted(self._proxy.failures.items() if self._proxy is not None else ()):
            failures.add_metric([code], count)
        yield failures
        if self._audit is not None:
            audit = CounterMetricFamily("reverie_audit_rows", "Rows of the audit", labels=["outcome"])
            audit.add_metric(["written"], self._audit.written)
            audit.add_metric(["lost"], self._audit.lost)
            yield audit
        if self._recorder is not None:
            logs = CounterMetricFamily("reverie_daily_log_failures", "Notes that took no line of what was said")
            logs.add_metric([], self._recorder.log_failures)
            yield logs
