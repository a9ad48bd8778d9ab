"""Pure. How long the parts of searches took, counted since the process began."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, get_args

Part: TypeAlias = Literal["embed", "database", "score", "rerank", "all"]
PARTS: tuple[Part, ...] = get_args(Part)
# Upper bounds of the buckets that times are counted in, in seconds.
BOUNDS = (0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class PartTimes:
    """The times of one part: their sum in seconds, and how many there are in each bucket.

    The i'th count is of times of at most `BOUNDS[i]` and longer than the bound before; the last one of all longer ones.
    """

    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    def add(self, seconds: float) -> None:
        """Count one time."""
        self.seconds += seconds
        self.buckets[bisect_left(BOUNDS, seconds)] += 1


class SearchTimes:
    """The times by part. `all` is the whole search, and `database` what is none of the other parts."""

    def __init__(self) -> None:
        self.parts: Mapping[Part, PartTimes] = {part: PartTimes() for part in PARTS}

    def add(self, *, embed: float, score: float, rerank: float, total: float) -> None:
        """Count one search by its times in seconds."""
        times: Mapping[Part, float] = {
            "embed": embed,
            "database": max(0.0, total - embed - score - rerank),
            "score": score,
            "rerank": rerank,
            "all": total,
        }
        for part, seconds in times.items():
            self.parts[part].add(seconds)
