"""An entity derived from its mentions in episodes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from reverie_server.graph.names import name_key
from reverie_server.llm.generation import Generation

MAX_ALIASES = 50
MAX_DESCRIPTION_CHARS = 2000
# Of one entity under its own name.
MAX_DESCRIPTIONS = 3


@dataclass(frozen=True, slots=True)
class Mention:
    """The statements of one episode about an entity. `entity_id` is that entity's own, before any merge."""

    mention_id: int
    entity_id: int
    name: str
    description: str
    aliases: Sequence[str]
    properties: Mapping[str, Any]
    confidence: float
    said_at: datetime
    generation: Generation


@dataclass(frozen=True, slots=True)
class Derived:
    """An entity as its mentions make it."""

    name: str
    description: str
    aliases: tuple[str, ...]
    properties: Mapping[str, Any]
    confidence: float
    since: datetime
    generation: Generation


def derive(members: Sequence[int], mentions: Sequence[Mention]) -> Derived:
    """The entity of a cluster. `members` are the entity itself and then those merged into it, in the order of merges.

    The name is the most certain one (of equals the first). The description has those of each member, the newest first:
    a later one stands beside an earlier, unless it is less certain. A less certain value never replaces a more certain
    one. Aliases are all other names,
    properties the union of all, those of the more certain mention on top. ValueError without a mention.
    """
    if not mentions:
        raise ValueError("an entity is made of at least one mention")
    by_member: dict[int, list[Mention]] = {member: [] for member in members}
    for mention in mentions:
        by_member[mention.entity_id].append(mention)
    by_mentioned_member = [of_member for of_member in by_member.values() if of_member]
    named = max(by_mentioned_member[0], key=lambda m: (m.confidence, -m.mention_id))
    names = [
        named.name,
        *(name for of_member in by_mentioned_member for m in of_member for name in (m.name, *m.aliases)),
    ]
    distinct = _distinct(names)
    return Derived(
        name=named.name,
        description=_joined(text for of_member in by_mentioned_member for text in _described(of_member)),
        aliases=tuple(distinct[1 : MAX_ALIASES + 1]),
        properties=_union(mentions, members),
        confidence=max(m.confidence for m in mentions),
        since=min(m.said_at for m in mentions),
        generation=named.generation,
    )


def _described(mentions: Sequence[Mention]) -> Iterator[str]:
    """The last descriptions of a member, the newest first, without those less certain than one before them."""
    kept: list[Mention] = []
    for mention in sorted(mentions, key=lambda m: (m.said_at, m.mention_id)):
        if mention.description and (not kept or mention.confidence >= max(m.confidence for m in kept)):
            kept = [*(m for m in kept if name_key(m.description) != name_key(mention.description)), mention]
            kept = kept[-MAX_DESCRIPTIONS:]
    return (mention.description for mention in reversed(kept))


def _joined(descriptions: Iterable[str]) -> str:
    """The distinct descriptions, as many whole ones as fit."""
    kept: list[str] = []
    chars = 0
    for text in _distinct(text for text in descriptions if text):
        if chars + len(text) <= MAX_DESCRIPTION_CHARS:
            kept.append(text)
            chars += len(text) + 1
    return "\n".join(kept)


def _distinct(texts: Iterable[str]) -> list[str]:
    found: dict[str, str] = {}
    for text in texts:
        if key := name_key(text):
            found.setdefault(key, text)
    return list(found.values())


def _union(mentions: Sequence[Mention], members: Sequence[int]) -> dict[str, Any]:
    # Later values win: mentions of the entity itself come last; of equals the more certain after the less certain.
    rank = {member: index for index, member in enumerate(members)}
    ordered = sorted(mentions, key=lambda m: (-rank[m.entity_id], m.confidence, m.said_at, m.mention_id))
    return {name: value for mention in ordered for name, value in mention.properties.items()}
