"""The facts that sentences state in words that no pattern reads, by the spans that an embedding model marks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import structlog

from reverie_indexer.embed.local import LocalEmbedder
from reverie_indexer.embed.marks import Mark
from reverie_indexer.isolate import isolated
from reverie_indexer.model_slot import Ready
from reverie_server.facts.due import DueSession
from reverie_server.facts.known_people import Acquaintance, acquaintances_of, known_at, role_names
from reverie_server.facts.model import Reading
from reverie_server.facts.reading import heard_in, keys_of, message_source, utterance_of
from reverie_server.facts.unread import Round
from reverie_server.heuristics.fact_grammar.people import People
from reverie_server.heuristics.marked_facts import PassageToMark, facts_of_marks, passages_to_mark
from reverie_server.heuristics.marked_people import prepare_to_mark
from reverie_server.heuristics.stated_fact import SELF, StatedFact
from reverie_server.llm.generation import Generation

log = structlog.get_logger()
# A page of talk takes some ten seconds. What is left after so many is no talk, and a round has to end.
_SECONDS = 45.0
_TEXTS_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class Marked:
    """What was read of each session, in the order of its sentences with what the model marks; and this `new` alone."""

    readings: Sequence[Sequence[Reading]]
    new: Sequence[Reading] = ()


@dataclass(frozen=True, slots=True)
class _Marks:
    """The marks of texts, and by which model."""

    by_text: Mapping[str, Sequence[Mark]]
    generation: Generation


async def with_marked(ready: Ready | None, given: Round) -> Marked:
    """What was read of the sessions with what their new messages state besides, where the model marks anything.

    Raises EmbedderUnavailable where it cannot be used now.
    """
    if ready is None or not isinstance(ready.embedder, LocalEmbedder):
        return Marked(given.readings)
    chars = sum(len(message.content) for session in given.sessions for message in session.messages)
    passages = await isolated(_passages, given, chars=chars)
    marks = await _marks(ready.embedder, [passage.text for of_one in passages for passage in of_one])
    if not marks:
        return Marked(given.readings)
    run = partial(
        _readings, given, passages, _Marks(marks, Generation("extractive", model=ready.embedder.identity.name))
    )
    return await isolated(run, chars=chars, before_fork=prepare_to_mark)


async def _marks(embedder: LocalEmbedder, texts: Sequence[str]) -> dict[str, list[Mark]]:
    """The marks of texts, by the text, as far as time allows; none where the model marks nothing."""
    found: dict[str, list[Mark]] = {}
    distinct = list(dict.fromkeys(texts))
    deadline = asyncio.get_running_loop().time() + _SECONDS
    for start in range(0, len(distinct), _TEXTS_AT_ONCE):
        some = distinct[start : start + _TEXTS_AT_ONCE]
        marks = await embedder.marks(some)
        if marks is None:
            return {}
        found |= zip(some, marks, strict=True)
        if asyncio.get_running_loop().time() > deadline:
            log.warning("sentences_not_marked", count=len(distinct) - len(found))
            break
    return found


def _passages(given: Round) -> list[list[PassageToMark]]:
    """The passages of the new messages of each session."""
    found = []
    for session in given.sessions:
        messages = heard_in(session)
        is_new = {message.seq for message in session.messages}
        passages = passages_to_mark([utterance_of(message) for message in messages], given.language)
        found.append([passage for passage in passages if messages[passage.utterance].seq in is_new])
    return found


def _readings(given: Round, passages: Sequence[Sequence[PassageToMark]], marks: _Marks) -> Marked:
    readings = list(given.readings)
    new: list[Reading] = []
    acquaintances = list(given.acquaintances)
    for at, (session, of_one) in enumerate(zip(given.sessions, passages, strict=True)):
        found = _of_session(session, acquaintances, of_one, readings[at], marks)
        # As where patterns read a page: each session makes people known to those after it.
        acquaintances += acquaintances_of(reading.stated for reading in readings[at])
        readings[at] = _in_order(session, readings[at], found)
        new += found
    return Marked(readings, new)


def _of_session(
    session: DueSession,
    acquaintances: Sequence[Acquaintance],
    passages: Sequence[PassageToMark],
    read: Sequence[Reading],
    marks: _Marks,
) -> list[Reading]:
    messages = heard_in(session)
    people = People(known_at(acquaintances, session.messages[0].at) if session.messages else {})
    of_messages: dict[int, dict[str, list[StatedFact]]] = {}
    for reading in read:
        of_message = of_messages.setdefault(_seq(reading), {})
        of_message.setdefault(reading.stated.sentence.strip(), []).append(reading.stated)
    heard = iter(read)
    following = next(heard, None)
    found = []
    for passage in passages:
        message = messages[passage.utterance]
        while following is not None and _seq(following) <= message.seq:
            _meet(people, following.stated)
            following = next(heard, None)
        known = of_messages.get(message.seq, {})
        for stated in facts_of_marks(passage, marks.by_text.get(passage.text, ()), known, people):
            keys = keys_of(stated, message.content)
            found.append(Reading(stated, marks.generation, keys, messages=message_source(session, message)))
    return found


def _meet(people: People, stated: StatedFact) -> None:
    """Note whom a fact that patterns read tells of: who somebody is to the user, or is no more."""
    if stated.subject != SELF or stated.predicate not in role_names():
        return
    if stated.change is not None and stated.change.kind == "ends":
        people.forget_role(stated.predicate)
    else:
        people.named(stated.object, stated.predicate, is_single=stated.is_functional)


def _in_order(session: DueSession, read: Sequence[Reading], marked: Sequence[Reading]) -> list[Reading]:
    """Readings by where their sentences stand; of one sentence first what a mark says is over, for what is said beside
    it holds since, then what patterns read."""
    contents = {message.seq: message.content for message in session.messages}

    def place(reading: Reading, rank: int) -> tuple[int, int, int]:
        seq = _seq(reading)
        return seq, contents.get(seq, "").find(reading.stated.sentence.strip()), rank

    ranked = [(place(reading, 1), reading) for reading in read]
    ranked += [(place(reading, 0 if _is_end(reading) else 2), reading) for reading in marked]
    return [reading for _, reading in sorted(ranked, key=lambda each: each[0])]


def _is_end(reading: Reading) -> bool:
    return reading.stated.change is not None and reading.stated.change.kind == "ends"


def _seq(reading: Reading) -> int:
    assert reading.messages is not None
    return reading.messages.seqs[-1]
