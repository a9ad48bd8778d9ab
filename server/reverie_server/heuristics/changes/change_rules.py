"""What the words of a change say of the facts that held: what it names is over, or gives way. Pure."""

from __future__ import annotations

import re
from datetime import timedelta

from reverie_server.heuristics.changes.fact_ledger import Ledger, ReadFact, differ_in_scope, predicate_key
from reverie_server.heuristics.fact_grammar.terms import (
    ACTIVITIES,
    ANIMALS,
    FLATMATES,
    GOING,
    MULTIPLE,
    PETS,
    PLANT_DIETS,
    RELATED_PREDICATES,
    ROLES,
    content_terms,
    says_same,
    without_days,
)
from reverie_server.heuristics.stated_fact import SELF, Change

_TRIPS = content_terms(
    "trip journey holiday vacation visit tour weekend getaway reise urlaub ausflug wochenende viaje vacaciones escapada"
    " excursión 旅行 旅游 度假"
)
_LESSONS = content_terms(
    "class classes lesson lessons course practice training session sessions rehearsal group kurs stunde training probe"
    " unterricht gruppe clase clases curso ensayo entrenamiento taller grupo"
)
# "The football training of my son" is not one's own.
_OF_SOMEBODY = re.compile(
    r"(?<!\w)(?:sons?|daughters?|kids?|child(?:ren)?|wife|husband|sohn\w*|tochter|töchter|kind\w*|hij[oa]s?|niñ[oa]s?)(?!\w)"
)
# `每周三打麻将` is of 麻将.
_HAN_DOING = re.compile(r"^(?:[去来])?[打玩上跳练学做踢唱](?=[\u3400-\u9fff])")
# How each vice of Chinese is said beside its one character.
_VICES = {"烟": re.compile("[抽吸][^，。]{0,8}烟"), "酒": re.compile("喝[^，。]{0,8}酒")}
_TIMES_OF_DAY = content_terms(
    "morning mornings afternoon afternoons evening evenings night nights morgens vormittags nachmittags abends abend"
    " mañana mañanas tarde tardes noche noches"
)
# Who is meant by "we split up", and what by "I quit my job" and "I sold my car".
_LOVED = ("partner", "wife", "husband", "fiancé", "fiancée")
_BOUND = content_terms("married engaged verheiratet verlobt casado casada prometido prometida")
_WORK = content_terms("job work trabajo empleo curro laburo puesto arbeit stelle arbeitsstelle")
_BY_KIND = (
    ("works_at", _WORK),
    ("works_as", _WORK),
    ("boss", _WORK),
    ("drives", content_terms("car auto wagen coche carro")),
)
# Whom one works for, by whatever word; and what makes somebody that no more.
_LEADS = ("boss", "manager", "team lead", "supervisor")
_IS_NO_MORE = re.compile(
    r"[^,.;:，。；]{0,30}?(?:(?<!\w)(?:promoted|moved (?:on|up|to)|left|leaves|leaving|retire[ds]|resigned|quit|gone"
    r"|stepped (?:down|back)|befördert|aufgestiegen|gewechselt|gekündigt|weg|gegangen|aufgehört|zurückgetreten"
    r"|ascendi\w+|jubil\w+|se (?:fue|va|marcha|marchó)|dej[óa]|renunci\w+|dimiti\w+)(?!\w)"
    r"|升|[调調]|离职|離職|辞|退休|走了)"
)
# What a trip consists of before it begins, and how long before that is said.
_TRAVEL_PLANS = ("booked", "plans", "event", "when", "decided")
_TRIP_AHEAD = timedelta(days=400)


