"""The facts of a slice that hold so far, with their words, while they are resolved one after the other. Pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from reverie_server.heuristics.cues import folded
from reverie_server.heuristics.fact_grammar.terms import (
    GENERIC_VALUES,
    NUMERALS,
    TIMED_KINDS,
    content_terms,
    exclude_each_other,
    is_unspaced,
    key_of,
    scopes_of,
    without_timed_kind,
)
from reverie_server.heuristics.stated_fact import SELF, Change

# "In place of the one you had" does not say what is over.
_NAMING_NOTHING = content_terms(
    "one ones hattest hast hatte alte alten alter vorige vorigen frühere früheren anterior anteriores antiguo antigua"
    " viejo vieja 原来 之前 以前 原先"
)
# Where one lives nearly everything is there once, but for what one is called by: "my phone number at home".
_AT_HOME = content_terms("home house flat daheim zuhause hause wohnung casa piso apartamento")
_ONE_OF_MANY = content_terms("number phone telephone nummer telefon número teléfono address adresse dirección mail")
_HYPHEN = re.compile(r"(?<=[^\W\d_]{2})-(?=[^\W\d_]{2})")
# What takes place, as the last part of a German compound: "Chorprobe", "Führerscheinprüfung".
_TAIL = re.compile(
    r"(?<=\w{3})(?:probe|stunde|training|kurs|unterricht|prüfung|klausur|termin|treffen|besprechung|untersuchung|operation)$"
)
# Subject and predicate of a fact, and the terms of its object, as they are compared.
Compared = tuple[str, str, frozenset[str]]
# A look-up by terms looks at this many facts of each term at most, the newest.
_MAX_POSTINGS = 200
# Facts of one subject and predicate that are compared with a new one, the newest.
MAX_OPEN = 50


@dataclass(frozen=True, slots=True)
class TimedFact:
    """A fact with the time from which its words count. `is_closed`: a person has ended it already; it closes none. One
    that is not `is_sure` takes the place of another only where its words say that something changed."""

    fact_id: int
    subject: str
    predicate: str
    object: str
    text: str
    at: datetime
    is_functional: bool = False
    change: Change | None = None
    about_user: bool = True
    is_closed: bool = False
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class Closure:
    """The fact `old` ended at a time; `new` is the fact that takes its place or says so."""

    old: int
    new: int | None
    at: datetime


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact with its words: terms of its text, subject and object, and the scopes that it names."""

    fact: TimedFact
    subject: str
    predicate: str
    terms: frozenset[str]
    subject_terms: frozenset[str]
    object_terms: frozenset[str]
    old_terms: frozenset[str]
    scopes: frozenset[str]


@dataclass(slots=True)
class Ledger:
    """The facts that hold so far, by subject and predicate, by subject, and by term."""

    open: dict[int, ReadFact] = field(default_factory=dict)
    by_key: dict[tuple[str, str], list[int]] = field(default_factory=lambda: defaultdict(list))
    by_term: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    closures: dict[int, Closure] = field(default_factory=dict)
    contradictions: set[tuple[int, int]] = field(default_factory=set)

    def add(self, read: ReadFact) -> None:
        """Let a fact hold."""
        number = read.fact.fact_id
        self.open[number] = read
        self.by_key[read.subject, read.predicate].append(number)
        for term in read.terms:
            self.by_term[term].append(number)

    def close(self, old: ReadFact, new: ReadFact) -> None:
        """End a fact that holds; `new` takes its place or says so."""
        number = old.fact.fact_id
        if number in self.open and number != new.fact.fact_id:
            del self.open[number]
            self.closures[number] = Closure(number, new.fact.fact_id, max(old.fact.at, new.fact.at))

    def doubt(self, old: ReadFact, new: ReadFact) -> None:
        """Note that two facts cannot both hold."""
        a, b = sorted((old.fact.fact_id, new.fact.fact_id))
        self.contradictions.add((a, b))

    def of_key(self, subject: str, predicate: str) -> Iterator[ReadFact]:
        """The open facts of a subject and predicate, the oldest first; of very many the newest."""
        numbers = self.by_key.get((subject, predicate))
        if numbers:
            numbers[:] = [number for number in numbers if number in self.open]
            yield from [self.open[number] for number in numbers[-MAX_OPEN:]]

    def with_terms(self, terms: frozenset[str]) -> list[ReadFact]:
        """The open facts that have all terms, the oldest first; of very many the newest."""
        if not terms:
            return []
        rarest = min(terms, key=lambda term: (len(self.by_term.get(term, ())), term))
        numbers = self.by_term.get(rarest)
        if not numbers:
            return []
        numbers[:] = [number for number in numbers if number in self.open]
        found = [self.open[number] for number in numbers[-_MAX_POSTINGS:]]
        return [read for read in found if terms <= read.terms]


