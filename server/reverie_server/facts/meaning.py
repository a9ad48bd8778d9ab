"""Changes told in words that no pattern knows: the facts that they replace, found by the vectors of an embedding model.

What is found is stored as what was read: the same facts, sources and sentences, and `settle` says what holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed.built_in import BUILT_IN_PROVIDER
from reverie_indexer.embed.protocol import Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model_slot import Ready
from reverie_server.facts.due import DueSession
from reverie_server.facts.known_people import known_at
from reverie_server.facts.model import Reading
from reverie_server.facts.near_statements import said_before
from reverie_server.facts.outlived import outlived_facts
from reverie_server.facts.paired import PairedChanges, SentenceVectors
from reverie_server.facts.reading import heard_in, keys_of, message_source, utterance_of
from reverie_server.facts.settle import passage_of
from reverie_server.facts.unread import Round, Unread, as_open, unread_statements
from reverie_server.heuristics.changes.change_pairs import pair_models
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, change_sentences
from reverie_server.heuristics.changes.changed_facts import (
    BY_MEANING,
    GUESSED,
    LIKELY,
    SimilarityLimits,
    has_other_value,
    replacement,
    replacing_fact,
)
from reverie_server.heuristics.changes.changed_values import with_new_number
from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.stated_fact import StatedFact
from reverie_server.llm.generation import EXTRACTIVE

log = structlog.get_logger()
SQL = Queries(__file__)
# A sentence is compared with this many facts at most, the newest; with this many that give another value.
MAX_FACTS, MAX_COMPARED = 300, 8
# Of the facts that are nearest by their stored vectors, as many are compared by their text.
MAX_NEAREST = 12
# By the name of the built-in model; without these nothing is read by meaning. In the talk of the ten speakers of
# LoCoMo's development half, in which nothing of the kind changes, no sentence is taken for a change.
LIMITS: Mapping[str, SimilarityLimits] = {
    "all-MiniLM-L6-v2": SimilarityLimits(
        alone=0.42, shared=0.36, choice=0.55, ahead=0.08, valued=0.42, known=frozenset({"english"})
    ),
    "multilingual-e5-small": SimilarityLimits(
        alone=0.44,
        shared=0.43,
        choice=0.55,
        ahead=0.05,
        valued=0.43,
        known=frozenset({"english", "german", "spanish", "chinese"}),
    ),
}


@dataclass(frozen=True, slots=True)
class _Open:
    """A fact that a sentence may replace; `replaced_by` is the sentence that did, when it was read before.

    One that was just read is not stored yet.
    """

    fact: OpenFact
    sha256: bytes
    replaced_by: str | None = None
    is_stored: bool = True

    def can_be_replaced_by(self, change: ChangeSentence) -> bool:
        """Whether it holds when the sentence is said, as far as other sentences say."""
        return self.replaced_by in (None, change.sentence)


@dataclass(frozen=True, slots=True)
class ByMeaning:
    """The facts that were found, and the earlier statements that are facts by them."""

    readings: Sequence[Reading] = ()
    unread: Sequence[Unread] = ()


async def changes_by_meaning(database: Database, ready: Ready | None, given: Round) -> ByMeaning:
    """The facts that take the place of others by what their sentences mean; none where the model is not known for it.

    An earlier statement that is replaced and that was no fact yet is one as well.
    """
    if ready is None or ready.embedder.identity.provider != BUILT_IN_PROVIDER:
        return ByMeaning()
    limits = LIMITS.get(ready.embedder.identity.name)
    if limits is None:
        return ByMeaning()
    model = pair_models().get(ready.embedder.identity.name)
    chars = sum(len(message.content) for session in given.sessions for message in session.messages)
    found = await isolated(partial(_sentences, with_statements=model is not None), given, chars=chars)
    if not found:
        return ByMeaning()
    opened = await _open_facts(database, given)
    found, opened = await isolated(_not_told, found, opened, given, chars=chars)
    unread = await unread_statements(database, given, [change for _, change in found])
    vectors = await _vectors(database, given.place.tenant_id, ready.model_id, [each.sha256 for each in opened])
    embedded = SentenceVectors(ready.embedder)
    said = await said_before(database, given, ready.model_id) if model is not None else None
    paired = PairedChanges(model, embedded, said) if model is not None and said is not None else None
    comparison = _Comparison(embedded, limits, opened, vectors, unread, paired)
    readings: list[Reading] = []
    replaced: list[Unread] = []
    read = dict(zip((session.session_key for session in given.sessions), given.readings, strict=False))
    for session, change in found:
        message = heard_in(session)[change.utterance]
        try:
            changed = await comparison.replacing(change, (session.session_key, message.seq))
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("changes_not_compared", detail=str(error))
            break
        if changed is None:
            continue
        stated, old = changed
        if old is not None:
            replaced.append(old[0])
            readings.append(old[0].reading(old[1]))
        stated = with_new_number(stated, [each.stated for each in read.get(session.session_key, ())])
        keys = keys_of(stated, message.content)
        readings.append(Reading(stated, EXTRACTIVE, keys, messages=message_source(session, message)))
    if paired is not None:
        await _add_overtaken(read, found, paired, opened, readings, replaced)
        readings += await _outlived(database, given, readings, paired)
    return ByMeaning(readings, replaced)


async def _outlived(
    database: Database, given: Round, readings: Sequence[Reading], paired: PairedChanges
) -> list[Reading]:
    try:
        return await outlived_facts(database, given, readings, paired)
    except (EmbedderUnavailable, EmbeddingRejected) as error:
        log.warning("old_talk_not_judged", detail=str(error))
        return []


async def _add_overtaken(
    read: Mapping[int, Sequence[Reading]],
    found: Sequence[tuple[DueSession, ChangeSentence]],
    paired: PairedChanges,
    opened: Sequence[_Open],
    readings: list[Reading],
    replaced: list[Unread],
) -> None:
    """Add what was said long ago, became known now (an old conversation that is imported), and was otherwise since."""
    holding = {each.fact for each in opened}
    newest = {(each.fact.subject, each.fact.predicate): each.fact.said_at for each in opened if each.fact.is_functional}
    for session, change in found:
        message = heard_in(session)[change.utterance]
        stated = [
            as_open(reading.stated)
            for reading in read.get(session.session_key, ())
            if (reading.stated.sentence, reading.stated.said_at) == (change.sentence, change.said_at)
        ]
        facts = [fact for fact in stated if fact in holding]
        is_told = any(newest.get((fact.subject, fact.predicate), fact.said_at) > fact.said_at for fact in facts)
        if is_told or (stated and not facts):
            continue
        statement = Unread(
            session.session_key, session.slice_id, session.session_id, message, change.sentence, change.values
        )
        try:
            overtaken = await paired.overtaken(change, facts, statement)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("changes_not_compared", detail=str(error))
            return
        if overtaken is None:
            continue
        newer, as_change, fact, whole, cue = overtaken
        if whole is not None:
            readings.append(whole.reading(fact))
        keys = keys_of(new := replacement(as_change, fact, cue), newer.message.content)
        readings.append(Reading(new, EXTRACTIVE, keys, messages=newer.source))
        replaced.append(newer)


_Changed = tuple[StatedFact, tuple[Unread, OpenFact] | None]


@dataclass(slots=True)
class _Comparison:
    """Compares sentences with the facts that hold, and with statements in which no fact was read.

    `embedded` has the vectors of a round, of which MAX_SENTENCES and a few facts each bound the number.
    """

    embedded: SentenceVectors
    limits: SimilarityLimits
    opened: Sequence[_Open]
    vectors: Mapping[bytes, Vector]
    unread: Sequence[Unread]
    paired: PairedChanges | None = None
    # The facts that were made of statements, by their messages and sentences.
    made: dict[tuple[int, int, str], OpenFact] = field(default_factory=dict)

    async def replacing(self, change: ChangeSentence, message: tuple[int, int]) -> _Changed | None:
        """The fact that a sentence states in place of another, with the other, where it is a statement in which no fact
        was read. `message` is the session and the number of the sentence's own."""
        found = await self._by_value(change)
        if found is None:
            paired = await self._by_pairs(change, self.paired) if self.paired is not None else None
            alike = await self._by_meaning(change)
            # What similarity alone finds is plain in a talk of few things; of nineteen in long ones seven hold. What a
            # likely pair says, too, is plain.
            is_likely = paired is not None and _is_likely(paired[0])
            found = paired if is_likely and not self._is_same(alike, paired) else alike or paired
        if found is not None:
            stated, old = found
            self.made[(*message, change.sentence)] = as_open(stated)
            if old is not None:
                self.made[old[0].key] = old[1]
        return found

    async def _by_value(self, change: ChangeSentence) -> _Changed | None:
        """What is found by another value of what a sentence is about."""
        if change.values.is_empty:
            return None
        facts = [each.fact for each in self.opened if each.can_be_replaced_by(change)]
        others = await isolated(partial(_with_other_values, change, facts, self.unread, self.made), chars=0)
        if not others:
            return None
        vector = await self._vector(change.said)
        compared = [(float(vector @ await self._vector(fact.text)), fact, unread) for fact, unread in others]
        similarity, fact, unread = max(compared, key=lambda each: (each[0], each[1].said_at))
        if similarity < self.limits.valued:
            return None
        is_new = unread is not None and unread.key not in self.made
        return replacement(change, fact), (unread, fact) if is_new and unread is not None else None

    async def _by_pairs(self, change: ChangeSentence, paired: PairedChanges) -> _Changed | None:
        """What the model of pairs finds."""
        facts = [
            (each.fact, self.vectors[each.sha256])
            for each in self.opened
            if each.sha256 in self.vectors and each.can_be_replaced_by(change)
        ]
        paired.made.update(self.made)
        found = await paired.replaced(change, facts)
        if found is None:
            return None
        fact, unread, cue = found
        return replacement(change, fact, cue), None if unread is None else (unread, fact)

    def _is_same(self, alike: _Changed | None, paired: _Changed | None) -> bool:
        """Whether two ways found the same: a fact, or a sentence as a whole and a fact that was read in it."""
        if alike is None or paired is None:
            return False
        (stated, _), (of_pair, old) = alike, paired
        of_fact = (stated.subject, stated.predicate)
        if old is None:
            return of_fact == (of_pair.subject, of_pair.predicate)
        return any(
            (each.fact.subject, each.fact.predicate, each.fact.text) == (*of_fact, old[1].text) for each in self.opened
        )

    async def _vector(self, text: str) -> Vector:
        """The vector of a sentence in the role of a passage, as the facts have theirs: neither asks for the other."""
        [vector] = await self.embedded.of([text])
        return vector

    async def _by_meaning(self, change: ChangeSentence) -> _Changed | None:
        able = [each for each in self.opened if each.sha256 in self.vectors and each.can_be_replaced_by(change)]
        if not change.tells or not able:
            return None
        vector = await self._vector(change.said)
        # A stored vector is of the fact with the words by which it is searched. The nearest are compared by their text.
        able.sort(key=lambda each: -float(vector @ self.vectors[each.sha256]))
        facts = [each.fact for each in able[:MAX_NEAREST]]
        similarities = [float(vector @ await self._vector(fact.text)) for fact in facts]
        compare = partial(replacing_fact, limits=self.limits)
        stated = await isolated(compare, change, facts, similarities, chars=0)
        return (stated, None) if stated is not None else None


