"""Long work over texts runs where the kernel can end it, and gives what it would give here."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import signal
import socket
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from reverie_indexer import isolate
from reverie_indexer.errors import Overloaded, StaleVersion, TextTooCostly
from reverie_indexer.isolate import ISOLATED_FROM_CHARS, isolated
from reverie_indexer.text.passages import Rules, passages_of

LONG = ISOLATED_FROM_CHARS


def never_ends() -> None:
    """Holds the interpreter of its process."""
    re.fullmatch(r"(?:a+)+b", "a" * 60)


def spin() -> None:
    while True:
        time.monotonic()


def children() -> list[psutil.Process]:
    """The forks of this process, which has other children too: the PostgreSQL of other tests."""
    here = psutil.Process()
    found = []
    for child in here.children():
        with suppress(psutil.NoSuchProcess):
            # One that has ended and is not reaped yet has no command line.
            if child.cmdline() in (here.cmdline(), []):
                found.append(child)
    return found


async def test_what_a_function_returns_is_what_it_returns_here() -> None:
    text = "# Lanterns\n\nThe tall lantern is lit. 灯\n\n" * 3000
    here = passages_of("memory/2026-04-03.md", text, Rules())
    assert await isolated(passages_of, "memory/2026-04-03.md", text, Rules(), chars=len(text)) == here
    secret = object()
    assert await isolated(lambda: secret is not None, chars=LONG)  # nothing but the result is pickled
    assert await isolated(os.getpid, chars=LONG) != os.getpid()
    assert await isolated(os.getpid, chars=LONG - 1) == os.getpid()
    assert children() == []


async def test_what_it_raises_is_raised() -> None:
    def refuse() -> None:
        raise StaleVersion("the file is at version 4, not 3: read it again", version=4)

    with pytest.raises(StaleVersion, match="read it again") as caught:
        await isolated(refuse, chars=LONG)
    assert caught.value.extra == {"version": 4}
    with pytest.raises(TextTooCostly):  # nothing comes of a process that dies
        await isolated(lambda: os._exit(0), chars=LONG)


@pytest.mark.parametrize("runaway", [never_ends, spin])
async def test_what_does_not_end_is_ended_and_nobody_waits_for_it(
    monkeypatch: pytest.MonkeyPatch, runaway: object
) -> None:
    monkeypatch.setattr(isolate, "CPU_SECONDS", 0.3)
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            await asyncio.sleep(0.005)
            turns += 1

    going_on = asyncio.create_task(others())
    assert callable(runaway)
    with pytest.raises(TextTooCostly, match=r"more than 0\.3 s of CPU time"):
        await isolated(runaway, chars=LONG)
    going_on.cancel()
    assert turns > 10
    assert children() == []


async def test_what_waits_for_something_is_ended_by_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a fork would that met a lock of another thread."""
    monkeypatch.setattr(isolate, "WALL_SECONDS", 0.2)
    with pytest.raises(TextTooCostly):
        await isolated(threading.Event().wait, chars=LONG)
    assert children() == []


async def test_who_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    begun = tmp_path / "begun"

    def begin() -> None:
        begun.touch()
        spin()

    task = asyncio.create_task(isolated(begin, chars=LONG))
    while not begun.exists():  # noqa: ASYNC110  # another process makes it
        await asyncio.sleep(0.01)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()
    while children():  # noqa: ASYNC110  # they are reaped in a thread
        await asyncio.sleep(0.01)


async def test_no_more_processes_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolate, "_slots", threading.BoundedSemaphore(1))
    monkeypatch.setattr(isolate, "PATIENCE_SECONDS", 0.05)
    first = asyncio.create_task(isolated(time.sleep, 0.5, chars=LONG))
    await asyncio.sleep(0.05)
    with pytest.raises(Overloaded):
        await isolated(os.getpid, chars=LONG)
    await first
    assert await isolated(os.getpid, chars=LONG) > 0


async def test_a_connection_that_is_closed_meanwhile_is_closed() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        working = asyncio.create_task(isolated(time.sleep, 1.0, chars=LONG))
        while not children():  # noqa: ASYNC110  # it is a process
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.1)
        ours.close()
        theirs.settimeout(0.5)
        assert await asyncio.to_thread(theirs.recv, 1) == b""
        await working


@pytest.mark.parametrize("lacking", ["pipe", "fork"])
async def test_no_room_for_another_process_is_an_overload_and_leaves_no_file_open(
    monkeypatch: pytest.MonkeyPatch, lacking: str
) -> None:
    def refuse() -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    here = psutil.Process()
    await isolated(os.getpid, chars=LONG)
    before = here.num_fds()
    monkeypatch.setattr(os, lacking, refuse)
    with pytest.raises(Overloaded, match="no room"):
        await isolated(os.getpid, chars=LONG)
    monkeypatch.undo()
    assert here.num_fds() == before
    assert await isolated(os.getpid, chars=LONG) != os.getpid()


async def test_what_waits_is_ended_by_the_kernel_when_nobody_looks_after_it_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As a fork that waits for a lock does whose parent was killed."""
    monkeypatch.setattr(isolate, "WALL_SECONDS", 0.3)
    process = isolate._Process(threading.Event().wait, (), 1.0)
    _, reader = process._begin()
    [child] = children()
    assert child.wait(5) == -signal.SIGALRM
    os.close(reader)


async def test_what_is_prepared_before_a_fork_stays_here_and_is_there_for_it() -> None:
    prepared: list[int] = []
    for chars, expected in ((ISOLATED_FROM_CHARS - 1, 0), (ISOLATED_FROM_CHARS, 1), (ISOLATED_FROM_CHARS, 2)):
        found = await isolated(lambda: len(prepared), chars=chars, before_fork=lambda: prepared.append(1))
        assert (found, len(prepared)) == (expected, expected)
