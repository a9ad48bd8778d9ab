"""Which facts a later one closes, and which contradict each other, by what their words say. Pure.

All facts of a slice are resolved together, in the order in which they were said and whatever the order in which they
became known: the answer is the same for the same facts. Where the words are not plain nothing is closed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from reverie_server.heuristics.changes.change_rules import close_by_change, close_place_of_work
from reverie_server.heuristics.changes.changed_facts import GUESSED, LIKELY
from reverie_server.heuristics.changes.fact_ledger import (
    Closure,
    Ledger,
    ReadFact,
    TimedFact,
    differ_in_scope,
    tails_of,
    with_words,
)
from reverie_server.heuristics.changes.paired_changes import APART
from reverie_server.heuristics.fact_grammar.terms import (
    GENERIC_EVENTS,
    GENERIC_VALUES,
    VALUE_TERMS,
    is_longer_name,
    is_within_place,
    says_same,
)
from reverie_server.heuristics.jest import is_in_jest

# Events with no more than a general name are the same only within this time.
_SAME_EVENT = timedelta(days=21)
# Of an event with a longer name, a shorter one says what moved within this time.
_SAME_NAMED_EVENT = timedelta(days=60)
# An article that names nobody before a noun, and how far before that it is looked for. In German a name has an article,
# too, and any noun a capital.
_A_KIND = re.compile(
    r"(?<!\w)(?:an?|una?)(?: (?!at |in |for |with |en |de )[^\W\d_]{2,15}){0,2} $|[一某][家个個所间間]$", re.IGNORECASE
)
_A_GERMAN_KIND = re.compile(r"(?<!\w)(?:einem|einer|[’']?nem|[’']?ner)(?: [a-zäöüß]{2,15}e[nmr])? $")
_FAR_ARTICLE = 40
# Of two that are not sure the one that was said last holds.
_LAST_SAID = frozenset({"lives_in", "works_at", "boss"})


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two facts that cannot both hold, the smaller id first."""

    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is closed, one closure at most for each fact, and what contradicts, both by id."""

    closures: tuple[Closure, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()


def resolve(facts: Sequence[TimedFact]) -> Resolution:
    """What the facts of a slice say of each other.

    Takes time about linear in the number of facts: a fact is compared with a bounded number of others.
    """
    ledger = Ledger()
    for fact in sorted(facts, key=lambda fact: (fact.at, fact.fact_id)):
        if fact.is_closed:
            continue
        new = with_words(fact)
        # "I'm 80 lol" takes nothing from who said to be 34. What says that something is over means just that:
        # "Gave up on keto lol".
        is_end = fact.change is not None and fact.change.kind == "ends"
        if is_end or not is_in_jest(fact.text):
            _close_same_predicate(ledger, new)
            if fact.change is not None:
                close_by_change(ledger, new, fact.change)
            _find_opposite(ledger, new)
        ledger.add(new)
    doubts = {pair for pair in ledger.contradictions if pair[0] in ledger.open and pair[1] in ledger.open}
    closures = tuple(ledger.closures[number] for number in sorted(ledger.closures))
    return Resolution(closures, tuple(Contradiction(a, b) for a, b in sorted(doubts)))


def _close_same_predicate(ledger: Ledger, new: ReadFact) -> None:
    """Close or doubt the facts of the same subject and predicate with another object."""
    change = new.fact.change
    if change is not None and change.kind == "ends":
        return
    open_facts = list(ledger.of_key(new.subject, new.predicate))
    if new.subject in GENERIC_EVENTS and len(open_facts) > 1:
        # Which of several meetings moved, the word alone does not say.
        return
    for old in open_facts:
        ended = old.fact.change is not None and old.fact.change.kind == "ends"
        if ended:
            # What had ended is so again.
            if says_same(old.object_terms, new.object_terms):
                ledger.close(old, new)
            continue
        if not (new.fact.is_functional and old.fact.is_functional):
            continue
        if change is None and new.predicate == "works_at" and _is_of_kind(new.fact):
            # "I work in a lab" names no other employer.
            continue
        is_guess = new.predicate in _LAST_SAID and not old.fact.is_sure
        if change is None and not new.fact.is_sure and not is_guess:
            continue
        # Who was a nurse and is now head nurse is no longer the one.
        is_risen = new.predicate == "works_as" and change is not None and old.object_terms < new.object_terms
        if says_same(old.object_terms, new.object_terms) and not is_risen:
            continue
        if differ_in_scope(old, new):
            continue
        if new.predicate == "lives_in" and is_within_place(old.fact.object, new.fact.object):
            continue
        if change is None and old.fact.at == new.fact.at:
            # "Somebody here is seven today, and it's Zahra": one sentence does not take back what it says.
            if old.fact.text != new.fact.text:
                ledger.doubt(old, new)
        elif change is not None and change.cue in (LIKELY, GUESSED) and new.fact.at - old.fact.at < APART:
            # What a model takes for a change ends nothing else of the conversation.
            continue
        elif change is None and new.subject in GENERIC_EVENTS:
            if new.fact.at - old.fact.at <= _SAME_EVENT:
                ledger.doubt(old, new)
        elif change is None and new.predicate in GENERIC_VALUES and new.fact.predicate == "is":
            # "The code is 8812" of some shed takes nothing from the code of an alarm.
            continue
        else:
            ledger.close(old, new)
            if new.predicate == "works_at":
                close_place_of_work(ledger, old, new)
    if not open_facts and change is not None and new.fact.is_functional:
        _close_of_longer_name(ledger, new)


def _is_of_kind(fact: TimedFact) -> bool:
    """Whether a fact says only of what kind an employer is: `a lab`, `einem Labor`, `一家公司`."""
    at = fact.text.find(fact.object)
    start = max(0, at - _FAR_ARTICLE)
    if at > 0 and _A_GERMAN_KIND.search(fact.text, start, at) is not None:
        return True
    return at > 0 and not fact.object[:1].isupper() and _A_KIND.search(fact.text, start, at) is not None


def _close_of_longer_name(ledger: Ledger, new: ReadFact) -> None:
    """Close the one open fact of a thing that is called by more words: `The dinner moved` after `the team dinner`."""
    is_event = new.predicate == "when"
    if not is_event and new.fact.predicate != "is":
        return
    name = new.subject if is_event else new.predicate
    # "The Wi-Fi password" is "the password of the Wi-Fi in the flat", however its words stand.
    is_value = not is_event and not VALUE_TERMS.isdisjoint(new.subject_terms)
    found = [
        old
        for old in ledger.with_terms(new.subject_terms)
        if old.fact.is_functional
        and old.fact.predicate == new.fact.predicate
        and (not is_event or new.fact.at - old.fact.at <= _SAME_NAMED_EVENT)
        and (
            is_longer_name(old.subject if is_event else old.predicate, name)
            or (is_value and new.subject_terms < old.subject_terms)
            or (is_event and new.subject_terms < old.subject_terms | tails_of(old.fact.subject))
        )
    ]
    if len(found) != 1 or says_same(found[0].object_terms, new.object_terms):
        return
    if not differ_in_scope(found[0], new):
        ledger.close(found[0], new)


def _find_opposite(ledger: Ledger, new: ReadFact) -> None:
    """Close or doubt an attitude to the same thing that is opposite to the new one."""
    opposite = {"likes": "dislikes", "dislikes": "likes", "eats": "avoids", "avoids": "eats"}.get(new.predicate)
    change = new.fact.change
    if change is None and not new.fact.is_sure:
        return
    is_over = new.predicate == "dislikes" or (new.predicate == "avoids" and change is not None)
    if is_over and new.object_terms and (change is None or change.kind != "ends"):
        for old in [*ledger.of_key(new.subject, "drinks"), *ledger.of_key(new.subject, "eats")]:
            # What nobody can stand any more nobody takes.
            if new.object_terms <= old.object_terms and not differ_in_scope(old, new):
                ledger.close(old, new)
    if opposite is None or not new.object_terms or (change is not None and change.kind == "ends"):
        return
    for old in list(ledger.of_key(new.subject, opposite)):
        if old.object_terms != new.object_terms or differ_in_scope(old, new):
            continue
        if change is not None:
            ledger.close(old, new)
        elif not (old.fact.change is not None and old.fact.change.kind == "ends"):
            ledger.doubt(old, new)
