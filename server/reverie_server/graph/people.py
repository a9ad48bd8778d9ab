"""Who and what the words of a conversation mean: names, roles and pronouns as entities. Pure.

One subject is called many things: "my boss", "Petra", "my new boss Petra Lindqvist". It is one where the words say so.
Two people of one first name are two, and a name that may be either's is nobody's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from reverie_server.graph.answers import Known
from reverie_server.graph.claims import ROLE_RELATIONS, Ref, Role, RoleKind
from reverie_server.graph.model import StatedEntity
from reverie_server.graph.names import external_id_of, name_key
from reverie_server.graph.vocabulary import unique_end
from reverie_server.text.graph_terms import EntityType, RelationName

# The confidence in a phrase, in a thing that is only named, in a fuller name, and in the user's own name.
STATED, NAMED, FULLER_NAME, OWN_NAME = 0.8, 0.75, 0.85, 0.95


@dataclass(frozen=True, slots=True)
class CurrentFact:
    """A relation that holds as far as the graph and the conversation say, by external ids."""

    source: str
    name: RelationName
    target: str


class People:
    """The entities of a conversation and the graph, the facts that hold between them, and roles to the speaker."""

    def __init__(
        self,
        known: Sequence[Known],
        speaker: StatedEntity | None,
        groups: Mapping[str, str] = MappingProxyType({}),
        descriptions: Sequence[str] = (),
    ) -> None:
        """`groups` has for words of roles what they have in common: nobody is of two groups. `descriptions` are how
        descriptions say a role, with `{}` for its word."""
        self.speaker = speaker
        self._groups = groups
        self._descriptions = [text.partition("{}")[::2] for text in descriptions]
        self._entities: dict[str, StatedEntity] = {}
        self._by_key: dict[str, list[str]] = {}
        self._roles: dict[str, dict[str, None]] = {}
        self._words_of: dict[str, set[str]] = {}
        self._role_of: dict[str, RoleKind] = {}
        self._facts: dict[str, dict[CurrentFact, None]] = {}
        if speaker is not None:
            self._entities[speaker.external_id] = speaker
        for entity in known:
            self._know(entity)
        for entity in known:
            for fact in entity.facts:
                self._know(fact.other)
                one, other = entity.external_id, fact.other.external_id
                self.begin(CurrentFact(*(one, fact.name, other) if fact.is_source else (other, fact.name, one)))

    def begin(self, fact: CurrentFact) -> None:
        """Note that a relation holds from here on."""
        self.end(fact)
        if unique_end(fact.name, self._entities[fact.source].type) == "source":
            for earlier in self.facts_of(fact.source):
                if (earlier.source, earlier.name) == (fact.source, fact.name):
                    self.end(earlier)
        for end in (fact.source, fact.target):
            self._facts.setdefault(end, {})[fact] = None
        if self.speaker is not None and fact.target != fact.source:
            for kind, name in ROLE_RELATIONS.items():
                if fact.name == name and self.speaker.external_id in (fact.source, fact.target):
                    other = fact.target if fact.source == self.speaker.external_id else fact.source
                    if other in self._entities and self._entities[other].type == "person":
                        self._role_of.setdefault(other, kind)

    def end(self, fact: CurrentFact) -> None:
        """Note that a relation holds no longer."""
        for end in (fact.source, fact.target):
            self._facts.get(end, {}).pop(fact, None)

    def facts_of(self, external_id: str) -> list[CurrentFact]:
        """The relations that an entity has, as source or target, the oldest first."""
        return list(self._facts.get(external_id, ()))

    def entity(self, external_id: str) -> StatedEntity:
        """The entity of an external id that was resolved before."""
        return self._entities[external_id]

    def type_of(self, name: str) -> EntityType | None:
        """The type of what is known by a name; None for an unknown name or one of several types."""
        types = {self._entities[external_id].type for external_id in self._by_key.get(name_key(name), ())}
        return next(iter(types)) if len(types) == 1 else None

    def is_named(self, name: str) -> bool:
        """Whether graph or conversation have anything by a name."""
        return name_key(name) in self._by_key

    def superior(self) -> StatedEntity | None:
        """The one whom the speaker reports to, by the last that was said."""
        if self.speaker is None:
            return None
        speaker = self.speaker.external_id
        found = [f for f in self.facts_of(speaker) if (f.source, f.name) == (speaker, "reports_to")]
        return self._entities[found[-1].target] if found else None

    def with_role(self, role: Role) -> StatedEntity | None:
        """The one person of that role to the speaker; None where there are several or none is known by name."""
        if role.kind == "superior":
            return self.superior()
        found = self._roles.get(role.word, {})
        return self._entities[next(iter(found))] if len(found) == 1 else None

    def resolve(self, ref: Ref, kind: EntityType, confidence: float = STATED) -> StatedEntity | None:
        """The entity that a name, with the role beside it, means; None where it may be one of several.

        An unknown name is a new entity of `kind`.
        """
        key = name_key(ref.name)
        if not key:
            return None
        namesakes = [self._entities[external_id] for external_id in self._by_key.get(key, ())]
        fitting = [entity for entity in namesakes if ref.type is None or entity.type == ref.type]
        if not fitting and ref.type == "organization":
            # The team of a project goes by its name.
            fitting = [entity for entity in namesakes if entity.type == "project"]
        if len({entity.type for entity in fitting}) > 1:
            fitting = [entity for entity in fitting if entity.type == kind] or fitting
        if kind == "person" or any(entity.type == "person" for entity in fitting):
            fitting = self._of_role(fitting, ref.role)
            if not fitting and " " in key:
                fitting = self._shorter(ref, key)
            if not fitting and namesakes and ref.role:
                return self._add(ref, "person", confidence, is_distinct=True)
        if len(fitting) > 1:
            exact = [entity for entity in fitting if name_key(entity.name) == key]
            fitting = exact if len(exact) == 1 and (" " in key or ref.role) else fitting
        if len(fitting) > 1:
            return None
        if fitting:
            return self._named(fitting[0], ref, confidence)
        return self._add(ref, ref.type or kind, confidence)

    def note_role(self, entity: StatedEntity, role: Role) -> None:
        """Note what an entity is to the speaker."""
        self._role_of[entity.external_id] = role.kind
        if role.kind != "superior":
            self._roles.setdefault(role.word, {})[entity.external_id] = None
            self._words_of.setdefault(entity.external_id, set()).add(role.word)

    def _of_role(self, entities: Sequence[StatedEntity], role: Role | None) -> list[StatedEntity]:
        """Those of some people that may have a role; who has another one is somebody else."""
        if role is None:
            return list(entities)
        return [
            entity
            for entity in entities
            if entity.type == "person"
            and self._role_of.get(entity.external_id, role.kind) in _compatible_kinds(role.kind)
            and not self._is_other_kin(entity, role)
        ]

    def _is_other_kin(self, entity: StatedEntity, role: Role) -> bool:
        groups = {self._groups.get(word, word) for word in self._words_of.get(entity.external_id, ())}
        return role.kind == "kin" and bool(groups) and self._groups.get(role.word, role.word) not in groups

    def _shorter(self, ref: Ref, key: str) -> list[StatedEntity]:
        """The one person who was called by the first of these names alone so far and has the same role."""
        first = key.split(" ")[0]
        found = [self._entities[external_id] for external_id in self._by_key.get(first, ())]
        people = [entity for entity in found if entity.type == "person" and name_key(entity.name) == first]
        if len(people) != 1:
            return []
        role = self._role_of.get(people[0].external_id)
        return people if ref.role is not None and role == ref.role.kind else []

    def _named(self, entity: StatedEntity, ref: Ref, confidence: float) -> StatedEntity:
        key, entity_key = name_key(ref.name), name_key(entity.name)
        if entity.type == "person" and key != entity_key and key.split(" ")[0] == entity_key:
            aliases = tuple(dict.fromkeys([*entity.aliases, entity.name]))
            entity = replace(entity, name=ref.name, confidence=max(FULLER_NAME, entity.confidence), aliases=aliases)
            self._put(entity)
        elif confidence > entity.confidence:
            entity = replace(entity, confidence=confidence)
            self._entities[entity.external_id] = entity
        return entity

    def _add(self, ref: Ref, kind: EntityType, confidence: float, *, is_distinct: bool = False) -> StatedEntity:
        external_id = external_id_of(ref.name)
        if is_distinct and ref.role is not None:
            external_id = external_id_of(f"{ref.name} {ref.role.word}")
        elif external_id in self._entities:
            external_id = external_id_of(f"{ref.name} {kind}")
        first = ref.name.split()[0]
        aliases = (first,) if kind == "person" and first != ref.name and not first.endswith(".") else ()
        entity = StatedEntity(external_id, ref.name, kind, confidence, (), aliases=aliases, is_distinct=is_distinct)
        self._put(entity)
        return entity

    def _know(self, known: Known) -> None:
        if known.external_id in self._entities:
            if self.speaker is not None and known.external_id == self.speaker.external_id:
                self.speaker = replace(self.speaker, known_id=known.entity_id)
                self._entities[known.external_id] = self.speaker
            return
        entity = StatedEntity(
            known.external_id,
            known.name,
            known.type,
            STATED,
            (),
            aliases=tuple(known.aliases),
            known_id=known.entity_id,
        )
        self._put(entity)
        for line in known.description.splitlines() if known.type == "person" else ():
            for before, behind in self._descriptions:
                if line.startswith(before) and line.endswith(behind):
                    self.note_role(entity, Role("kin", line[len(before) : len(line) - len(behind)]))

    def _put(self, entity: StatedEntity) -> None:
        self._entities[entity.external_id] = entity
        for name in (entity.name, *entity.aliases):
            ids = self._by_key.setdefault(name_key(name), [])
            if entity.external_id not in ids:
                ids.append(entity.external_id)


def _compatible_kinds(kind: RoleKind) -> tuple[RoleKind, ...]:
    """The kinds of roles that one person may have at a time or one after the other."""
    return ("kin",) if kind == "kin" else ("superior", "colleague")
