"""What speaks for a passage besides its own words and meaning: its neighbours, and who says it. Pure.

In a conversation the question and its answer are two passages, and a name is said once and then left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reverie_indexer.analyse import fold
from reverie_server.search.candidates import NO_DOCUMENT, Floats, Integers, Pool

# What counts of a term that a neighbour holds, and of a neighbour's similarity, by how many passages away it stands.
COVERED_FROM = {1: 0.8, 2: 0.5}
SIMILAR_FROM = {1: 1.0, 2: 0.9}
# A speaker's label is sought in so many characters of a passage.
LABEL_CHARS = 80
# `Ada: …`, `- Ada Lovelace: …`, `[09:30] Ada: …`: one to three words before a colon.
_SPEAKER = re.compile(r"[\W_]*(?:\[[0-9:. ]+\]\s*)?((?:[^\W\d_][\w'’-]*[ \t]+){0,2}[^\W\d_][\w'’-]*):\s")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Evidence:
    """What each proposed passage of a pool and its neighbours, up to two on each side, hold together.

    `coverage` is the share, weighted by IDF, of the query's terms that it or, by COVERED_FROM, a neighbour holds, 0..1.
    `beside_similarity` is the highest of the neighbours' cosines, by SIMILAR_FROM, NaN without any.
    """

    coverage: Floats
    beside_similarity: Floats


def gather(pool: Pool, idfs: Floats, query_idf: float) -> Evidence:
    """The evidence of the proposed passages, in their order.

    `idfs` are those of the terms of `pool.held`, `query_idf` the sum over all terms of the query, known or not.
    """
    wanted = pool.proposed
    held = pool.held[:wanted].astype(np.float64)
    beside = np.full(wanted, np.nan)
    for distance, neighbour in _neighbours(pool):
        is_there = neighbour >= 0
        np.maximum(held, COVERED_FROM[distance] * (pool.held[neighbour] & is_there[:, None]), out=held)
        beside = np.fmax(beside, np.where(is_there, SIMILAR_FROM[distance] * pool.similarity[neighbour], np.nan))
    return Evidence(held @ idfs / query_idf if query_idf > 0 else np.zeros(wanted), beside)


def _neighbours(pool: Pool) -> Iterator[tuple[int, Integers]]:
    """For each step the distance, and where in the pool the passage there is, of each proposed one; -1 for none."""
    if not len(pool.document_id):
        return
    _, document = np.unique(pool.document_id, return_inverse=True)
    # One number for each place; a document's places are kept apart from the next one's by as many as a step may be.
    place = document * (pool.ordinal.max() + 1 + max(COVERED_FROM)) + pool.ordinal
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    is_in_one = pool.document_id[: pool.proposed] != NO_DOCUMENT
    for distance in COVERED_FROM:
        for step in (-distance, distance):
            sought = place[: pool.proposed] + step
            at = np.minimum(np.searchsorted(ordered, sought), len(ordered) - 1)
            yield distance, np.where((ordered[at] == sought) & is_in_one, order[at], -1)


def speakers_of(labels: Sequence[str]) -> list[str | None]:
    """Who says each passage that is written as somebody's words, folded; None for any other."""
    matches = [_SPEAKER.match(label) for label in labels]
    folded = {name: fold(name) for name in {match[1] for match in matches if match}}
    return [folded[match[1]] if match else None for match in matches]


def named_speakers(query: str, speakers: Iterable[str | None]) -> set[str]:
    """Those of the speakers of several passages whose name stands in the query, in full."""
    words = set(_WORD.findall(fold(query)))
    counted = Counter(speaker for speaker in speakers if speaker is not None)
    return {name for name, count in counted.items() if count > 1 and words.issuperset(_WORD.findall(name))}


def agreement(speaker: str | None, named: Collection[str]) -> float:
    """1 for a passage of somebody the query names, 0 for one of somebody else, 1/2 for what nobody says."""
    return 0.5 if speaker is None else float(speaker in named)
