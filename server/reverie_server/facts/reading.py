"""Reads the facts that messages and the lines of files state, each with where it stands. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, date, datetime, time
from typing import Protocol
from zoneinfo import ZoneInfo

from reverie_server.facts.due import DueDocument, DueSession
from reverie_server.facts.known_people import Acquaintance, acquaintances_of, known_at
from reverie_server.facts.model import LineSource, MessageSource, Reading
from reverie_server.files.well_known import PROFILE
from reverie_server.heuristics.entries import undated
from reverie_server.heuristics.fact_sentences import copy_keys, sentence_key
from reverie_server.heuristics.profile_labels import stated_by_line
from reverie_server.heuristics.requests.words_of_others import own_words
from reverie_server.heuristics.stated_fact import SELF, Speaker, StatedFact, Utterance
from reverie_server.llm.generation import EXTRACTIVE
from reverie_server.provenance.line_identity import line_sha256
from reverie_server.sessions.model import Message
from reverie_server.text.fences import strip_injected
from reverie_server.text.markdown_blocks import blocks_of, text_of
from reverie_server.text.markdown_edit import lines_of


class ReadFacts(Protocol):
    """Reads the facts that utterances state, in their order."""

    def __call__(
        self, utterances: Sequence[Utterance], language: str, /, *, known_people: Mapping[str, str] | None = None
    ) -> Sequence[StatedFact]:
        """`language` is the expected one; `known_people` (`known_at`) are those of earlier conversations."""


# The hour that a day without a time stands for.
_NOON = time(12)
_IS_OVER = re.compile(r"\(until \d{4}-\d\d-\d\d\??\)[\s.]*+$")
_BLOCKS = frozenset({"item", "paragraph"})


def of_session(
    session: DueSession, language: str, read_facts: ReadFacts, acquaintances: Sequence[Acquaintance] = ()
) -> list[Reading]:
    """The facts that the new messages of a session state; those before them tell who and what is meant.

    So do `acquaintances`, the people of earlier conversations.
    """
    messages = heard_in(session)
    is_new = {message.seq for message in session.messages}
    utterances = [utterance_of(message) for message in messages]
    known = known_at(acquaintances, session.messages[0].at) if session.messages else {}
    return [
        Reading(stated, EXTRACTIVE, keys_of(stated, message.content), messages=message_source(session, message))
        for stated in read_facts(utterances, language, known_people=known)
        for message in [messages[stated.utterance]]
        if message.seq in is_new
    ]


def heard_in(session: DueSession) -> list[Message]:
    """The messages in which facts are read, with those before them, in order."""
    heard = (message for message in (*session.context, *session.messages) if message.seq not in session.of_cron)
    return [message for message in heard if message.role in ("user", "assistant")]


def keys_of(stated: StatedFact, spoken: str) -> frozenset[bytes]:
    """The keys of the copies of what a text says: of its own sentence, and of the statement made of it."""
    return copy_keys(stated.sentence, spoken) | {sentence_key(stated.text)}


def message_source(session: DueSession, message: Message) -> MessageSource:
    """The source of a fact that one message states."""
    return MessageSource(session.session_key, session.session_id, (message.seq,), (message.message_id or "",))


def of_document(
    document: DueDocument,
    language: str,
    zone: ZoneInfo,
    read_facts: ReadFacts,
    acquaintances: Sequence[Acquaintance] = (),
) -> list[Reading]:
    """The facts that the lines of a file state; those that repeat messages are left to these."""
    sources: list[LineSource] = []
    utterances: list[Utterance] = []
    lines = lines_of(document.text)
    heading, level = "", 0
    # The lines of the owner: below the title, or below none; "My wife" has a home and a name of her own.
    own: set[int] = set()
    for block in blocks_of(document.text):
        level = block.level if block.kind == "heading" else level
        above, heading = heading, f"# {block.title}\n" if block.kind == "heading" else ""
        if block.kind not in _BLOCKS:
            continue
        for offset, line in enumerate(text_of(block, lines)):
            sha256 = line_sha256(line)
            # A line that the memory has marked states what held, and is not said anew.
            if not line.strip() or sha256 in document.repeats or _IS_OVER.search(line):
                continue
            number = block.start + offset + 1
            plain, days = undated(line.strip())
            said_at = _at_noon(max(days), zone) if days else _said_at(document, sha256, zone)
            sources.append(LineSource(document.document_id, document.path, number, number, sha256))
            if level <= 1 and offset == 0:
                own.add(len(utterances))
            # What a heading and the line below it state is read of both.
            with_heading = above if block.kind == "paragraph" and offset == 0 else ""
            text = f"{with_heading}{plain or line.strip()}"
            # In a copy of talk somebody else may speak, too.
            is_talk = sha256 in document.made or sha256 in document.copies
            utterances.append(Utterance(own_words(text) if is_talk else text, said_at, "file"))
    known = known_at(acquaintances, max(each.said_at for each in utterances)) if utterances else {}
    read = read_facts(utterances, language, known_people=known)
    if document.path == PROFILE:
        read = _with_labelled(read, utterances, own)
    return [
        Reading(
            stated,
            EXTRACTIVE,
            keys_of(stated, utterances[stated.utterance].text),
            line=source,
            is_copy=source.sha256 in document.copies,
            is_made=source.sha256 in document.made,
            is_undated=source.sha256 in document.undated,
        )
        for stated in read
        for source in [sources[stated.utterance]]
    ]


def _with_labelled(
    read: Sequence[StatedFact], utterances: Sequence[Utterance], own: Collection[int]
) -> list[StatedFact]:
    """What was read, in their order, and of those that are of its owner what the labels of the profile say, where
    patterns read nothing of the owner."""
    known = {stated.utterance for stated in read if stated.subject == SELF}
    labelled = [
        stated
        for index, each in enumerate(utterances)
        if index in own and index not in known
        for stated in stated_by_line(each.text, index, each.said_at)
    ]
    of_labels = {stated.utterance for stated in labelled}
    others = [stated for stated in read if stated.utterance not in of_labels]
    return sorted([*others, *labelled], key=lambda stated: stated.utterance)


def read_all(
    sessions: Sequence[DueSession],
    documents: Sequence[DueDocument],
    language: str,
    zone: ZoneInfo,
    read_facts: ReadFacts,
    acquaintances: Sequence[Acquaintance] = (),
) -> list[list[Reading]]:
    """The facts of each session, then of each file, in their order. Each makes people known to those after it."""
    people = list(acquaintances)
    found: list[list[Reading]] = []
    for session in sessions:
        found.append(of_session(session, language, read_facts, people))
        people += acquaintances_of(reading.stated for reading in found[-1])
    for document in documents:
        found.append(of_document(document, language, zone, read_facts, people))
        people += acquaintances_of(reading.stated for reading in found[-1])
    return found


def utterance_of(message: Message) -> Utterance:
    """A message as facts are read in it, without what was injected."""
    name = message.extra.get("name")
    speaker: Speaker = "user" if message.role == "user" else "assistant"
    return Utterance(strip_injected(message.content), message.at, speaker, name if isinstance(name, str) else None)


def _said_at(document: DueDocument, sha256: bytes, zone: ZoneInfo) -> datetime:
    known = document.said_at.get(sha256)
    if sha256 in document.copies and known is not None:
        return known
    if document.note_day is not None:
        # A line written on the day of its note has the time of writing: two of a day keep their order.
        if known is not None and known.astimezone(zone).date() == document.note_day:
            return known
        return _at_noon(document.note_day, zone)
    return known or document.updated_at


def _at_noon(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, _NOON, zone).astimezone(UTC)
