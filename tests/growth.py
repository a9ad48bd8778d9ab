"""Whether a function takes time linear in its text: CPU time at growing lengths, in a process that can be ended.

A function fails where its time grows clearly faster than the text, again and again, until it takes
`INTOLERABLE_SECONDS`; what grows fast at first and then does not (there is a cap) passes. What counts is the ratio of
CPU times, taken as the least of several runs, so that a busy machine fails nobody.
"""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import psutil
from tests.attacks import Attack, full, long, quick

from reverie_indexer.errors import ReverieError

Reading = Callable[[str], object]

STEP = 4
MAX_CHARS = 262_144
NOISE_SECONDS = 0.0005
# A suspicion is followed up to the largest text that any way in takes whole.
MAX_SUSPECT_CHARS = 4_194_304
# Of a linear function the ratio is STEP, of a quadratic one its square.
SUSPICIOUS_RATIO = 8.0
GUILTY_RATIO = 7.0
INTOLERABLE_SECONDS = 1.0
# Of CPU, for one text.
DEADLINE_SECONDS = 20.0
# Of the clock, for one text: a child that neither runs nor ends.
STUCK_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Effort:
    """Which texts a function of a name gets, from which length on, and the time of a call from which on no longer text
    is tried; two lengths always are.

    Short texts show what is exponential or quadratic from the start, long ones what is cheap for each pair of lines.
    """

    attacks: Callable[[str], Sequence[Attack]]
    first_chars: int
    enough_seconds: float


EFFORTS: Mapping[str, Effort] = {
    "quick": Effort(quick, 256, 0.0005),
    "long": Effort(long, 4096, 0.1),
    "full": Effort(full, 256, 0.004),
}


@dataclass(frozen=True, slots=True)
class _Begun:
    """The child goes on to the attack with this number."""

    number: int


@dataclass(frozen=True, slots=True)
class _Failed:
    """What is wrong with the function on the present attack."""

    why: str


@dataclass(frozen=True, slots=True)
class _Ended:
    """The function has seen every attack."""


def seconds_of(read: Reading, text: str, runs: int = 1) -> float:
    """The least CPU time of some calls. An expected error is an answer like any other."""
    least = float("inf")
    for _ in range(runs):
        began = time.process_time()
        with contextlib.suppress(ReverieError):
            read(text)
        least = min(least, time.process_time() - began)
    return least


def verdict(read: Reading, attack: Attack, effort: Effort) -> str | None:
    """Why the function is not linear on this family of texts; None where it seems to be."""
    length, before = effort.first_chars, seconds_of(read, attack.make(effort.first_chars))
    while length == effort.first_chars or (length < MAX_CHARS and before < effort.enough_seconds):
        length, took = length * STEP, seconds_of(read, attack.make(length * STEP))
        if took >= NOISE_SECONDS and took > SUSPICIOUS_RATIO * before and (why := _pursued(read, attack, length)):
            return why
        before = took
    return None


def _pursued(read: Reading, attack: Attack, length: int) -> str | None:
    before = seconds_of(read, attack.make(length // STEP), 5)
    while True:
        took = seconds_of(read, attack.make(length), 1 if before > INTOLERABLE_SECONDS / STEP**2 else 3)
        if took <= GUILTY_RATIO * before:
            return None
        if took >= INTOLERABLE_SECONDS:
            # One run may have been disturbed: it accuses nobody alone, unless it was longer than any disturbance.
            if took < DEADLINE_SECONDS / 4 and seconds_of(read, attack.make(length)) <= GUILTY_RATIO * before:
                return None
            shown = attack.make(40)[:60]
            return f"{attack.name} ({shown!r}…): {length // STEP} characters {before:.3f} s, {length} {took:.3f} s"
        if length >= MAX_SUSPECT_CHARS:
            return None
        before, length = took, length * STEP


def _serve(connection: Connection, table: Mapping[str, Reading]) -> None:
    """Measure what is asked for, until nothing more is."""
    gc.disable()
    while True:
        try:
            name, kind, first = connection.recv()
        except EOFError:
            return
        read, effort = table[name], EFFORTS[kind]
        for number, attack in enumerate(effort.attacks(name)[first:], first):
            connection.send(_Begun(number))
            try:
                why = verdict(read, attack, effort)
            except Exception as error:  # noqa: BLE001 - whatever it is, it would be a 500
                why = f"{attack.name}: raised {type(error).__name__}: {str(error)[:200]}"
            if why is not None:
                connection.send(_Failed(why))
        gc.collect()
        connection.send(_Ended())


class GrowthMeter:
    """Measures functions by name in a process of its own, which it ends when one does not come back."""

    def __init__(
        self,
        load: Callable[[], Mapping[str, Reading]],
        *,
        max_failures: int = 5,
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self._load = load
        self._max_failures = max_failures
        self._deadline_seconds = deadline_seconds
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None

    def failures(self, name: str, kind: str = "quick") -> list[str]:
        """Why a function is not linear, by attack; no more than a few."""
        found: list[str] = []
        first = 0
        while True:
            connection = self._asked(name, kind, first)
            for message in self._messages(connection):
                if isinstance(message, _Ended):
                    return found
                if isinstance(message, _Begun):
                    first = message.number
                else:
                    found.append(message.why)
                if len(found) >= self._max_failures:
                    self.close()
                    return found
            self.close()
            found.append(
                f"{EFFORTS[kind].attacks(name)[first].name}: takes more than {self._deadline_seconds:.0f} s of CPU"
            )
            first += 1
            if len(found) >= self._max_failures:
                return found

    def close(self) -> None:
        """End the process, whatever it does."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None

    def _asked(self, name: str, kind: str, first: int) -> Connection:
        if self._connection is None:
            context = multiprocessing.get_context("spawn")
            self._connection, theirs = context.Pipe()
            self._process = context.Process(target=_run, args=(theirs, self._load), daemon=True)
            self._process.start()
            theirs.close()
        self._connection.send((name, kind, first))
        return self._connection

    def _messages(self, connection: Connection) -> Iterator[_Begun | _Failed | _Ended]:
        """What the child says, until it has said nothing for too long."""
        assert self._process is not None
        child = psutil.Process(self._process.pid)
        cpu: float | None = None
        is_loaded, clock = False, time.monotonic()
        while True:
            if connection.poll(0.5):
                try:
                    message = connection.recv()
                except EOFError:
                    return
                yield message
                cpu, is_loaded, clock = None, True, time.monotonic()
                continue
            spent = _cpu(child)
            cpu = spent if cpu is None else cpu
            if (is_loaded and spent - cpu > self._deadline_seconds) or time.monotonic() - clock > STUCK_SECONDS:
                return


def _run(connection: Connection, load: Callable[[], Mapping[str, Reading]]) -> None:
    _serve(connection, load())


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)
