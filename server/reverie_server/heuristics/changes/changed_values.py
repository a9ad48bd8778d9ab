"""Numbers and codes of things: each ends only by what says another of the same thing. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from reverie_server.heuristics.changes.change_pairs import shared_parts
from reverie_server.heuristics.changes.change_sentences import ChangeSentence, OpenFact, says_it_is_over
from reverie_server.heuristics.changes.values import Values, values_of
from reverie_server.heuristics.fact_grammar.terms import VALUE_TERMS, content_terms
from reverie_server.heuristics.stated_fact import SELF, StatedFact

# An address ends by a move, too.
_OF_VALUES = VALUE_TERMS - content_terms("address adresse dirección 地址")
_FEWEST_OF_CODE, _MOST_WORDS, _FEWEST_OF_LIST = 4, 3, 3
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[A-Za-z0-9]+(?:[-.:/][A-Za-z0-9]+)*")


def is_number(fact: OpenFact) -> bool:
    """Whether a fact is a value with digits: no password of words alone."""
    return is_value(fact) and _DIGIT.search(fact.object) is not None


def numbers_in(text: str) -> list[str]:
    """The words with digits in a text, in their order."""
    return [word for word in _WORD.findall(text) if _DIGIT.search(word) is not None]


# A number in parts that is no date, or letters with digits: of whatever it is, it is no amount.
_CODE = re.compile(
    r"(?!\d{4}[-/]\d\d?[-/]\d\d?$|\d\d?[-/]\d\d?[-/]\d{2,4}$)(?=(?:\D*+\d){7})\d+(?:[-/]\d+)+|(?=(?:\D*+\d){3})(?=[\d-]*[^\W\d_])[\w-]{5,40}"
)


def with_new_number(ended: StatedFact, read: Sequence[StatedFact]) -> StatedFact:
    """What takes the place of a fact, or ends it. What ends a number is the new number where the speaker said that
    beside it in fewer words: "There is a new alarm panel. The code is 9317 now" of the alarm code of a workshop.
    `read` are the facts of the conversation."""
    if ended.change is None or ended.change.kind != "ends":
        return ended
    names = content_terms(f"{ended.subject} {ended.predicate}")
    beside = [
        fact
        for fact in read
        if fact.said_at == ended.said_at
        and (fact.predicate, fact.is_functional) == ("is", True)
        and _DIGIT.search(fact.object)
        and content_terms(fact.subject) <= names & _OF_VALUES
    ]
    if len(beside) != 1:
        return ended
    change = replace(ended.change, kind="replaces", old_object=None)
    thing = {name: getattr(ended, name) for name in ("subject", "predicate", "category", "about_user", "confidence")}
    return replace(beside[0], **thing, change=change)


def is_value(fact: OpenFact) -> bool:
    """Whether a fact is a number or a code of something: "my staff number", the code of a gate, "number 41C"."""
    # What was asked to be kept is a sentence, which may have a code in it.
    is_short = len(fact.object.split()) <= _MOST_WORDS and _DIGIT.search(fact.object) is not None
    is_of_number = is_short and not _OF_VALUES.isdisjoint(content_terms(fact.object))
    is_of_number = is_of_number or (fact.predicate == "is" and _CODE.fullmatch(fact.object.strip(" .")) is not None)
    return fact.predicate == "opens_with" or is_of_number or not _OF_VALUES.isdisjoint(_named_by(fact))


def can_be_its_value(change: ChangeSentence, fact: OpenFact) -> bool:
    """Whether a sentence can say something else of what a fact says, if that is a code or a number: it names what it is
    of, or without a number what it is. "The key is with number 19" is of no staff number, and "none of my business" of
    no lock's."""
    if not is_value(fact):
        return True
    names, terms = _named_by(fact), content_terms(change.said)
    if change.values.is_empty and not says_it_is_over(change) and not names & terms:
        return False
    of_what = names - _OF_VALUES
    return not of_what or bool(of_what & terms) or shared_parts(terms, of_what, change.language) > 0


def is_of_another_value(change: ChangeSentence, text: str) -> bool:
    """Whether a text gives a number or a code, and a sentence that of something else: both say of what, and share no
    word of that. "My customer number is 20871" ends no code of a gate."""
    theirs = values_of(text, change.language)
    if _lists_numbers(theirs) or (theirs.codes and not change.values.codes and not says_it_is_over(change)):
        # A list of sums, or a code, is not over for a sentence that has none of its words.
        return not content_terms(text) & content_terms(change.said)
    if not (_gives_value(change.said, change.values) and _gives_value(text, theirs)):
        return False
    names, terms = (content_terms(said) - _OF_VALUES for said in (text, change.said))
    words = {term for term in names & terms if not term.isdigit()}
    return not words and shared_parts(terms, names, change.language) == 0


def _gives_value(said: str, values: Values) -> bool:
    is_code = any(len(number) >= _FEWEST_OF_CODE for number in values.numbers.get("", ()))
    return is_code or bool(values.codes) or (bool(values.numbers) and not _OF_VALUES.isdisjoint(content_terms(said)))


def _lists_numbers(values: Values) -> bool:
    return sum(map(len, values.numbers.values())) >= _FEWEST_OF_LIST


def _named_by(fact: OpenFact) -> frozenset[str]:
    return content_terms(fact.predicate if fact.subject == SELF else fact.subject)
