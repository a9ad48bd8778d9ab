"""The facts and statements that sentences say otherwise, by the model of pairs."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from reverie_indexer.embed.protocol import Embedder, Vector
from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.isolate import isolated
from reverie_server.facts.near_statements import SaidBefore
from reverie_server.facts.unread import Unread
from reverie_server.heuristics.changes.change_pairs import PairModel, units_of
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, has_value
from reverie_server.heuristics.changes.paired_changes import (
    APART,
    Vectors,
    can_be_otherwise,
    limit_of,
    log_odds,
    may_tell_otherwise,
)

# Of the facts that are nearest by their stored vectors, as many are compared.
MAX_NEAREST = 12
# Of what was said before, as much is judged, the nearest.
MAX_JUDGED = 3
# To be nearest means something among this many.
FEWEST_NEAR = 8
# Some 1.5 KB each.
MAX_VECTORS = 4_000


_KEPT: WeakKeyDictionary[Embedder, OrderedDict[bytes, Vector]] = WeakKeyDictionary()


class SentenceVectors:
    """The vectors of sentences and of their parts, as passages have theirs; the last ones are kept, without texts."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        # What was said before is compared in each conversation anew.
        self._known = _KEPT.setdefault(embedder, OrderedDict())

    async def of(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of texts. Raises EmbedderUnavailable, and EmbeddingRejected where one can have none."""
        keys = [hashlib.sha256(text.encode("utf-8", "replace")).digest() for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        answers = await self._embedder.embed(list(missing.values())) if missing else []
        for key, answer in zip(missing, answers, strict=True):
            if isinstance(answer, EmbeddingRejected):
                raise answer
            found[key] = np.array(answer, np.float32)
        for key in found:
            self._known[key] = found[key]
            self._known.move_to_end(key)
        while len(self._known) > MAX_VECTORS:
            self._known.popitem(last=False)
        return [found[key] for key in keys]


@dataclass(frozen=True, slots=True)
class _Earlier:
    """What was said in one sentence before, and how near it is: the facts of it that hold, else the statement."""

    similarity: float
    facts: Sequence[OpenFact]
    unread: Unread | None = None


@dataclass(slots=True)
class PairedChanges:
    """Compares sentences with what was said before. `vectors` has those of the sentences and their parts."""

    model: PairModel
    vectors: SentenceVectors
    said: SaidBefore
    # The statements that are facts since a sentence of this round was found to replace them.
    made: dict[tuple[int, int, str], OpenFact] = field(default_factory=dict)

    async def replaced(
        self, change: ChangeSentence, facts: Sequence[tuple[OpenFact, Vector]]
    ) -> tuple[OpenFact, Unread | None] | None:
        """What a sentence says otherwise: a fact that holds (`facts`, with stored vectors), or a statement.

        What is nearest of all that was said before is judged first.
        """
        parts = units_of(change.sentence)
        own = list(zip(parts, await self.vectors.of(parts), strict=True))
        matrix = np.stack([vector for _, vector in own])
        if not may_tell_otherwise(change, matrix, self.model):
            return None
        earlier = await self._earlier(change, facts, matrix)
        earlier.sort(key=lambda each: -each.similarity)
        for rank, each in enumerate(earlier[:MAX_JUDGED]):
            is_nearest = rank == 0 and len(earlier) >= FEWEST_NEAR
            judged = []
            for fact in each.facts:
                if can_be_otherwise(change, fact):
                    said = await self._units(fact.text)
                    odds = await isolated(partial(log_odds, own, said, change.language, self.model), chars=0)
                    judged.append((odds - limit_of(fact, self.model, is_nearest=is_nearest), fact))
            plain = [(has_value(change, fact), ahead, fact) for ahead, fact in judged if ahead >= 0]
            if plain:
                # Of several facts of a sentence the one of whose kind the new value is.
                return max(plain, key=lambda one: one[:2])[2], each.unread
        return None

    async def _earlier(
        self, change: ChangeSentence, facts: Sequence[tuple[OpenFact, Vector]], own: Vectors
    ) -> list[_Earlier]:
        """What was said before that is near to the parts of a sentence."""
        near = sorted(facts, key=lambda each: -float((own @ each[1]).max()))[:MAX_NEAREST]
        by_text: dict[str, list[OpenFact]] = {}
        for fact, _ in near:
            if fact.said_at <= change.said_at - APART:
                by_text.setdefault(fact.text, []).append(fact)
        found = []
        of_sentences: set[str] = set()
        near_statements = await self.said.near(own, change.said_at - APART)
        # All that is compared below, in one call of the embedder.
        texts = [*by_text, *(each.statement.sentence for each in near_statements)]
        await self.vectors.of([unit for text in dict.fromkeys(texts) for unit in units_of(text)])
        for each in near_statements:
            statement = each.statement
            made = self.made.get(statement.key)
            texts = [statement.sentence, *(text for text in by_text if text in each.stated)]
            similarity = max([await self._similarity(text, own) for text in texts])
            if each.stated or made is not None:
                of_one = [fact for text in texts[1:] for fact in by_text[text]]
                found.append(_Earlier(similarity, [made] if made is not None else of_one))
                of_sentences |= each.stated
            else:
                found.append(_Earlier(similarity, [statement.as_fact_of_meaning(change)], statement))
        for text, of_text in by_text.items():
            if text not in of_sentences:
                found.append(_Earlier(await self._similarity(text, own), of_text))
        return found

    async def _units(self, text: str) -> list[tuple[str, Vector]]:
        units = units_of(text)
        return list(zip(units, await self.vectors.of(units), strict=True))

    async def _similarity(self, text: str, own: Vectors) -> float:
        """The best cosine of a part of a text with a part of a sentence."""
        return max(float((own @ vector).max()) for _, vector in await self._units(text))
