"""What searches found out about a slice that is held, so that later ones need not ask again. Pure.

There is no text in it: a sentence is known by its key (`fact_sentences.sentence_key`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from reverie_server.search.candidates import Floats
from reverie_server.search.fact_source import FactSource
from reverie_server.search.superseded_text import StatedAt

# The sentences of a passage with more of them are read each time.
MAX_SENTENCES = 16


@dataclass(frozen=True, slots=True)
class EndedFact:
    """A fact that does not hold from `ended_at` on, None for always, or that will not from then on: when it was said
    last, and the fact that replaces it, if one does."""

    said_at: datetime
    fact_id: int
    superseded_by: int | None
    ended_at: datetime | None = None

    def is_over(self, at: datetime) -> bool:
        """Whether it does not hold at a time."""
        return self.ended_at is None or self.ended_at <= at


@dataclass(frozen=True, slots=True)
class EndedFacts:
    """What does not hold in a slice, or will not: the facts of each sentence, the one that was said last at the end,
    and the sentences of successors. `elsewhere` are the places where such a sentence tells of somebody else."""

    by_sentence: Mapping[bytes, Sequence[EndedFact]]
    replacing: Mapping[int, Sequence[bytes]]
    elsewhere: Mapping[bytes, Sequence[StatedAt]] = field(default_factory=dict)


@dataclass(slots=True)
class Remembered:
    """Of a slice at one revision: the keys of the sentences of passages, where facts are stated, and what has ended.

    Passages are known by their ids; what is missing was not asked for yet. `terms` are those of each sentence of a
    passage in a language, by their keys (`term_key`), `of_assistant` the messages that an assistant without a name
    said, and those that somebody else did. `ended` None: nobody asked. `compared` are the vector of the last query and
    the cosines of all passages to it: who asks once often asks again, as a page does that shows what would be injected.
    """

    sentences: dict[int, tuple[bytes, ...]] = field(default_factory=dict)
    terms: dict[tuple[int, str], tuple[array[int], ...]] = field(default_factory=dict)
    of_assistant: dict[int, bool] = field(default_factory=dict)
    sources: dict[int, tuple[FactSource, ...]] = field(default_factory=dict)
    ended: EndedFacts | None = None
    compared: tuple[bytes, Floats] | None = None

    def without(self, gone: Iterable[int]) -> Self:
        """What holds at the next revision, at which some passages are gone.

        A passage never says something else; that it is somebody else's message, where two said the same, may be.
        """
        gone = set(gone)
        sentences, terms = dict(self.sentences), dict(self.terms)
        for chunk_id in gone & sentences.keys():
            del sentences[chunk_id]
        for key in [key for key in terms if key[0] in gone]:
            del terms[key]
        return type(self)(sentences, terms)