def _is_likely(stated: StatedFact) -> bool:
    return stated.change is not None and stated.change.cue == LIKELY


def _with_other_values(
    change: ChangeSentence,
    facts: Sequence[OpenFact],
    unread: Sequence[Unread],
    made: Mapping[tuple[int, int, str], OpenFact],
) -> list[tuple[OpenFact, Unread | None]]:
    """What gives another value of what a sentence is about, the newest facts and statements."""
    found: list[tuple[OpenFact, Unread | None]] = [(fact, None) for fact in facts if has_other_value(change, fact)]
    for each in unread:
        fact = made.get(each.key) or each.as_fact(change)
        if has_other_value(change, fact):
            found.append((fact, each))
    return sorted(found, key=lambda each: each[0].said_at)[-MAX_COMPARED:]


def _sentences(given: Round, *, with_statements: bool) -> list[tuple[DueSession, ChangeSentence]]:
    """The sentences of new messages that may tell a change."""
    found: list[tuple[DueSession, ChangeSentence]] = []
    for session in given.sessions:
        messages = heard_in(session)
        is_new = {message.seq for message in session.messages}
        people = known_at(given.acquaintances, session.messages[0].at) if session.messages else {}
        utterances = [utterance_of(message) for message in messages]
        found += [
            (session, change)
            for change in change_sentences(utterances, given.language, people, with_statements=with_statements)
            if messages[change.utterance].seq in is_new
        ]
    return found


