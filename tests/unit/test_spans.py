"""Spans: a tree by path while somebody records, nothing otherwise."""

import asyncio
import contextvars
import threading

import pytest

from reverie_server.text.spans import Node, recording, span


def counts(node: Node) -> dict[tuple[str, ...], int]:
    return {path: found.count for path, found in node.paths().items()}


def test_spans_are_counted_by_their_path() -> None:
    with recording() as recorder:
        for _ in range(3):
            with span("search"):
                with span("embed"):
                    pass
                with span("rank"):
                    pass
        with span("embed"):
            pass
    assert counts(recorder.root) == {
        ("all",): 1,
        ("all", "search"): 3,
        ("all", "search", "embed"): 3,
        ("all", "search", "rank"): 3,
        ("all", "embed"): 1,
    }


def test_outside_a_recording_nothing_is_kept() -> None:
    with span("before"):
        pass
    with recording() as recorder:
        pass
    with span("after"):
        pass
    assert counts(recorder.root) == {("all",): 1}


def test_an_inner_recording_keeps_its_spans_to_itself() -> None:
    with recording() as outer, span("a"):
        with recording() as inner, span("b"):
            pass
        with span("c"):
            pass
    assert counts(inner.root) == {("all",): 1, ("all", "b"): 1}
    assert counts(outer.root) == {("all",): 1, ("all", "a"): 1, ("all", "a", "c"): 1}


def test_a_span_that_an_exception_ends_is_counted_and_left() -> None:
    with recording() as recorder:
        with pytest.raises(KeyError), span("bad"):
            raise KeyError
        with span("next"):
            pass
    assert counts(recorder.root) == {("all",): 1, ("all", "bad"): 1, ("all", "next"): 1}


def test_self_time_is_what_no_child_took_and_never_below_zero() -> None:
    child = Node("child", 2, 0.3)
    assert Node("parent", 1, 1.0, {"child": child}).self_seconds == pytest.approx(0.7)
    assert Node("parent", 1, 0.2, {"child": child}).self_seconds == 0.0


def test_the_tree_is_per_request() -> None:
    tree = Node("all", 1, 1.0, {"child": Node("child", 20, 0.5)}).tree(per=10)
    assert tree == {
        "name": "all",
        "count": 0.1,
        "total_ms": 100.0,
        "self_ms": 50.0,
        "children": [{"name": "child", "count": 2.0, "total_ms": 50.0, "self_ms": 50.0, "children": []}],
    }


async def test_tasks_nest_under_the_span_that_started_them_and_do_not_mix() -> None:
    async def work(name: str) -> None:
        with span(name):
            await asyncio.sleep(0)
            with span("inner"):
                await asyncio.sleep(0)

    with recording() as recorder, span("request"):
        await asyncio.gather(*(work(name) for name in ("a", "b") for _ in range(5)))
    assert counts(recorder.root) == {
        ("all",): 1,
        ("all", "request"): 1,
        ("all", "request", "a"): 5,
        ("all", "request", "a", "inner"): 5,
        ("all", "request", "b"): 5,
        ("all", "request", "b", "inner"): 5,
    }


async def test_threads_started_with_the_context_are_recorded_and_lose_none() -> None:
    def work() -> None:
        for _ in range(500):
            with span("embed"):
                pass

    with recording() as recorder:
        await asyncio.to_thread(work)
        threads = [threading.Thread(target=contextvars.copy_context().run, args=(work,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert counts(recorder.root) == {("all",): 1, ("all", "embed"): 2500}
