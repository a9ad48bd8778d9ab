"""The size from which an index of its own pays for a slice, from measurements at some sizes. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

# What HNSW must find of the exact scan's ten best, on average, to be an alternative at all.
LEAST_RECALL = 0.99
# From here on a size decides nothing any more: HNSW is so much cheaper.
CLEARLY = 0.7


@dataclass(frozen=True, slots=True)
class Measured:
    """One size: milliseconds of the candidates' statements each way, and the share of the ten best that HNSW finds."""

    chunks: int
    exact_ms: float
    hnsw_ms: float
    recall: float

    @property
    def hnsw_pays(self) -> bool:
        """Whether HNSW finds what there is to find and costs no more."""
        return self.recall >= LEAST_RECALL and self.hnsw_ms <= self.exact_ms


@dataclass(frozen=True, slots=True)
class Crossover:
    """The setting, and how sure it is: `below` (HNSW pays at every size measured), `between`, or `above` (at none)."""

    exact_max_chunks: int
    found: str


def crossover(measured: Sequence[Measured]) -> Crossover:
    """The largest slice to be scanned exactly. `measured` is by size, ascending, at least one.

    It lies before the sizes from which on HNSW always pays; between the last that does not and the first that does
    the difference of the two costs is taken to be linear in log(chunks), and the result has two digits. Where HNSW did
    not find enough at that last one, it is the first one's size: nothing is known in between.
    """
    pays_from = len(measured)
    while pays_from > 0 and measured[pays_from - 1].hnsw_pays:
        pays_from -= 1
    if pays_from == len(measured):
        return Crossover(measured[-1].chunks, "above")
    first = measured[pays_from]
    if pays_from == 0:
        return Crossover(first.chunks, "below")
    last = measured[pays_from - 1]
    if last.recall < LEAST_RECALL:
        return Crossover(first.chunks, "between")
    lead, lag = first.exact_ms - first.hnsw_ms, last.hnsw_ms - last.exact_ms
    share = lag / (lag + lead) if lag + lead > 0 else 1.0
    return Crossover(_two_digits(last.chunks * math.exp(share * math.log(first.chunks / last.chunks))), "between")


def is_decided(measured: Sequence[Measured]) -> bool:
    """Whether larger sizes would tell nothing new: HNSW was clearly cheaper at the last two."""
    return len(measured) >= 2 and all(m.hnsw_pays and m.hnsw_ms <= CLEARLY * m.exact_ms for m in measured[-2:])


def _two_digits(value: float) -> int:
    digits = 10 ** max(0, math.floor(math.log10(value)) - 1)
    return int(round(value / digits) * digits)
