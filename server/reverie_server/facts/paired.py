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
    EarlierSentence,
    Vectors,
    can_be_otherwise,
    nearness_of,
    pair_log_odds,
)

# Of the facts that are nearest by their stored vectors, as many are compared.
MAX_NEAREST = 12
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
    """What was said in one sentence before: the facts of it that hold, else the statement."""

    sentence: EarlierSentence
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

        It is what the sentence most likely ends of all that was said before and can be otherwise.
        """
        if not change.is_statement:
            return None
        [vector] = await self.vectors.of([change.sentence])
        if self.model.ends(change.sentence, vector) < self.model.least_ends:
            return None
        own = np.stack(await self.vectors.of(units_of(change.sentence)))
        earlier = await self._earlier(change, facts, own)
        sentences, among = [each.sentence for each in earlier], len(self.said.keys)
        judge = partial(pair_log_odds, change.sentence, vector, change.language, sentences, among, self.model)
        log_odds = await isolated(judge, chars=0)
        for index in np.argsort(-np.array(log_odds), kind="stable"):
            if log_odds[index] < self.model.limit:
                break
            able = [fact for fact in earlier[index].facts if can_be_otherwise(change, fact)]
            if able:
                # Of several facts of a sentence the one of whose kind the new value is.
                return max(able, key=lambda fact: has_value(change, fact)), earlier[index].unread
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
        await self.vectors.of([part for text in dict.fromkeys(texts) for part in (text, *units_of(text))])
        for each in near_statements:
            statement = each.statement
            made = self.made.get(statement.key)
            sentence = await self._sentence(statement.sentence, own)
            if each.stated or made is not None:
                of_one = [fact for text in by_text if text in each.stated for fact in by_text[text]]
                found.append(_Earlier(sentence, [made] if made is not None else of_one))
                of_sentences |= each.stated
            else:
                found.append(_Earlier(sentence, [statement.as_fact_of_meaning(change)], statement))
        for text, of_text in by_text.items():
            if text not in of_sentences:
                found.append(_Earlier(await self._sentence(text, own), of_text))
        return found

    async def _sentence(self, text: str, own: Vectors) -> EarlierSentence:
        [vector] = await self.vectors.of([text])
        return EarlierSentence(text, vector, nearness_of(own, np.stack(await self.vectors.of(units_of(text)))))
