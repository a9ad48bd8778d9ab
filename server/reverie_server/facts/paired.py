"""The facts and statements that sentences say otherwise, by the model of pairs."""

from __future__ import annotations

import hashlib
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from weakref import WeakKeyDictionary

import numpy as np

from reverie_indexer.embed.protocol import Embedder, Role, Vector
from reverie_indexer.errors import EmbeddingRejected
from reverie_indexer.isolate import isolated
from reverie_server.facts.near_statements import SaidBefore
from reverie_server.facts.unread import Unread
from reverie_server.heuristics.changes.aspects import same_aspect
from reverie_server.heuristics.changes.change_pairs import PairModel, units_of
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, change_sentences
from reverie_server.heuristics.changes.changed_facts import GUESSED, LIKELY, has_value
from reverie_server.heuristics.changes.judged_pairs import (
    EarlierSentence,
    NewSentence,
    Vectors,
    nearness_of,
    pair_log_odds,
)
from reverie_server.heuristics.changes.lasting_facts import are_two_events, is_for_good, may_end_whole
from reverie_server.heuristics.changes.paired_changes import (
    APART,
    can_be_otherwise,
    can_end_marked,
    can_end_whole,
    is_apart,
)
from reverie_server.heuristics.stated_fact import Utterance

# Of the facts that are nearest by their stored vectors, as many are compared.
MAX_NEAREST = 12
# Of all that is near so many sentences are compared.
MAX_COMPARED = 24
# Of what was said after a sentence that became known late so many are asked whether they end it.
MAX_LATER = 6
_LEAST_ENDABLE = -3.0
# Two sentences are of one aspect of a life from here on (`aspects.same_aspect`).
_OF_ONE_ASPECT = 0.3
# Some 1.5 KB each.
MAX_VECTORS = 4_000


_KEPT: WeakKeyDictionary[Embedder, OrderedDict[bytes, Vector]] = WeakKeyDictionary()