def compared_key(subject: str, predicate: str, *, is_functional: bool) -> tuple[str, str]:
    """The subject and the predicate of a fact as they are compared."""
    # `My alarm code is …` and `The alarm code is …` are about one thing.
    is_value = predicate == "is" and is_functional
    is_timed = predicate == "when"
    thing = _thing_key(subject, is_timed=is_timed) if is_value or is_timed else ""
    if is_value:
        return SELF, thing
    return thing or key_of(subject), predicate_key(predicate)


def predicate_key(predicate: str) -> str:
    """A predicate as it is compared: `lead team`."""
    return _thing_key(predicate, is_timed=False)


def with_words(fact: TimedFact) -> ReadFact:
    """A fact with its words, as it is compared."""
    change = fact.change
    subject, predicate, object_terms = compared(
        fact.subject, fact.predicate, fact.object, is_functional=fact.is_functional
    )
    tails = tails_of(fact.subject) if fact.predicate == "when" else frozenset()
    return ReadFact(
        fact,
        subject,
        predicate,
        content_terms(f"{fact.subject} {fact.text} {fact.object}") | object_terms | tails,
        content_terms(fact.subject),
        object_terms,
        _terms_of(change.old_object) - _NAMING_NOTHING if change and change.old_object else frozenset(),
        # Where a thing is excludes where else it could be: "at home" limits no place, it is one.
        frozenset() if fact.predicate == "located" else scopes_of(fact.text),
    )


def compared(subject: str, predicate: str, object_: str, *, is_functional: bool) -> Compared:
    """What a fact states, whatever its words: two facts with the same are wordings of one statement."""
    return (*compared_key(subject, predicate, is_functional=is_functional), _terms_of(object_))


def _thing_key(subject: str, *, is_timed: bool) -> str:
    """A thing of several words as it is compared, in whatever order and with whatever joins them: `budget for the new
    kitchen`, `kitchen budget`. Of what takes place its kind says nothing: `choir`, `choir practice`."""
    key = key_of(subject)
    if is_unspaced(subject):
        return without_timed_kind(key) if is_timed else key
    if not is_timed and key not in GENERIC_VALUES:
        # "WLAN-Passwort" is the "Passwort vom WLAN".
        key = _HYPHEN.sub(" ", key)
    terms = content_terms(key)
    if is_timed and len(terms) == 1 and (tail := _TAIL.search(key)) is not None:
        # "Chorprobe" is "Chor".
        return key[: tail.start()]
    core = terms - TIMED_KINDS if is_timed else _of_home(terms)
    return " ".join(sorted(core)) if core and len(terms) > 1 else key


def tails_of(subject: str) -> frozenset[str]:
    """What German compounds of a subject are, as terms: `Prüfung` of `Führerscheinprüfung`."""
    tails = (_TAIL.search(word.casefold()) for word in subject.split())
    return content_terms(" ".join(tail[0] for tail in tails if tail is not None))


def _of_home(terms: frozenset[str]) -> frozenset[str]:
    """The terms of a thing without what says that it is where one lives: `Wi-Fi password at home`."""
    rest = terms - _AT_HOME
    return rest if len(rest) > 1 and not rest & _ONE_OF_MANY else terms


def _terms_of(object_: str) -> frozenset[str]:
    """The content words of an object with its numerals, which say what is another (`first grade`); its words where all
    are stop words of some language, as the name `Mia` is."""
    words = frozenset(folded(object_).split())
    return content_terms(object_) | (words & NUMERALS) or words


def differ_in_scope(a: ReadFact, b: ReadFact) -> bool:
    """Whether two facts hold in scopes that exclude each other, such as at home and at work."""
    return exclude_each_other(a.scopes, b.scopes)
