"""What a sentence leaves to the next one: the animal of "His name is Rex", the lock of "The code is 4471". Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.phrases import Phrases
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.subjects import Subject
from reverie_server.heuristics.fact_grammar.terms import GENERIC_VALUES, VALUE_TERMS, content_terms
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import MAX_FIELD_CHARS, SELF, StatedFact

# Words for animals with which people live, and how each language says what the speaker's is called.
_PET = re.compile(
    r"(?<!\w)(?:dog|puppy|cat|kitten|parrot|budgie|rabbit|hamster|horse|pony|tortoise|hund|welpe|katze|kater|kätzchen"
    r"|wellensittich|hase|kaninchen|pferd|perr[oa]|cachorr[oa]|gat[oa]|gatit[oa]|loro|conejo|caballo)(?!\w)"
    r"|小?[猫狗](?:咪|狗)?|兔子|仓鼠|鹦鹉",
    re.IGNORECASE,
)
_PET_IS = {
    "english": "My {} is called ",
    "german": "Mein {} heißt ",
    "spanish": "Mi {} se llama ",
    "chinese": "我的{}叫",
}
_SOLD = {"english": "I sold my {}.", "german": "Ich habe {} verkauft.", "spanish": "Vendí mi {}."}
# What was told so many sentences ago is what "I sold it" speaks of.
_MAX_SENTENCES_AGO = 3
_ARTICLE = re.compile(r"(?:an?|einen?|eine|una?|mi|my|the|el|la) ", re.IGNORECASE)
# "Our Wi-Fi's name is Otter and the password is …": it is that of the Wi-Fi.
_CALLED = re.compile(r"(?:[ -]names?|-?name|的?名字?)$", re.IGNORECASE)
_OF_THING = {"english": "{} of {}", "german": "{} von {}", "spanish": "{} de {}", "chinese": "{1}的{0}"}


def with_pet(statement: Statement, talk: Talk) -> Statement:
    """The sentence with the animal of which the one before told: `His name is Rex` after `We got a dog`."""
    named = statement.phrases["pet_named"].match(aligned(statement.core)) if talk.pet else None
    wording = _PET_IS.get(statement.phrases.language)
    if named is None or wording is None:
        return statement
    return replace(statement, core=f"{wording.format(talk.pet)}{statement.core[named.end() :]}")


def with_sold(statement: Statement, talk: Talk) -> Statement:
    """The sentence with the thing of which one before told: `I sold it` after `I drive a Golf`."""
    wording = _SOLD.get(statement.phrases.language)
    if talk.owned is None or wording is None or talk.number - talk.owned[0] > _MAX_SENTENCES_AGO:
        return statement
    if statement.phrases["sold"].match(aligned(statement.core)) is None:
        return statement
    return replace(statement, core=wording.format(_ARTICLE.sub("", talk.owned[1], count=1)))


def with_owner(subject: Subject | None, owner: str | None, phrases: Phrases) -> Subject | None:
    """The code in "The alarm is in the hall and the code is 4471": it is that of the alarm.

    `owner` is what `owner_before` found.
    """
    wording = _OF_THING.get(phrases.language)
    if subject is None or wording is None or owner is None:
        return subject
    is_bare = subject.kind == "thing" and subject.owned is None and folded(subject.name) in GENERIC_VALUES
    if not is_bare or folded(owner) in GENERIC_VALUES:
        return subject
    owner = _CALLED.sub("", owner) or owner
    return replace(subject, name=wording.format(subject.name, owner)[:MAX_FIELD_CHARS])


def owner_before(clause: str | None, subject: Subject | None, talk: Talk, phrases: Phrases) -> str | None:
    """What a code may be of by the clause before it and its subject; where there is none, by the sentence before it in
    the message, of what has a code."""
    if clause is None:
        return talk.lockable
    introduced = _introduced(clause, phrases)
    if introduced is not None or subject is None or subject.kind == "self":
        return introduced
    return subject.name


def carry(statement: Statement, found: Sequence[StatedFact], talk: Talk) -> None:
    """Keep in `talk` what the next sentence may speak of, by a sentence and what was found in it."""
    talk.pet = next((word for fact in found if (word := _pet_of(fact))), None)
    owned = next((fact.object for fact in reversed(found) if _is_owned(fact)), None)
    talk.owned = talk.owned if owned is None else (talk.number, owned)
    introduced = _introduced(statement.core, statement.phrases)
    if introduced is None and talk.last_thing is not None and talk.last_thing[0] == talk.number:
        name = talk.last_thing[1]
        introduced = name if statement.phrases["lockable"].search(aligned(name)) is not None else None
    # Behind a code its number may be told, of the same thing.
    is_of_value = any(not VALUE_TERMS.isdisjoint(content_terms(fact.subject)) for fact in found)
    talk.lockable = introduced or (talk.lockable if is_of_value else None)


def _introduced(text: str, phrases: Phrases) -> str | None:
    plain = aligned(text)
    found = phrases["gets_thing"].search(plain) or phrases["renewed"].search(plain)
    if found is None:
        return None
    # In Chinese the place stands before the verb.
    spans = [found.span(name) for name in ("where", "place", "thing") if found.groupdict().get(name) is not None]
    return "".join(text[start:end] for start, end in spans)


def _is_owned(fact: StatedFact) -> bool:
    """Whether a fact says of one thing that the user has it."""
    is_ended = fact.change is not None and fact.change.kind == "ends"
    return fact.subject == SELF and fact.predicate in ("has", "drives", "bike", "phone", "laptop") and not is_ended


def _pet_of(fact: StatedFact) -> str | None:
    """The word for an animal that a fact gives the user."""
    if fact.subject != SELF or fact.predicate not in ("has", "owns", "got", "bought", "adopted"):
        return None
    if fact.change is not None and fact.change.kind == "ends":
        return None
    found = _PET.search(fact.object)
    return found[0] if found else None
