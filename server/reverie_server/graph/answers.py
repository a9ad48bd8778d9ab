"""The model's inputs from a conversation and the graph, and the reading of its answer. Pure.

An answer is a proposal: what is outside the vocabulary, not certain enough or without its ends is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from typing import Any

from reverie_server.graph.model import SPEAKER, StatedEntity, StatedRelation
from reverie_server.graph.names import MAX_NAME_CHARS, external_id_of, holds_name, name_key, windows
from reverie_server.graph.vocabulary import entity_type, relation_name
from reverie_server.heuristics.fact_grammar.terms import all_content_terms
from reverie_server.heuristics.grounding import BEGINNING
from reverie_server.heuristics.orders import why_order
from reverie_server.llm.answers import Semantic, SemanticEntity, SemanticRelation
from reverie_server.sessions.model import Message
from reverie_server.text.fences import neutralise, strip_injected
from reverie_server.text.graph_terms import EntityType, RelationName

MAX_MESSAGE_CHARS = 2000
MAX_ENTITIES = 40
MAX_RELATIONS = 60
MAX_ALIASES = 10
MAX_PROPERTIES = 20
_NAMES = {"user": "User", "assistant": "Assistant"}
_SPACE = re.compile(r"\s+")
_PARTIAL_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?")
_MAX_PROPERTY_CHARS = 300
Clean = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class KnownFact:
    """A relation that a known entity has now to `other`; `is_source`: it reads "entity name other", else "other name
    entity"."""

    name: RelationName
    other: Known
    is_source: bool


@dataclass(frozen=True, slots=True)
class Known:
    """An entity that a conversation mentions, and what it has now, as (relation, other's name) and as `facts`.

    `entity_id` is None for one that an earlier part of the same conversation speaks of and the graph has not yet.
    """

    entity_id: int | None
    external_id: str
    type: EntityType
    name: str
    aliases: Sequence[str] = ()
    relations: Sequence[tuple[str, str]] = ()
    description: str = ""
    facts: Sequence[KnownFact] = ()


@dataclass(frozen=True)
class AnswerBasis:
    """The basis that an answer is checked against: messages and their times, by number, known entities, and the summary
    that was given with the messages."""

    texts: Mapping[int, str]
    said_at: Mapping[int, datetime]
    known: Sequence[Known]
    min_confidence: float
    summary: str = ""

    @cached_property
    def _words(self) -> frozenset[str]:
        return all_content_terms("\n".join([*self.texts.values(), self.summary]))

    def has_word_of(self, *names: str) -> bool:
        """Whether messages or summary have a word of a name that says something ("Reverie" of "Project Reverie"), or
        one that begins alike ("postgres")."""
        words = frozenset[str]().union(*map(all_content_terms, names))
        begun = {word[:BEGINNING] for word in words if len(word) >= BEGINNING}
        return any(word in words or word[:BEGINNING] in begun for word in self._words)


def readable(messages: Iterable[Message], without_forgotten: Callable[[str, datetime], str]) -> list[Message]:
    """The messages of user and assistant without injected memory and forgotten texts; empty ones are left out."""
    found = []
    for message in messages:
        if message.role in _NAMES:
            text = without_forgotten(strip_injected(message.content), message.at).strip()
            if text:
                found.append(replace(message, content=text))
    return found


def numbered(messages: Sequence[Message]) -> str:
    """The conversation with the number and the day (UTC) of each message, oldest first."""
    lines = []
    for message in messages:
        text = _SPACE.sub(" ", neutralise(message.content)).strip()
        if len(text) > MAX_MESSAGE_CHARS:
            text = f"{text[:MAX_MESSAGE_CHARS].rstrip()}... [truncated]"
        day = message.at.astimezone(UTC).date().isoformat()
        lines.append(f"[{message.seq}] ({day}) {_NAMES[message.role]}: {text}")
    return "\n".join(lines)


def known_lines(known: Sequence[Known]) -> str:
    """The mentioned entities as the graph has them, one a line."""
    lines = []
    for entity in known:
        now = ", ".join(f"{name} {other}" for name, other in entity.relations)
        lines.append(_SPACE.sub(" ", f"{entity.external_id} | {entity.type} | {entity.name} | {now}").strip(" |"))
    return "\n".join(lines)


def read_answer(answer: Semantic, basis: AnswerBasis, clean: Clean) -> tuple[list[StatedEntity], list[StatedRelation]]:
    """The entities and relations of an answer that may be stored, in its order.

    `clean` removes forgotten texts; an entity whose name it changes is left out, and so is one of whose name neither a
    message nor the summary has a word. A relation may have entities of the graph as its ends, which are then among the
    entities.
    """
    by_number = {seq: windows(text) for seq, text in basis.texts.items()}
    entities: dict[str, StatedEntity] = {}
    for entity_claim in answer.entities[:MAX_ENTITIES]:
        entity = _entity(entity_claim, basis, clean, by_number)
        if entity is not None and (
            entity.external_id not in entities or entities[entity.external_id].confidence < entity.confidence
        ):
            entities[entity.external_id] = entity
    refused = {external_id_of(entity_claim.external_id) for entity_claim in answer.entities} - entities.keys()
    relations = []
    for claim in answer.relations[:MAX_RELATIONS]:
        ends = [_end(end, entities, refused, basis, claim.confidence) for end in (claim.source, claim.target)]
        if ends[0] is None or ends[1] is None or ends[0].external_id == ends[1].external_id:
            continue
        relation = _relation(claim, (ends[0], ends[1]), basis, by_number)
        if relation is not None:
            relations.append(relation)
            for end in (ends[0], ends[1]):
                known_entity = entities.setdefault(end.external_id, end)
                seqs = tuple(sorted({*known_entity.seqs, *relation.seqs}))
                entities[end.external_id] = replace(known_entity, seqs=seqs)
    return list(entities.values()), relations


