"""Entities and relations of a conversation without a model: little, and hardly ever wrong. Pure.

Only the user is read, sentence by sentence, and only what is stated: questions, conditions, negations, code and
quotations are passed over. The types of names come from the graph, from words beside them ("the Atlas project", "my
sister Ada"), then from their place in a phrase; a name without any of these is no entity.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reverie_server.graph.answers import Known, parse_instant
from reverie_server.graph.model import StatedEntity, StatedRelation
from reverie_server.graph.names import external_id_of, name_key
from reverie_server.graph.phrases import NAME, Phrase, Phrases, all_phrases
from reverie_server.heuristics.cues import cues_of, folded
from reverie_server.heuristics.salience import asks, sentences
from reverie_server.sessions.model import Message
from reverie_server.text.graph_terms import EntityType, RelationName

# The confidence in a phrase, in a thing that is only named, and in the user's own name.
STATED, NAMED, OWN_NAME = 0.8, 0.75, 0.95
SPEAKER = "user"
MAX_THINGS = 20
_NAMES = re.compile(NAME)
_SINCE = re.compile(r"\b(?:since|seit|desde|depuis)\s+(\d{4}(?:-\d{2}){0,2})\b")
_URL = re.compile(r"https?://[^\s<>\"'`?#]+")
_PATH = re.compile(r"(?<![\w/.:@-])(?:~?/|\.{1,2}/)?[\w.-]++(?:/[\w.-]+)+\.[a-z]\w{0,4}\b")
_TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b")
_QUOTED = re.compile(r"`([A-Za-z_][\w.:-]{2,60})`")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|_|\w\.\w|::")
_THINGS: tuple[tuple[re.Pattern[str], EntityType], ...] = ((_URL, "document"), (_PATH, "document"), (_TICKET, "task"))


def extract(
    messages: Sequence[Message], known: Sequence[Known], *, with_speaker: bool
) -> tuple[list[StatedEntity], list[StatedRelation]]:
    """The entities and relations that the user states, in the order of the messages.

    `with_speaker`: the user is one person, who is an entity where a message says something of them.
    """
    of_user = [message for message in messages if message.role == "user"]
    cues = cues_of(folded("\n".join(message.content for message in of_user)))
    phrases = all_phrases().get(cues.language if cues else "english")
    stated = [
        (message, sentence)
        for message in of_user
        for sentence in sentences(message.content)
        if not asks(sentence, cues) and (phrases is None or not phrases.hedges.search(folded(sentence)))
    ]
    reader = _Reader(known)
    if phrases is not None:
        for _, sentence in stated:
            reader.tell_types(phrases, sentence)
        speaker = _speaker(phrases, stated) if with_speaker else None
        for message, sentence in stated:
            reader.read(phrases, message, sentence, speaker)
    for message, sentence in stated:
        reader.name_things(message, sentence)
    return reader.entities, reader.relations


def _speaker(phrases: Phrases, stated: Sequence[tuple[Message, str]]) -> StatedEntity:
    """The user as an entity, by name where a message tells it."""
    for _, sentence in stated:
        match = phrases.named.search(sentence)
        if match and (name := _proper(match["name"], phrases)):
            return StatedEntity(SPEAKER, name, "person", OWN_NAME, (), aliases=("User",))
    return StatedEntity(SPEAKER, "User", "person", STATED, ())


class _Reader:
    """Collects entities and relations. `_stated_types` follow from a word beside a name, `_guessed_types` from the
    place of the name in a phrase alone."""

    def __init__(self, known: Sequence[Known]) -> None:
        self._known = {key: e for e in known for name in (e.name, *e.aliases) if (key := name_key(name))}
        self._stated_types: dict[str, EntityType] = {}
        self._guessed_types: dict[str, EntityType] = {}
        self._things = 0
        self._entities: dict[str, StatedEntity] = {}
        self._heard: dict[str, set[int]] = {}
        self._relations: dict[StatedRelation, None] = {}

    @property
    def entities(self) -> list[StatedEntity]:
        """The entities, each with the numbers of the messages that mention it."""
        return [
            replace(entity, seqs=tuple(sorted(self._heard[external_id])))
            for external_id, entity in self._entities.items()
        ]

    @property
    def relations(self) -> list[StatedRelation]:
        """The relations between the entities, each once."""
        return list(self._relations)

    def tell_types(self, phrases: Phrases, sentence: str) -> None:
        """Note the types of names by the words beside them and, less certain, by the phrases they are subject of."""
        for match in phrases.typed.finditer(sentence):
            if name := _proper(match["name"] or match["named"], phrases):
                self._stated_types.setdefault(name_key(name), phrases.type_words[match["after"] or match["before"]])
        for pattern in (phrases.kin, phrases.superiors, phrases.colleagues, phrases.named):
            for match in pattern.finditer(sentence):
                if name := _proper(match["name"], phrases):
                    self._stated_types.setdefault(name_key(name), "person")
        for phrase in phrases.phrases:
            if not phrase.by_speaker and not phrase.needs_known_type and phrase.source is not None:
                for match in phrase.pattern.finditer(sentence):
                    if name := _proper(match["subject"], phrases):
                        self._guessed_types.setdefault(name_key(name), phrase.source)

    def read(self, phrases: Phrases, message: Message, sentence: str, speaker: StatedEntity | None) -> None:
        """Add the relations that a sentence states, and a speaker it names; without a speaker those of others."""
        if speaker is not None:
            of_mine: tuple[tuple[re.Pattern[str], RelationName], ...] = (
                (phrases.kin, "related_to"),
                (phrases.superiors, "reports_to"),
                (phrases.colleagues, "collaborates_with"),
            )
            for pattern, name in of_mine:
                for match in pattern.finditer(sentence):
                    self._of_mine(phrases, message, match, speaker, name)
            if phrases.named.search(sentence):
                self._hear(speaker, message.seq)
        for phrase in phrases.phrases:
            if speaker is None and phrase.by_speaker:
                continue
            for match in phrase.pattern.finditer(sentence):
                subject = speaker if phrase.by_speaker else self._subject(phrases, phrase, match["subject"])
                if subject is not None:
                    self._state(phrases, phrase, match, (message, sentence), subject)

    def name_things(self, message: Message, sentence: str) -> None:
        """Add addresses, paths, tickets and identifiers as entities by name, without relations."""
        plain = sentence.replace("./", "")
        found = [(match[0].rstrip(".,;:!)"), kind) for thing, kind in _THINGS for match in thing.finditer(sentence)]
        quoted: list[tuple[str, EntityType]] = [
            (match[1], "technology") for match in _QUOTED.finditer(sentence) if _IDENTIFIER.search(match[1])
        ]
        for name, kind in [*found, *quoted]:
            if self._things >= MAX_THINGS:
                return
            inside = kind == "document" and not name.startswith("http") and f"/{name}" in plain
            if len(name) <= 150 and not inside:
                self._things += external_id_of(name) not in self._entities
                self._hear(self._entity(name, kind, NAMED), message.seq)

    def _subject(self, phrases: Phrases, phrase: Phrase, written: str) -> StatedEntity | None:
        name = _proper(written, phrases)
        if name is None:
            return None
        kind = self._type_of(name)
        if phrase.needs_known_type and kind is None:
            return None
        if phrase.source is not None and kind not in (None, phrase.source):
            # A thing does not live anywhere; but whatever depends on something may be of any type.
            return self._entity(name, kind, STATED) if phrase.source == "project" and kind != "person" else None
        return self._entity(name, kind or phrase.source or "concept", STATED)

    def _state(
        self, phrases: Phrases, phrase: Phrase, match: re.Match[str], source: tuple[Message, str], subject: StatedEntity
    ) -> None:
        """Add the relation of a phrase from `subject` to each named object; objects of an unfit type are left out."""
        message, sentence = source
        type_word = match["after"] or match["before"]
        for written in _NAMES.findall(match["objects"]):
            name = _proper(written, phrases)
            if name is None or name_key(name) == name_key(subject.name):
                continue
            kind = phrases.type_words[type_word] if type_word else self._type_of(name) or phrase.target
            if phrase.target in ("location", "organization") and kind not in (phrase.target, "organization"):
                continue
            self._relate(subject, phrase.name, self._entity(name, kind, STATED), message, _since(sentence), phrase.ends)

    def _of_mine(
        self, phrases: Phrases, message: Message, match: re.Match[str], speaker: StatedEntity, name: RelationName
    ) -> None:
        """Add a relation between the speaker and a person called theirs: kin, superior or colleague."""
        other = _proper(match["name"], phrases)
        if other is None or self._type_of(other) != "person" or name_key(other) == name_key(speaker.name):
            return
        entity = self._entity(other, "person", STATED)
        description = f"{match['word']} of {speaker.name}" if name == "related_to" else entity.description
        if name == "related_to":
            self._relate(replace(entity, description=description), name, speaker, message, None, ends=False)
        else:
            self._relate(speaker, name, entity, message, None, ends=False)

    def _relate(
        self,
        source: StatedEntity,
        name: RelationName,
        target: StatedEntity,
        message: Message,
        since: str | None,
        ends: bool,
    ) -> None:
        for entity in (source, target):
            self._hear(entity, message.seq)
        began = None if ends else parse_instant(since) or message.at
        until = message.at if ends else None
        seqs = (message.seq,)
        relation = StatedRelation(source.external_id, name, target.external_id, STATED, seqs, message.at, began, until)
        self._relations.setdefault(relation)

    def _hear(self, entity: StatedEntity, seq: int) -> None:
        """Add an entity, or merge it into the one with its external id, and note that message `seq` mentions it."""
        known = self._entities.get(entity.external_id)
        self._heard.setdefault(entity.external_id, set()).add(seq)
        best = entity if known is None or entity.confidence > known.confidence else known
        described = entity.description or (known.description if known else "")
        self._entities[entity.external_id] = replace(best, description=described)

    def _entity(self, name: str, kind: EntityType, confidence: float) -> StatedEntity:
        known = self._known.get(name_key(name))
        if known is not None:
            return StatedEntity(known.external_id, known.name, known.type, confidence, (), known_id=known.entity_id)
        return StatedEntity(external_id_of(name), name, kind, confidence, ())

    def _type_of(self, name: str) -> EntityType | None:
        key = name_key(name)
        if key in self._known:
            return self._known[key].type
        return self._stated_types.get(key) or self._guessed_types.get(key)


def _since(sentence: str) -> str | None:
    match = _SINCE.search(sentence)
    return match[1] if match else None


def _proper(written: str, phrases: Phrases) -> str | None:
    """The name in words that are written like one, without leading words of no name; None if it is none."""
    words = written.split()
    while words and _is_no_name(words[0], phrases):
        if phrases.names_first:
            return None
        words.pop(0)
    return None if not words or any(_is_no_name(word, phrases) for word in words) else " ".join(words)


def _is_no_name(word: str, phrases: Phrases) -> bool:
    return folded(word).partition("'")[0].strip(".") in phrases.not_names
