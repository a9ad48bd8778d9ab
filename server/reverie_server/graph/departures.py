"""The changes when somebody leaves or somebody comes in their place. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reverie_server.graph.claims import Leaves, Ref, Role
from reverie_server.graph.model import StatedEntity
from reverie_server.graph.names import name_key
from reverie_server.graph.people import CurrentFact, People

# What ends when somebody leaves: as the source of relations, and as their target.
_OF_COMPANY = ("based_at", "works_on", "manages", "reports_to", "belongs_to", "collaborates_with")
_OF_TEAM = ("manages", "reports_to", "belongs_to", "collaborates_with")
_TO_WHO_LEFT = ("reports_to", "collaborates_with")


def ended(people: People, who: StatedEntity, claim: Leaves) -> list[CurrentFact]:
    """The relations that end when `who` leaves where they work, the team, or what is named; each once."""
    facts = people.facts_of(who.external_id)
    if claim.scope == "named":
        return list(dict.fromkeys(_of_named(people, facts, who, claim.what)))
    names_of_scope = _OF_COMPANY if claim.scope == "company" else _OF_TEAM
    left = [fact for fact in facts if fact.name in (names_of_scope if fact.source == who.external_id else _TO_WHO_LEFT)]
    speaker = people.speaker
    if speaker is not None and who.external_id != speaker.external_id:
        # An older report that they are the boss may still come in.
        left.append(CurrentFact(speaker.external_id, "reports_to", who.external_id))
    return list(dict.fromkeys(left))


def succeeded(people: People, who: StatedEntity, of: StatedEntity, role: Role | None) -> list[tuple[CurrentFact, bool]]:
    """The relations that begin, or (True) end, when `who` comes in the place of another, in a `role` to the speaker."""
    if role is not None and role.kind == "superior":
        if people.speaker is None:
            return []
        return [(CurrentFact(people.speaker.external_id, "reports_to", who.external_id), False)]
    changed = []
    for fact in people.facts_of(of.external_id):
        if fact.name == "reports_to" and fact.target == of.external_id:
            # Whoever reported to the one they replace does so no more.
            is_self = fact.source == who.external_id
            changed.append(
                (fact, True) if is_self else (CurrentFact(fact.source, "reports_to", who.external_id), False)
            )
        elif fact.name == "manages" and fact.source == of.external_id:
            changed.append((CurrentFact(who.external_id, "manages", fact.target), False))
    return changed


def taken_over(
    people: People, who: StatedEntity, of: StatedEntity | None, what: StatedEntity
) -> list[tuple[CurrentFact, bool]]:
    """The relations that begin, or (True) end, when `who` takes something over: its lead, or the work of who had it."""
    had = [fact for fact in people.facts_of(what.external_id) if fact.target == what.external_id]
    works = [fact for fact in had if fact.name == "works_on" and of and fact.source == of.external_id]
    leads = any(fact.name == "manages" for fact in had) or not works
    begun = CurrentFact(who.external_id, "manages" if leads else "works_on", what.external_id)
    return [(begun, False), *((fact, True) for fact in works)]


def _of_named(
    people: People, facts: Sequence[CurrentFact], who: StatedEntity, what: Sequence[Ref]
) -> list[CurrentFact]:
    """The facts about somebody that end when they leave the named things; of an employer also who reported to them."""
    keys = {name_key(ref.name) for ref in what}
    left = [
        fact
        for fact in facts
        if fact.source == who.external_id
        and fact.name in ("based_at", "works_on", "manages", "belongs_to")
        and name_key(people.entity(fact.target).name) in keys
    ]
    if any(fact.name == "based_at" for fact in left):
        left += [fact for fact in facts if fact.name == "reports_to"]
    return left
