"""What the channels say of passages, as columns: some hundred passages are scored at once. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from reverie_indexer.model import Tier

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
# The document of a passage that belongs to none.
NO_DOCUMENT = -1


@dataclass(frozen=True, slots=True)
class Pool:
    """Passages that a channel proposed, and after them those that stand beside them, as evidence only.

    The i'th of each column is of the i'th passage; `tier` to `updated_at` are of those proposed alone, and so shorter.
    `bm25` is 0 for a passage without a term of the query; `held[i, t]` is whether it has the t'th term. `similarity` is
    the cosine to the query, NaN where there is no vector to compare. Passages of one document with consecutive
    ordinals are neighbours. `specificity` is 0 for personal memory, 1 for a team's, 2 for global; `text_key` is equal
    for texts that are equal but for case; `label` is how the text begins, `asks` is 1 where it
    ends with a question mark and else 0; `updated_at` is in seconds since 1970.
    """

    chunk_id: Integers
    slice_id: Integers
    document_id: Integers
    ordinal: Integers
    bm25: Floats
    similarity: Floats
    held: Booleans
    tier: Sequence[Tier]
    path: Sequence[str]
    start_line: Sequence[int]
    end_line: Sequence[int]
    text_key: Sequence[int]
    label: Sequence[str]
    asks: Floats
    specificity: Integers
    is_own: Booleans
    updated_at: Floats

    @property
    def proposed(self) -> int:
        """How many passages may be results; they are the first."""
        return len(self.path)


def held_terms(matched: Sequence[Sequence[int]], count: int) -> Booleans:
    """Which of `count` terms each passage holds; `matched[i]` has the places, from 1, of those of the i'th."""
    held = np.zeros((len(matched), count), dtype=np.bool_)
    lengths = np.fromiter((len(places) for places in matched), np.intp, len(matched))
    places = np.fromiter(chain.from_iterable(matched), np.intp, int(lengths.sum()))
    held[np.repeat(np.arange(len(matched)), lengths), places - 1] = True
    return held