class SentenceVectors:
    """The vectors of sentences and of their parts, in the role of passages or another; the last ones are kept, without
    texts."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        # What was said before is compared in each conversation anew.
        self._known = _KEPT.setdefault(embedder, OrderedDict())

    async def of(self, texts: Sequence[str], role: Role = "passage") -> list[Vector]:
        """The vectors of texts. Raises EmbedderUnavailable, and EmbeddingRejected where one can have none."""
        keys = [hashlib.sha256(f"{role}\n{text}".encode("utf-8", "replace")).digest() for text in texts]
        found = {key: self._known[key] for key in keys if key in self._known}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        answers = await self._embedder.embed(list(missing.values()), role) if missing else []
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
    """What was said in one sentence before: the facts of it that hold, and the statement, unless it was ended, with
    what marks say of it."""

    sentence: EarlierSentence
    facts: Sequence[OpenFact] = ()
    statement: Unread | None = None
    marked: Sequence[OpenFact] = ()

    def ended_by(
        self, change: ChangeSentence, log_odds: float, model: PairModel
    ) -> tuple[OpenFact, Unread | None, str] | None:
        """What of it a sentence ends that the model says ends it, and the cue: of its facts the one of whose kind the
        new value is, else the whole, where facts were read only if that is likely. "My sister's landlord raised her
        rent" is not of one's own."""
        if not change.tells and are_two_events(self.sentence.text, change.said):
            return None
        is_likely = log_odds >= model.likely
        cue = LIKELY if is_likely else GUESSED
        able = [fact for fact in self.facts if can_be_otherwise(change, fact)]
        if able:
            return max(able, key=lambda fact: has_value(change, fact)), None, cue
        if self.statement is None:
            return None
        text = self.sentence.text
        is_certain = log_odds >= model.certain and may_end_whole(text, self.facts)
        if not is_certain and not can_end_whole(change, text, self.facts, is_likely=is_likely):
            return None
        # Who says a name, an age or an allergy says more than what is otherwise now.
        if is_for_good(self.marked):
            return None
        # What is likely over is, whatever an unsure mark makes of it.
        if not is_likely and not can_end_marked(change, text, self.marked):
            return None
        return self.statement.as_fact_of_meaning(change), self.statement, cue


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
    ) -> tuple[OpenFact, Unread | None, str] | None:
        """What a sentence says otherwise, and the cue: a fact that holds (`facts`, with their vectors), or a statement.

        It is what the sentence most likely ends of all that was said before and can be otherwise; what is not the
        likeliest of all has to be of the same aspect of a life.
        """
        if not change.is_statement:
            return None
        new = await self._new(change)
        if new is None:
            return None
        earlier = await self._earlier(change, facts, new)
        sentences, among = [each.sentence for each in earlier], len(self.said.keys)
        log_odds = await isolated(partial(pair_log_odds, new, sentences, among, self.model), chars=0)
        aspects = self.model.aspects(new.vector)
        in_order = [int(index) for index in np.argsort(-np.array(log_odds), kind="stable")]
        for index in in_order:
            if log_odds[index] < self.model.limit:
                break
            sentence = earlier[index].sentence
            # Where it cannot end the likeliest, the next is more often wrong than right, unless both are of one aspect.
            if index != in_order[0] and same_aspect(aspects, self.model.aspects(sentence.vector)) < _OF_ONE_ASPECT:
                continue
            if (found := earlier[index].ended_by(change, log_odds[index], self.model)) is not None:
                return found
        return None

    async def overtaken(
        self, change: ChangeSentence, facts: Sequence[OpenFact], statement: Unread
    ) -> tuple[Unread, ChangeSentence, OpenFact, Unread | None, str] | None:
        """What was said after a sentence that became known late, and ends it: that statement, what it is as a sentence,
        and what of the late one it ends, as `replaced` has it. `facts` are those of the late sentence that hold. Later
        statements are looked for by the vectors of its parts alone.
        """
        if not change.is_statement or change.said_at + APART > max(self.said.said_at, default=change.said_at):
            return None
        [vector] = await self.vectors.of([change.said])
        if self.model.endable(change.said, vector) < _LEAST_ENDABLE:
            return None
        own = np.stack(await self.vectors.of(units_of(change.said)))
        later = [each.statement for each in await self.said.near(own, after=change.said_at + APART)]
        await self.vectors.of([part for each in later for part in (each.sentence, *units_of(each.sentence))])
        nearest = [((await self._sentence(each.sentence, each.message.at, own)).nearness, each) for each in later]
        nearest.sort(key=lambda each: -each[0])
        best: tuple[float, Unread, ChangeSentence, OpenFact, Unread | None, str] | None = None
        for nearness, newer in nearest[:MAX_LATER]:
            sentence = EarlierSentence(change.said, vector, nearness, change.said_at)
            log_odds, as_change = await self._log_odds_of_late(sentence, newer)
            if as_change is None or log_odds < (self.model.limit if best is None else best[0]):
                continue
            if (ended := _Earlier(sentence, facts, statement).ended_by(as_change, log_odds, self.model)) is not None:
                best = (log_odds, newer, as_change, *ended)
        return None if best is None else best[1:]

    async def _log_odds_of_late(self, late: EarlierSentence, newer: Unread) -> tuple[float, ChangeSentence | None]:
        """The log-odds that a statement ends one that became known after it, beside all that it may end."""
        said = [Utterance(newer.sentence, newer.message.at)]
        found = await isolated(
            partial(change_sentences, with_statements=True), said, self.said.given.language, chars=len(newer.sentence)
        )
        if len(found) != 1 or not found[0].is_statement:
            return -math.inf, None
        change: ChangeSentence = found[0]
        new = await self._new(change)
        if new is None:
            return -math.inf, None
        others = await self._earlier(change, [], new)
        sentences = [late, *(each.sentence for each in others if each.sentence.text != late.text)]
        judge = partial(pair_log_odds, new, sentences, len(self.said.keys), self.model)
        log_odds = await isolated(judge, chars=0)
        return log_odds[0], change

    async def _new(self, change: ChangeSentence) -> NewSentence | None:
        """A sentence with its vectors; None for one that hardly ends anything."""
        [vector] = await self.vectors.of([change.said])
        if self.model.ends(change.said, vector) < self.model.least_ends:
            return None
        [as_change] = await self.vectors.of([change.said], "change")
        return NewSentence(change.said, change.language, vector, as_change, change.said_at)

    async def _earlier(
        self, change: ChangeSentence, facts: Sequence[tuple[OpenFact, Vector]], new: NewSentence
    ) -> list[_Earlier]:
        """What was said before that is near to the parts of a sentence, or to it as a change."""
        own = np.stack(await self.vectors.of(units_of(new.text)))
        looked_for = np.vstack([own, new.as_change])
        by_text: dict[str, list[OpenFact]] = {}
        for fact, _ in facts:
            if is_apart(change, fact.said_at):
                by_text.setdefault(fact.text, []).append(fact)
        nearest = sorted(facts, key=lambda each: -float((looked_for @ each[1]).max()))[:MAX_NEAREST]
        texts = [text for text in dict.fromkeys(fact.text for fact, _ in nearest) if text in by_text]
        near_statements = await self.said.near(looked_for, before=change.said_at - APART)
        # All that is compared below, in one call of the embedder.
        compared = [*texts, *(each.statement.sentence for each in near_statements)]
        await self.vectors.of([part for text in dict.fromkeys(compared) for part in (text, *units_of(text))])
        found = []
        of_sentences: set[str] = set()
        for each in near_statements:
            statement = each.statement
            sentence = await self._sentence(statement.sentence, statement.message.at, own)
            of_sentences |= each.stated
            holding = [fact for text in sorted(each.stated & by_text.keys()) for fact in by_text[text]]
            if (made := self.made.get(statement.key)) is not None:
                found.append(_Earlier(sentence, [made]))
            elif holding or not each.stated:
                found.append(_Earlier(sentence, holding, statement, each.marked))
            else:
                found.append(_Earlier(sentence))
        found += [
            _Earlier(await self._sentence(text, by_text[text][-1].said_at, own), by_text[text])
            for text in texts
            if text not in of_sentences
        ]
        found.sort(key=lambda each: -max(each.sentence.nearness, float(each.sentence.vector @ new.as_change)))
        return found[:MAX_COMPARED]

    async def _sentence(self, text: str, said_at: datetime, own: Vectors) -> EarlierSentence:
        [vector] = await self.vectors.of([text])
        nearness = nearness_of(own, np.stack(await self.vectors.of(units_of(text))))
        return EarlierSentence(text, vector, nearness, said_at)
