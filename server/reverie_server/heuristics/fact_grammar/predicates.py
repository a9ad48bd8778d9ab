"""What a predicate says behind its subject: the object, what it changes, and what a denial makes of it. Pure."""

from __future__ import annotations

import re
from dataclasses import replace

from reverie_server.heuristics.fact_grammar.attributes import Shape, attribute_name, is_attribute, shape_of
from reverie_server.heuristics.fact_grammar.clauses import Denied
from reverie_server.heuristics.fact_grammar.objects import (
    fits,
    is_amount_or_code,
    is_vague,
    is_value,
    tidy,
    time_only,
)
from reverie_server.heuristics.fact_grammar.phrases import Phrases, Predicate
from reverie_server.heuristics.fact_grammar.statement import Statement, Talk
from reverie_server.heuristics.fact_grammar.subjects import Subject
from reverie_server.heuristics.requests.fact_requests import aligned
from reverie_server.heuristics.stated_fact import SELF, Change, StatedFact

_OPPOSITES = {"likes": "dislikes", "dislikes": "likes", "eats": "avoids", "drinks": "avoids", "can_eat": "avoids"}
# These are said by their denial alone: what one cannot eat, what one cannot stand.
_DENIED_ONLY = {"can_eat": "can_eat", "can_stand": "likes", "does": "habit"}
# Of these a denial says that they are not, or not any more.
_DENIABLE = frozenset({"lives_in", "works_at", "works_as", "has", "uses", "boss", "diet", "allergic_to", "drives"})
_POSSESSIVE = re.compile(
    r"^(?:the|my|our|mein(?:e|en|em)?|unser(?:e|en)?|den|die|das|der|el|la|los|las|mi|mis|nuestr[oa]) "
    r"|^(?:我的|我们的|我)",
    re.IGNORECASE,
)
# Things of which one has one, with the predicate that says which.
_KINDS = {
    **dict.fromkeys(("car", "auto", "wagen"), "drives"),
    **{kind: kind for kind in ("bike", "motorbike", "phone", "laptop", "camera", "bank", "rad", "fahrrad", "handy")},
}


def fact_behind(
    predicate: Predicate, statement: Statement, subject: Subject, rest: Denied, talk: Talk
) -> StatedFact | None:
    """The fact that a predicate says of a subject, of what stands behind it in a clause; None where it says none."""
    found = predicate.pattern.match(rest.plain)
    if found is None:
        return None
    object_ = _object_in(found, predicate, statement, rest, talk)
    if object_ is None or _is_of_no_work(found, predicate, subject, talk):
        return None
    of_thing = named_in(found, rest.text, "s")
    if of_thing is not None:
        about_thing = _POSSESSIVE.sub("", of_thing)
        subject = replace(subject, kind="thing", name=about_thing, owned=about_thing)
    said = _said(predicate, subject, object_, named_in(found, rest.text, "than"), statement.phrases)
    if said is None:
        return None
    subject_name, predicate_name, is_functional = said
    shape = _shape(predicate, subject, object_, talk)
    if shape == "none":
        return None
    is_functional = is_functional and shape == "sure"
    change = _change(found, predicate, rest)
    if rest.cue is not None:
        if predicate.change == "ends":
            return None
        predicate_name, change, is_functional = _denied(predicate, predicate_name, object_, rest, change)
    elif predicate.name in _DENIED_ONLY:
        return None
    elif subject.is_new and change is None:
        change = Change("replaces", "new")
    # `No coffee today` is no diet.
    is_passing = predicate_name == "avoids" and statement.phrases["passing"].search(aligned(statement.core))
    if not predicate_name or is_passing:
        return None
    if predicate.change == "ends" and not object_:
        object_ = subject_name if subject.kind != "self" else predicate.name
    return statement.fact(
        subject_name,
        predicate_name,
        object_,
        "profile" if predicate_name == "name" else predicate.category,
        is_functional=is_functional,
        change=change,
        about_user=subject.kind == "self" or subject.owned is not None,
        confidence=0.85 if predicate.is_functional else 0.8,
    )


def _object_in(
    found: re.Match[str], predicate: Predicate, statement: Statement, rest: Denied, talk: Talk
) -> str | None:
    """The object that a predicate found, "" where it needs none; None where what was found is none for it."""
    object_ = _without_old(_object_of(found, rest.text), statement.phrases)
    if not object_:
        return "" if predicate.change == "ends" else None
    if predicate.name == "when":
        object_ = time_only(object_)
    elif is_vague(object_):
        return None
    # In German nouns have capitals: "Ich bin total im Verzug" says nobody's trade.
    noun = named_in(found, rest.text, "noun")
    if noun is not None and talk.has_capitals and not noun[:1].isupper():
        return None
    job = named_in(found, rest.text, "job")
    if job is not None and not fits("spanish job", job, has_capitals=talk.has_capitals):
        return None
    return object_ if not object_ or fits(predicate.condition, object_, has_capitals=talk.has_capitals) else None


