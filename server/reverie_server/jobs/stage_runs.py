"""The numbers and times of the runs of stages, as all workers together have counted them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# Upper bounds of the buckets that the times of runs are counted in, in seconds.
BUCKETS = (0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 600.0)


@dataclass(frozen=True, slots=True)
class StageRuns:
    """The runs of a stage that ended with a status and were made by a method (`none`: nothing was made).

    The i'th count of `buckets` is of runs that took at most `BUCKETS[i]` seconds and longer than the bound before; the
    last one is of all longer ones.
    """

    stage: str
    status: str
    method: str
    runs: int
    seconds: float
    buckets: Sequence[int]


def bucket_of(seconds: float) -> list[int]:
    """The buckets with one run that took `seconds`."""
    index = sum(seconds > bound for bound in BUCKETS)
    return [int(each == index) for each in range(len(BUCKETS) + 1)]
