"""Admission of requests: how many run at once, and whose turn is next.

A request without a free slot waits in a queue of limited size for a limited time, and is refused after that. Keys take
turns. No key has all slots or, while others wait, more than its share of the queue: many requests of one key delay
another key's request by the time of one request only.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, deque
from dataclasses import dataclass
from statistics import median

from reverie_indexer.errors import Overloaded, ReverieError, TooManyRequests

_OVERLOADED = "the server has more requests than it can answer in time; try again"
_TOO_MANY = "this key has more requests under way than it may have while others wait; send fewer at once"
_PAUSED_PER_SLOT = 16
# Of so many requests that ended last half worked no longer than the usual time; a waiting request keeps as many such
# times free. Before there are as many as `_FEWEST_WORKED` nothing is known: a process loads much on its first ones.
_LAST_WORKED, _FEWEST_WORKED = 32, 16
_WORK_MARGIN = 2.0
_SHORTEST_WAIT_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """At most `running` requests run at once, `running_per_key` of one key; at most `waiting` others wait.

    `answer_seconds` covers waiting and work: the longer recent requests usually worked, the shorter a new one may wait.
    """

    running: int
    running_per_key: int
    waiting: int
    answer_seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    turn: asyncio.Future[None]
    deadline: asyncio.TimerHandle


class Admission:
    """The slots of requests. `refused` counts the requests without a slot by the code of their error."""

    def __init__(self, limits: AdmissionLimits) -> None:
        self.limits = limits
        self.refused: Counter[str] = Counter()
        self._running: Counter[str] = Counter()
        self._paused: Counter[str] = Counter()
        # Whoever was served last is at the end.
        self._queues: OrderedDict[str, deque[_Waiter]] = OrderedDict()
        self._waiting = 0
        self._worked: deque[float] = deque(maxlen=_LAST_WORKED)
        self._work_seconds = 0.0
        self._max_paused = max(64, _PAUSED_PER_SLOT * limits.running)

    @property
    def running(self) -> int:
        """How many requests have a slot."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """How many requests wait for a slot."""
        return self._waiting

    @property
    def wait_seconds(self) -> float:
        """The longest time that a new request waits for a slot."""
        patience = self.limits.answer_seconds
        return max(_SHORTEST_WAIT_SHARE * patience, patience - _WORK_MARGIN * self._work_seconds)

    def note_work(self, seconds: float) -> None:
        """Learn the usual working time from that for which a request had its slot: the median of the last ones."""
        self._worked.append(min(seconds, self.limits.answer_seconds))
        if len(self._worked) >= _FEWEST_WORKED:
            self._work_seconds = median(self._worked)

    async def enter(self, key: str) -> Slot:
        """A slot for a request, which leaves it at its end; TooManyRequests or Overloaded if none is free in time."""
        if self._paused.total() >= self._max_paused or self._paused[key] > 3 * self._max_paused // 4:
            raise self._refuse(key)
        await self.acquire(key)
        return Slot(self, key)

    async def acquire(self, key: str) -> None:
        """Wait for a slot and count it as taken, without making a `Slot`; the errors are those of `enter`."""
        if not self._queues and self._has_slot(key):
            self._running[key] += 1
            return
        if self._waiting >= self.limits.waiting:
            self._make_room(key)
        loop = asyncio.get_running_loop()
        turn: asyncio.Future[None] = loop.create_future()
        waiter = _Waiter(turn, loop.call_later(self.wait_seconds, self._give_up, key, turn))
        self._queues.setdefault(key, deque()).append(waiter)
        self._waiting += 1
        # This key may have a free slot when the keys of all waiting requests have used up theirs.
        self._serve()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self.release(key)
            else:
                self._forget(key, waiter)
            raise
        except ReverieError:
            self._forget(key, waiter)
            raise
        finally:
            waiter.deadline.cancel()

    def release(self, key: str) -> None:
        """Free a slot of the key and hand it to the next waiting request."""
        _decrease(self._running, key)
        self._serve()

    def pause(self, key: str) -> None:
        """Free a slot for a while; `unpause` ends the pause."""
        self._paused[key] += 1
        self.release(key)

    def unpause(self, key: str, *, takes_slot: bool) -> None:
        """End a pause; `takes_slot` at once, over the limit where need be."""
        _decrease(self._paused, key)
        if takes_slot:
            self._running[key] += 1

    def _has_slot(self, key: str) -> bool:
        return self.running < self.limits.running and self._running[key] < self.limits.running_per_key

    def _serve(self) -> None:
        while self._waiting and self.running < self.limits.running:
            key = next((key for key in self._queues if self._has_slot(key)), None)
            if key is None:
                return
            queue = self._queues[key]
            waiter = queue.popleft()
            self._waiting -= 1
            if queue:
                self._queues.move_to_end(key)
            else:
                del self._queues[key]
            if not waiter.turn.done():
                self._running[key] += 1
                waiter.turn.set_result(None)

    def _make_room(self, key: str) -> None:
        """Refuse the last request of the longest queue; raise the refusal of `key` if its own queue is as long."""
        longest = max(self._queues, key=lambda other: len(self._queues[other]), default=key)
        if longest == key or len(self._queues[longest]) <= len(self._queues.get(key, ())) + 1:
            raise self._refuse(key)
        waiter = self._queues[longest][-1]
        if not waiter.turn.done():
            waiter.turn.set_exception(self._refuse(longest))
        self._forget(longest, waiter)

    def _give_up(self, key: str, turn: asyncio.Future[None]) -> None:
        if not turn.done():
            turn.set_exception(self._refuse(key))

    def _refuse(self, key: str) -> ReverieError:
        """Count and return a refusal: TooManyRequests if the key has more requests than all others, else Overloaded."""
        mine = self._running[key] + len(self._queues.get(key, ())) + self._paused[key]
        others = self.running + self._waiting + self._paused.total() - mine
        error: ReverieError = TooManyRequests(_TOO_MANY) if others and mine > others else Overloaded(_OVERLOADED)
        self.refused[error.code] += 1
        return error

    def _forget(self, key: str, waiter: _Waiter) -> None:
        queue = self._queues.get(key)
        if queue is None or waiter not in queue:
            return
        queue.remove(waiter)
        self._waiting -= 1
        if not queue:
            del self._queues[key]


class Slot:
    """A request's slot, from its start to its end, with pauses."""

    def __init__(self, admission: Admission, key: str) -> None:
        self._admission = admission
        self._key = key
        self._began = time.monotonic()
        self._pauses = 0
        self._was_paused = False
        self._ended = False

    def pause(self) -> None:
        """Free the slot until `resume`; pauses may overlap."""
        self._pauses += 1
        self._was_paused = True
        if self._pauses == 1 and not self._ended:
            self._admission.pause(self._key)

    def resume(self) -> None:
        """Take the slot back at once, over the limit where need be."""
        self._pauses -= 1
        if self._pauses == 0 and not self._ended:
            self._admission.unpause(self._key, takes_slot=True)

    async def resume_when_free(self) -> None:
        """Take the slot back when there is one; TooManyRequests or Overloaded where there is none in time."""
        try:
            await self._admission.acquire(self._key)
        except BaseException:
            self.leave()
            raise
        self._pauses -= 1
        self._admission.unpause(self._key, takes_slot=False)

    def leave(self) -> None:
        """Free the slot for good, at the end of the request; later calls do nothing."""
        if self._ended:
            return
        self._ended = True
        if self._pauses:
            self._admission.unpause(self._key, takes_slot=False)
        else:
            self._admission.release(self._key)
        if not self._was_paused:
            self._admission.note_work(time.monotonic() - self._began)


def _decrease(counter: Counter[str], key: str) -> None:
    counter[key] -= 1
    if counter[key] <= 0:
        del counter[key]
