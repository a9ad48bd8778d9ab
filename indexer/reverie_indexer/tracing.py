"""Traces: what a request or a job spends its time on, where somebody collects that; nothing is done until `install`.

A trace begins with a root, a request or a job, and has parts. Names and attributes are the program's own words and
numbers: never a text of memory, a query, an owner, a path of a file or the text of a statement.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Literal, Protocol, Self

Value = str | int | float | bool
# What a span is: a part of the work, a request that is answered, one that is made, a job that is run.
Kind = Literal["internal", "server", "client", "consumer"]


class Span(Protocol):
    """A span that has begun and not ended."""

    def rename(self, name: str) -> None:
        """Give it the name that is only known in its course."""

    def put(self, **attributes: Value | None) -> None:
        """Add attributes; None is left out."""


class Tracer(Protocol):
    """Makes spans, each current from its beginning to its end. Of an exception that ends one the type alone is told."""

    def root(
        self, name: str, kind: Kind, parent: str | None, cause: str | None, attributes: dict[str, Value]
    ) -> AbstractContextManager[Span]:
        """A span of its own trace, or of that of the caller `parent`, that is linked to its cause."""

    def part(self, name: str, kind: Kind, attributes: dict[str, Value]) -> AbstractContextManager[Span]:
        """A span below the current one."""

    def current(self) -> str | None:
        """The current span, as a `traceparent` of the W3C; None outside of any."""


class _Nothing:
    """A span that nobody collects."""

    __slots__ = ()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return

    def rename(self, name: str) -> None:
        """Do nothing."""

    def put(self, **attributes: Value | None) -> None:
        """Do nothing."""


NOTHING = _Nothing()
_tracer: Tracer | None = None


def install(tracer: Tracer | None) -> None:
    """Collect spans from now on in this process; None ends that."""
    global _tracer  # as the configuration of the log is the process's
    _tracer = tracer


def is_on() -> bool:
    """Whether somebody collects spans."""
    return _tracer is not None


def root(
    name: str, kind: Kind, *, parent: str | None = None, cause: str | None = None, **attributes: Value
) -> AbstractContextManager[Span]:
    """A span that no other is above: a request, or a job. `parent` is the `traceparent` of a caller, which continues
    the caller's trace; `cause` that of what a job follows from, in a trace of its own."""
    return NOTHING if _tracer is None else _tracer.root(name, kind, parent, cause, attributes)


def part(name: str, kind: Kind = "internal", **attributes: Value) -> AbstractContextManager[Span]:
    """A span of a request or a job; nothing outside of any."""
    return NOTHING if _tracer is None else _tracer.part(name, kind, attributes)


def current() -> str | None:
    """The current span, as a `traceparent`, by which what follows from it is linked to it; None outside of any."""
    return None if _tracer is None else _tracer.current()
