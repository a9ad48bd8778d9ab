"""A small process that starts the working ones, starts them again when they die, and ends them within a bounded time.

It imports no database, no model and no event loop: no text reaches it, so that it can take a signal at any time, and
what it forks starts with its few modules. A child whose supervisor is gone ends by itself.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import structlog

log = structlog.get_logger()
FIRST_PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 15.0
# A process that lived so long was well: its successor starts after the first pause again.
WELL_SECONDS = 60.0
# With this status a child ends itself because of its work, and is started again (EX_TEMPFAIL).
AGAIN_STATUS = 75
# The status of a program whose children had to be killed.
KILLED_STATUS = 1
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_READY, _DEMAND = b"r", b"d"


class Link:
    """The line on which a child reports to its supervisor."""

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self._descriptor = descriptor

    def ready(self) -> None:
        """Say that this child works; when it is the main one, the other services may start."""
        self._send(_READY)

    def start_on_demand(self) -> None:
        """Ask for the service that runs on demand. Nothing happens while it runs."""
        self._send(_DEMAND)

    def _send(self, word: bytes) -> None:
        # Without a supervisor this child is about to end; a full pipe holds the same word already.
        with suppress(BrokenPipeError, BlockingIOError):
            os.write(self._descriptor, word)


@dataclass(frozen=True, slots=True)
class Service:
    """A process to run. Of several the first is the main one: the others start when it is ready and end with it.

    A main service that exits by itself ends the program, with its status; one that was ready before, died, and cannot
    be ready again yet is tried until it can. A service `on_demand` starts when a child asks for it, and is not started
    again when it ends.
    """

    name: str
    run: Callable[[Link], None]
    on_demand: bool = False


@dataclass(slots=True)
class _Child:
    """A service, and the process that runs it now, if one does."""

    service: Service
    pid: int | None = None
    pipe: int | None = None
    started_at: float = 0.0
    start_at: float | None = None  # None: it is not to be started
    pause_seconds: float = FIRST_PAUSE_SECONDS
    is_ready: bool = False
    was_ready_before: bool = False  # an earlier process of this service was

    def pause(self) -> float:
        """When it may start again; each time in a row later."""
        at = time.monotonic() + self.pause_seconds
        self.pause_seconds = min(2 * self.pause_seconds, MAX_PAUSE_SECONDS)
        return at


def supervise(services: Sequence[Service], *, grace_seconds: float) -> int:
    """Run services until SIGTERM, SIGINT, SIGHUP, or the exit of the main one; the status that the program exits with.

    The children get SIGTERM; one that has not ended `grace_seconds` later is killed, and at a second SIGINT at once.
    In a child this function runs the service, and then raises SystemExit. Call it from the main thread while there is
    no other thread and no child.
    """
    # Else whoever closes a connection, or stops reading the log, ends a process (`python -m` leaves it on).
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    supervisor = _Supervisor(services, grace_seconds)
    with supervisor.signals():
        become = supervisor.watch()
    if become is None:
        return supervisor.status
    service, link, lifeline = become
    # At a terminal all get these; the supervisor makes SIGTERM of them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    threading.Thread(target=_end_with_supervisor, args=(lifeline,), name="lifeline", daemon=True).start()
    service.run(link)
    raise SystemExit(0)


def _end_with_supervisor(lifeline: int) -> None:
    """Nothing is ever written to this pipe: it ends when the supervisor does, however that died."""
    os.read(lifeline, 1)
    os._exit(AGAIN_STATUS)


class _Supervisor:
    def __init__(self, services: Sequence[Service], grace_seconds: float) -> None:
        self._children = [_Child(service) for service in services]
        self._children[0].start_at = time.monotonic()
        self._grace_seconds = grace_seconds
        self._interrupts = 0
        self._is_told_to_end = False
        self._kill_at: float | None = None
        self._was_killed = False
        self._main_status: int | None = None
        self._lifeline = os.pipe()
        self._wakeup = os.pipe()

    @property
    def status(self) -> int:
        if self._was_killed:
            return KILLED_STATUS
        return self._main_status or 0

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Take the signals; a child and the caller get the handlers back that were there before."""
        for descriptor in self._wakeup:
            os.set_blocking(descriptor, False)
        # Under `nohup` the end of the terminal is none of ours.
        taken = [each for each in _SIGNALS if each != signal.SIGHUP or signal.getsignal(each) != signal.SIG_IGN]
        before = {number: signal.signal(number, self._note) for number in taken}
        wakeup_before = signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(wakeup_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            for descriptor in (*self._wakeup, self._lifeline[1]):
                os.close(descriptor)

    def _note(self, number: int, _frame: object) -> None:
        self._is_told_to_end |= number != signal.SIGCHLD
        self._interrupts += number == signal.SIGINT

    def watch(self) -> tuple[Service, Link, int] | None:
        """Look after the children until all have ended: None. In a new child: what that is to run, at once."""
        while True:
            self._reap()
            self._end()
            if self._kill_at is not None and not any(child.pid for child in self._children):
                return None
            for child in self._children:
                if self._kill_at is None and child.start_at is not None and child.start_at <= time.monotonic():
                    link = self._start(child)
                    if link is not None:
                        return child.service, link, self._lifeline[0]
            self._wait()

    def _start(self, child: _Child) -> Link | None:
        """Fork; the link to the supervisor in the child, None in the supervisor. Tried later where it cannot be."""
        child.start_at, child.started_at, child.is_ready = None, time.monotonic(), False
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        pipe: tuple[int, ...] = ()
        # A signal that comes before the child has its own handlers must not be lost in ours: it stays pending.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        try:
            reader, writer = pipe = os.pipe()
            child.pid = os.fork()
        except OSError as error:
            # No memory, or no more processes or files, right now: the others go on.
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            for descriptor in pipe:
                os.close(descriptor)
            child.start_at = child.pause()
            log.error("process_not_started", process=child.service.name, error=error.strerror)
            return None
        if child.pid == 0:
            os.close(reader)
            for other in self._children:
                if other.pipe is not None:
                    os.close(other.pipe)
            return Link(writer)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.close(writer)
        os.set_blocking(reader, False)
        child.pipe = reader
        return None

    def _reap(self) -> None:
        # All of them: process 1 of a container is also given the children of others that have died.
        with suppress(ChildProcessError):
            while True:
                pid, wait_status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                for child in self._children:
                    if child.pid == pid:
                        self._ended(child, os.waitstatus_to_exitcode(wait_status))

    def _ended(self, child: _Child, status: int) -> None:
        """A child has ended, with a status, or by the signal of which the status is the negative number."""
        self._hear(child)
        assert child.pipe is not None
        os.close(child.pipe)
        child.pid = child.pipe = None
        is_main = child is self._children[0]
        is_back = child.is_ready or not child.was_ready_before
        child.was_ready_before |= child.is_ready
        if self._is_told_to_end or (is_main and is_back and 0 <= status != AGAIN_STATUS):
            if is_main:
                # Of a child that ended because it was told to, by the default of the signal, nothing is wrong.
                self._main_status = max(status, 0)
            self._is_told_to_end = True
            return
        lived_seconds = time.monotonic() - child.started_at
        has_finished = child.service.on_demand and status == 0
        if has_finished or lived_seconds > WELL_SECONDS:
            child.pause_seconds = FIRST_PAUSE_SECONDS
        if has_finished:
            return
        start_at = child.pause()
        if not child.service.on_demand:
            child.start_at = start_at
        name, lived_seconds = child.service.name, round(lived_seconds, 1)
        log.error("process_died", process=name, status=_named(status), lived_seconds=lived_seconds)

    def _end(self) -> None:
        """Once told to end: hand that on, and kill what does not follow in time."""
        now = time.monotonic()
        if self._is_told_to_end and self._kill_at is None:
            self._kill_at = now + self._grace_seconds
            self._signal_all(signal.SIGTERM)
        if self._kill_at is not None and not self._was_killed and (now >= self._kill_at or self._interrupts > 1):
            living = [child.service.name for child in self._children if child.pid]
            self._was_killed = bool(living)
            if living:
                self._signal_all(signal.SIGKILL)
                log.error("processes_killed", processes=living, grace_seconds=self._grace_seconds)

    def _signal_all(self, number: signal.Signals) -> None:
        for child in self._children:
            if child.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(child.pid, number)

    def _wait(self) -> None:
        """Until a signal, a word of a child, or the time of something to do."""
        times = [child.start_at for child in self._children if child.start_at is not None]
        if self._kill_at is not None:
            times = [] if self._was_killed else [self._kill_at]
        pipes = {child.pipe: child for child in self._children if child.pipe is not None}
        seconds = max(0.0, min(times) - time.monotonic()) if times else None
        readable, _, _ = select.select([self._wakeup[0], *pipes], [], [], seconds)
        for descriptor in readable:
            if descriptor == self._wakeup[0]:
                with suppress(BlockingIOError):
                    os.read(descriptor, 4096)
            else:
                self._hear(pipes[descriptor])

    def _hear(self, child: _Child) -> None:
        assert child.pipe is not None
        try:
            words = os.read(child.pipe, 4096)
        except BlockingIOError:
            return
        # Not of a process that is gone already, or about to go: the last line tells why a program ended.
        if _READY in words and not self._is_told_to_end:
            child.is_ready = True
            log.info("process_started", process=child.service.name, pid=child.pid)
        for other in self._children:
            is_wanted = (_DEMAND if other.service.on_demand else _READY) in words
            if is_wanted and other.pid is None and other.start_at is None:
                other.start_at = time.monotonic() + (other.pause_seconds if other.service.on_demand else 0.0)


def _named(status: int) -> str | int:
    return status if status >= 0 else signal.Signals(-status).name