def parse_instant(text: str | None) -> datetime | None:
    """An instant from a date or time of ISO 8601, a month or a year; UTC without a zone; None for any other text."""
    if text is None:
        return None
    stripped = text.strip()
    partial = _PARTIAL_DATE.fullmatch(stripped)
    try:
        if partial is not None:
            return datetime(int(partial[1]), int(partial[2] or 1), 1, tzinfo=UTC)
        found = datetime.fromisoformat(stripped)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _entity(
    claim: SemanticEntity, basis: AnswerBasis, clean: Clean, by_number: Mapping[int, set[str]]
) -> StatedEntity | None:
    kind = entity_type(claim.type)
    external_id = external_id_of(claim.external_id)
    name = _line(claim.name)
    if kind is None or not external_id or not name_key(name) or not _is_certain(claim.confidence, basis):
        return None
    if clean(name).strip() != name or not clean(claim.external_id).strip():
        return None
    aliases = [alias for alias in map(_line, claim.aliases) if alias and clean(alias).strip() == alias]
    known = next((known for known in basis.known if known.external_id == external_id), None)
    seqs = _naming(by_number, name, *aliases)
    is_known = bool(seqs) or known is not None or external_id == SPEAKER
    if not is_known and not basis.has_word_of(name, *aliases):
        return None
    return StatedEntity(
        external_id=external_id,
        name=name,
        type=known.type if known else kind,
        confidence=claim.confidence,
        seqs=tuple(sorted(seqs or basis.texts)),
        description=_line(clean(claim.description)),
        aliases=tuple(alias for alias in aliases[:MAX_ALIASES] if name_key(alias) and len(alias) <= MAX_NAME_CHARS),
        properties=_properties(claim.properties, clean),
        known_id=known.entity_id if known else None,
    )


def _end(
    end: str, entities: Mapping[str, StatedEntity], refused: set[str], basis: AnswerBasis, confidence: float
) -> StatedEntity | None:
    """The entity that a relation names: by external id, or else, as models do, by name."""
    external_id, key = external_id_of(end), name_key(end)
    if external_id in entities:
        return entities[external_id]
    known = next((known for known in basis.known if known.external_id == external_id), None)
    if known is None and external_id not in refused and key:
        named = [entity for entity in entities.values() if name_key(entity.name) == key]
        if len(named) == 1:
            return named[0]
        alike = [k for k in basis.known if key in (name_key(k.name), *map(name_key, k.aliases))]
        known = alike[0] if len(alike) == 1 and not named else None
    if known is None:
        return None
    return StatedEntity(known.external_id, known.name, known.type, confidence, (), known_id=known.entity_id)


def _relation(
    claim: SemanticRelation,
    ends: tuple[StatedEntity, StatedEntity],
    basis: AnswerBasis,
    by_number: Mapping[int, set[str]],
) -> StatedRelation | None:
    name = relation_name(claim.name)
    if name is None or not _is_certain(claim.confidence, basis):
        return None
    named = set(claim.messages) & basis.texts.keys()
    of_source, of_target = (set(_naming(by_number, end.name, *end.aliases)) for end in ends)
    seqs = sorted(named or of_source & of_target or of_source | of_target or basis.texts.keys())
    said_at = min(basis.said_at[seq] for seq in seqs)
    since, until = parse_instant(claim.valid_from), parse_instant(claim.valid_to)
    if since is None and (until is None or until > said_at):
        since = said_at
    if since is not None and until is not None and until <= since:
        return None
    return StatedRelation(
        ends[0].external_id, name, ends[1].external_id, claim.confidence, tuple(seqs), said_at, since, until
    )


def _is_certain(confidence: float, basis: AnswerBasis) -> bool:
    return basis.min_confidence <= confidence <= 1


def _naming(by_number: Mapping[int, set[str]], *names: str) -> tuple[int, ...]:
    return tuple(seq for seq, found in by_number.items() if holds_name(found, *names))


def _properties(properties: Mapping[str, Any], clean: Clean) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for name, value in list(properties.items())[:MAX_PROPERTIES]:
        cleaned = _line(clean(value))[:_MAX_PROPERTY_CHARS] if isinstance(value, str) else value
        key = _line(name)[:_MAX_PROPERTY_CHARS]
        if isinstance(cleaned, float) and not isfinite(cleaned):
            continue
        if key and cleaned not in ("", None) and clean(key).strip() == key:
            kept[key] = cleaned
    return kept


def _line(text: str) -> str:
    """A text of an answer on one line; "" for an order to the agent, since models read the graph by a tool."""
    return "" if why_order(text) else _SPACE.sub(" ", neutralise(strip_injected(text))).strip()
