"""What speaks for a passage besides its own words and meaning: its neighbours, and who says it. Pure.

In a conversation the question and its answer are two passages, and a name is said once and then left out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from reverie_indexer.analyse import fold

# A term that only a neighbour holds counts so much of one that the passage holds itself.
NEIGHBOUR_SHARE = 0.8
# `Ada: …`, `- Ada Lovelace: …`, `[09:30] Ada: …`: one to three words before a colon.
_SPEAKER = re.compile(r"[\W_]*(?:\[[0-9:. ]+\]\s*)?((?:[^\W\d_][\w'’-]*[ \t]+){0,2}[^\W\d_][\w'’-]*):\s")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Found:
    """What the channels say of one passage. `matched` are the terms of the query that it holds.

    `similarity` is the cosine to the query, None where there is no vector to compare. `document_id` and `ordinal` say
    where it stands; passages of one document with consecutive ordinals are neighbours.
    """

    document_id: int | None
    ordinal: int
    matched: frozenset[str]
    similarity: float | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a passage and its neighbours hold together.

    `coverage` is the share, weighted by IDF, of the query's terms that it or, for NEIGHBOUR_SHARE, a neighbour holds,
    0..1. `beside_similarity` is the higher of the neighbours' cosines, None without any.
    """

    coverage: float
    beside_similarity: float | None


def gather(pool: Sequence[Found], wanted: Iterable[Found], idfs: Mapping[str, float]) -> list[Evidence]:
    """The evidence of each of the wanted passages, in their order, from a pool that has them and their neighbours.

    `idfs` has every term of the query.
    """
    by_place: dict[tuple[int | None, int], Found] = {
        (found.document_id, found.ordinal): found for found in pool if found.document_id is not None
    }
    total = sum(idfs.values()) or 1.0
    gathered = []
    for found in wanted:
        before = by_place.get((found.document_id, found.ordinal - 1))
        after = by_place.get((found.document_id, found.ordinal + 1))
        held = sum([idfs[term] for term in found.matched])
        closest: float | None = None
        around: frozenset[str] = frozenset()
        for neighbour in (before, after):
            if neighbour is not None:
                around |= neighbour.matched
                if neighbour.similarity is not None and (closest is None or neighbour.similarity > closest):
                    closest = neighbour.similarity
        held += NEIGHBOUR_SHARE * sum([idfs[term] for term in around - found.matched])
        gathered.append(Evidence(held / total, closest))
    return gathered


def speaker_of(text: str) -> str | None:
    """Who says a passage that is written as somebody's words, folded; None for any other."""
    match = _SPEAKER.match(text)
    return fold(match[1]) if match else None


def named_speakers(query: str, speakers: Iterable[str | None]) -> set[str]:
    """Those of the speakers of several passages whose name stands in the query, in full."""
    words = set(_WORD.findall(fold(query)))
    counted = Counter(speaker for speaker in speakers if speaker is not None)
    return {name for name, count in counted.items() if count > 1 and words.issuperset(_WORD.findall(name))}


def agreement(speaker: str | None, named: Collection[str]) -> float:
    """1 for a passage of somebody the query names, 0 for one of somebody else, 1/2 for what nobody says."""
    return 0.5 if speaker is None else float(speaker in named)