def close_by_change(ledger: Ledger, new: ReadFact, change: Change) -> None:
    """Close what the words of a change name."""
    named = new.old_terms
    if not named and change.kind == "ends" and new.predicate not in ("left", "moved_out"):
        named = new.subject_terms if new.predicate == "ended" and new.subject != SELF else new.object_terms
    if named:
        for old in ledger.with_terms(named):
            if _is_named(old, new, named):
                ledger.close(old, new)
    if new.predicate == "ended" and new.subject_terms & _TRIPS:
        _close_trip(ledger, new)
    if change.kind == "replaces" and not new.old_terms:
        for old in list(ledger.of_key(new.subject, new.predicate)):
            if (
                (new.predicate in MULTIPLE and new.predicate != "decided")
                or new.fact.is_functional
                or differ_in_scope(old, new)
            ):
                continue
            if old.fact.change is not None and old.fact.change.kind == "ends":
                continue
            # `We take Kirby after all, because WordPress needs updates`: the change names what held.
            is_said = bool(old.object_terms) and old.object_terms <= new.terms - new.object_terms
            if is_said or _is_same_frame(old, new) or _is_same_slot(old, new):
                ledger.close(old, new)
    if change.kind == "replaces" and new.subject == SELF and new.fact.predicate in _LEADS:
        _close_other_lead(ledger, new)
    if change.kind == "replaces" and change.cue != "new" and new.predicate in PETS:
        # `We have renamed the dog`: the one there is.
        pets = [old for old in ledger.of_key(new.subject, new.predicate) if old.object_terms != new.object_terms]
        if len(pets) == 1:
            ledger.close(pets[0], new)
    if new.predicate == "switched" and not new.old_terms:
        for old in list(ledger.of_key(new.subject, "uses")):
            if _is_same_slot(old, new):
                ledger.close(old, new)
    if new.predicate == "eats" and change.kind == "replaces" and new.object_terms & ANIMALS:
        for old in list(ledger.of_key(new.subject, "diet")):
            if old.object_terms & PLANT_DIETS:
                ledger.close(old, new)
    if new.predicate == "habit" and change.kind == "replaces" and not new.old_terms:
        _close_other_days(ledger, new)
    if new.predicate == "when" and change.kind == "replaces" and new.subject_terms:
        _close_on_other_days(ledger, new)
    if new.predicate == "works_at" and (change.kind == "ends" or new.fact.is_functional):
        _close_place_of_work(ledger, new)
    if new.predicate == "out_of_work":
        for predicate in ("works_at", "works_as", "boss"):
            for old in list(ledger.of_key(new.subject, predicate)):
                ledger.close(old, new)
    if new.subject == SELF and new.predicate == "broke up" and change.kind == "ends":
        _close_loved_one(ledger, new)
    if new.predicate == "quit" and new.object_terms and change.kind == "ends":
        meant = [kind for kind, words in _BY_KIND if new.object_terms <= words]
        for old in [old for kind in meant for old in ledger.of_key(new.subject, kind)]:
            ledger.close(old, new)
    if new.predicate == "quit" and change.kind == "ends" and (vice := _VICES.get(new.fact.object)) is not None:
        for old in [*ledger.of_key(new.subject, "habit"), *ledger.of_key(new.subject, "drinks")]:
            if vice.search(old.fact.object) is not None:
                ledger.close(old, new)
    if change.kind == "ends" and new.predicate in ("left", "moved_out"):
        for role in (*ROLES, *PETS) if new.predicate == "left" else FLATMATES:
            for old in list(ledger.of_key(SELF, predicate_key(role))):
                if new.subject_terms and new.subject_terms <= old.object_terms:
                    ledger.close(old, new)


