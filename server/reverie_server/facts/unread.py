"""Statements of earlier messages in which no fact was read: what a new sentence gives another value of.

"He gave me the code for the yard gate, 5830" is a fact once somebody says that it is 2714.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie_indexer.database.database import Database
from reverie_indexer.database.queries import Queries
from reverie_indexer.index.slices import own_slices
from reverie_indexer.isolate import isolated
from reverie_indexer.model import Place
from reverie_server.facts.due import DueSession
from reverie_server.facts.known_people import Acquaintance
from reverie_server.facts.model import MessageSource, Reading
from reverie_server.facts.reading import keys_of
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, is_statement, stated_values
from reverie_server.heuristics.changes.values import Values, shared_words, subject_of_both, values_of
from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.fact_grammar.phrases import all_phrases
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.fact_sentences import sentence_key
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, StatedFact
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected

SQL = Queries(__file__)
# Looked through are this many messages, the newest, and for this many words; of each word the newest are read.
MAX_MESSAGES, MAX_WORDS, MAX_OF_WORD = 3_000, 60, 30
# A longer message is pasted, or tells a story.
MAX_BYTES = 8_000
_MAX_CHARS = 300
# One word that two sentences share does not say what both are about.
_FEWEST_SHARED = 2


@dataclass(frozen=True, slots=True)
class Round:
    """What is read at a time on a slice: its sessions, and for each what was read in it."""

    place: Place
    language: str
    sessions: Sequence[DueSession]
    readings: Sequence[Sequence[Reading]]
    acquaintances: Sequence[Acquaintance] = ()


@dataclass(frozen=True, slots=True)
class Unread:
    """A sentence of a user's message with its values, which is no fact."""

    session_key: int
    slice_id: int
    session_id: str
    message: Message
    sentence: str
    values: Values

    @property
    def key(self) -> tuple[int, int, str]:
        """Which sentence it is."""
        return (self.session_key, self.message.seq, self.sentence)

    @property
    def source(self) -> MessageSource:
        """Where it was said."""
        return MessageSource(self.session_key, self.session_id, (self.message.seq,), (self.message.message_id or "",))

    def as_fact(self, change: ChangeSentence) -> OpenFact:
        """The statement as a fact about what it shares with a new sentence."""
        return self.as_fact_about(subject_of_both(self.sentence, shared_words(change.values, self.values)))

    def as_fact_about(self, subject: str) -> OpenFact:
        """The statement as a fact about something."""
        return OpenFact(
            subject=subject[:MAX_FIELD_CHARS],
            predicate="is",
            object=self.sentence.strip(" .!。！")[:MAX_FIELD_CHARS],
            text=self.sentence,
            said_at=self.message.at,
            is_functional=True,
        )

    def as_fact_of_meaning(self, change: ChangeSentence) -> OpenFact:
        """The statement as a fact about what it shares with a sentence that is near in meaning, else about itself."""
        shared = content_terms(self.sentence) & content_terms(change.said)
        subject = subject_of_both(self.sentence, shared) if len(shared) >= _FEWEST_SHARED else self.sentence
        return self.as_fact_about(subject)

    def reading(self, fact: OpenFact) -> Reading:
        """The statement as a fact that was read."""
        stated = StatedFact(
            utterance=0,
            sentence=self.sentence,
            text=fact.text,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            category="general",
            said_at=fact.said_at,
            valid_from=fact.said_at,
            confidence=0.5,
            is_functional=fact.is_functional,
        )
        return Reading(stated, EXTRACTIVE, keys_of(stated, self.message.content), messages=self.source)


def as_open(fact: StatedFact) -> OpenFact:
    """A fact that was just read, as one that holds."""
    names = ("subject", "predicate", "object", "text", "said_at", "is_functional", "about_user", "category")
    return OpenFact(**{name: getattr(fact, name) for name in names})


async def unread_statements(database: Database, given: Round, changes: Sequence[ChangeSentence]) -> list[Unread]:
    """The statements that share a word with sentences that have values, and of which no fact has the value."""
    words = sorted({word for change in changes for word in change.values.searchable})[:MAX_WORDS]
    if not words:
        return []
    async with database.tenant(given.place.tenant_id) as connection:
        slice_ids = (await own_slices(connection, given.place))[:1]
        params: dict[str, Any] = {
            "tenant_id": given.place.tenant_id,
            "slice_ids": slice_ids,
            "words": words,
            "messages": MAX_MESSAGES,
            "of_word": MAX_OF_WORD,
            "bytes": MAX_BYTES,
        }
        rows = await (await connection.execute(SQL["spoken"], params)).fetchall()
        found = await isolated(_valued, rows, given.language, chars=sum(len(row["content"]) for row in rows))
        keys = {sentence_key(each.sentence): each for each in found}
        params = {"tenant_id": given.place.tenant_id, "slice_ids": slice_ids, "keys": list(keys)}
        known = await (await connection.execute(SQL["facts_of"], params)).fetchall()
    read = [(reading.stated.sentence, reading.stated.object) for of_one in given.readings for reading in of_one]
    return await isolated(_without_facts, found, given.language, known, read, chars=0)


def _valued(rows: Sequence[Mapping[str, Any]], language: str) -> list[Unread]:
    return [each for each in statements_of(rows, language) if not each.values.is_empty]


def statements_of(rows: Sequence[Mapping[str, Any]], language: str) -> list[Unread]:
    """The sentences of messages that state something, in languages of which the tables know words."""
    found: list[Unread] = []
    for row in rows:
        names = ("seq", "role", "content", "at", "tokens", "message_id", "extra")
        message = Message(**{name: row[name] for name in names})
        text = own_words(strip_injected(message.content))
        own = cues_of(folded(text[:2000]), all_cues().get(language))
        for span in spoken_sentences(text):
            sentence = text[span.start : span.end].strip()
            cues = cues_of(folded(sentence), own)
            # Of other languages the table of values knows nothing.
            if cues is None or cues.language not in all_phrases() or len(sentence) > _MAX_CHARS:
                continue
            values = stated_values(sentence, cues, may_be_doubtful=True)
            if not values.is_empty or is_statement(sentence, cues, may_be_doubtful=True):
                source = (row["session_key"], row["slice_id"], row["session_id"])
                found.append(Unread(*source, message, sentence, values))
    return found


def _without_facts(
    found: Sequence[Unread], language: str, known: Sequence[Mapping[str, Any]], read: Sequence[tuple[str, str]]
) -> list[Unread]:
    """Those of whose sentence no fact has the value, whether it holds or not: such a fact is compared itself."""
    taken = {bytes(row["sentence_sha256"]) for row in known if _has_value(row["object"], language)}
    taken |= {sentence_key(sentence) for sentence, object_ in read if _has_value(object_, language)}
    return [each for each in found if sentence_key(each.sentence) not in taken]


def _has_value(text: str, language: str) -> bool:
    cues = cues_of(folded(text), all_cues().get(language))
    return not values_of(text, language if cues is None else cues.language).is_empty
