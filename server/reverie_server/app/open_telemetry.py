"""Spans of `reverie_indexer.tracing` as those of OpenTelemetry. Its packages are imported with this module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from importlib.metadata import version
from types import TracebackType
from typing import Self

from opentelemetry import context as contexts
from opentelemetry.context import Context
from opentelemetry.trace import (
    Link,
    SpanKind,
    Status,
    StatusCode,
    Tracer,
    TracerProvider,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from reverie_indexer.tracing import NOTHING, Kind, Span, Value

_KINDS: Mapping[Kind, SpanKind] = {
    "internal": SpanKind.INTERNAL,
    "server": SpanKind.SERVER,
    "client": SpanKind.CLIENT,
    "consumer": SpanKind.CONSUMER,
}
_PROPAGATOR = TraceContextTextMapPropagator()


class OpenTelemetry:
    """Makes spans of a provider; what comes of them is the provider's matter."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer: Tracer = provider.get_tracer("reverie", version("reverie"))

    def root(
        self, name: str, kind: Kind, parent: str | None, cause: str | None, attributes: dict[str, Value]
    ) -> AbstractContextManager[Span]:
        """A span of its own trace, or of a caller's. What is no `traceparent` counts for nothing."""
        caused = None if cause is None else get_current_span(_context_of(cause)).get_span_context()
        links = [Link(caused)] if caused is not None and caused.is_valid else []
        within = Context() if parent is None else _context_of(parent)
        return _Span(self._tracer, name, kind, attributes, within, links)

    def part(self, name: str, kind: Kind, attributes: dict[str, Value]) -> AbstractContextManager[Span]:
        """A span below the current one; nothing where there is none, or the library would begin a trace with it."""
        if not get_current_span().get_span_context().is_valid:
            return NOTHING
        return _Span(self._tracer, name, kind, attributes)

    def current(self) -> str | None:
        """The current span's `traceparent`."""
        carrier: dict[str, str] = {}
        _PROPAGATOR.inject(carrier)
        return carrier.get("traceparent")


class _Span:
    """A span that is current until its end."""

    __slots__ = ("_attributes", "_before", "_kind", "_links", "_name", "_span", "_tracer", "_within")

    def __init__(
        self,
        tracer: Tracer,
        name: str,
        kind: Kind,
        attributes: Mapping[str, Value],
        within: Context | None = None,
        links: Sequence[Link] = (),
    ) -> None:
        self._tracer = tracer
        self._name = name
        self._kind = kind
        self._attributes = attributes
        self._within = within
        self._links = links

    def __enter__(self) -> Self:
        self._before = contexts.get_current()
        within = self._before if self._within is None else self._within
        kind = _KINDS[self._kind]
        # Recorded as an event, an exception would bring its message, which may be somebody's memory.
        self._span = self._tracer.start_span(
            self._name,
            within,
            kind,
            self._attributes,
            self._links,
            record_exception=False,
            set_status_on_exception=False,
        )
        contexts.attach(set_span_in_context(self._span, within))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception):
            self._span.set_status(Status(StatusCode.ERROR, type(error).__name__))
        # Set, not reset with a token: an async generator may be closed in another context than it began in.
        contexts.attach(self._before)
        self._span.end()

    def rename(self, name: str) -> None:
        """Give the span another name."""
        self._span.update_name(name)

    def put(self, **attributes: Value | None) -> None:
        """Add attributes."""
        self._span.set_attributes({name: value for name, value in attributes.items() if value is not None})


def _context_of(traceparent: str) -> Context:
    # Its companion `tracestate` may hold any text of a caller, and is not taken.
    return _PROPAGATOR.extract({"traceparent": traceparent}, Context())
