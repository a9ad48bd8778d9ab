"""The candidates of a search as columns, because some hundred passages are scored at once. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
class Candidates:
    """The passages that a channel proposed, followed by their neighbours, which are evidence only.

    The i'th entry of each column belongs to the i'th passage. The columns from `tier` to `updated_at` are shorter: they
    cover the proposed passages alone. Passages of one document with consecutive ordinals are neighbours.

    `bm25` is 0 for a passage without a term of the query. `similarity` is the cosine to the query, NaN where there is
    no vector to compare. `has_term[i, t]` is whether the i'th passage has the query's t'th known term. `specificity` is
    0 for personal memory, 1 for a team's, 2 for global. `text_key` is equal for texts that are equal but for case.
    `text` is the whole text. `label` is how it begins, after its speaker's name where that stands apart. `asks` is 1
    for a text that ends with a question mark, else 0. `is_owners` marks the passages of the owner who searches.
    `updated_at` is in seconds since 1970.
    """

    chunk_id: Integers
    slice_id: Integers
    document_id: Integers
    ordinal: Integers
    bm25: Floats
    similarity: Floats
    has_term: Booleans
    tier: Sequence[Tier]
    path: Sequence[str]
    start_line: Sequence[int]
    end_line: Sequence[int]
    text_key: Sequence[int]
    text: Sequence[str]
    label: Sequence[str]
    asks: Floats
    specificity: Integers
    is_owners: Booleans
    updated_at: Floats

    @property
    def proposed_count(self) -> int:
        """The number of proposed passages, which come first and alone may be results."""
        return len(self.path)


def message_of(candidates: Candidates, row: int) -> int | None:
    """The number of the message that a candidate is of; None for a passage of anything else."""
    return candidates.start_line[row] if candidates.tier[row] == "message" else None


def files_with(candidates: Candidates, is_sought: Callable[[str], bool]) -> list[int]:
    """The proposed passages of files whose path is sought; of many passages few files are asked about."""
    places = list(zip(candidates.path, candidates.tier, strict=True))
    sought = {path for path in {path for path, tier in places if tier == "document"} if is_sought(path)}
    return [row for row, (path, tier) in enumerate(places) if path in sought and tier == "document"] if sought else []


def term_matrix(matched: Sequence[Sequence[int]], count: int) -> Booleans:
    """Which of `count` terms each passage has; `matched[i]` holds the numbers, from 1, of the i'th passage's terms."""
    has_term = np.zeros((len(matched), count), dtype=np.bool_)
    lengths = np.fromiter((len(numbers) for numbers in matched), np.intp, len(matched))
    columns = np.fromiter(chain.from_iterable(matched), np.intp, int(lengths.sum())) - 1
    has_term[np.repeat(np.arange(len(matched)), lengths), columns] = True
    return has_term