def _not_told(
    found: Sequence[tuple[DueSession, ChangeSentence]], opened: Sequence[_Open], given: Round
) -> tuple[list[tuple[DueSession, ChangeSentence]], list[_Open]]:
    """The sentences and the facts without what the words of the sentences tell: the one closes the other by them."""
    stored = [each for each in opened if each.is_stored and each.replaced_by is None]
    read = [reading.stated for of_one in given.readings for reading in of_one]
    timed = [_timed_open(number, each.fact) for number, each in enumerate(stored)]
    timed += [_timed(number, fact) for number, fact in enumerate(read, len(stored))]
    closures = resolve(timed).closures
    closing = {closure.new - len(stored) for closure in closures if closure.new is not None}
    told = {(read[number].sentence, read[number].said_at) for number in closing if number >= 0}
    closed = {stored[closure.old].sha256 for closure in closures if closure.old < len(stored)}
    return (
        [(session, change) for session, change in found if (change.sentence, change.said_at) not in told],
        [each for each in opened if each.sha256 not in closed],
    )


async def _open_facts(database: Database, given: Round) -> list[_Open]:
    """The facts that hold, the stored ones and those just read."""
    async with database.tenant(given.place.tenant_id) as connection:
        slice_ids = await own_slices(connection, given.place)
        params = {
            "tenant_id": given.place.tenant_id,
            "slice_ids": slice_ids,
            "cues": [BY_MEANING, LIKELY, GUESSED],
            "limit": MAX_FACTS,
        }
        rows = await (await connection.execute(SQL["open_facts"], params)).fetchall()
    stored = [
        _Open(
            OpenFact(
                subject=row["subject"],
                predicate=row["predicate"],
                object=row["object"],
                text=row["text"],
                said_at=row["said_at"],
                is_functional=row["is_functional"],
                about_user=row["about_user"],
                category=row["category"],
            ),
            bytes(row["passage_sha256"]),
            row["replaced_by"],
        )
        for row in rows
    ]
    read = [reading.stated for of_one in given.readings for reading in of_one if not reading.is_copy]
    closed = {closure.old for closure in resolve([_timed(number, fact) for number, fact in enumerate(read)]).closures}
    known = {each.sha256 for each in stored}
    fresh = [
        _Open(as_open(fact), sha256, is_stored=False)
        for number, fact in enumerate(read)
        if number not in closed
        and (fact.change is None or fact.change.kind != "ends")
        and (sha256 := passage_of(fact, given.language).sha256) not in known
    ]
    return [*stored, *fresh]


async def _vectors(database: Database, tenant_id: str, model_id: int, hashes: Sequence[bytes]) -> dict[bytes, Vector]:
    params: dict[str, Any] = {"tenant_id": tenant_id, "model_id": model_id, "hashes": sorted(set(hashes))}
    async with database.tenant(tenant_id) as connection:
        rows = await (await connection.execute(SQL["vectors"], params)).fetchall()
    return {bytes(row["passage_sha256"]): row["embedding"].to_numpy() for row in rows}


def _timed_open(number: int, fact: OpenFact) -> TimedFact:
    return TimedFact(number, fact.subject, fact.predicate, fact.object, fact.text, fact.said_at, fact.is_functional)


def _timed(number: int, fact: StatedFact) -> TimedFact:
    names = ("subject", "predicate", "object", "text", "is_functional", "change", "about_user")
    return TimedFact(number, at=fact.said_at, **{name: getattr(fact, name) for name in names})
