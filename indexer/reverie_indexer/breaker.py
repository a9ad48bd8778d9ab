"""A circuit breaker: an endpoint that does not answer is not asked for a while, then by one request at a time. Pure."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

State = Literal["closed", "open", "half_open"]


class Breaker:
    """Opens after `failures` in a row, for `pause_seconds`, and for twice as long after each probe that fails.

    A time-out counts as `failures`: whoever waited for it has waited long enough for all. Once a pause is over one call
    is let through as a probe; a success closes the breaker.
    """

    def __init__(
        self,
        failures: int = 3,
        pause_seconds: float = 10.0,
        longest_pause_seconds: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._failures = failures
        self._first_pause = pause_seconds
        self._longest_pause = longest_pause_seconds
        self._clock = clock
        self._count = 0
        self._pause = 0.0
        self._until = 0.0
        self._probing_since: float | None = None
        self.opened = 0
        self.succeeded = 0

    @property
    def state(self) -> State:
        """The state of the breaker; `half_open`: the pause is over, and no call has succeeded since."""
        if self._pause == 0.0:
            return "closed"
        return "open" if self._clock() < self._until else "half_open"

    @property
    def open_seconds(self) -> float:
        """The seconds for which it stays open; 0 where it is not open."""
        return max(0.0, self._until - self._clock()) if self._pause else 0.0

    def wait_seconds(self) -> float:
        """0 where a call may be made, which the breaker then expects; else the seconds until one may."""
        if self._pause == 0.0:
            return 0.0
        now = self._clock()
        if now < self._until:
            return self._until - now
        # A probe without a result for so long was given up.
        if self._probing_since is not None and now - self._probing_since < self._longest_pause:
            return 1.0
        self._probing_since = now
        return 0.0

    def succeed(self) -> None:
        """Note an answer of the endpoint, of any kind."""
        self.succeeded += 1
        self._count, self._pause, self._probing_since = 0, 0.0, None

    def fail(self, *, timed_out: bool = False) -> None:
        """Note that the endpoint has failed or not answered."""
        self._count += self._failures if timed_out else 1
        if self._count < self._failures:
            return
        if self._pause == 0.0:
            self._open(self._first_pause)
        elif self._probing_since is not None:
            self._open(min(2 * self._pause, self._longest_pause))

    def give_up(self) -> None:
        """Note that a call ended without an answer to judge the endpoint by: the next call is the probe."""
        self._probing_since = None

    def _open(self, pause: float) -> None:
        self._pause = pause
        self._until = self._clock() + pause
        self._probing_since = None
        self.opened += 1
