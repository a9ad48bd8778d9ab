"""Texts for a memory of any size: pairs of sentences from a pool, each pair once. Pure.

The pool is analysed once; the terms of a pair are those of its two sentences together, so that a million passages
cost no million analyses.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise

import numpy as np
from numpy.typing import NDArray

from reverie_bench.data import Corpus
from reverie_indexer.errors import ValidationFailed
from reverie_indexer.text.analyse import analyse

Ints = NDArray[np.int64]

_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s+")
_MIN_CHARS, _MAX_CHARS = 15, 400
_MARKS = set("\\`*_<>[]|~&\x00")
_SPOKEN = {
    "who": "Ada Bruno Chiara Dmitri Elif Farid Greta Hiro Ines Jonas Kavya Lena Milan Noor Otto Priya",
    "did": "moved planned cancelled finished started paid painted sold repaired borrowed lost found praised",
    "what": "review invoice garden kitchen bicycle concert contract holiday kettle lantern report ticket letter sofa "
    "notebook camera piano bakery recipe server database budget roof fence parcel passport boat tent guitar",
    "how": "red quiet old urgent expensive broken second monthly heavy wooden shared final early missing tall",
    "where": "Lisbon Ghent Oslo Turin Krakow Porto Bergen Leeds Graz Bilbao Malmo Nantes Basel Varna",
    "when": "Monday Tuesday Wednesday Thursday Friday January March May July September November spring winter",
    "syllable": "ba ce di fo gu ka le mi no pu ra se ti vo zu",
}
_WORDS = {kind: words.split() for kind, words in _SPOKEN.items()}


@dataclass(frozen=True, slots=True)
class Pool:
    """Distinct sentences with their terms, and questions (possibly none).

    `terms` are all terms in code point order, which is the database's. The terms of sentence i are
    `ids[offsets[i]:offsets[i + 1]]` (indices into `terms`, distinct), each `tfs` times; `lengths[i]` is their sum.
    """

    sentences: tuple[str, ...]
    questions: tuple[str, ...]
    terms: tuple[str, ...]
    offsets: Ints
    ids: Ints
    tfs: Ints
    lengths: Ints

    def terms_of(self, sentence: int) -> list[int]:
        """The distinct terms of one sentence, as indices into `terms`."""
        return [int(i) for i in self.ids[self.offsets[sentence] : self.offsets[sentence + 1]]]


def pool_of(sentences: Sequence[str], questions: Sequence[str], language: str = "english") -> Pool:
    """A pool of the distinct sentences among these that are more than stop words, analysed in a language.

    ValidationFailed for fewer than two.
    """
    analysed = {sentence: _terms_anywhere(sentence, language) for sentence in sentences}
    distinct = tuple(sentence for sentence, counts in analysed.items() if counts)
    if len(distinct) < 2:
        raise ValidationFailed("there are not two sentences to make texts of")
    counted = [analysed[sentence] for sentence in distinct]
    terms = tuple(sorted({term for counts in counted for term in counts}))
    number = {term: i for i, term in enumerate(terms)}
    offsets = np.cumsum([0, *(len(counts) for counts in counted)], dtype=np.int64)
    return Pool(
        distinct,
        tuple(dict.fromkeys(questions)),
        terms,
        offsets,
        np.array([number[term] for counts in counted for term in counts], np.int64),
        np.array([tf for counts in counted for tf in counts.values()], np.int64),
        np.array([counts.total() for counts in counted], np.int64),
    )


def _terms_anywhere(sentence: str, language: str) -> Counter[str]:
    """The terms that a sentence adds to any passage: stop words count only where a passage has nothing else."""
    of_zebra = Counter(analyse("zebra", language))
    return Counter(analyse(f"zebra {sentence}", language)) - of_zebra


def sentences_of(corpora: Sequence[Corpus]) -> list[str]:
    """The sentences of real texts, on one line each, in order; those that markdown might read as structure left out."""
    units = (unit for corpus in corpora for collection in corpus.collections for unit in collection.units)
    sentences = (sentence for unit in units for sentence in _SENTENCE_END.split(" ".join(unit.text.split())))
    return [s for s in sentences if _MIN_CHARS <= len(s) <= _MAX_CHARS and s[0].isalpha() and not set(s) & _MARKS]


def questions_of(corpora: Sequence[Corpus]) -> list[str]:
    """The questions of real data, in order."""
    return [q.text for corpus in corpora for collection in corpus.collections for q in collection.questions]


def made_up_sentences(seed: int, number: int) -> list[str]:
    """Sentences of common words and invented names, the frequent ones as frequent as Zipf's law has it."""
    generator = np.random.default_rng(seed)
    names = ["".join(generator.choice(_WORDS["syllable"], 3)).capitalize() for _ in range(2000)]

    def draw(words: Sequence[str]) -> str:
        # A log-uniform rank has a density of 1/rank.
        return words[min(len(words) - 1, int(math.exp(generator.uniform(0, math.log(len(words) + 1)))) - 1)]

    return [
        f"{draw(_WORDS['who'])} {draw(_WORDS['did'])} the {draw(_WORDS['how'])} {draw(_WORDS['what'])} of "
        f"{draw(names)} in {draw(_WORDS['where'])} on a {draw(_WORDS['when'])}, before the "
        f"{draw(_WORDS['how'])} {draw(_WORDS['what'])}."
        for _ in range(number)
    ]


