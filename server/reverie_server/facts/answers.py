"""What a model is shown of a conversation and of stored facts, and what of its answer is accepted. Pure.

An answer is a proposal: what the messages do not say, and a number that was not shown, is left out. The facts that were
read without a model stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import get_args

from reverie_indexer.text.analyse import fold
from reverie_server.facts.model import MessageSource, Reading
from reverie_server.facts.reading import ReadFacts
from reverie_server.heuristics.fact_grammar.terms import all_content_terms
from reverie_server.heuristics.fact_sentences import keyed_sentences, sentence_key
from reverie_server.heuristics.grounding import Sources, refusal
from reverie_server.heuristics.grounding_words import content_of
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, Category, StatedFact, Utterance
from reverie_server.llm.answers import Facts, FactStatement
from reverie_server.llm.generation import Generation
from reverie_server.sessions.model import Message
from reverie_server.text.fences import neutralise

# How many stored facts a model is shown with a part of a conversation.
MAX_STORED = 50
# Of these, how many are there for the words that they share with it, and how many for what it means; the others are
# what one may say in other words. Among 140 to 450 statements of the development lives, what a conversation ends is
# among 25 by words for .59 to .76 of them, in four languages, and with 15 by meaning for .72 to .82.
MAX_BY_WORDS, MAX_BY_MEANING = 25, 15
# Of one message, of the messages of one question, and of a stored fact.
MAX_MESSAGE_CHARS, MAX_QUESTION_CHARS, MAX_FACT_CHARS = 4000, 24_000, 500
_CONFIDENCE = 0.8
_NAMES = {"user": "User", "assistant": "Assistant"}
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class StoredFact:
    """A fact that holds, as a model is shown it. `is_decided`: a person confirmed or closed it."""

    fact_id: int
    subject: str
    predicate: str
    object: str
    text: str
    category: Category
    is_functional: bool
    is_request: bool
    about_user: bool
    said_at: datetime
    valid_from: datetime
    is_decided: bool


@dataclass(frozen=True, slots=True)
class AnswerBasis:
    """What an answer is checked against: messages of a session, the facts that were shown, and what is forgotten."""

    session_key: int
    session_id: str
    messages: Sequence[Message]
    stored: Sequence[StoredFact]
    clean: Callable[[str, datetime], str]
    read_facts: ReadFacts
    language: str = "english"


def nearest(
    stored: Sequence[StoredFact], messages: Sequence[Message], near: Sequence[int] = (), limit: int = MAX_STORED
) -> list[StoredFact]:
    """The facts that share the rarest words with a conversation; then those that are `near` in meaning, by their ids;
    then those of which one holds at a time, then the newest.

    `stored` has the newest first, and of equals the newest comes first; `near` has the nearest first.
    """
    said = {word for message in messages for word in _words(message.content)}
    words_of = [_words(f"{fact.subject} {fact.predicate} {fact.object} {fact.text}") for fact in stored]
    counts: dict[str, int] = {}
    for words in words_of:
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    scored = [
        (sum(1 / counts[word] for word in words & said), fact) for fact, words in zip(stored, words_of, strict=True)
    ]
    found = sorted((each for each in scored if each[0] > 0), key=lambda each: -each[0])
    chosen = {fact.fact_id: fact for _, fact in found[: min(limit, MAX_BY_WORDS)]}
    by_id = {fact.fact_id: fact for fact in stored}
    others = [fact_id for fact_id in near if fact_id in by_id and fact_id not in chosen]
    chosen |= {fact_id: by_id[fact_id] for fact_id in others[: min(limit - len(chosen), MAX_BY_MEANING)]}
    for fact in sorted(stored, key=lambda each: not each.is_functional):
        if len(chosen) >= limit:
            break
        chosen.setdefault(fact.fact_id, fact)
    return list(chosen.values())


def first_question(messages: Sequence[Message]) -> Sequence[Message]:
    """The first messages that fit into one question; at least one, where there is one."""
    chars = 0
    for index, message in enumerate(messages):
        chars += min(len(message.content), MAX_MESSAGE_CHARS)
        if index and chars > MAX_QUESTION_CHARS:
            return messages[:index]
    return messages


def stored_lines(stored: Sequence[StoredFact]) -> str:
    """Stored facts with their numbers and days, one a line."""
    return "\n".join(
        f"{fact.fact_id} | {fact.said_at.astimezone(UTC).date().isoformat()} | {_one_line(fact.text[:MAX_FACT_CHARS])}"
        for fact in stored
    )


def numbered(messages: Sequence[Message]) -> str:
    """The conversation with the number and the day (UTC) of each message, oldest first."""
    return "\n".join(
        f"[{message.seq}] ({message.at.astimezone(UTC).date().isoformat()}) {_NAMES[message.role]}: "
        f"{_one_line(message.content[:MAX_MESSAGE_CHARS])}"
        for message in messages
        if message.role in _NAMES
    )


def readings_of(answer: Facts, generation: Generation, basis: AnswerBasis) -> list[Reading]:
    """The statements of an answer that the messages make, as facts with their source and operation."""
    sources = Sources(basis.messages)
    by_seq = {message.seq: message for message in basis.messages}
    by_id = {fact.fact_id: fact for fact in basis.stored}
    found = [_reading(given, generation, basis, sources, by_seq, by_id) for given in answer.statements]
    return [reading for reading in found if reading is not None]


def _reading(
    given: FactStatement,
    generation: Generation,
    basis: AnswerBasis,
    sources: Sources,
    by_seq: Mapping[int, Message],
    by_id: Mapping[int, StoredFact],
) -> Reading | None:
    said_in = [by_seq[seq] for seq in sorted(set(given.messages)) if seq in by_seq]
    of_fact = by_id.get(given.fact) if given.fact is not None else None
    if not any(message.role == "user" for message in said_in) or (given.operation != "add" and of_fact is None):
        return None
    message = [message for message in said_in if message.role == "user"][-1]
    if not _is_allowed(given, sources, lambda text: basis.clean(text, message.at)):
        return None
    operation = given.operation
    stated = _stated(given, message, basis)
    if operation in ("replaces", "ends") and of_fact is not None:
        # A fact cannot take its own place, nor that of a later one.
        if of_fact.said_at >= message.at or sentence_key(of_fact.text) == sentence_key(given.text):
            return None
        # What a person decided is not undone by a model.
        is_plain = not of_fact.is_decided and _may_close(stated, of_fact, said_in)
        operation = operation if is_plain else "add"
    twin = of_fact if operation == "same" else _twin(stated, basis.stored)
    if operation == "same" and twin is not None and not _is_same(given, twin):
        return None
    if operation in ("replaces", "ends") and twin is of_fact:
        return None
    source = MessageSource(basis.session_key, basis.session_id, (message.seq,), (message.message_id or "",))
    return Reading(
        _of_stored(twin, message) if twin is not None else stated,
        generation,
        _keys(given.text, message),
        messages=source,
        operation=operation,
        of_fact_id=of_fact.fact_id if of_fact is not None and operation != "add" else None,
    )


def _is_allowed(given: FactStatement, sources: Sources, clean: Callable[[str], str]) -> bool:
    """Whether the messages say it, it is no order, and nothing of it is forgotten."""
    fields = (given.subject.strip(), given.predicate.strip(), given.object.strip())
    if not all(fields) or any(len(field) > MAX_FIELD_CHARS for field in fields):
        return False
    if clean(given.text).strip() != given.text.strip() or clean(given.object).strip() != given.object.strip():
        return False
    if refusal(given.text, sources, about_user=True) is not None:
        return False
    if fields[0].casefold() != SELF and sources.why_not(fields[0], about_user=True) is not None:
        return False
    return sources.why_not(fields[2], about_user=True) is None


def _is_same(given: FactStatement, stored: StoredFact) -> bool:
    """Whether a statement is of the user or not, as the fact that it is said to be is, has half of the words of its
    value, and denies no more than it does."""
    value = _words(stored.object)
    is_of_both = (given.subject.strip().casefold() == SELF) == (stored.subject == SELF)
    shared = len(_words(f"{given.object} {given.text}") & value)
    is_denied = content_of(given.text).is_negative != content_of(stored.text).is_negative
    return is_of_both and not is_denied and shared > 0 and 2 * shared >= len(value)


def _may_close(stated: StatedFact, old: StoredFact, said_in: Sequence[Message]) -> bool:
    """Whether a statement may be about what a fact says: the user's messages name its value, or both are about the same
    of the same."""
    said = {word for message in said_in if message.role == "user" for word in _words(message.content)}
    if (_words(old.object) - _words(old.subject)) & said:
        return True
    if fold(stated.subject) != fold(old.subject):
        return False
    is_of_kind = old.is_functional and old.category == stated.category
    return is_of_kind or bool(_words(stated.predicate) & _words(f"{old.predicate} {old.text}"))


def _twin(stated: StatedFact, stored: Sequence[StoredFact]) -> StoredFact | None:
    """The stored fact with the very words of a statement, or of the same with the same value."""
    key, fields = sentence_key(stated.text), _folded(stated)
    return next((fact for fact in stored if sentence_key(fact.text) == key or _folded(fact) == fields), None)


def _folded(fact: StatedFact | StoredFact) -> tuple[str, str, str]:
    return fold(fact.subject), fold(fact.predicate), fold(fact.object)


def _keys(text: str, message: Message) -> frozenset[bytes]:
    """The keys of a statement, and of the sentence of the message that shares most, and over half, of its words."""
    words = _words(text)
    best, most = None, len(words) / 2
    for span in keyed_sentences(message.content):
        shared = len(words & _words(message.content[span.start : span.end]))
        if shared > most:
            best, most = span.key, shared
    return frozenset({sentence_key(text)} | ({best} if best is not None else set()))


def _stated(given: FactStatement, message: Message, basis: AnswerBasis) -> StatedFact:
    """The statement with its own fields; with those of plain words, where these say the same of the same value.

    What is said later in plain words then finds it.
    """
    is_self = given.subject.strip().casefold() == SELF
    subject, value = SELF if is_self else given.subject.strip(), given.object.strip()
    plain = [
        fact
        for fact in basis.read_facts([Utterance(given.text, message.at)], basis.language)
        if fold(fact.subject) == fold(subject) and fold(fact.object) == fold(value)
    ]
    if len(plain) == 1:
        return replace(plain[0], sentence=given.text, text=given.text, change=None)
    category: Category = next((each for each in get_args(Category) if each == given.category), "general")
    return StatedFact(
        utterance=0,
        sentence=given.text,
        text=given.text,
        subject=subject,
        predicate=given.predicate.strip(),
        object=value,
        category=category,
        said_at=message.at,
        valid_from=message.at,
        confidence=_CONFIDENCE,
        about_user=is_self,
    )


def _of_stored(fact: StoredFact, message: Message) -> StatedFact:
    return StatedFact(
        utterance=0,
        sentence=fact.text,
        text=fact.text,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        category=fact.category,
        said_at=message.at,
        # What is said of a later time is said of it again.
        valid_from=max(message.at, fact.valid_from),
        confidence=_CONFIDENCE,
        is_functional=fact.is_functional,
        is_request=fact.is_request,
        about_user=fact.about_user,
    )


def _words(text: str) -> frozenset[str]:
    """The words by which texts are compared, as stems; those that say little only where there are no others."""
    plain = text.replace("_", " ")
    return all_content_terms(plain) or frozenset(fold(plain).split())


def _one_line(text: str) -> str:
    return _SPACE.sub(" ", neutralise(text)).strip()
