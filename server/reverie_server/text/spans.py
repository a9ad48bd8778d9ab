"""Measures the time of parts of the work: named, nested spans, recorded only inside `recording()`.

`with span("embed"):` marks a part of the work. Without a recording it is a part of the current trace where traces are
collected (`reverie_indexer.tracing`), and else costs one look-up of a context variable. Inside
`with recording() as recorder:` every span of this context is added to a tree by its path of names, and so is every
span of the tasks and threads that are started from it with its context (`asyncio.create_task`, `asyncio.to_thread`).
"""

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from time import perf_counter
from types import TracebackType
from typing import Self

from reverie_indexer import tracing

ROOT = "all"
"""The name of a tree's root: the time between the beginning and the end of the recording."""


@dataclass(slots=True)
class Node:
    """The spans of one name under one parent: how many ended, and the sum of their times in seconds.

    `children` are in the order in which they first began. A span that has not ended is not counted yet.
    """

    name: str
    count: int = 0
    total_seconds: float = 0.0
    children: dict[str, "Node"] = field(default_factory=dict)

    @property
    def self_seconds(self) -> float:
        """The part of `total_seconds` in no child.

        0 where children ran at the same time as each other, or outlived their parent, and sum to more than it.
        """
        return max(0.0, self.total_seconds - sum(child.total_seconds for child in self.children.values()))

    def tree(self, per: int = 1) -> dict[str, object]:
        """This node as JSON: `name`, `count`, `total_ms`, `self_ms`, `children`; counts and times divided by `per`.

        Raises:
            ZeroDivisionError: `per` is 0.
        """
        return {
            "name": self.name,
            "count": round(self.count / per, 3),
            "total_ms": round(1000 * self.total_seconds / per, 4),
            "self_ms": round(1000 * self.self_seconds / per, 4),
            "children": [child.tree(per) for child in self.children.values()],
        }

    def paths(self, above: tuple[str, ...] = ()) -> Mapping[tuple[str, ...], "Node"]:
        """This node and all below it by the names from the root down, a parent before its children."""
        here = (*above, self.name)
        nodes = {here: self}
        for child in self.children.values():
            nodes.update(child.paths(here))
        return nodes


class Recorder:
    """The tree of nodes under `root`, which grows while the recording lasts."""

    __slots__ = ("_lock", "root")

    def __init__(self) -> None:
        self.root = Node(ROOT)
        self._lock = threading.Lock()

    def begin(self, parent: Node, name: str) -> Node:
        """The node of `name` under `parent`, new where it is the first."""
        with self._lock:
            return parent.children.setdefault(name, Node(name))

    def end(self, node: Node, seconds: float) -> None:
        """Add one span to its node."""
        with self._lock:
            node.count += 1
            node.total_seconds += seconds


_current: ContextVar[tuple[Recorder, Node] | None] = ContextVar("reverie_span", default=None)


class _Span:
    """A span that is recorded; counted also when an exception ends it."""

    __slots__ = ("_before", "_began", "_name", "_node")

    def __init__(self, name: str, before: tuple[Recorder, Node]) -> None:
        self._name = name
        self._before = before

    def __enter__(self) -> Self:
        recorder, parent = self._before
        self._node = recorder.begin(parent, self._name)
        _current.set((recorder, self._node))
        self._began = perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        seconds = perf_counter() - self._began
        self._before[0].end(self._node, seconds)
        # Set, not reset with a token: an async generator may be closed in another context than it began in.
        _current.set(self._before)


def span(name: str) -> AbstractContextManager[object]:
    """A context manager that marks a part of the work; enter it at once, and once."""
    before = _current.get()
    return tracing.part(name) if before is None else _Span(name, before)


@contextmanager
def recording() -> Iterator[Recorder]:
    """Record the spans of this context. A recording inside another one keeps its spans from the outer."""
    recorder = Recorder()
    before = _current.get()
    _current.set((recorder, recorder.root))
    began = perf_counter()
    try:
        yield recorder
    finally:
        recorder.end(recorder.root, perf_counter() - began)
        _current.set(before)
