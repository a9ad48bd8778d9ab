"""Whom a conversation may mean by a name or a role: the people of whom earlier facts of the same memory tell. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.people import role_name
from reverie_server.heuristics.fact_grammar.phrases import all_roles
from reverie_server.heuristics.stated_fact import SELF, StatedFact

_MAX_NAME_WORDS = 6


@dataclass(frozen=True, slots=True)
class Acquaintance:
    """Somebody who is something to the user (`role` in its one name for all languages), from a time until another.

    `role` is None for somebody of whom that was not said. Of a role that `is_single` one has one at a time.
    """

    name: str
    role: str | None
    since: datetime
    until: datetime | None = None
    is_single: bool = False


@cache
def role_names() -> frozenset[str]:
    """What somebody can be to the user, as facts have it as their predicate."""
    return frozenset(map(role_name, all_roles()))


def acquaintances_of(facts: Iterable[StatedFact]) -> list[Acquaintance]:
    """The people whom facts tell of, in the order of the facts."""
    found: list[Acquaintance] = []
    for fact in facts:
        is_end = fact.change is not None and fact.change.kind == "ends"
        if fact.subject == SELF and fact.predicate in role_names():
            until = fact.said_at if is_end else fact.valid_to
            found.append(Acquaintance(fact.object, fact.predicate, fact.valid_from, until, fact.is_functional))
        elif fact.subject != SELF and not fact.about_user:
            found.append(Acquaintance(fact.subject, None, fact.valid_from))
    return found


def known_at(acquaintances: Sequence[Acquaintance], at: datetime) -> dict[str, str]:
    """Those whom one may mean at a time, as `read_facts` takes them: a name for a name and for `role:…`.

    A role is known where exactly one person has it then. Everybody who shares a first name with one of them is there
    too, so that the name alone is seen to be nobody's in particular.
    """
    of_role: dict[str, dict[str, None]] = {}
    for each in acquaintances:
        if each.role is None or each.since > at:
            continue
        names = of_role.setdefault(each.role, {})
        if each.until is not None and each.until <= at:
            names.pop(each.name, None)
            continue
        if each.is_single:
            short = _shorter({each.name})
            of_role[each.role] = names = {name: None for name in names if folded(name) in short}
        names[each.name] = None
    known: dict[str, str] = {}
    for role, names in of_role.items():
        short = _shorter(names)
        whole = [name for name in names if folded(name) not in short]
        known |= {name: name for name in whole}
        if len(whole) == 1:
            known[f"role:{role}"] = whole[0]
    return known | _namesakes(acquaintances, known)


def _namesakes(acquaintances: Sequence[Acquaintance], known: Mapping[str, str]) -> dict[str, str]:
    firsts = {_first(name) for name in known.values()}
    short = _shorter(known.values())
    names = dict.fromkeys(each.name for each in acquaintances if _first(each.name) in firsts)
    return {name: name for name in names if name not in known and folded(name) not in short}


def _shorter(names: Iterable[str]) -> set[str]:
    """The beginnings that may stand for names: `petra` for `Petra Lindqvist`, but not `anna` for `Anna (friend)`."""
    found: set[str] = set()
    for name in names:
        words = folded(name).split(" ") if not name.endswith(")") else []
        found |= {" ".join(words[:count]) for count in range(1, min(len(words), _MAX_NAME_WORDS))}
    return found


def _first(name: str) -> str:
    return folded(name).split(" ")[0]
