"""Changes told in words that no pattern knows: the facts that they replace, found by the vectors of an embedding model.

What is found is stored as what was read: the same facts, sources and sentences, and `settle` says what holds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import structlog

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.embed.protocol import Vector
from reverie_indexer.errors import EmbedderUnavailable, EmbeddingRejected
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_indexer.model_slot import Ready
from reverie_server.facts.due import DueSession
from reverie_server.facts.known_people import Acquaintance, known_at
from reverie_server.facts.model import Reading
from reverie_server.facts.reading import heard_in, keys_of, message_source, utterance_of
from reverie_server.facts.settle import passage_of
from reverie_server.heuristics.changes.change_sentences import (
    BY_MEANING,
    ChangeSentence,
    OpenFact,
    SimilarityLimits,
    change_sentences,
    replacing_fact,
)
from reverie_server.heuristics.changes.fact_ledger import TimedFact
from reverie_server.heuristics.changes.superseding import resolve
from reverie_server.heuristics.stated_fact import StatedFact
from reverie_server.llm.generation import EXTRACTIVE

log = structlog.get_logger()
SQL = Queries(__file__)
# A sentence is compared with this many facts at most, the newest.
MAX_FACTS = 300
# By the name of the model; without these nothing is read by meaning. In the talk of the ten speakers of LoCoMo's
# development half, in which nothing of the kind changes, no sentence is taken for a change.
LIMITS: Mapping[str, SimilarityLimits] = {
    "all-MiniLM-L6-v2": SimilarityLimits(
        alone=0.42, shared=0.36, choice=0.55, ahead=0.08, known=frozenset({"english"})
    ),
}


@dataclass(frozen=True, slots=True)
class Round:
    """What is read at a time on a slice: its sessions, and for each what was read in it."""

    place: Place
    language: str
    sessions: Sequence[DueSession]
    readings: Sequence[Sequence[Reading]]
    acquaintances: Sequence[Acquaintance] = ()


@dataclass(frozen=True, slots=True)
class _Open:
    """A fact that a sentence may replace; `replaced_by` is the sentence that did, when it was read before.

    One that was just read is not stored yet.
    """

    fact: OpenFact
    sha256: bytes
    replaced_by: str | None = None
    is_stored: bool = True


async def changes_by_meaning(database: Database, ready: Ready | None, given: Round) -> list[Reading]:
    """The facts that take the place of others by what their sentences mean; [] where the model is not known for it."""
    limits = LIMITS.get(ready.embedder.identity.name) if ready is not None else None
    if ready is None or limits is None:
        return []
    chars = sum(len(message.content) for session in given.sessions for message in session.messages)
    found = await isolated(_sentences, given, chars=chars)
    if not found:
        return []
    opened = await _open_facts(database, given)
    found, opened = await isolated(_not_told, found, opened, given, chars=chars)
    vectors = await _vectors(database, given.place.tenant_id, ready.model_id, [each.sha256 for each in opened])
    compared = [each for each in opened if each.sha256 in vectors]
    readings: list[Reading] = []
    for session, change in found:
        able = [each for each in compared if each.replaced_by in (None, change.sentence)]
        try:
            vector = await ready.queries.embed(change.sentence)
        except (EmbedderUnavailable, EmbeddingRejected) as error:
            log.warning("changes_not_compared", detail=str(error))
            break
        similarities = [float(vector @ vectors[each.sha256]) for each in able]
        facts = [each.fact for each in able]
        stated = await isolated(partial(replacing_fact, limits=limits), change, facts, similarities, chars=0)
        if stated is None:
            continue
        messages = heard_in(session)
        message = messages[stated.utterance]
        keys = keys_of(stated, message.content)
        readings.append(Reading(stated, EXTRACTIVE, keys, messages=message_source(session, message)))
    return readings


def _sentences(given: Round) -> list[tuple[DueSession, ChangeSentence]]:
    """The sentences of new messages that may tell a change."""
    found: list[tuple[DueSession, ChangeSentence]] = []
    for session in given.sessions:
        messages = heard_in(session)
        is_new = {message.seq for message in session.messages}
        people = known_at(given.acquaintances, session.messages[0].at) if session.messages else {}
        utterances = [utterance_of(message) for message in messages]
        found += [
            (session, change)
            for change in change_sentences(utterances, given.language, people)
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
        params = {"tenant_id": given.place.tenant_id, "slice_ids": slice_ids, "cue": BY_MEANING, "limit": MAX_FACTS}
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
        _Open(_opened(fact), sha256, is_stored=False)
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


def _opened(fact: StatedFact) -> OpenFact:
    names = ("subject", "predicate", "object", "text", "said_at", "is_functional", "about_user", "category")
    return OpenFact(**{name: getattr(fact, name) for name in names})


def _timed_open(number: int, fact: OpenFact) -> TimedFact:
    return TimedFact(number, fact.subject, fact.predicate, fact.object, fact.text, fact.said_at, fact.is_functional)


def _timed(number: int, fact: StatedFact) -> TimedFact:
    names = ("subject", "predicate", "object", "text", "is_functional", "change", "about_user")
    return TimedFact(number, at=fact.said_at, **{name: getattr(fact, name) for name in names})
