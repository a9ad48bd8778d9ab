"""Traces by OpenTelemetry: its SDK collects the spans of `reverie_indexer.tracing`, and sends them by OTLP over HTTP.

Where to, with which headers and how many is said by OpenTelemetry's own variables (`OTEL_EXPORTER_OTLP_ENDPOINT`,
`OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_TRACES_SAMPLER`, …). Nothing here is global to other libraries: what they would
trace by themselves, texts perhaps, goes nowhere. Without traces none of its packages is imported.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from reverie_indexer import tracing
from reverie_indexer.errors import SetupError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

    from reverie_server.settings.server import Settings


@asynccontextmanager
async def traced(settings: Settings, process: str) -> AsyncIterator[None]:
    """Collect the spans of this process, `server` or `worker`, where the settings say so, and send the last in the end.

    SetupError where the packages are missing.
    """
    if not settings.traces_enabled:
        yield
        return
    provider = _provider(process)
    from reverie_server.app.open_telemetry import OpenTelemetry

    tracing.install(OpenTelemetry(provider))
    try:
        yield
    finally:
        tracing.install(None)
        # It waits for a collector that may be away.
        await asyncio.to_thread(provider.shutdown)


def _provider(process: str) -> TracerProvider:
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise SetupError("traces_enabled needs packages that are not there: pip install reverie[otel]") from None
    name = os.environ.get("OTEL_SERVICE_NAME", "reverie")
    about = {"service.name": name, "service.version": version("reverie"), "reverie.process": process}
    provider = TracerProvider(resource=Resource.create(about), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
