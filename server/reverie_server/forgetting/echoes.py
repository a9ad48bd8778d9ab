"""Answers that repeat what is forgotten. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from reverie_server.heuristics.echoes import says_only_value
from reverie_server.heuristics.requests.request_model import is_han
from reverie_server.search.query_terms import meaning_of
from reverie_server.sessions.model import Message
from reverie_server.text.redact import STOPS, Targets
from reverie_server.text.statement_spans import statements

# Of an answer so many sentences are looked at, of a text and a sentence so many characters, and so many answers.
_MAX_SENTENCES, _MAX_CHARS, _MAX_ANSWERS = 100, 1000, 20
_MAX_OF_MESSAGE = 20_000
_FEWEST_SHARED, _FEWEST_CHARS = 2, 5
# Many answers have these, whatever is forgotten.
_TIMES = (
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december spring summer autumn winter morning afternoon evening night today "
    "tomorrow yesterday week montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai "
    "juni juli oktober dezember frühling sommer herbst morgen nachmittag abend nacht heute gestern woche lunes "
    "martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre "
    "octubre noviembre diciembre primavera verano otoño invierno mañana tarde noche hoy ayer semana"
)


def behind(texts: Sequence[str], page: Sequence[Message]) -> list[tuple[str, str]]:
    """The answers of a page right behind a message with some of the texts, each with that message: what was said before
    repeats nothing."""
    return [
        (before.content, message.content)
        for before, message in pairwise(page)
        if message.role == "assistant" and any(text in before.content for text in texts)
    ]


def echoes(texts: Sequence[str], answered: Sequence[tuple[str, str]], language: str) -> list[str]:
    """The statements of answers that repeat what is forgotten. Pure.

    Each answer comes with its message. A statement repeats a number of the texts or most of their words; the first of
    an answer, which is what it takes up, also a name of them, or a word that of its message only they have.
    """
    terms, names = (of_texts - _times(language) for of_texts in _terms_of(texts, language))
    numbers = frozenset(term for term in terms if any(map(str.isdigit, term)))
    found: list[str] = []
    for message, answer in answered[:_MAX_ANSWERS]:
        said = statements(message[:_MAX_OF_MESSAGE])[:_MAX_SENTENCES]
        # Of a sentence of which a clause is forgotten, the rest is no other statement.
        others = [each for each in said if not any(text in each or text.rstrip(STOPS) in each for text in texts)]
        own = terms - _terms_of(others, language)[0]
        for number, sentence in enumerate(statements(answer[:_MAX_OF_MESSAGE])[:_MAX_SENTENCES]):
            shared = meaning_of(sentence[:_MAX_CHARS], language).terms & terms
            is_most = len(shared) >= _FEWEST_SHARED and 2 * len(shared) >= len(terms)
            is_taken_up = number == 0 and (bool(shared & names) or _says_much(shared & own))
            if shared & numbers or is_most or is_taken_up:
                found.append(sentence)
    return list(dict.fromkeys(found))


def repetitions(content: str, texts: Sequence[str], *, is_answer: bool) -> list[str]:
    """The statements of a message that say again a code, a number or a name of one of some forgotten texts, and nothing
    else; `is_answer` where it answers to one. The texts themselves are none."""
    short = [text for text in texts if len(text) <= _MAX_CHARS]
    found = [
        each
        for each in statements(content[:_MAX_CHARS])
        if any(says_only_value(each, text, is_answer=is_answer) for text in short)
    ]
    targets = Targets(short if found else ())
    return [each for each in found if not targets.found_in(each)]


@cache
def _times(language: str) -> frozenset[str]:
    return meaning_of(_TIMES, language).terms


def _terms_of(texts: Sequence[str], language: str) -> tuple[frozenset[str], frozenset[str]]:
    """The terms of some texts, and the names among them."""
    meanings = [meaning_of(text[:_MAX_CHARS], language) for text in texts]
    return (
        frozenset().union(*(each.terms for each in meanings)),
        frozenset().union(*(each.names for each in meanings)),
    )


def _says_much(terms: frozenset[str]) -> bool:
    """Whether terms have a word that is no short one, or two of Chinese characters, which overlap."""
    written_out = [term for term in terms if len(term) >= _FEWEST_CHARS]
    return bool(written_out) or sum(map(is_han, terms)) >= _FEWEST_SHARED