def _shape(predicate: Predicate, subject: Subject, object_: str, talk: Talk) -> Shape:
    """Whether the object can be a value of the attribute that a predicate says it is of."""
    is_of_value = (
        predicate.name in ("value", "when", "located") and subject.owned is not None and is_attribute(subject.owned)
    )
    if not is_of_value or predicate.condition == "kind" or predicate.change is not None:
        return "sure"
    assert subject.owned is not None
    return shape_of(subject.owned, object_, has_capitals=talk.has_capitals, is_value=predicate.name == "value")


def _is_of_no_work(found: re.Match[str], predicate: Predicate, subject: Subject, talk: Talk) -> bool:
    """Whether somebody left a place for a while: `Helen left the station` on any day, if it is nobody's work."""
    is_of_place = predicate.name == "left" and "place" in found.groupdict() and bool(found["place"])
    return is_of_place and not talk.people.is_of_work(subject.name)


def _said(
    predicate: Predicate, subject: Subject, object_: str, than: str | None, phrases: Phrases
) -> tuple[str, str, bool] | None:
    """Subject and predicate of a fact, and whether it is functional; None where it is no fact."""
    about = _about(predicate, subject)
    if about is None or (predicate.name == "name" and subject.kind != "self"):
        return None
    subject_name, name = about
    if than:
        return (
            subject_name,
            f"prefers of {' / '.join(sorted((object_.casefold(), than.casefold())))}",
            (predicate.is_functional),
        )
    if predicate.name == "when" and (
        is_amount_or_code(object_) or (predicate.change == "replaces" and _is_no_time(object_, phrases))
    ):
        # `The code was changed to 7788`, and what moves to a place.
        return (subject_name, "is", predicate.is_functional) if is_value(object_) else None
    if predicate.name == "switched" and subject.kind == "thing" and is_value(object_):
        # `The alarm code changed to 9034.`
        return subject_name, "is", True
    return subject_name, name, predicate.is_functional


def _change(found: re.Match[str], predicate: Predicate, rest: Denied) -> Change | None:
    """What the words of a predicate change: what they end or replace, and what held before."""
    old = named_in(found, rest.text, "old")
    if predicate.change:
        return Change(predicate.change, found[0].strip()[:40], old)
    return Change("replaces", "from … to", old) if old else None


def _denied(
    predicate: Predicate, name: str, object_: str, rest: Denied, change: Change | None
) -> tuple[str, Change | None, bool]:
    """Predicate, change and whether it is functional, of what a clause denies; "" where that is no fact."""
    assert rest.cue is not None
    name = _DENIED_ONLY.get(name, name)
    if rest.is_over:
        return name, Change("ends", rest.cue, object_), False
    if name in _OPPOSITES:
        return _OPPOSITES[name], change, False
    if name in _DENIABLE:
        return name, Change("ends", rest.cue, object_), False
    if name in ("likes", "speaks", "plays", "learns", "prefers") or predicate.category == "profile":
        return f"not {name}", change, False
    return "", None, False


def _about(predicate: Predicate, subject: Subject) -> tuple[str, str] | None:
    """The subject and the predicate of a fact; what the user owns is the user's where it is a value."""
    if predicate.name == "value":
        if predicate.condition == "attribute" and not (subject.owned and is_attribute(subject.owned)):
            return None
        if predicate.condition == "kind":
            # `My car is a Golf.`
            kind = _KINDS.get(subject.owned.casefold()) if subject.owned else None
            return None if kind is None else (SELF, kind)
        if subject.owned is not None and is_attribute(subject.owned):
            return SELF, attribute_name(subject.owned)
        if subject.kind == "name":
            return None
        return subject.name, "is"
    if predicate.name == "lives_in" and subject.kind == "thing":
        return subject.name, "located"
    if predicate.name == "boss" and subject.kind == "self":
        return SELF, "boss"
    return subject.name, predicate.name


def _is_no_time(object_: str, phrases: Phrases) -> bool:
    """Whether a language knows what times look like, and an object has nothing of one."""
    return "time_of" in phrases.patterns and phrases["time_of"].search(aligned(object_)) is None


def _object_of(found: re.Match[str], text: str) -> str:
    for name, value in found.groupdict().items():
        if value is not None and name.startswith("o") and not name.startswith("old"):
            return tidy(text[found.start(name) : found.end(name)])
    return ""


def _without_old(object_: str, phrases: Phrases) -> str:
    """An object without the words behind it that say what it takes the place of."""
    old = phrases["old"].search(aligned(object_))
    return tidy(object_[: old.start()]) if old and old.start() > 0 else object_


def named_in(found: re.Match[str], text: str, prefix: str) -> str | None:
    """The words of the first group whose name begins so, of what was found in a text."""
    for name, value in found.groupdict().items():
        if value is not None and name.startswith(prefix):
            return tidy(text[found.start(name) : found.end(name)]) or None
    return None
