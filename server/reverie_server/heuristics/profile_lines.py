"""Who somebody is, as lines of PROFILE.md that are made of facts: "Home: Malmö". Pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie_server.heuristics.cues import all_cues, cues_of, folded
from reverie_server.heuristics.entries import dated
from reverie_server.heuristics.fact_grammar.terms import content_terms
from reverie_server.heuristics.profile_labels import MARITAL, labels, labels_by_language, value_of

MAX_LINES = 40
"""So many lines are made of facts, the first of them in the order of the labels."""
_MAX_OF_KIND, _MAX_NAME_CHARS = 8, 12
# One loved one, whatever they are called by now; the words that say more go before the others.
_LOVED = ("wife", "husband", "fiancée", "fiancé", "partner")


@dataclass(frozen=True, slots=True)
class KnownOfSelf:
    """A fact of the user that holds. `said` are the words that state it; `is_sure` where it may take the place of
    others, `is_marked` where a model marked it."""

    fact_id: int
    predicate: str
    object: str
    said: str
    said_at: datetime
    is_sure: bool
    is_marked: bool


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """A line and the fact that it is made of."""

    text: str
    fact_id: int


def predicates() -> list[str]:
    """The predicates of which lines are made; `is` may say a marital status."""
    return [*(each for each in labels()["english"] if each != MARITAL), "is"]


def kind_of_line(line: str) -> str:
    """The label of a line that facts made."""
    return line.partition(": ")[0]


def language_of_lines(lines: Sequence[str], facts: Sequence[KnownOfSelf], language: str) -> str:
    """The language of lines that facts made before; where there are none, of what was said (most likely `language`):
    what changes from day to day would write each line anew."""
    kinds = {kind_of_line(line) for line in lines}
    tables = {name: set(table.values()) for name, table in labels_by_language().items()}
    if kinds:
        return max(tables, key=lambda name: (len(kinds & tables[name]), name == language))
    cues = cues_of(folded("\n".join(fact.said for fact in facts)), all_cues().get(language))
    spoken = cues.language if cues else language
    return spoken if spoken in tables else "english"


def profile_lines(facts: Sequence[KnownOfSelf], dead: Collection[str], language: str) -> list[ProfileLine]:
    """The lines that facts make, in the order and the words of the labels of a language (`language_of_lines`).

    `dead` are the names of those who died.
    """
    of_language, one = labels_by_language()[language], labels()["one"]
    gone = {folded(name) for name in dead}
    of_kind: dict[str, list[KnownOfSelf]] = {}
    for fact in sorted(facts, key=lambda fact: (not fact.is_sure, -fact.said_at.timestamp(), fact.fact_id)):
        kind, value = _kind_of(fact), value_of(fact.object)
        if kind in of_language and value and folded(value) not in gone and not _is_sentence(fact):
            of_kind.setdefault(kind, []).append(fact)
    for weaker in _LOVED[1:]:
        stronger = {folded(fact.object) for kind in _LOVED[: _LOVED.index(weaker)] for fact in of_kind.get(kind, ())}
        of_kind[weaker] = [fact for fact in of_kind.get(weaker, ()) if folded(fact.object) not in stronger]
    found: dict[str, ProfileLine] = {}
    for kind in of_language:
        chosen = of_kind.get(kind, [])
        chosen = _whole_names(chosen)[:1] if kind in one else chosen[:_MAX_OF_KIND]
        for fact in chosen:
            text = f"{of_language[kind]}: {value_of(fact.object)}"
            text = dated(text, [fact.said_at.date()]) if kind == "age" else text
            found.setdefault(folded(text), ProfileLine(text, fact.fact_id))
    return list(found.values())[:MAX_LINES]


def _is_sentence(fact: KnownOfSelf) -> bool:
    """Whether a fact has all that was said for its value: the sentence tells of it, but not in which words."""
    value, said = (text.strip(" .,;:!?。，；！？") for text in (fact.object, fact.said))
    return len(value) > _MAX_NAME_CHARS and value == said


def _kind_of(fact: KnownOfSelf) -> str:
    if fact.predicate != "is":
        return fact.predicate
    is_status = fact.is_marked or folded(fact.object) in labels()["marital_words"]
    return MARITAL if is_status else ""


def _whole_names(facts: Sequence[KnownOfSelf]) -> list[KnownOfSelf]:
    """The facts but those whose words are some of another's: "Danny" beside "Danny Wray"."""
    terms = [content_terms(fact.object) for fact in facts]
    return [fact for fact, own in zip(facts, terms, strict=True) if not any(own < other for other in terms)]
