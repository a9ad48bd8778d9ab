"""The claims of a sentence, before anybody knows who is meant. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from reverie_server.text.graph_terms import EntityType, RelationName

RoleKind = Literal["kin", "superior", "colleague"]
Scope = Literal["company", "team", "named"]
ROLE_RELATIONS: dict[RoleKind, RelationName] = {
    "kin": "related_to",
    "superior": "reports_to",
    "colleague": "collaborates_with",
}


@dataclass(frozen=True, slots=True)
class Role:
    """What somebody is to the speaker, as the words say it: `sister`."""

    kind: RoleKind
    word: str


@dataclass(frozen=True, slots=True)
class Ref:
    """Somebody or something as a sentence refers to it: by a name, a role, both, or as the speaker or a pronoun.

    `type` is what a word beside the name tells. `of_other`: the role is one to somebody else.
    """

    name: str = ""
    role: Role | None = None
    type: EntityType | None = None
    is_speaker: bool = False
    is_pronoun: bool = False
    of_other: bool = False


@dataclass(frozen=True, slots=True)
class Relates:
    """Subjects stand in a relation to objects, or (`ended`) no longer do.

    `source` and `target` are the types that the words expect; what `needs_source` or `needs_target` must be known to be
    of that type from elsewhere. `was` is the object before ("switched from MySQL to"), and `is_team`: it is a team.
    """

    name: RelationName
    subjects: Sequence[Ref]
    objects: Sequence[Ref]
    source: EntityType | None
    target: EntityType
    ended: bool = False
    needs_source: bool = False
    needs_target: bool = False
    was: Ref | None = None
    is_team: bool = False


@dataclass(frozen=True, slots=True)
class HasRole:
    """Somebody is something to the speaker, or (`ended`) no longer is."""

    who: Ref
    role: Role
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Leaves:
    """Somebody leaves where they work, the team, or `what` is named."""

    subjects: Sequence[Ref]
    scope: Scope
    what: Sequence[Ref] = ()


@dataclass(frozen=True, slots=True)
class Succeeds:
    """Somebody comes in the place of another: in all the other did, in `what`, or in a role to the speaker."""

    subjects: Sequence[Ref]
    of: Ref | None
    what: Sequence[Ref] = ()
    role: Role | None = None


@dataclass(frozen=True, slots=True)
class Names:
    """Something is named, and what it is."""

    what: Ref


Claim = Relates | HasRole | Leaves | Succeeds | Names
