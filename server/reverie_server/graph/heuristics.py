"""Entities and relations of a conversation without a model: little, and hardly ever wrong. Pure.

Only the user is read, sentence by sentence, and only what is stated: questions, conditions, negations, code and
quotations are passed over. The types of names come from the graph, from words beside them ("the Atlas project", "my
sister Ada"), then from their place in a phrase; a name without any of these is no entity.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reverie_server.graph import clauses, departures, unspaced
from reverie_server.graph.answers import Known, parse_instant
from reverie_server.graph.claims import ROLE_RELATIONS, Claim, HasRole, Leaves, Names, Ref, Relates, Succeeds
from reverie_server.graph.model import SPEAKER, StatedEntity, StatedRelation
from reverie_server.graph.names import external_id_of, name_key
from reverie_server.graph.people import NAMED, OWN_NAME, STATED, CurrentFact, People
from reverie_server.graph.phrases import all_phrases
from reverie_server.heuristics.cues import Cues, cues_of, folded
from reverie_server.heuristics.fact_times import time_to_come
from reverie_server.heuristics.salience import asks, sentences
from reverie_server.sessions.model import Message
from reverie_server.text.graph_terms import EntityType, RelationName

MAX_THINGS = 20
_SINCE = re.compile(r"\b(?:since|seit|desde|depuis)\s+(\d{4}(?:-\d{2}){0,2})\b")
_URL = re.compile(r"https?://[^\s<>\"'`?#]+")
_PATH = re.compile(r"(?<![\w/.:@-])(?:~?/|\.{1,2}/)?[\w.-]++(?:/[\w.-]+)+\.[a-z]\w{0,4}\b")
_TICKET = re.compile(r"\b[A-Z][A-Z0-9]{1,9}-\d{1,6}\b")
_QUOTED = re.compile(r"`([A-Za-z_][\w.:-]{2,60})`")
_IDENTIFIER = re.compile(r"[a-z][A-Z]|_|\w\.\w|::")
_THINGS: tuple[tuple[re.Pattern[str], EntityType], ...] = ((_URL, "document"), (_PATH, "document"), (_TICKET, "task"))


@dataclass(frozen=True, slots=True)
class _Language:
    """How a language is read: its claims, the speaker's own name, and groups of words for roles."""

    claims_of: Callable[[str], list[Claim]]
    own_name: Callable[[str], str | None]
    role_groups: dict[str, str]
    of_user: str
    names_in: Callable[[str], list[str]]


def extract(
    messages: Sequence[Message], known: Sequence[Known], *, with_speaker: bool
) -> tuple[list[StatedEntity], list[StatedRelation]]:
    """The entities and relations that the user states, in the order of the messages.

    `with_speaker`: the user is one person, who is an entity where a message says something of them.
    """
    of_user = [message for message in messages if message.role == "user"]
    cues = cues_of(folded("\n".join(message.content for message in of_user)))
    stated = [
        (message, sentence)
        for message in of_user
        for sentence in sentences(message.content)
        if not asks(sentence, cues)
    ]
    language = _language_of(cues, [sentence for _, sentence in stated])
    if language is None:
        reader = _Reader(People(known, None))
    else:
        claims_of = [(message, sentence, language.claims_of(sentence)) for message, sentence in stated]
        speaker = _speaker(language, stated) if with_speaker else None
        reader = _Reader(People(known, speaker, language.role_groups, _descriptions()), language)
        for _, _, claims in claims_of:
            reader.tell_types(claims)
        for message, sentence, claims in claims_of:
            if language.own_name(sentence) and speaker is not None:
                reader.hear(speaker, message.seq)
            reader.read(message, sentence, claims)
    for message, sentence in stated:
        reader.name_things(message, sentence)
    return reader.entities, reader.relations


def _language_of(cues: Cues | None, stated: Sequence[str]) -> _Language | None:
    """The language that the cues tell, or, where the sentences state nothing in it, the first in which they do.

    Short texts are taken for another language now and then. None for a language that is not read.
    """
    first = _language(cues.language) if cues is not None else None
    others = [] if cues is not None and cues.unspaced else list(filter(None, map(_language, all_phrases())))
    states = (one for one in [*([first] if first else []), *others] if any(map(one.claims_of, stated)))
    return next(states, first)