def _close_other_lead(ledger: Ledger, new: ReadFact) -> None:
    """Close who was one's boss by another word: `Bruno was promoted, so Petra is our team lead now`."""
    text = new.fact.text.casefold()
    others = (role for role in _LEADS if role != new.fact.predicate)
    for old in [old for role in others for old in ledger.of_key(SELF, predicate_key(role))]:
        names = old.fact.object.casefold().split(" ")
        ends = [found.end() for name in names for found in re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", text)]
        if any(_IS_NO_MORE.match(text, end) for end in ends):
            ledger.close(old, new)


def _close_loved_one(ledger: Ledger, new: ReadFact) -> None:
    """Close the one there is: `We split up` says nobody's name."""
    if new.fact.object == new.predicate:
        states = [old for old in ledger.of_key(SELF, "is") if old.object_terms and old.object_terms <= _BOUND]
        for old in [*states, *(old for role in _LOVED for old in ledger.of_key(SELF, predicate_key(role)))]:
            ledger.close(old, new)


def _close_trip(ledger: Ledger, new: ReadFact) -> None:
    """Close what was booked and planned for a trip that is off: all that goes where it would have gone."""
    where = new.subject_terms - _TRIPS
    for old in ledger.with_terms(where):
        is_of_trip = old.predicate in _TRAVEL_PLANS and where <= old.object_terms | old.subject_terms
        if is_of_trip and new.fact.at - old.fact.at <= _TRIP_AHEAD and old.fact.at < new.fact.at:
            ledger.close(old, new)


def _close_other_days(ledger: Ledger, new: ReadFact) -> None:
    """Close the habit of the same thing on other days."""
    activity = content_terms(without_days(new.fact.object))
    for old in list(ledger.of_key(new.subject, "habit")):
        if (
            activity
            and content_terms(without_days(old.fact.object)) == activity
            and old.object_terms != new.object_terms
        ):
            ledger.close(old, new)


def _close_on_other_days(ledger: Ledger, new: ReadFact) -> None:
    """Close the habit of what takes place on another day: `Choir moved to Tuesdays` of one who goes to choir on
    Thursdays, `the pottery class` of one who does pottery on Wednesdays."""
    subject = new.subject_terms - _LESSONS
    is_own_lesson = subject < new.subject_terms and _OF_SOMEBODY.search(new.fact.text.casefold()) is None
    for old in list(ledger.of_key(SELF, "habit")):
        activity = content_terms(_HAN_DOING.sub("", without_days(old.fact.object).strip())) - GOING
        has_day = bool(old.object_terms - activity - GOING - _TIMES_OF_DAY)
        is_lesson_of = is_own_lesson and has_day and bool(subject) and subject == activity - _TIMES_OF_DAY
        if new.subject_terms == activity or is_lesson_of:
            ledger.close(old, new)


def close_place_of_work(ledger: Ledger, old: ReadFact, new: ReadFact) -> None:
    """Close where one worked, as far as it was said with the employer `old`, who is no more one, and whom one had for a
    boss there."""
    for place in list(ledger.of_key(old.subject, "works_in")):
        if place.fact.text == old.fact.text and not new.object_terms & place.terms:
            ledger.close(place, new)
    for boss in list(ledger.of_key(old.subject, "boss")):
        # "I start at Boreal, I still report to Anna."
        if boss.fact.at < new.fact.at and not boss.object_terms & new.terms:
            ledger.close(boss, new)


def _close_place_of_work(ledger: Ledger, new: ReadFact) -> None:
    """Close where one worked: with the employer that is over, or with any other than the new one."""
    is_over = new.fact.change is not None and new.fact.change.kind == "ends"
    for old in list(ledger.of_key(new.subject, "works_in")):
        if old.fact.at < new.fact.at and bool(new.object_terms & old.terms) == is_over:
            ledger.close(old, new)


def _is_named(old: ReadFact, new: ReadFact, named: frozenset[str]) -> bool:
    """Whether the fact `old` is what a change names as over."""
    if old.fact.text == new.fact.text and old.fact.at == new.fact.at:
        return False
    if old.fact.change is not None and old.fact.change.kind == "ends":
        return False
    if differ_in_scope(old, new):
        return False
    # A change of the old value alone: what says the new value too, as its own object, is the change already told.
    if new.old_terms and new.object_terms and new.object_terms <= old.object_terms and not new.object_terms <= named:
        return False
    if old.predicate == "when" and new.subject == SELF and old.subject_terms == named:
        # `I cancelled my dentist appointment.`
        return True
    is_same_subject = old.subject == new.subject
    is_about_subject = bool(new.subject_terms) and new.subject != SELF and new.subject_terms <= old.terms
    is_passive = named == new.subject_terms and old.subject_terms & named
    if is_same_subject:
        return new.predicate == "ended" or _fit(old, new, named)
    if is_about_subject or is_passive:
        if old.subject != SELF or named <= old.object_terms:
            return True
        # "My boss has put the delivery off to Friday": a day of the sentence is none of the boss. And "My friend Gerry
        # said go, he quit the bank himself" does not take back what it says of Gerry. Nor is one's brother less of one
        # who has left the town.
        is_who = bool(old.object_terms) and old.object_terms <= new.subject_terms
        return named <= old.terms and old.predicate not in ROLES and not is_who and old.fact.at < new.fact.at
    return (
        new.subject == SELF
        and not old.fact.about_user
        and named <= old.object_terms | old.subject_terms
        and (bool((new.terms - named) & (old.terms - named)))
    )


def _fit(old: ReadFact, new: ReadFact, named: frozenset[str]) -> bool:
    """Whether the predicates of two facts of one subject can be about the same."""
    if old.predicate == new.predicate:
        return named <= old.object_terms | (frozenset() if old.subject == SELF else old.subject_terms) | old.terms
    if not named <= old.object_terms | content_terms(old.predicate):
        return False
    if {old.predicate, new.predicate} == {"lives_in", "from"}:
        # Who leaves a town still comes from there.
        return False
    if old.predicate == "decided" and new.predicate in ACTIVITIES:
        # Who works on a project no more has not decided otherwise about it.
        return False
    related = RELATED_PREDICATES.get(new.predicate)
    other = RELATED_PREDICATES.get(old.predicate)
    if related is None or other is None:
        return True
    return related == other


def _is_same_frame(old: ReadFact, new: ReadFact) -> bool:
    """Whether two facts have the same words around another object."""
    around_old, around_new = old.terms - old.object_terms, new.terms - new.object_terms
    if not old.object_terms or not new.object_terms or says_same(old.object_terms, new.object_terms):
        return False
    return around_old == around_new and bool(around_old - {SELF})


def _is_same_slot(old: ReadFact, new: ReadFact) -> bool:
    """Whether two choices are for the same: `SQLite for Orion` and `Postgres for Orion`."""
    if new.predicate not in ("decided", "uses", "switched"):
        return False
    shared = old.object_terms & new.object_terms
    own, other = new.object_terms - shared, old.object_terms - shared
    return bool(shared) and 1 <= len(own) <= 2 and 1 <= len(other) <= 2