class Pairing:
    """Numbers from 0 to pairs of sentences, no pair twice, in an order that a seed decides."""

    def __init__(self, sentences: int, seed: int) -> None:
        self._sentences = sentences
        self._modulus = sentences * sentences
        self._step = _coprime(self._modulus, int(np.random.default_rng(seed).integers(self._modulus // 3, 2**62)))

    def pairs(self, first: int, number: int) -> tuple[Ints, Ints]:
        """The sentences of `number` passages from number `first` on; ValidationFailed where there are fewer."""
        if first + number > self._modulus:
            raise ValidationFailed(f"{self._sentences} sentences give {self._modulus} passages and no more")
        codes = np.arange(first, first + number, dtype=np.int64) * self._step % self._modulus
        return codes // self._sentences, codes % self._sentences


def _coprime(modulus: int, start: int) -> int:
    return next(n % modulus for n in count(start) if math.gcd(n, modulus) == 1 and n % modulus)


def queries(pool: Pool, seed: int) -> Iterator[str]:
    """Queries without end, no two the same: the questions as they are, then two of them spliced, by a seed.

    Without questions: some words of a sentence.
    """
    generator = np.random.default_rng([seed, 1])
    seen: set[str] = set()
    for number in generator.permutation(len(pool.questions)):
        seen.add(pool.questions[number])
        yield pool.questions[number]
    source = pool.questions or pool.sentences
    for attempt in count():
        left, right = (source[int(i)].split() for i in generator.integers(0, len(source), 2))
        if pool.questions:
            words = left[: (len(left) + 1) // 2] + right[len(right) // 2 :]
        else:
            words = ["What", "of", *left[2 : 5 + attempt % 3], *right[5:8]]
        query = " ".join(words).rstrip(".,?") + "?"
        # A small pool is soon used up.
        if query in seen:
            query = f"{query} {attempt}"
        seen.add(query)
        yield query


def merged_postings(pool: Pool, left: Ints, right: Ints) -> tuple[Ints, Ints, Ints]:
    """The postings of passages made of sentence pairs: term, passage (0-based), tf; by term, then by passage."""
    parts = []
    for sentences in (left, right):
        sizes = pool.offsets[sentences + 1] - pool.offsets[sentences]
        passage = np.repeat(np.arange(len(sentences), dtype=np.int64), sizes)
        starts = np.cumsum(sizes) - sizes
        within = np.arange(int(sizes.sum()), dtype=np.int64) - np.repeat(starts, sizes)
        place = np.repeat(pool.offsets[sentences], sizes) + within
        parts.append((pool.ids[place] * len(left) + passage, pool.tfs[place]))
    keys, inverse = np.unique(np.concatenate([key for key, _ in parts]), return_inverse=True)
    tfs = np.bincount(inverse, weights=np.concatenate([tf for _, tf in parts])).astype(np.int64)
    return keys // len(left), keys % len(left), tfs


def zipf_sizes(total: int, owners: int) -> list[int]:
    """`total` split among owners as 1/rank, largest first, each at least 1 and all of it given out.

    ValidationFailed when there are more owners than things to give.
    """
    if owners < 1 or total < owners:
        raise ValidationFailed(f"{total} passages cannot be shared by {owners} owners")
    weights = 1 / np.arange(1, owners + 1)
    bounds = np.rint(np.cumsum(weights) / weights.sum() * (total - owners)).astype(int)
    return sorted((1 + int(b - a) for a, b in pairwise([0, *bounds])), reverse=True)
