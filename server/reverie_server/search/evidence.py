"""Evidence for a passage besides its own words and meaning: its neighbours, and its speaker. Pure.

In a conversation the question and its answer are two passages, and a name is said once and then left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reverie_indexer.text.analyse import fold
from reverie_server.search.candidates import NO_DOCUMENT, Candidates, Floats, Integers

# The share of a neighbour's term, and of a neighbour's similarity, that counts, by its distance in passages.
COVERAGE_AT_DISTANCE = {1: 0.8, 2: 0.5}
SIMILARITY_AT_DISTANCE = {1: 1.0, 2: 0.9}
# The beginning of a passage in which a speaker's label is looked for.
LABEL_CHARS = 80
# `Ada: …`, `- Ada Lovelace: …`, `[09:30] Ada: …`: one to three words before a colon.
_SPEAKER = re.compile(r"[\W_]*(?:\[[0-9:. ]+\]\s*)?((?:[^\W\d_][\w'’-]*[ \t]+){0,2}[^\W\d_][\w'’-]*):\s")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class ContextEvidence:
    """The evidence of each proposed passage with its neighbours, up to two on each side.

    `coverage` is the share, weighted by IDF, of the query's terms that the passage or a neighbour has, 0..1; a
    neighbour's term counts by COVERAGE_AT_DISTANCE. `neighbour_similarity` is the highest of the neighbours' cosines,
    each times SIMILARITY_AT_DISTANCE, NaN without any.
    """

    coverage: Floats
    neighbour_similarity: Floats


def context_evidence(candidates: Candidates, idfs: Floats, query_idf: float) -> ContextEvidence:
    """The evidence of the proposed passages, in their order.

    `idfs` are those of the columns of `has_term`. `query_idf` is the sum over all terms of the query, known or not.
    """
    count = candidates.proposed_count
    term_share = candidates.has_term[:count].astype(np.float64)
    similarity = np.full(count, np.nan)
    for distance, neighbour in _neighbours(candidates):
        exists = neighbour >= 0
        share = COVERAGE_AT_DISTANCE[distance] * (candidates.has_term[neighbour] & exists[:, None])
        np.maximum(term_share, share, out=term_share)
        weighted = SIMILARITY_AT_DISTANCE[distance] * candidates.similarity[neighbour]
        similarity = np.fmax(similarity, np.where(exists, weighted, np.nan))
    return ContextEvidence(term_share @ idfs / query_idf if query_idf > 0 else np.zeros(count), similarity)


def _neighbours(candidates: Candidates) -> Iterator[tuple[int, Integers]]:
    """For each step its distance, and the row of each proposed passage's neighbour there, -1 for none."""
    if not len(candidates.document_id):
        return
    _, document = np.unique(candidates.document_id, return_inverse=True)
    # One number for each position. The gap between documents is as wide as the longest step.
    position = document * (candidates.ordinal.max() + 1 + max(COVERAGE_AT_DISTANCE)) + candidates.ordinal
    order = np.argsort(position, kind="stable")
    ordered = position[order]
    count = candidates.proposed_count
    has_document = candidates.document_id[:count] != NO_DOCUMENT
    for distance in COVERAGE_AT_DISTANCE:
        for step in (-distance, distance):
            sought = position[:count] + step
            index = np.minimum(np.searchsorted(ordered, sought), len(ordered) - 1)
            yield distance, np.where((ordered[index] == sought) & has_document, order[index], -1)


def speaker_of(label: str) -> str | None:
    """The name of the speaker of a passage as its label has it, or None. `f"{name}: "` is a label with the same."""
    match = _SPEAKER.match(label)
    return match[1] if match else None


def speakers_of(labels: Sequence[str]) -> list[str | None]:
    """The folded name of the speaker of each passage, by its label; None for a passage without a speaker."""
    # Of hundreds of passages a few people are the speakers.
    folded = {label: fold(match[1]) if (match := _SPEAKER.match(label)) else None for label in set(labels)}
    return [folded[label] for label in labels]


def named_speakers(query: str, speakers: Iterable[str | None]) -> set[str]:
    """The speakers of two or more passages whose full name stands in the query."""
    words = set(_WORD.findall(fold(query)))
    counts = Counter(speaker for speaker in speakers if speaker is not None)
    return {name for name, count in counts.items() if count > 1 and words.issuperset(_WORD.findall(name))}


def speaker_match(speaker: str | None, named: Collection[str]) -> float:
    """1 for a speaker that the query names, 0 for another speaker, 1/2 for a passage without a speaker."""
    return 0.5 if speaker is None else float(speaker in named)
