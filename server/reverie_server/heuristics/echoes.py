"""The sentences of an answer or of a summary that say again what was said. Pure.

"Got it, 13 March." behind "My flight is on the 13th of March" is no statement of its own: it holds as long as that
does. It is told by what it says and not by how: it has the value, no other number, and hardly a word of its own. A
summary tells it in the third person: there every word was said in the same message, and most in that statement.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie_server.heuristics.fact_grammar.terms import all_content_terms, is_unspaced
from reverie_server.heuristics.grounding_words import content_of
from reverie_server.heuristics.spoken_sentences import spoken_sentences
from reverie_server.text.fences import strip_injected
from reverie_server.text.questions import is_question
from reverie_server.text.redact import STOPS

# Longer sentences tell more than they repeat.
_MAX_CHARS = 200
# So many words may acknowledge, but no more than are repeated. In scripts without spaces a word is about two terms.
_MAX_OTHER_WORDS, _TERMS_OF_WORD = 2, 2
# What a summary calls whoever speaks.
_THE_USER = re.compile(
    r"(?<!\w)(?:the user(?:'s)?|der nutzer|die nutzerin|el usuario|la usuaria)(?!\w)|用户的?", re.IGNORECASE
)
# Verbs end otherwise in the third person: so many letters at most, behind so many at least.
_MOST_ENDING, _FEWEST_ALIKE, _MOST_ALIKE = 2, 3, 20
_DIGITS = re.compile(r"\d{1,20}")
_IS = re.compile(r"['’]s(?!\w)")
# A code has so many digits.
_FEWEST_DIGITS = 3
# One that is alone a code has more, and there are years.
_DIGITS_OF_CODE, _FEWEST_OF_THING, _YEAR = 4, 2, re.compile(r"(?:19|20)\d\d")
_MAX_NAME_WORDS = 3
_EDGES = " \t\r\n.,;:!?。、，；：！？…\"'“”„‘’«»「」『』*_`"


@dataclass(frozen=True, slots=True)
class _Said:
    """The words and numbers of a text."""

    words: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str) -> _Said:
        # Terms with digits are numbers with what stands beside them, and one character is a part of these.
        words = (term for term in all_content_terms(text) if len(term) > 1 and not _DIGITS.search(term))
        return cls(frozenset(words), frozenset(_DIGITS.findall(text)))


class _Known:
    """The words and numbers of a text, and how its words begin."""

    def __init__(self, text: str) -> None:
        known = _Said.of(text)
        self.numbers = known.numbers
        self._words = known.words
        lengths = range(_FEWEST_ALIKE, _MOST_ALIKE + 1)
        self._begun = {word[:length] for word in known.words for length in lengths if length <= len(word)}

    def of(self, words: frozenset[str]) -> frozenset[str]:
        """The words that it has, also in another person: "arbeitet", of "arbeite"."""
        return words & self._words | {word for word in words if self._beginning(word) in self._begun}

    @staticmethod
    def _beginning(word: str) -> str:
        return word[: min(max(_FEWEST_ALIKE, len(word) - _MOST_ENDING), _MOST_ALIKE)]


def echoes_of(value: str, said: str, answer: str) -> list[str]:
    """The sentences of an answer that repeat a value, given all that was said. Takes time linear in the texts."""
    of_value, known, text = _Said.of(value), _Said.of(said), strip_injected(answer)
    sentences = [text[span.start : span.end] for span in spoken_sentences(text) if span.end - span.start <= _MAX_CHARS]
    return [s for s in sentences if _repeats(s, of_value, known) or _says_code(s, of_value, known)]


def retold_in(value: str, statement: str, message: str, summary: str) -> list[str]:
    """The sentences of a summary that tell a statement of a message again, and nothing else.

    They have its value, no word that the message has not, and fewer words of the rest of the message than of it. Takes
    time linear in the texts.
    """
    of_value, of_statement, of_message = _Said.of(value), _Known(statement), _Known(message)
    is_denied = content_of(statement[:_MAX_CHARS]).is_negative
    found = []
    for span in spoken_sentences(summary):
        sentence = summary[span.start : span.end]
        if len(sentence) > _MAX_CHARS or is_question(sentence):
            continue
        own = _Said.of(_THE_USER.sub(" ", sentence))
        if _retells(own, of_value, of_statement, of_message) and content_of(sentence).is_negative == is_denied:
            found.append(sentence)
    return found


def says_only_value(sentence: str, statement: str, *, is_answer: bool) -> bool:
    """Whether a sentence says a number or a code of a statement, or the name in which that ends, and nothing else.

    In an answer to the statement a word or two may acknowledge it. A number of one or two digits is in many sentences.
    """
    if len(sentence) > _MAX_CHARS or is_question(sentence):
        return False
    numbers = frozenset(_DIGITS.findall(sentence))
    shared = numbers.intersection(_DIGITS.findall(statement)) if numbers else numbers
    if sum(map(len, shared)) >= _FEWEST_DIGITS:
        own, known = _Said.of(_IS.sub(" is", sentence)), _Said.of(statement)
        value = _Said(frozenset(), shared)
        return _repeats(sentence, value, known) if is_answer else own.numbers <= shared and own.words <= known.words
    return not numbers and _ends_in_name(statement, sentence.strip(_EDGES))


def _ends_in_name(statement: str, name: str) -> bool:
    """Whether a statement has more words, and ends in a few with a capital, or of a script without spaces."""
    words = statement.rstrip(_EDGES)
    before = words[: len(words) - len(name)]
    if not name or len(name.split()) > _MAX_NAME_WORDS or not words.endswith(name):
        return False
    if not before or before.rstrip()[-1:] in STOPS:
        # It is a sentence of its own.
        return False
    if is_unspaced(name):
        return len(name) > 1
    return name[0].isupper() and not before[-1].isalnum()


def _retells(own: _Said, value: _Said, statement: _Known, message: _Known) -> bool:
    # Of a whole statement a part is told: "Keith runs our depot", of "Keith runs our depot and wants it by tonight".
    is_part = len(own.words) > _MAX_OTHER_WORDS and own.words <= value.words
    if not is_part and not _has_value(own, value):
        return False
    of_statement = statement.of(own.words)
    shared = len(of_statement) + len(own.numbers & statement.numbers)
    is_of_message = message.of(own.words) == own.words and own.numbers <= message.numbers
    return is_of_message and len(own.words - of_statement) < shared


def _has_value(own: _Said, value: _Said) -> bool:
    # A town or a firm is repeated by its words.
    return bool(own.numbers & value.numbers if value.numbers else value.words and value.words <= own.words)


def _says_code(sentence: str, value: _Said, known: _Said) -> bool:
    """Whether a sentence says again what a code is of, whatever it says beside that: "The code of the shed is 7715, ask
    me when you stand in the rain". A year is no code."""
    own = _Said.of(sentence)
    is_code = any(len(number) >= _DIGITS_OF_CODE and not _YEAR.fullmatch(number) for number in value.numbers)
    is_of_thing = len(own.words & known.words) >= _FEWEST_OF_THING
    return is_code and is_of_thing and value.numbers <= own.numbers <= known.numbers and not is_question(sentence)


def _repeats(sentence: str, value: _Said, known: _Said) -> bool:
    own = _Said.of(sentence)
    if not _has_value(own, value) or is_question(sentence):
        return False
    allowed = min(_MAX_OTHER_WORDS, len(own.words & known.words) + len(own.numbers))
    allowed *= _TERMS_OF_WORD if is_unspaced(sentence) else 1
    return own.numbers <= known.numbers and len(own.words - known.words) <= allowed