def _descriptions() -> list[str]:
    """How descriptions in any language say what somebody is to the speaker."""
    return [unspaced.of_user(), *(phrases.of_user for phrases in all_phrases().values())]


def _language(name: str) -> _Language | None:
    if name == "chinese":
        return _Language(unspaced.claims_of, unspaced.own_name, {}, unspaced.of_user(), unspaced.names_in)
    phrases = all_phrases().get(name)
    if phrases is None:
        return None
    return _Language(
        lambda sentence: clauses.claims_of(phrases, sentence),
        lambda sentence: clauses.own_name(phrases, sentence),
        dict(phrases.role_groups),
        phrases.of_user,
        lambda sentence: clauses.names_in(phrases, sentence),
    )


def _speaker(language: _Language, stated: Sequence[tuple[Message, str]]) -> StatedEntity:
    """The user as an entity, by name where a message tells it."""
    for _, sentence in stated:
        if name := language.own_name(sentence):
            return StatedEntity(SPEAKER, name, "person", OWN_NAME, (), aliases=("User",))
    return StatedEntity(SPEAKER, "User", "person", STATED, ())


@dataclass(frozen=True, slots=True)
class _Source:
    """The sentence that claims are from."""

    message: Message
    sentence: str


class _Reader:
    """Collects entities and relations. `_stated_types` follow from a word beside a name, `_guessed_types` from the
    place of the name in a phrase alone."""

    def __init__(self, people: People, language: _Language | None = None) -> None:
        self._people = people
        self._of_user = language.of_user if language else "{}"
        self._names_in = language.names_in if language else _no_names
        self._stated_types: dict[str, EntityType] = {}
        self._guessed_types: dict[str, EntityType] = {}
        self._things = 0
        self._heard: dict[str, set[int]] = {}
        self._described: dict[str, str] = {}
        self._relations: dict[tuple[str, RelationName, str, int], StatedRelation] = {}
        # The people whom this sentence and the one before it name.
        self._here: list[str] = []
        self._before: list[str] = []

    @property
    def entities(self) -> list[StatedEntity]:
        """The entities, each with the numbers of the messages that mention it."""
        return [
            replace(
                self._people.entity(external_id),
                seqs=tuple(sorted(seqs)),
                description=self._described.get(external_id, ""),
            )
            for external_id, seqs in self._heard.items()
        ]

    @property
    def relations(self) -> list[StatedRelation]:
        """The relations between the entities; of two about the same in one message the last."""
        return list(self._relations.values())

    def tell_types(self, claims: Sequence[Claim]) -> None:
        """Note the types of names by the words beside them and, less certain, by the phrases they are subject of."""
        for claim in claims:
            match claim:
                case Relates():
                    for ref in (*claim.subjects, *claim.objects):
                        self._tell(ref, ref.type)
                    if claim.source is not None and not claim.needs_source:
                        for ref in claim.subjects:
                            self._guess(ref, claim.source)
                case HasRole():
                    self._tell(claim.who, "person")
                case Leaves():
                    for ref in claim.subjects:
                        self._guess(ref, "person")
                case Names():
                    self._tell(claim.what, claim.what.type)
                case Succeeds():
                    for ref in claim.subjects:
                        self._guess(ref, "person")

    def read(self, message: Message, sentence: str, claims: Sequence[Claim]) -> None:
        """Add what the claims of a sentence state; without a speaker what they state of others."""
        source = _Source(message, sentence)
        self._here = []
        for claim in claims:
            match claim:
                case HasRole():
                    self._has_role(claim, source)
                case Relates():
                    self._relates(claim, source)
                case Leaves():
                    self._leaves(claim, source)
                case Succeeds():
                    self._succeeds(claim, source)
                case Names():
                    self._names(claim, source)
            for ref in _refs(claim):
                if ref.name and self._type_of(ref.name) == "person" and self._people.type_of(ref.name) == "person":
                    entity = self._people.resolve(ref, "person")
                    if entity is not None and entity.external_id not in self._here:
                        self._here.append(entity.external_id)
        # Where a sentence names others too, a pronoun of the next one may stand for any of them.
        claimed_keys = {name_key(ref.name) for claim in claims for ref in _refs(claim)}
        self._before = (
            [] if any(name_key(name) not in claimed_keys for name in self._names_in(sentence)) else self._here
        )

    def hear(self, entity: StatedEntity, seq: int) -> None:
        """Note that message `seq` mentions an entity."""
        self._heard.setdefault(entity.external_id, set()).add(seq)

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
                self._things += external_id_of(name) not in self._heard
                if (entity := self._people.resolve(Ref(name), kind, NAMED)) is not None:
                    self.hear(entity, message.seq)

    def _tell(self, ref: Ref, kind: EntityType | None) -> None:
        if ref.name and kind is not None:
            self._stated_types.setdefault(name_key(ref.name), kind)

    def _guess(self, ref: Ref, kind: EntityType) -> None:
        if ref.name:
            self._guessed_types.setdefault(name_key(ref.name), kind)

    def _type_of(self, name: str) -> EntityType | None:
        key = name_key(name)
        return self._people.type_of(name) or self._stated_types.get(key) or self._guessed_types.get(key)

    def _who(self, ref: Ref, kind: EntityType = "person") -> StatedEntity | None:
        """The entity of a subject, or of somebody as object; None where it is not plain."""
        if ref.is_speaker:
            return self._people.speaker
        if ref.is_pronoun:
            named = self._here or self._before
            return self._people.entity(named[0]) if len(named) == 1 else None
        if ref.name:
            return self._people.resolve(ref, kind)
        return self._people.with_role(ref.role) if ref.role and not ref.of_other else None

    def _has_role(self, claim: HasRole, source: _Source) -> None:
        speaker = self._people.speaker
        # Whoever is nobody's boss here still is a person: "my sister Clara lives in Rome".
        entity = self._people.resolve(claim.who, "person")
        if (
            entity is None
            or entity.type != "person"
            or speaker is None
            or name_key(entity.name) == name_key(speaker.name)
        ):
            return
        self._people.note_role(entity, claim.role)
        name = ROLE_RELATIONS[claim.role.kind]
        if name == "related_to":
            self._described[entity.external_id] = self._of_user.format(claim.role.word)
            self._state(entity, name, speaker, source, ended=claim.ended)
        else:
            self._state(speaker, name, entity, source, ended=claim.ended)

    def _relates(self, claim: Relates, source: _Source) -> None:
        subjects = [self._subject(claim, ref) for ref in claim.subjects]
        for subject in filter(None, subjects):
            targets = filter(None, (self._object(claim, ref) for ref in claim.objects))
            for target in targets:
                if name_key(subject.name) != name_key(target.name):
                    self._state(subject, _relation_to(target, claim), target, source, ended=claim.ended)
            if claim.was is not None and claim.name == "uses" and self._people.is_named(claim.was.name):
                was = self._people.resolve(claim.was, "technology")
                if was is not None and was.type != "person":
                    self._state(subject, "uses", was, source, ended=True)

    def _subject(self, claim: Relates, ref: Ref) -> StatedEntity | None:
        if not ref.name:
            entity = self._who(ref)
            return entity if claim.source in (None, "person") else None
        kind = ref.type or self._type_of(ref.name)
        if claim.needs_source and kind is None:
            return None
        if claim.source is not None and kind not in (None, claim.source):
            # A thing does not live anywhere; but whatever depends on something may be of any type.
            return self._people.resolve(ref, kind) if kind and claim.source == "project" and kind != "person" else None
        return self._people.resolve(ref, kind or claim.source or "concept")

    def _object(self, claim: Relates, ref: Ref) -> StatedEntity | None:
        """The entity of an object; None for one of an unfit type."""
        if not ref.name:
            return self._who(ref) if claim.target == "person" else None
        stated_type = ref.type or self._type_of(ref.name)
        kind = stated_type or claim.target
        fits = kind == claim.target
        if claim.name == "based_at":
            fits = kind in ("location", "organization", "project")
        elif claim.target == "location":
            fits = kind in ("location", "organization")
        elif claim.target != "person":
            fits = kind != "person" or claim.name in ("manages", "related_to")
        if not fits or (claim.needs_target and stated_type is None):
            return None
        return self._people.resolve(ref, kind)

    def _leaves(self, claim: Leaves, source: _Source) -> None:
        """End what somebody had where they worked."""
        for who in filter(None, map(self._who, claim.subjects)):
            if who.type != "person" or not (ended := departures.ended(self._people, who, claim)):
                continue
            self.hear(who, source.message.seq)
            for fact in ended:
                self._change(fact, source, ended=True)

    def _succeeds(self, claim: Succeeds, source: _Source) -> None:
        """Give a successor what the other had: all of it, what is named, or a role to the speaker."""
        of = self._who(claim.of) if claim.of else None
        comers = list(filter(None, map(self._who, claim.subjects)))
        if len(comers) != 1 or (claim.of and of is None) or comers[0] == of:
            return
        who = comers[0]
        if claim.what:
            for ref in claim.what:
                kind = ref.type or self._type_of(ref.name) or ("project" if of is not None else None)
                target = self._people.resolve(ref, kind) if kind and ref.name and kind != "person" else None
                if target is not None:
                    for fact, is_over in departures.taken_over(self._people, who, of, target):
                        self._change(fact, source, ended=is_over)
        elif of is not None and of.type == "person":
            for end in (who, of):
                self.hear(end, source.message.seq)
            for fact, is_over in departures.succeeded(self._people, who, of, claim.role):
                self._change(fact, source, ended=is_over)

    def _change(self, fact: CurrentFact, source: _Source, *, ended: bool) -> None:
        one, other = self._people.entity(fact.source), self._people.entity(fact.target)
        self._state(one, fact.name, other, source, ended=ended)

    def _names(self, claim: Names, source: _Source) -> None:
        kind = claim.what.type
        if kind is None or self._things >= MAX_THINGS or self._type_of(claim.what.name) not in (None, kind):
            return
        entity = self._people.resolve(claim.what, kind, NAMED)
        if entity is not None:
            self._things += entity.external_id not in self._heard
            self.hear(entity, source.message.seq)

    def _state(
        self, one: StatedEntity, name: RelationName, other: StatedEntity, source: _Source, *, ended: bool
    ) -> None:
        """Add a relation, or its end, as of the message; of the same in one message the last counts."""
        if one.external_id == other.external_id:
            return
        message = source.message
        for entity in (one, other):
            self.hear(entity, message.seq)
        since = _SINCE.search(source.sentence)
        begins, until = time_to_come(source.sentence, other.name, message.at)
        began = None if ended else parse_instant(since[1] if since else None) or begins or message.at
        key = (one.external_id, name, other.external_id, message.seq)
        self._relations.pop(key, None)
        self._relations[key] = StatedRelation(
            *key[:3], STATED, (message.seq,), message.at, began, message.at if ended else until
        )
        fact = CurrentFact(one.external_id, name, other.external_id)
        if ended:
            self._people.end(fact)
        else:
            self._people.begin(fact)


def _relation_to(target: StatedEntity, claim: Relates) -> RelationName:
    """The relation that words for working somewhere mean: one works on a project and belongs to a team."""
    if claim.name != "based_at":
        return claim.name
    return "works_on" if target.type == "project" else "belongs_to" if claim.is_team else "based_at"


def _no_names(_: str) -> list[str]:
    return []


def _refs(claim: Claim) -> list[Ref]:
    match claim:
        case Relates():
            return [*claim.subjects, *claim.objects]
        case HasRole():
            return [claim.who]
        case Leaves():
            return list(claim.subjects)
        case Succeeds():
            return [*claim.subjects, *([claim.of] if claim.of else [])]
        case Names():
            return [claim.what]
